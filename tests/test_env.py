"""The turn loop, on the toy domain."""

import asyncio
import copy
import dataclasses
import json
import pickle

import gymnasium
import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule
from toy_domain import MAX_LOANS, TABLES, TASKS, DeskEnv, load

from tool_envs.actions import parse_action
from tool_envs.env import ToolEnv
from tool_envs.errors import EpisodeEndedError, InfrastructureError, UnknownNameError, UsageError
from tool_envs.messages import ToolCall
from tool_envs.simulators import AwaitedUser, Turn

THINK = {"name": "think", "arguments": {}}
CLOSE = {"name": "close_desk", "arguments": {}}
LEND = {"name": "lend", "arguments": {"member_id": "M2", "book_id": "B1", "days": 7}}


def say(text):
    return {"name": "respond", "arguments": {"content": text}}


def desk(task_id="lend-emma", turns=None, **kwargs):
    env = DeskEnv(**kwargs)
    options = {"task_id": task_id} | ({} if turns is None else {"user_turns": turns})
    env.reset(seed=0, options=options)
    return env


def solve(env):
    """The task's own calls, then its facts, then nods until the end; returns the last step."""
    for call in env.task.actions:
        env.step({"name": call.name, "arguments": call.arguments})
    step = env.step("; ".join(["Done.", *env.task.facts]))
    while not step[2]:
        step = env.step("You are welcome.")
    return step


# --- Reset


def test_a_task_is_chosen_by_id_or_index():
    env = DeskEnv()
    _, by_id = env.reset(options={"task_id": "swap"})
    _, by_index = env.reset(options={"task_index": np.int64(1)})

    assert by_id == by_index
    assert by_id["task_id"] == "swap"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task": "swap"}, "Unknown option of reset 'task'. Did you mean: `task_id`?"),
        ({"task_id": "swop"}, "Unknown task id 'swop'. Did you mean: `swap`?"),
        ({"task_id": ["swap"]}, "`task_id` is a string"),
        ({"task_index": 4}, "Unknown task index 4. Known: 0 to 3."),
        ({"task_index": -1}, "Unknown task index -1"),
        ({"task_index": 1.0}, "`task_index` is an int"),
        ({"task_index": "1"}, "`task_index` is an int"),
        ({"task_index": 1, "task_id": "swap"}, "not by both"),
        ({"user_turns": "Hello."}, "list of strings"),
    ],
)
def test_a_wrong_option_is_the_callers_mistake(options, message):
    with pytest.raises(UsageError, match=message):
        DeskEnv().reset(options=options)


@pytest.mark.parametrize(
    ("kwargs", "error", "message"),
    [
        ({"user": "scriptd"}, UnknownNameError, "Did you mean: `scripted`?"),
        ({"render_mode": "human"}, UnknownNameError, "Known: None, ansi"),
        ({"parallel_calls": "ignore"}, UnknownNameError, "Known: run, refuse"),
        ({"max_steps": 0}, UsageError, "at least 1, not 0"),
        ({"max_steps": "9"}, UsageError, "not '9'"),
    ],
)
def test_a_wrong_argument_is_the_callers_mistake(kwargs, error, message):
    with pytest.raises(error, match=message):
        DeskEnv(**kwargs)


def test_tasks_are_drawn_from_all():
    env = DeskEnv()
    env.reset(seed=0)

    assert {env.reset()[1]["task_id"] for _ in range(60)} == {task.id for task in TASKS}


def test_episodes_are_numbered_from_the_seeded_reset():
    env = DeskEnv()
    env.reset(seed=0)
    numbers = [env.reset() and env.episode.number for _ in range(3)]
    env.reset(seed=0)

    assert (numbers, env.episode.number) == ([1, 2, 3], 0)


def test_the_task_of_an_episode_does_not_depend_on_how_others_were_chosen():
    free, told = DeskEnv(), DeskEnv()
    free.reset(seed=5)
    told.reset(seed=5, options={"task_id": "swap"})

    assert free.reset() == told.reset()


def test_seeds_differ():
    env = DeskEnv()
    drawn = ["".join(env.reset(seed=s)[1]["task_id"] for s in range(n, n + 8)) for n in range(0, 64, 8)]

    assert len(set(drawn)) == 8


def test_the_callers_options_are_not_kept():
    env = DeskEnv()
    turns = ["One.", "Two."]
    env.reset(options={"user_turns": turns})
    moment = env.snapshot()
    turns[1] = "Changed."
    env.restore(moment)

    assert env.step("Hm?")[0]["content"] == "Two."


# --- The end and the reward


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_a_solved_task_gives_one(task):
    _, reward, terminated, truncated, info = solve(desk(task.id))

    assert (reward, terminated, truncated) == (1.0, True, False)
    assert info["outcome"]["ledger"]["components"] == {"data": 1.0, "told": 1.0}
    assert info["outcome"]["ended_by"] == "user"


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_doing_nothing_gives_zero(task):
    _, reward, terminated, _, info = desk(task.id).step(CLOSE)

    assert (reward, terminated) == (0.0, True)
    assert info["outcome"]["ended_by"] == "agent"


def test_a_fact_counts_only_when_it_was_said():
    env = desk("where", turns=["Where is Dune?"])
    env.step({"name": "get_book", "arguments": {"book_id": "B3"}})
    env.step({"role": "assistant", "content": "Cellar-7", "tool_calls": [THINK]})
    _, reward, _, _, info = env.step("<think>Cellar-7</think>It is in the cellar.")

    assert reward == 0.0
    assert info["outcome"]["ledger"]["components"] == {"data": 1.0, "told": 0.0}


def test_an_end_tool_that_is_refused_ends_nothing():
    env = desk()
    _, _, terminated, _, info = env.step({"name": "close_desk", "arguments": {"now": True}})

    assert (terminated, info["error_code"]) == (False, "invalid_arguments")


def test_the_limit_truncates_even_a_solved_task():
    env = desk(max_steps=2)
    env.step({"name": "find_member", "arguments": {"email": "bob@example.org"}})
    _, reward, terminated, truncated, info = env.step(LEND)

    assert (reward, terminated, truncated) == (0.0, False, True)
    assert info["outcome"] == {
        "status": "truncated",
        "reward": 0.0,
        "ledger": {
            "terminal": 0.0,
            "process": None,
            "rubric": None,
            "components": {},
            "format": None,
            "terminal_source": "rules",
            "process_source": None,
            "rubric_source": None,
        },
        "ended_by": "limit",
        "steps": 2,
        "violations": [],
        "not_understood": 0,
    }


def test_an_end_in_the_last_step_is_an_end():
    _, _, terminated, truncated, _ = desk(max_steps=1).step(CLOSE)

    assert (terminated, truncated) == (True, False)


def test_a_user_who_hangs_up_at_once_can_still_be_spoken_to():
    env = desk(turns=[])
    observation, _, terminated, _, _ = env.step("Hello?")

    assert (observation["content"], terminated) == ("", True)


# --- Messages


def test_a_spoken_message_and_its_answer():
    env = desk(turns=["Hi.", "Yes."])
    observation, _, _, _, info = env.step(say("Really?"))

    assert observation == {"role": "user", "name": "user", "content": "Yes."}
    assert info["messages"] == [
        {"role": "assistant", "content": "Really?"},
        {"role": "user", "content": "Yes."},
    ]


WITH_ID = {"id": "c1", **say("Really?")}
SPEECH = ["Really?", WITH_ID, [WITH_ID], {"role": "assistant", "content": None, "tool_calls": [WITH_ID]}]


@pytest.mark.parametrize("action", SPEECH)
def test_speech_looks_the_same_in_every_form(action):
    env = desk(turns=["Hi.", "Yes."])
    _, _, _, _, info = env.step(action)

    spoken, answer = info["messages"]
    assert spoken == {"role": "assistant", "content": "Really?"}
    assert answer == {"role": "user", "content": "Yes."}


def test_a_call_and_its_answer():
    env = desk()
    observation, _, _, _, info = env.step({"id": "c1", "type": "function", "function": LEND})

    assert observation == {"role": "tool", "name": "lend", "content": '"L2"'}
    call, answer = info["messages"]
    assert call["content"] is None
    assert [c["id"] for c in call["tool_calls"]] == ["c1"]
    assert json.loads(call["tool_calls"][0]["function"]["arguments"]) == LEND["arguments"]
    assert answer == {"role": "tool", "name": "lend", "content": '"L2"', "tool_call_id": "c1"}


def test_several_calls_are_answered_by_id_and_the_user_among_them():
    env = desk(turns=["Hi.", "Yes."])
    observation, _, _, _, info = env.step([THINK, say("Really?"), {"id": "mine", **THINK}])

    ids = [call["id"] for call in info["messages"][0]["tool_calls"]]
    assert ids[2] == "mine"
    assert [m["tool_call_id"] for m in info["messages"][1:]] == ids
    assert [m["content"] for m in info["messages"][1:]] == ["null", "Yes.", "null"]
    assert observation["name"] == "think"
    assert env.episode.said == ["Really?"]


def test_ids_never_stand_twice():
    env = desk(parallel_calls="refuse", max_steps=30)
    for action in (THINK, [THINK, THINK, THINK], THINK, "{", THINK):
        env.step(action)

    ids = [call["id"] for message in env.messages for call in message.get("tool_calls", ())]
    assert len(set(ids)) == len(ids) == 6


def test_an_end_tool_in_the_middle_stops_the_rest():
    env = desk()
    observation, _, terminated, _, info = env.step([THINK, CLOSE, LEND])

    assert terminated
    assert observation["name"] == "close_desk"
    assert "not_run" in info["messages"][-1]["content"]
    assert info["error_code"] is None
    assert env.episode.steps == 2
    assert not env.episode.database.changed


def test_a_user_who_hangs_up_in_the_middle_stops_the_rest():
    env = desk(turns=["Hi."])
    _, _, terminated, _, info = env.step([say("Bye."), LEND])

    assert terminated
    assert info["outcome"]["ended_by"] == "user"
    assert "not_run" in info["messages"][-1]["content"]


def test_the_limit_in_the_middle_stops_the_rest():
    env = desk(max_steps=2)
    _, _, terminated, truncated, info = env.step([THINK, THINK, LEND])

    assert (terminated, truncated, env.episode.steps) == (False, True, 2)
    assert "not_run" in info["messages"][-1]["content"]
    assert not env.episode.database.changed


def test_a_broken_call_among_several_runs_none_of_them():
    env = desk()
    _, _, _, _, info = env.step([LEND, "Hello."])

    assert info["error_code"] == "malformed_call"
    assert not env.episode.database.changed


def test_text_beside_a_call_is_shown_but_not_said():
    env = desk()
    _, _, _, _, info = env.step(f"I lend it.\n{json.dumps(LEND)}")

    assert info["messages"][0]["content"] == "I lend it."
    assert env.episode.said == []


def test_speech_with_text_beside_it_is_a_call():
    env = desk(turns=["Hi.", "Yes."])
    _, _, _, _, info = env.step({"role": "assistant", "content": "I ask.", "tool_calls": [say("Really?")]})

    assert info["messages"][0]["content"] == "I ask."
    assert info["messages"][1]["tool_call_id"] == info["messages"][0]["tool_calls"][0]["id"]
    assert env.episode.said == ["Really?"]


def test_thought_is_kept_for_the_record_alone():
    env = desk(render_mode="ansi")
    env.step("<think>They look poor.</think>Hello.")

    assert env.episode.said == ["Hello."]
    assert env.episode.history[1].thought == "They look poor."
    assert "poor" not in json.dumps(env.messages) + env.render()


def test_the_record_replays():
    env = desk(max_steps=30)
    calls = [THINK, {"id": "x", **LEND}]
    for action in (b"\xff", "{", calls, f"<think>a</think>{json.dumps(THINK)}", {"a": float("nan")}):
        env.step(action)
    records = [m.action for m in env.episode.history if m.role == "assistant"]
    again = desk(max_steps=30)
    for action in json.loads(json.dumps(records)):
        again.step(action)

    assert again.messages == env.messages
    assert again.data_digest() == env.data_digest()


def test_messages_are_fresh():
    env = desk()
    env.step(LEND)
    env.messages[1]["tool_calls"][0]["function"]["name"] = "changed"
    env.messages.clear()

    assert env.messages[1]["tool_calls"][0]["function"]["name"] == "lend"


def test_the_conversation_as_text():
    env = desk(turns=["Hi."], render_mode="ansi")
    env.step([THINK, say("Well?")])

    assert env.render() == ("user: Hi.\nagent: think({}) respond({'content': 'Well?'})\nthink: null\nuser: ")


def test_the_space_and_the_reader_agree():
    env = desk()
    env.action_space.seed(0)
    for _ in range(50):
        call = env.action_space.sample()
        assert parse_action(call).calls == (ToolCall(call["name"], call["arguments"]),)


# --- Failures from outside


def test_a_user_who_cannot_be_reached_at_reset():
    env = DeskEnv(user="dead_line")
    with pytest.raises(InfrastructureError, match="The line is dead"):
        env.reset(seed=0, options={"fails_at": 0})

    assert (env.outcome.status, env.outcome.reward) == ("infrastructure", None)
    with pytest.raises(EpisodeEndedError):
        env.step(THINK)
    env.reset(options={"fails_at": 2})
    env.step(THINK)


def test_a_user_who_cannot_be_reached_later():
    env = DeskEnv(user="dead_line")
    env.reset(seed=0, options={"fails_at": 2})
    env.step("Hello?")
    env.step(LEND)
    with pytest.raises(InfrastructureError):
        env.step("Hello?")

    assert (env.outcome.reward, env.outcome.ledger.terminal) == (None, None)
    assert env.outcome.ended_by == "InfrastructureError"
    assert env.outcome.steps == 3
    with pytest.raises(EpisodeEndedError):
        env.step(THINK)


def test_a_failed_episode_counts_as_one():
    env = DeskEnv(user="dead_line")
    with pytest.raises(InfrastructureError):
        env.reset(seed=0, options={"fails_at": 0})
    env.reset()

    assert env.episode.number == 1


def unreachable(*_args, **_kwargs):
    raise InfrastructureError("The machine is down.")


def with_domain(**changes):
    """The desk with another part, as a domain would have it whose parts live on other machines."""
    env = DeskEnv()
    env.domain = dataclasses.replace(env.domain, **changes)
    return env


def test_a_user_who_cannot_be_made_leaves_no_episode():
    env = with_domain(simulators={"scripted": unreachable})
    with pytest.raises(InfrastructureError):
        env.reset(seed=0)

    with pytest.raises(EpisodeEndedError):
        env.step(THINK)


def test_a_tool_that_cannot_be_reached_ends_the_episode_without_a_reward():
    toolkit = copy.copy(load().toolkit)
    toolkit.functions = toolkit.functions | {"think": unreachable}
    env = with_domain(toolkit=toolkit)
    env.reset(seed=0)
    with pytest.raises(InfrastructureError):
        env.step(THINK)

    assert (env.outcome.status, env.outcome.reward) == ("infrastructure", None)


def test_a_grader_that_cannot_be_reached_gives_no_reward():
    env = with_domain(grade=unreachable)
    env.reset(seed=0)
    with pytest.raises(InfrastructureError):
        env.step({"name": "close_desk", "arguments": {}})

    assert (env.outcome.status, env.outcome.reward) == ("infrastructure", None)


# --- Before, after, and copies


def test_there_is_nothing_before_the_first_reset():
    env = gymnasium.make("tool_envs_tests/Desk-v0").unwrapped
    uses = [lambda: env.messages, lambda: env.task, env.data_digest, env.snapshot, lambda: env.step(THINK)]
    for use in uses:
        with pytest.raises(EpisodeEndedError, match="Call `reset`"):
            use()


def test_later_steps_do_not_change_a_snapshot():
    env = desk(turns=["Hi.", "Yes.", "No.", "Bye."])
    env.step([say("One."), LEND])
    moment, before = env.snapshot(), (env.messages, ["One."], env.data_digest())
    for _ in range(2):
        env.step([say("Two."), {"name": "take_back", "arguments": {"loan_id": "L2"}}])
        env.restore(moment)

        assert (env.messages, env.episode.said, env.data_digest()) == before


def test_a_snapshot_of_an_ended_episode_is_ended():
    env = desk()
    env.step(CLOSE)
    other = DeskEnv()
    other.restore(env.snapshot())

    assert other.outcome == env.outcome
    with pytest.raises(EpisodeEndedError):
        other.step(THINK)


def pickled(env):
    return pickle.loads(pickle.dumps(env))  # noqa: S301 - made here


@pytest.mark.parametrize("copied", [copy.deepcopy, pickled])
def test_a_copy_carries_everything(copied):
    env = desk(turns=["Hi.", "Yes.", "Bye."], max_steps=9)
    env.step([LEND, say("<think>x</think>Here.")])
    other = copied(env)

    assert other.messages == env.messages
    assert other.episode.said == env.episode.said == ["Here."]
    assert other.data_digest() == env.data_digest()
    assert other.step("So?") == env.step("So?")
    assert other.reset() == env.reset()


def test_an_unstarted_environment_can_be_copied():
    assert pickled(DeskEnv()).reset(seed=3) == DeskEnv().reset(seed=3)


# --- Any calls, against a plain dict

MEMBER, BOOK, LOAN = (st.sampled_from([f"{c}{n}" for n in range(1, 5)]) for c in "MBL")


class DeskAgainstDict(RuleBasedStateMachine):
    """The desk's law, written once more on a dict that is copied whole."""

    moments = Bundle("moments")

    def __init__(self):
        super().__init__()
        self.env = DeskEnv(max_steps=10_000)
        self.env.reset(seed=0)
        self.tables = copy.deepcopy(TABLES)

    def call(self, name, expected, **arguments):
        observation, _, _, _, info = self.env.step({"name": name, "arguments": arguments})
        if isinstance(expected, type(Ellipsis)):
            assert info["error_code"]
        else:
            assert (info["error_code"], json.loads(observation["content"])) == (None, expected)

    @rule(member=MEMBER, book=BOOK, days=st.sampled_from([7, 14, 15]))
    def lend(self, member, book, days):
        members, books, loans = (self.tables[name] for name in ("members", "books", "loans"))
        fine = days != 15 and member in members and book in books and not books[book]["lent"]
        if not fine or len(members[member]["loans"]) >= MAX_LOANS:
            self.call("lend", ..., member_id=member, book_id=book, days=days)
            return
        loan = f"L{len(loans) + 1}"
        loans[loan] = {"book_id": book, "member_id": member, "days": days}
        books[book]["lent"] = True
        members[member]["loans"].append(loan)
        self.call("lend", loan, member_id=member, book_id=book, days=days)

    @rule(loan=LOAN)
    def take_back(self, loan):
        record = self.tables["loans"].get(loan)
        if record is None or record["days"] == 0:
            self.call("take_back", ..., loan_id=loan)
            return
        self.call("take_back", record, loan_id=loan)
        record["days"] = 0
        self.tables["books"][record["book_id"]]["lent"] = False
        self.tables["members"][record["member_id"]]["loans"].remove(loan)

    @rule(book=BOOK)
    def get_book(self, book):
        self.call("get_book", self.tables["books"].get(book, ...), book_id=book)

    @rule(target=moments)
    def snapshot(self):
        return self.env.snapshot(), copy.deepcopy(self.tables)

    @rule(moment=moments, elsewhere=st.booleans())
    def restore(self, moment, elsewhere):
        if elsewhere:
            self.env = DeskEnv(max_steps=10_000)
        self.env.restore(moment[0])
        self.tables = copy.deepcopy(moment[1])

    @rule()
    def go_through_a_pickle(self):
        self.env = pickled(self.env)

    @rule(seed=st.none() | st.integers(0, 3))
    def reset(self, seed):
        self.env.reset(seed=seed)
        self.tables = copy.deepcopy(TABLES)

    @invariant()
    def the_data_is_as_it_should_be(self):
        assert {name: dict(self.env.episode.database.items(name)) for name in TABLES} == self.tables


TestDeskAgainstDict = DeskAgainstDict.TestCase


# --- Users who are awaited


class FarUser(AwaitedUser):
    """Answers when it is let: each question puts a future in `asked`."""

    name, version, digest, not_understood = "far", "1.0.0", "", 0

    def __init__(self, asked):
        self.asked, self.said = asked, []

    async def areset(self, goal, key):  # noqa: ARG002 - the interface of a user
        return await self.arespond("")

    async def arespond(self, agent_text):
        if self.asked is not None:
            self.asked.append(asyncio.get_running_loop().create_future())
            await self.asked[-1]
        self.said.append(agent_text)
        return Turn(f"{len(self.said)}: {agent_text}", ended=agent_text == "bye")

    def snapshot(self):
        return list(self.said)

    def restore(self, snapshot):
        self.said = list(snapshot)


def far_env(asked=None):
    domain = dataclasses.replace(load(), simulators={"far": lambda *_: FarUser(asked)})
    return ToolEnv(domain, user="far")


TALK = [say("hello"), {"name": "unknown", "arguments": {}}, "<broken", [say("a"), say("b")], say("bye")]


def test_awaited_and_waited_for_users_make_the_same_episode():
    async def awaited():
        env = far_env()
        return [await env.areset(seed=3), *[await env.astep(action) for action in TALK]], env.messages

    env = far_env()
    waited = [env.reset(seed=3), *[env.step(action) for action in TALK]]
    assert asyncio.run(awaited()) == (waited, env.messages)
    assert waited[-1][2] is True


def test_many_episodes_wait_for_their_users_at_once():
    async def play():
        asked = []
        envs = [far_env(asked) for _ in range(50)]
        starts = [asyncio.ensure_future(env.areset(seed=0)) for env in envs]
        await asyncio.sleep(0)
        assert len(asked) == 50
        for future in reversed(asked):
            future.set_result(None)
        return await asyncio.gather(*starts)

    assert {start[0]["content"] for start in asyncio.run(play())} == {"1: "}


def test_a_cancelled_step_ends_its_episode_without_a_reward():
    async def play():
        asked = []
        env = far_env(asked)
        start = asyncio.ensure_future(env.areset(seed=0))
        await asyncio.sleep(0)
        asked.pop().set_result(None)
        await start
        step = asyncio.ensure_future(env.astep(say("hello")))
        await asyncio.sleep(0)
        with pytest.raises(UsageError, match="still awaits"):
            await env.astep(say("again"))
        step.cancel()
        with pytest.raises(asyncio.CancelledError):
            await step
        return env

    env = asyncio.run(play())
    assert (env.outcome.status, env.outcome.reward) == ("infrastructure", None)
    with pytest.raises(EpisodeEndedError):
        env.step(say("hello"))


def test_a_blocking_step_inside_of_an_event_loop_says_what_to_call():
    async def play():
        env = far_env()
        await env.areset(seed=0)
        env.step(say("hello"))

    with pytest.raises(UsageError, match="await `areset` and `astep`"):
        asyncio.run(play())


def test_an_episode_can_be_truncated_for_a_reason_of_its_caller():
    env = far_env()
    env.reset(seed=0)
    outcome = env.truncate("context")
    assert (outcome.status, outcome.reward, outcome.ended_by) == ("truncated", 0.0, "context")
    assert env.outcome is outcome
    with pytest.raises(EpisodeEndedError):
        env.truncate("again")


@pytest.mark.parametrize("cut", ["I will", '<tool_call>{"name"', {"name": "lend", "arguments": {}}])
def test_what_was_cut_of_an_action_is_the_last_message_and_not_carried_out(cut):
    env = far_env()
    env.reset(seed=0)
    env.truncate("length", cut)
    last = env.episode.history[-1]
    assert (last.role, last.action, last.content, last.tool_calls) == ("assistant", cut, "", ())
    assert env.messages[-1] == {
        "role": "assistant",
        "content": cut if isinstance(cut, str) else json.dumps(cut),
    }
    assert (env.outcome.steps, env.episode.said) == (0, [])


def test_an_episode_fails_for_what_failed_outside_of_it_and_has_no_reward():
    env = far_env()
    env.reset(seed=0)
    env.fail(InfrastructureError("the policy's server is down"))
    outcome = env.fail(TimeoutError())
    assert (outcome.status, outcome.reward, outcome.ended_by) == ("infrastructure", None, "TimeoutError")
    assert env.outcome is outcome


def test_an_episode_that_ended_by_itself_does_not_fail_afterwards():
    env = far_env()
    env.reset(seed=0)
    env.step(say("bye"))
    with pytest.raises(EpisodeEndedError):
        env.fail(InfrastructureError("too late"))
