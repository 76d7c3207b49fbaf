"""Customers of an airline: what they check in a proposal, what they answer, what they agree to as a whole."""

import msgspec
import pytest
from sample_bookings import (
    ADD_BAGS,
    BOOK,
    BOOKED,
    CANCEL,
    CARD,
    CHANGE_CABIN,
    CHANGE_FLIGHTS,
    COMPENSATION,
    FORBIDDEN,
    GIFT_CARD,
    HAT001,
    HAT002,
    HAT003,
    JANE,
    JOHN,
    LEXICON,
    PEOPLE,
    ROUND_TRIP,
    SECOND_CHOICE,
    WORDS,
    goal,
)
from samples import BOOKING

from tool_envs.simulators.agent_voice import AgentVoice
from tool_envs.simulators.booking_phrases import BOOKING_PHRASES
from tool_envs.simulators.human import HumanUser

ASKED = {"act": "wish", "kind": "cancel", "tool": "cancel_reservation", "wish": 0}


def talk(wanted, *messages):
    """The last turn of the user after these messages."""
    return BOOKING.talk(wanted, *messages)[1]


def acts(turn, act):
    return [each for each in turn.acts if each["act"] == act]


def agreed(turn):
    """The arguments of a yes."""
    (yes,) = acts(turn, "affirm")
    return yes["arguments"]


# -- a yes --------------------------------------------------------------------------------------------------
def test_a_yes_is_to_whole_objects():
    turn = talk(goal(ROUND_TRIP), "Shall I book HAT001 and HAT002 for Jane Roe?")

    assert agreed(turn)["flights"] == [HAT001, HAT002]
    assert agreed(turn)["passengers"] == [JANE]
    assert agreed(turn)["payment_methods"] == [{"payment_id": CARD, "amount": 410}]


def test_the_order_of_objects_makes_no_difference():
    turned = {**CHANGE_CABIN.accepted[0], "flights": [HAT002, HAT001], "payment_id": GIFT_CARD}
    wish = msgspec.structs.replace(CHANGE_CABIN, accepted=(*CHANGE_CABIN.accepted, turned))
    turn = talk(goal(wish), "Shall I change flight HAT001 of reservation K7QX2M to business?")

    assert agreed(turn)["flights"] == [HAT001, HAT002]


def test_what_a_proposal_leaves_open_is_added_in_words():
    turn = talk(goal(ROUND_TRIP), "Shall I book HAT001 on July 3 and HAT002 on July 8 for Jane Roe?")

    added = ("a round trip", "economy", "my Visa card", "no checked bags", "travel insurance, please")
    assert all(words in turn.text for words in added)
    assert "the earliest flights" not in turn.text


def test_a_part_of_a_list_is_completed_in_words():
    turn = talk(goal(ROUND_TRIP), "Shall I book HAT001 on July 3 and HAT002 for Jane Roe in economy?")

    assert "July 8 for the way back" in turn.text
    assert agreed(turn)["flights"] == [HAT001, HAT002]


def test_a_part_of_what_they_have_no_words_for_stands_for_the_whole():
    turn = talk(goal(CHANGE_CABIN), "Shall I change flight HAT001 of reservation K7QX2M to business?")

    assert agreed(turn)["flights"] == [HAT001, HAT002]


def test_the_flight_that_was_named_decides_what_is_paid():
    ask = "Shall I book {} for Jane Roe and John Roe?"
    cheap, dear = (agreed(talk(goal(BOOK), ask.format(number))) for number in ("HAT001", "HAT003"))

    assert (cheap["flights"], cheap["payment_methods"][1]["amount"]) == ([HAT001], 250)
    assert (dear["flights"], dear["payment_methods"][1]["amount"]) == ([HAT003], 260)


def test_sums_in_a_proposal_are_no_concern_of_theirs():
    message = (
        "HAT001 costs $999 for each. Shall I book HAT001 on July 3 for Jane Roe and John Roe, $1,998 in all?"
    )

    assert agreed(talk(goal(BOOK), message))["flights"] == [HAT001]


# -- a no ---------------------------------------------------------------------------------------------------
def test_two_mistakes_in_one_argument_are_corrected_by_one_act():
    message = "Shall I change reservation K7QX2M to HAT006 on July 8?"
    turn = talk(goal(CHANGE_FLIGHTS), message)

    (act,) = acts(turn, "correct")
    assert (act["slot"], act["value"]) == ("flights", CHANGE_FLIGHTS.accepted[0]["flights"])
    assert "the latest flight" in turn.text
    assert "July 4" in turn.text


def test_a_correction_of_one_with_alternatives_is_in_their_words():
    turn = talk(goal(BOOK), "Shall I book HAT007 on July 3?")

    assert acts(turn, "correct") == [{"act": "correct", "slot": "flights", "value": "the cheapest flight"}]


def test_another_compensation_than_is_due_is_turned_down():
    turn = talk(goal(COMPENSATION), "Shall I send you a certificate of $50?")

    assert acts(turn, "deny")
    assert acts(turn, "wish")


@pytest.mark.parametrize(
    ("more", "right"),
    [
        ("so that you have 3 checked bags", True),
        ("for a total of 3", True),
        ("which makes 3 in all, 1 of them paid", True),
        ("total bags: 3, non-free bags: 1", True),
        ("so that you have 4 checked bags", False),
        ("for a total of 2", False),
        ("which makes three in all, 2 of them paid", False),
        ("total bags: 3, non-free bags: 2", False),
    ],
)
def test_bags_are_counted_as_a_whole(more, right):
    turn = talk(goal(ADD_BAGS), f"Shall I add 2 checked bags to reservation K7QX2M, {more}?")

    assert bool(acts(turn, "affirm")) == right, turn.text


def test_a_changed_mind_wants_the_other_flight():
    voice = AgentVoice(BOOKING_PHRASES, 5, 2)
    first, second = (voice.propose(BOOK.tool, each, WORDS) for each in BOOK.accepted)
    user, turn = BOOKING.talk(goal(BOOK, traits=("changes_mind",)), first)

    assert acts(turn, "correct") == [{"act": "correct", "slot": "flights", "value": [HAT003]}]
    assert "HAT003" in turn.text
    assert acts(user.respond(first), "deny")
    assert agreed(user.respond(second)) == {k: v for k, v in BOOK.accepted[1].items() if k != "user_id"}


def test_who_is_told_no_takes_the_second_choice():
    no = "I am sorry, but reservation K7QX2M cannot be cancelled."
    turn = talk(
        goal(SECOND_CHOICE), f"{no} I can add 2 checked bags, for a total of 3, on your gift card. Shall I?"
    )

    assert acts(turn, "affirm")
    assert acts(talk(goal(SECOND_CHOICE), no), "wish")[0]["kind"] == "add_bags"


# -- what they tell -----------------------------------------------------------------------------------------
def test_an_opening_tells_arguments_whole_and_parts_where_not_all_is_said():
    (wish,) = talk(goal(ROUND_TRIP)).acts

    assert wish["told"]["flights"] == [HAT001, HAT002]
    assert wish["told"]["passengers"] == [JANE]
    assert wish["told"]["insurance"] == "yes"
    dated = msgspec.structs.replace(ROUND_TRIP, words={"date": "July 3 and July 8"})
    assert talk(goal(dated)).acts[0]["told"] == {"date": ["2025-07-03", "2025-07-08"]}


def test_an_opening_tells_of_alternatives_what_they_share():
    (wish,) = talk(goal(BOOK)).acts

    assert wish["told"]["flights"] == "the cheapest flight"
    assert wish["told"]["date"] == ["2025-07-03"]
    assert wish["told"]["payment_id"] == [GIFT_CARD, CARD]
    assert "payment_methods" not in wish["told"]


def test_an_opening_tells_what_its_words_mean():
    (wish,) = talk(goal(CANCEL)).acts

    assert wish == {**ASKED, "told": {"reservation_id": "K7QX2M", "reason": "health"}}


@pytest.mark.parametrize(
    ("wish", "slot", "words", "told"),
    [
        (BOOK, "origin", "New York (JFK)", {"origin": "JFK"}),
        (BOOK, "destination", "Seattle (SEA)", {"destination": "SEA"}),
        (BOOK, "trip_type", "one way", {"flight_type": "one_way"}),
        (BOOK, "date", "July 3", {"date": ["2025-07-03"]}),
        (BOOK, "flights", "the cheapest flight", {"flight_number": "the cheapest flight"}),
        (BOOK, "cabin", "economy", {"cabin": "economy"}),
        (
            BOOK,
            "passengers",
            "John Roe, born July 3, 1988",
            {
                "first_name": ["Jane", "John"],
                "last_name": ["Roe", "Roe"],
                "dob": ["1990-05-12", "1988-07-03"],
            },
        ),
        (BOOK, "payment_method", "my gift card first", {"payment_id": [GIFT_CARD, CARD]}),
        (BOOK, "baggage", "2 checked bags", {"total_baggages": 2, "nonfree_baggages": 1}),
        (BOOK, "insurance", "no travel insurance", {"insurance": "no"}),
        (CANCEL, "reservation_id", "K7QX2M", {"reservation_id": "K7QX2M"}),
        (CANCEL, "reason", "I am ill", {"reason": "health"}),
        (FORBIDDEN, "reservation_id", "P3LT8B", {"reservation_id": "P3LT8B"}),
    ],
)
def test_what_is_asked_is_answered(wish, slot, words, told):
    turn = talk(goal(wish), AgentVoice(BOOKING_PHRASES, 1, 1).ask([slot]))

    assert words in turn.text
    assert {act["slot"]: act["value"] for act in acts(turn, "inform")} == told
    assert all(act["wish"] == 0 for act in turn.acts)


def test_dates_of_birth_are_told_of_all_who_fly():
    turn = talk(goal(BOOK), "Could you please tell me the dates of birth?")

    assert "John Roe, born July 3, 1988" in turn.text
    assert {"act": "inform", "slot": "dob", "value": "May 12, 1990"} in turn.acts


def test_a_date_of_birth_alone_is_their_own_when_nobody_else_is_spoken_of():
    turn = talk(goal(CANCEL), "Could you please tell me your date of birth?")

    assert turn.acts == ({"act": "inform", "slot": "dob", "value": "May 12, 1990"},)


@pytest.mark.parametrize(
    "message",
    [
        "I cannot do anything before your identity is verified.",
        "I am not able to help you without your user ID.",
    ],
)
def test_who_is_asked_who_they_are_tells_their_user_id(message):
    assert "jane_roe_1234" in talk(goal(CANCEL), message).text


# -- limits of agents ---------------------------------------------------------------------------------------
def test_a_large_booking_is_proposed_briefly():
    days = ("03", "04", "10", "11")
    arguments = {
        **BOOKED,
        "flight_type": "round_trip",
        "flights": [{"flight_number": f"HAT00{k}", "date": f"2025-07-{day}"} for k, day in enumerate(days)],
        "passengers": list(PEOPLE[1:4]),
        "payment_methods": [{"payment_id": f"gift_card_{k}111111", "amount": 1111} for k in range(5)],
    }
    voices = [AgentVoice(BOOKING_PHRASES, key, 0, brief=True) for key in range(20)]

    assert max(len(voice.propose(BOOK.tool, arguments)) for voice in voices) <= 560


@pytest.mark.parametrize("brief", [False, True])
def test_the_largest_booking_is_understood(brief):
    people = list(PEOPLE)
    payments = [{"payment_id": value.value, "amount": 1000} for value in LEXICON["payment_id"]]
    wanted = {**BOOKED, "passengers": people, "payment_methods": payments}
    wish = msgspec.structs.replace(BOOK, accepted=(wanted,))
    texts = [
        AgentVoice(BOOKING_PHRASES, key, 0, brief).propose(BOOK.tool, wanted, WORDS) for key in range(20)
    ]

    assert max(map(len, texts)) > 400
    assert all(agreed(talk(goal(wish), text))["passengers"] == people for text in texts)


# -- a human ------------------------------------------------------------------------------------------------
def answer(line, message, *wishes):
    lines = iter(["Hello.", line])
    user = HumanUser(BOOKING_PHRASES, lambda _: next(lines), lambda _: None)
    user.reset(goal(*wishes), 1)
    return user.respond(message).acts


def test_the_yes_of_a_human_is_to_objects_that_are_right():
    proposal = "Shall I book HAT001 on July 3 for Jane Roe and John Roe, paid with gift card and Visa?"
    (act,) = answer("yes", proposal, BOOK)

    assert act["arguments"]["flights"] == [HAT001]
    assert act["arguments"]["passengers"] == [JANE, JOHN]


def test_the_yes_of_a_human_to_other_objects_leaves_them_open():
    (act,) = answer("yes", "Shall I book HAT007 on July 3 in economy?", BOOK)

    assert act["arguments"] == {"cabin": "economy"}


def test_the_yes_of_a_human_to_what_is_in_several_leaves_it_open():
    (act,) = answer("yes", "Shall I book a flight on July 3 in economy?", BOOK)

    assert act["arguments"] == {"cabin": "economy"}


def test_the_no_of_a_human_may_name_objects():
    assert answer("No, HAT003 please", "Shall I book HAT007 on July 3?", BOOK)[1] == {
        "act": "correct",
        "slot": "flights",
        "value": [HAT003],
    }
