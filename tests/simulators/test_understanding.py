"""What a simulated user understands of an agent: scores on real messages, examples, any text at all."""

import json
from itertools import chain, repeat

import pytest
from effort import effort
from hypothesis import given
from hypothesis import strategies as st

from tool_envs.simulators import understand
from tool_envs.simulators.booking_language import BOOKING
from tool_envs.simulators.goal import Value
from tool_envs.simulators.retail_language import RETAIL
from tool_envs.simulators.understanding import read

FLAGS = ("asks_confirmation", "informs", "denies", "closes")
HELD_OUT_STEP, HELD_OUT_OFFSET = 3, 2
"""Held out are the messages 2, 5, 8 ...: no pattern was written or changed with them in sight."""

LEXICON = {
    "order_id": (Value("#W1234567", ("my last order",)), Value("#W7654321")),
    "item_ids": (Value("1234567890", ("desk lamp", "lamp")),),
    "new_item_ids": (Value("2222222222", ("black desk lamp",)),),
    "payment_method_id": (
        Value("paypal_1111111", ("paypal account", "paypal")),
        Value("credit_card_2222222", ("visa",)),
    ),
    "address1": (Value("12 Austin Street", ("12 austin street",)),),
    "city": (Value("Austin", ("austin",)),),
}


def is_held_out(index):
    return index % HELD_OUT_STEP == HELD_OUT_OFFSET


@pytest.fixture(scope="module")
def labelled(tau_bench_path):
    path = tau_bench_path / "golden" / "agent_acts.json"
    if not path.is_file():
        pytest.skip(f"no labelled messages at {path}")
    return json.loads(path.read_text())["messages"]


def understood(message):
    return understand(message["content"], RETAIL if message["domain"] == "retail" else BOOKING)


def f1(pairs):
    """Micro-averaged over pairs of sets: those found, those that are right."""
    pairs = list(pairs)
    right = sum(len(found & wanted) for found, wanted in pairs)
    return 2 * right / max(1, sum(len(found) + len(wanted) for found, wanted in pairs))


def scores(messages):
    """F1 of every label."""
    acts = [(understood(message), message) for message in messages]
    flags = {
        flag: f1(({1} if a[flag] else set(), {1} if b[flag] else set()) for a, b in acts) for flag in FLAGS
    }
    return {**flags, "requests": f1((set(a["requests"]), set(b["requests"])) for a, b in acts)}


@pytest.mark.parametrize("part", ["tuned", "held out"])
def test_real_messages_are_understood(labelled, part):
    messages = [m for i, m in enumerate(labelled) if is_held_out(i) == (part == "held out")]

    figures = scores(messages)

    print(part, len(messages), {label: round(score, 3) for label, score in figures.items()})
    assert figures["asks_confirmation"] >= 0.85
    assert figures["requests"] >= 0.75
    assert min(figures["denies"], figures["closes"]) >= 0.7
    assert figures["informs"] >= 0.7


def test_keys_are_those_of_the_labels():
    acts = understand("Hello!", RETAIL)

    assert set(acts) == {"asks_confirmation", "requests", "informs", "denies", "transfers", "closes"}


@pytest.mark.parametrize(
    "text",
    [
        "Shall I go ahead?",
        "Do you want me to cancel order #W1234567?",
        "Would you like to proceed with the return, or is there anything else I can help with?",
        "I will cancel the order. Is that okay?",
        "You'd like to return the kettle, right?",
        "I can transfer you to a human agent. Would you like me to do that?",
        "Please confirm the following details:\n- Order: #W1234567\n- Reason: no longer needed",
        "Please let me know if you'd like to proceed with the exchange.",
        "Reply 'yes' and I will start the return.",
        "Once you confirm, I'll update the address.",
        "**Would you like me to proceed with this change?**",
    ],
)
def test_asks_for_a_yes(text):
    assert understand(text, RETAIL)["asks_confirmation"]


@pytest.mark.parametrize(
    "text",
    [
        "Would you like to return the kettle, or should I exchange it?",
        "Would you like me to look up other orders?",
        "Would you like to proceed with one of these options?",
        "Please confirm which order you mean.",
        "Please confirm the reason for the cancellation.",
        "If you would like to cancel the order or need help, let me know.",
        "What would you like to change your address to?",
        "Is there anything else?",
        "Your order has been cancelled.",
    ],
)
def test_asks_for_no_yes(text):
    assert not understand(text, RETAIL)["asks_confirmation"]


@pytest.mark.parametrize(
    ("language", "text", "slots"),
    [
        (
            RETAIL,
            "Could you please provide your email address or your name and zip code?",
            "email name zip",
        ),
        (RETAIL, "May I have your e-mail?", "email"),
        (RETAIL, "What's your zip code?", "zip"),
        (RETAIL, "I'll need the order ID. Could you please provide it?", "order_id"),
        (RETAIL, "Once you have the order number, let me know.", "order_id"),
        (RETAIL, "Is the order no longer needed, or was it ordered by mistake?", "reason"),
        (RETAIL, "Which payment method should I use for the refund?", "payment_method"),
        (RETAIL, "Please provide the new address: street, city, state, and zip code.", "address"),
        (RETAIL, "Which items would you like to return?", "item"),
        (RETAIL, "What size and color would you like?", "new_item"),
        (RETAIL, "How can I help you today?", "intent"),
        (RETAIL, "Would you like me to search for other options?", "choice"),
        (
            RETAIL,
            "You have these orders:\n1. #W1234567\n2. #W7654321\nWhich order do you mean?",
            "choice order_id",
        ),
        (RETAIL, "I can look up your user ID for you.", ""),
        (RETAIL, "I've updated your email address and zip code.", ""),
        (BOOKING, "Could I get your user ID and reservation number?", "reservation_id user_id"),
        (BOOKING, "Please provide the full names and dates of birth of all passengers.", "dob passengers"),
        (BOOKING, "Where would you like to fly from, and on what date?", "date origin"),
        (BOOKING, "Would you prefer economy or business?", "cabin"),
        (BOOKING, "I need these details:\n- Trip type\n- Number of checked bags", "baggage trip_type"),
    ],
)
def test_asks_for_data(language, text, slots):
    assert understand(text, language)["requests"] == slots.split()


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("informs", "Your order has been cancelled."),
        ("informs", "The total is $12.50."),
        ("denies", "I'm sorry, but a delivered order cannot be cancelled."),
        ("denies", "There are no nonstop flights available."),
        ("transfers", "I am transferring you to a human agent now."),
        ("transfers", "You are being transferred to a human agent."),
        ("closes", "Is there anything else I can help you with?"),
        ("closes", "You're welcome! Have a great day!"),
    ],
)
def test_other_acts(label, text):
    assert understand(text, RETAIL)[label]


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("Shall I cancel order #W1234567?", "cancel_pending_order"),
        ("Would you like to return the lamp to your PayPal account?", "return_delivered_order_items"),
        ("Do you want me to exchange the lamp for the black one?", "exchange_delivered_order_items"),
        ("Shall I change the shipping address of order #W1234567?", "modify_pending_order_address"),
        ("Shall I update your default address?", "modify_user_address"),
        ("Shall I update your address to 12 Austin Street?", "modify_user_address"),
        ("Shall I change the payment method of order #W1234567 to Visa?", "modify_pending_order_payment"),
        ("Shall I modify the items in order #W1234567?", "modify_pending_order_items"),
        ("Shall I transfer you to a human agent?", "transfer_to_human_agents"),
        (
            "You want to cancel order #W1234567.\n- Reason: no longer needed\nIs that right?",
            "cancel_pending_order",
        ),
        (
            "I can't cancel it. I can return the lamp instead. Shall I go ahead?",
            "return_delivered_order_items",
        ),
        (
            "The exchange is done. You get an email on how to return the lamp.",
            "exchange_delivered_order_items",
        ),
        ("Shall I go ahead?", ""),
        ("What is your zip code?", ""),
    ],
)
def test_the_write_is_made_out(text, tool):
    assert read(text, RETAIL, {}).tool == tool


def mentions(text):
    return read(text, RETAIL, LEXICON).mentions


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Order #W1234567 and W7654321.", {"order_id": ("#W1234567", "#W7654321")}),
        ("**Order #w1234567**", {"order_id": ("#W1234567",)}),
        ("Item ID: 1234567890", {"item_ids": ("1234567890",)}),
        ("Item 1234567890 for 2222222222", {"item_ids": ("1234567890",), "new_item_ids": ("2222222222",)}),
        ("Item 9999999999", {"item_ids": ("9999999999",)}),
        ("To gift_card_3333333.", {"payment_method_id": ("gift_card_3333333",)}),
        ("To your Visa or PayPal account", {"payment_method_id": ("credit_card_2222222", "paypal_1111111")}),
        ("The desk lamp", {"item_ids": ("1234567890",)}),
        ("The Black Desk Lamp", {"new_item_ids": ("2222222222",)}),
        ("The lamp and the black desk lamp", {"item_ids": ("1234567890",), "new_item_ids": ("2222222222",)}),
        ("lamps, visable", {}),
        ("12 Austin Street", {"address1": ("12 Austin Street",)}),
        (
            "12 Austin Street, Austin, TX 78701",
            {"address1": ("12 Austin Street",), "city": ("Austin",), "zip": ("78701",)},
        ),
        ("It costs $12345, not 123456", {}),
        ("my last order is no longer needed", {"order_id": ("#W1234567",), "reason": ("no longer needed",)}),
        ("You don't need it any more.", {"reason": ("no longer needed",)}),
        ("You bought it by accident.", {"reason": ("ordered by mistake",)}),
        ("Your email is Jo.Doe12@Example.com.", {"email": ("jo.doe12@example.com",)}),
        ("You are jo_doe_1234.", {"user_id": ("jo_doe_1234",)}),
    ],
)
def test_mentions(text, expected):
    assert mentions(text) == expected


def test_a_booking_is_named_by_its_code():
    reading = read(
        "Shall I cancel reservation 4WQ150 or HATHAT?",
        BOOKING,
        {"reservation_id": (Value("HATHAT"),)},
    )

    assert reading.tool == "cancel_reservation"
    assert reading.mentions == {"reservation_id": ("4WQ150", "HATHAT")}


ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=300)
PIECES = st.sampled_from(
    [
        *(
            "please confirm",
            "if you would like",
            "to",
            "cancel",
            "or",
            "?",
            ".",
            ",",
            "\n",
            "- ",
            "1. ",
            "#W1234567",
        ),
        *(
            "which",
            "provide",
            ":",
            "(",
            ")",
            "$5",
            "visa",
            "let me know",
            "yes",
            "order id",
            "following",
            "once you",
        ),
    ]
)


@given(st.one_of(ANY_TEXT, st.lists(PIECES, max_size=60).map(" ".join)), st.sampled_from([RETAIL, BOOKING]))
def test_any_text_is_read(text, language):
    reading = read(text, language, LEXICON)

    assert list(reading.requests) == understand(text, language)["requests"]
    assert reading == read(text, language, LEXICON)


HOSTILE = [
    *("a", " ", "\n", "\ud800", "\x00", "?", ":", "(", "1", "#", "*", "-", "_", "a_", "a@", '"', "' ", ", "),
    *(
        "w1234567 ",
        "1234567890 ",
        "what ",
        "which ",
        "or is ",
        "please ",
        "please confirm if ",
        "is this ",
        "also, ",
    ),
    *(
        "would you like to ",
        "let me know ",
        "if you would like to a or ",
        "provide the following:\n",
        "- provide:\n",
    ),
    *(
        "confirm this order details of ",
        "i'll transfer ",
        "need your ",
        "you have ",
        "any other a ",
        "and the ",
    ),
    *("there are no ", "black desk lamp", ", or is ", "can i ", "you can also ", "modify your a order "),
    *("cancel send ", "2 checked ", "total ", "1 of which is ", "non-free ", "$1,111", "certificate ", "2 "),
]


@pytest.mark.parametrize("unit", HOSTILE)
@pytest.mark.parametrize("language", [RETAIL, BOOKING], ids=["retail", "booking"])
def test_hostile_text_takes_no_more_than_linear_time(unit, language):
    text = (unit * (100_000 // len(unit) + 1))[:100_000]

    assert effort(lambda: read(text, language, LEXICON)) < 60


def test_a_megabyte_is_read():
    text = "".join(chain.from_iterable(repeat("Shall I cancel order #W1234567? ", 32_768)))

    assert read(text, RETAIL, LEXICON).asks_confirmation
