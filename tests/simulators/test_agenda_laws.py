"""Laws of the agenda user, in every domain: what they agree to, what they keep back, that they end."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from samples import SAMPLES, keys

from tool_envs.consent import covering, heard
from tool_envs.messages import ToolCall
from tool_envs.simulators import agenda_core as core
from tool_envs.simulators.agenda import AgendaUser
from tool_envs.simulators.agent_voice import AgentVoice
from tool_envs.simulators.goal import Fact, Wish

in_both = pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
BY_HAND = {
    kind: [
        pytest.param(sample, sample.wishes[case["wish"]], case, id=f"{name} {number} {case['wish']}")
        for name, sample in SAMPLES.items()
        for number, case in enumerate(sample.messages[kind])
    ]
    for kind in ("right", "wrong")
}
traits = st.lists(
    st.sampled_from(["terse", "talkative", "changes_mind", "insists", "reluctant"]), unique=True, max_size=3
).map(tuple)


def covers(turn, tool, arguments):
    """Whether the yeses of a turn allow a call."""
    return covering(heard((), turn.acts), ToolCall(tool, arguments)) is not None


# -- yes and no ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("sample", "wish", "case"), BY_HAND["right"])
def test_the_right_thing_gets_its_yes(sample, wish, case):
    _, turn = sample.talk(sample.goal(wish), case["message"])

    assert any(covers(turn, wish.tool, arguments) for arguments in wish.accepted), turn.text


@pytest.mark.parametrize(("sample", "wish", "case"), BY_HAND["wrong"])
def test_the_wrong_thing_gets_a_no_and_what_is_right(sample, wish, case):
    _, turn = sample.talk(sample.goal(wish), case["message"])

    assert turn.acts[0]["act"] == "deny", turn.text
    assert heard((), turn.acts) == ()
    assert case["said"] in turn.text


@in_both
@pytest.mark.parametrize("brief", [False, True])
@settings(max_examples=150)
@given(st.data())
def test_what_is_wanted_gets_a_yes_that_covers_it(sample, brief, data):
    wish = data.draw(sample.served())
    arguments = data.draw(st.sampled_from(wish.accepted))
    text = data.draw(sample.voices(brief)).propose(wish.tool, arguments, sample.words)
    _, turn = sample.talk(sample.goal(wish), text)

    assert covers(turn, wish.tool, arguments), (text, turn.text)


@in_both
@pytest.mark.parametrize("brief", [False, True])
@settings(max_examples=300)
@given(st.data())
def test_one_wrong_argument_is_enough_to_get_no_yes_that_covers_it(sample, brief, data):
    wish = data.draw(sample.served())
    name = data.draw(st.sampled_from(sorted(wish.accepted[0])))
    other = data.draw(sample.arguments[wish.tool])[name]
    assume(not any(is_same(other, accepted[name]) for accepted in wish.accepted))
    arguments = {**wish.accepted[0], name: other}
    text = data.draw(sample.voices(brief)).propose(wish.tool, arguments, sample.words)
    _, turn = sample.talk(sample.goal(wish), text)

    assert not covers(turn, wish.tool, arguments), (text, turn.text)


def is_same(value, other):
    """Equal, for lists whatever the order."""
    if isinstance(value, list):
        return all(one in other for one in value) and all(one in value for one in other)
    return value == other


# -- what they say ------------------------------------------------------------------------------------------
class Hidden(NamedTuple):
    """Wishes of which the first does not name what it is about, and the last two come later.

    Attributes:
        wishes: The second has a kettle in its words, the third a zebra.
        secrets: What stands in the arguments of the first only, and as the answer to the second.
    """

    wishes: tuple[Wish, Wish, Wish]
    secrets: tuple[str, ...]


SECRET = Fact("amount", 8642097, "What did I pay for the kettle?")
ASKED = Wish(kind="question", fact=SECRET)
HIDDEN = {
    "retail": Hidden(
        (
            Wish(
                kind="exchange",
                tool="exchange_delivered_order_items",
                accepted=(
                    {
                        "order_id": "#W8888888",
                        "item_ids": ["1234512345"],
                        "new_item_ids": ["9876598765"],
                        "payment_method_id": "paypal_1111111",
                    },
                ),
                words={"item": "the desk lamp", "new_item": "the black one"},
                opening="I want to exchange the desk lamp for the black one.",
            ),
            ASKED,
            Wish(
                kind="payment",
                tool="modify_pending_order_payment",
                accepted=({"order_id": "#W9999999", "payment_method_id": "gift_card_9999999"},),
                words={"order_id": "the zebra order", "payment_method": "my zebra card"},
                opening="The zebra order should be paid with my zebra card.",
            ),
        ),
        ("#W8888888", "1234512345", "9876598765", "paypal_1111111"),
    ),
    "booking": Hidden(
        (
            Wish(
                kind="change_flights",
                tool="update_reservation_flights",
                accepted=(
                    {
                        "reservation_id": "Y8YY8Y",
                        "cabin": "business",
                        "flights": [{"flight_number": "HAT888", "date": "2025-12-24"}],
                        "payment_id": "credit_card_8888888",
                    },
                ),
                words={"flights": "the earliest flight"},
                opening="I want to change my flight to the earliest flight.",
            ),
            ASKED,
            Wish(
                kind="cancel",
                tool="cancel_reservation",
                accepted=({"reservation_id": "Z9ZZ9Z"},),
                words={"reservation_id": "the zebra trip", "reason": "the zebra is ill"},
                opening="Please cancel the zebra trip: the zebra is ill.",
            ),
        ),
        ("Y8YY8Y", "HAT888", "2025-12-24", "December 24", "credit_card_8888888"),
    ),
}


def texts_of(sample):
    """What agents may say, sense and nonsense."""
    said = [case["message"] for kind in ("right", "wrong") for case in sample.messages[kind]]
    slots = st.sampled_from([*sample.phrases.questions, "intent"])
    first = sample.served().map(lambda wish: (wish.tool, wish.accepted[0], sample.words))
    one = st.one_of(
        st.text(max_size=200),
        st.sampled_from(said + sample.messages["refusals"]),
        st.builds(lambda voice, slot: voice.ask([slot]), sample.voices(), slots),
        st.builds(lambda voice, write: voice.propose(*write), sample.voices(), first),
        st.builds(lambda voice, write: voice.report(*write), sample.voices(), first),
        st.builds(lambda voice: voice.more(), sample.voices()),
        st.sampled_from(
            ["", " ", "?" * 500, "yes", "\n- \n1. ", "#W1234567", "4444444444 " * 50, "Or else?", "{words}"]
        ),
    )
    return st.lists(one | st.tuples(one, one).map(" ".join), max_size=30)


def wishes_of(sample):
    """Up to four wishes."""
    return st.lists(st.sampled_from(list(sample.wishes.values())), min_size=1, max_size=4)


def comes_to_an_end(sample, wishes, how, key, texts):
    user = AgendaUser(sample.phrases)
    turn = user.reset(sample.goal(*wishes, traits=how), key)
    for text in (texts + ["Hello?"] * core.MAX_TURNS)[: core.MAX_TURNS]:
        turn = user.respond(text)
        assert turn.text
        assert json.loads(json.dumps(turn.acts)) == list(turn.acts)
        if turn.ended:
            break

    assert turn.ended


@in_both
@settings(max_examples=150)
@given(st.data(), traits, keys)
def test_any_text_is_answered_and_comes_to_an_end(sample, data, how, key):
    comes_to_an_end(sample, data.draw(wishes_of(sample)), how, key, data.draw(texts_of(sample)))


@in_both
@pytest.mark.parametrize(
    "texts",
    [
        ["x" * 100_000],
        ["Shall I? #W1234567 " + "from " * 2000, "cannot until " * 800, "would you like me to " * 500],
        ["\0\ud800 #W" + "1" * 5000],
        ["Shall I book 1 of which is " + "2 of them " * 2000, "$1" * 5000, "replace " * 3000 + "?"],
    ],
)
def test_hostile_text_is_answered_and_comes_to_an_end(sample, texts):
    comes_to_an_end(sample, list(sample.wishes.values()), (), 0, texts)


@in_both
@settings(max_examples=150)
@given(st.data(), traits, keys)
def test_nothing_is_said_before_its_time(sample, data, how, key):
    wishes, secrets = HIDDEN[sample.phrases.language.domain]
    user = AgendaUser(sample.phrases)
    said = [user.reset(sample.goal(*wishes, traits=how), key)]
    for text in data.draw(texts_of(sample)):
        said.append(user.respond(text))
        if said[-1].ended:
            break

    whole = " ".join(turn.text for turn in said)
    assert not any(secret in whole for secret in (*secrets, "86,420", "86420", str(SECRET.value)))
    brought_up = 0
    for turn in said:
        brought_up = max([brought_up, *(act["wish"] for act in turn.acts if "wish" in act)])
        assert brought_up >= 2 or "zebra" not in turn.text
        assert brought_up >= 1 or "kettle" not in turn.text


@in_both
@settings(max_examples=80)
@given(st.data(), traits, keys, st.integers(0, 11))
def test_a_snapshot_goes_on_the_same_way(sample, data, how, key, at):
    wishes = data.draw(wishes_of(sample))
    texts = data.draw(texts_of(sample).filter(bool))
    start = min(at, len(texts) - 1)
    user, twin = AgendaUser(sample.phrases), AgendaUser(sample.phrases)
    user.reset(sample.goal(*wishes, traits=how), key)
    for text in texts[:start]:
        user.respond(text)
    twin.restore(user.snapshot())

    assert [twin.respond(text) for text in texts[start:]] == [user.respond(text) for text in texts[start:]]
    assert twin.snapshot() == user.snapshot()


# -- the same everywhere ------------------------------------------------------------------------------------
PROCESS = """
import sys; sys.path.insert(0, {folder!r})
from samples import SAMPLES
from tool_envs.simulators.agenda import AgendaUser
sample = SAMPLES[{domain!r}]
user = AgendaUser(sample.phrases)
print(user.digest)
print(user.reset(sample.goal(*sample.wishes.values(), traits=("talkative", "insists")), 2**63 + 5))
for text in {texts!r}:
    print(user.respond(text))
"""


@pytest.mark.parametrize("domain", SAMPLES)
def test_every_process_says_the_same(domain):
    messages = SAMPLES[domain].messages
    texts = [case["message"] for case in messages["right"][:6]] + messages["refusals"]
    code = PROCESS.format(folder=str(Path(__file__).parent), domain=domain, texts=texts)

    def run(seed):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        return subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, check=True
        ).stdout

    assert run("1") == run("2") != b""


# -- golden conversations -----------------------------------------------------------------------------------
REFUSED = {"retail": ("not_pending", "not_available"), "booking": ("insurance_with_booking", "not_covered")}
"""Why a forbidden wish, and one that has a second choice, cannot be fulfilled."""


def conversation(domain, kind):
    """A whole conversation with a well-spoken agent, as text."""
    sample = SAMPLES[domain]
    wish, first = sample.wishes[kind], sample.phrases.introduction[0]
    voice = [AgentVoice(sample.phrases, 11, turn) for turn in range(6)]
    served = wish.otherwise or wish
    no = (
        [voice[2].refuse(wish.kind, REFUSED[domain][wish.otherwise is not None])]
        if wish.forbidden or wish.otherwise
        else []
    )
    deed = (
        [
            voice[3].propose(served.tool, served.accepted[0], sample.words),
            voice[4].report(served.tool, served.accepted[0], sample.words),
        ]
        if served.tool
        else []
    )
    told = [voice[3].tell(wish.fact)] if wish.fact else []
    user = AgendaUser(sample.phrases)
    turn = user.reset(sample.goal(wish), sorted(sample.wishes).index(kind))
    lines = [f"USER  {turn.text}"]
    for text in [voice[1].ask([first]), *no, *deed, *told]:
        turn = user.respond(text)
        lines += [f"AGENT {text}", f"USER  {turn.text}"]
    return "\n".join([*lines, "END" if turn.ended else "STILL THERE", ""])


@pytest.mark.parametrize(
    ("domain", "kind"), [(name, kind) for name in SAMPLES for kind in sorted(SAMPLES[name].wishes)]
)
def test_golden_conversation(domain, kind):
    golden = Path(__file__).parent / "golden" / domain / f"{kind}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.parent.mkdir(exist_ok=True, parents=True)
        golden.write_text(conversation(domain, kind), encoding="utf-8")

    assert conversation(domain, kind) == golden.read_text(encoding="utf-8")
    assert conversation(domain, kind).endswith("END\n")


@in_both
def test_all_that_is_known_is_said_when_asked(sample):
    asked = AgentVoice(sample.phrases, 1, 1).ask(sample.knows)

    assert all(
        value in sample.talk(sample.goal(sample.wishes["cancel"]), asked)[1].text
        for value in sample.knows.values()
    )
