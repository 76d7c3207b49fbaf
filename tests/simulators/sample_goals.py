"""Users to test with."""

from tool_envs.simulators.goal import Fact, UserGoal, Value, Wish

LEXICON = {
    "order_id": (Value("#W1234567"), Value("#W7654321")),
    "item_ids": (
        Value("1111111111", ("desk lamp", "lamp")),
        Value("2222222222", ("water bottle", "bottle")),
        Value("3333333333", ("office chair", "chair")),
    ),
    "new_item_ids": (
        Value("4444444444", ("black, usb",)),
        Value("4444444445", ("white, battery",)),
        Value("5555555555", ("750ml, glass",)),
    ),
    "payment_method_id": (
        Value("paypal_1111111", ("paypal",)),
        Value("credit_card_2222222", ("visa",)),
        Value("gift_card_3333333", ("gift card",)),
    ),
    "address1": (Value("12 Elm Street", ("12 elm street",)), Value("9 Oak Avenue", ("9 oak avenue",))),
    "address2": (Value("Suite 5", ("suite 5",)),),
    "city": (Value("Austin", ("austin",)), Value("Portland", ("portland",))),
    "state": (Value("TX", ("tx", "texas")), Value("OR", ("or", "oregon"))),
    "country": (Value("USA", ("usa",)),),
    "zip": (Value("78712", ("78712",)), Value("97201", ("97201",))),
}
WORDS = {
    "1111111111": "Desk Lamp",
    "2222222222": "Water Bottle",
    "3333333333": "Office Chair",
    "4444444444": "black, USB",
    "4444444445": "white, battery",
    "5555555555": "750ml, glass",
    "paypal_1111111": "PayPal",
    "credit_card_2222222": "Visa",
    "gift_card_3333333": "gift card",
}
ADDRESS = {
    "address1": "12 Elm Street",
    "address2": "Suite 5",
    "city": "Austin",
    "state": "TX",
    "country": "USA",
    "zip": "78712",
}
SAID_ADDRESS = "12 Elm Street, Suite 5, Austin, TX, 78712, USA"
KNOWS = {"email": "jane.roe@example.com", "name": "Jane Roe", "zip": "97201", "user_id": "jane_roe_1234"}

CANCEL = Wish(
    kind="cancel",
    tool="cancel_pending_order",
    accepted=({"order_id": "#W1234567", "reason": "no longer needed"},),
    words={"order_id": "order #W1234567", "reason": "I no longer need it"},
    opening="I would like to cancel order #W1234567, because I no longer need it.",
)
RETURN = Wish(
    kind="return",
    tool="return_delivered_order_items",
    accepted=(
        {
            "order_id": "#W1234567",
            "item_ids": ["1111111111", "2222222222"],
            "payment_method_id": "paypal_1111111",
        },
    ),
    words={
        "order_id": "order #W1234567",
        "item": "the desk lamp and the water bottle",
        "payment_method": "my PayPal account",
    },
    opening="I want to return the desk lamp and the water bottle from order #W1234567 to my PayPal account.",
)
EXCHANGE = Wish(
    kind="exchange",
    tool="exchange_delivered_order_items",
    accepted=tuple(
        {
            "order_id": "#W1234567",
            "item_ids": ["1111111111"],
            "new_item_ids": ["4444444444"],
            "payment_method_id": method,
        }
        for method in ("paypal_1111111", "gift_card_3333333")
    ),
    words={"order_id": "order #W1234567", "item": "the desk lamp", "new_item": "the black one with USB"},
    opening="I want to exchange the desk lamp in order #W1234567 for the black one with USB.",
)
ITEMS = Wish(
    kind="items",
    tool="modify_pending_order_items",
    accepted=(
        {
            "order_id": "#W1234567",
            "item_ids": ["1111111111", "2222222222"],
            "new_item_ids": ["4444444444", "5555555555"],
            "payment_method_id": "gift_card_3333333",
        },
    ),
    words={
        "order_id": "order #W1234567",
        "item": "the lamp and the bottle",
        "new_item": "the black USB lamp and the glass bottle of 750ml",
        "payment_method": "my gift card",
    },
    opening="In order #W1234567 change the lamp to the black USB one, the bottle to glass, on my gift card.",
)
ORDER_ADDRESS = Wish(
    kind="order_address",
    tool="modify_pending_order_address",
    accepted=({"order_id": "#W1234567", **ADDRESS},),
    words={"order_id": "order #W1234567", "address": SAID_ADDRESS},
    opening=f"Please send order #W1234567 to {SAID_ADDRESS} instead.",
)
USER_ADDRESS = Wish(
    kind="user_address",
    tool="modify_user_address",
    accepted=({"user_id": "jane_roe_1234", **ADDRESS},),
    words={"address": SAID_ADDRESS},
    opening=f"I have moved. Please change the address in my profile to {SAID_ADDRESS}.",
)
PAYMENT = Wish(
    kind="payment",
    tool="modify_pending_order_payment",
    accepted=({"order_id": "#W1234567", "payment_method_id": "credit_card_2222222"},),
    words={"order_id": "order #W1234567", "payment_method": "my Visa card"},
    opening="I want to pay order #W1234567 with my Visa card instead.",
)
QUESTION = Wish(
    kind="question",
    fact=Fact("amount", 98765, "How much did I pay in total for order #W7654321?"),
)
FORBIDDEN = Wish(
    kind="cancel",
    forbidden=True,
    words={"order_id": "order #W7654321"},
    opening="Please cancel order #W7654321.",
)
SECOND_CHOICE = Wish(
    kind="exchange",
    tool=EXCHANGE.tool,
    accepted=EXCHANGE.accepted,
    words=EXCHANGE.words,
    opening=EXCHANGE.opening,
    otherwise=RETURN,
)
WISHES = {
    "cancel": CANCEL,
    "return": RETURN,
    "exchange": EXCHANGE,
    "items": ITEMS,
    "order_address": ORDER_ADDRESS,
    "user_address": USER_ADDRESS,
    "payment": PAYMENT,
    "question": QUESTION,
    "forbidden": FORBIDDEN,
    "second_choice": SECOND_CHOICE,
}


def goal(*wishes, knows=KNOWS, traits=(), conditions=None):
    """A goal with the usual lexicon."""
    return UserGoal("retail", dict(knows), wishes, LEXICON, traits, conditions or {})
