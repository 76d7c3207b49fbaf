"""Conversations in a store that keep and break its rules, and strategies of what happens in one."""

from hypothesis import strategies as st
from service.rule_events import (
    ACCEPT_NO,
    ASK,
    DENY,
    TRANSFER,
    TRANSFER_BROKEN,
    TRANSFER_KEPT,
    Reading,
    RuleBook,
    caller,
    calls_of,
    correct,
    heard,
    inform,
    wish,
    yes,
)

from tool_envs.retail import rules as retail
from tool_envs.retail.refusals import No
from tool_envs.rules import Said

ANN, BOB = "ann_lee_1000", "bob_ray_2000"
OWNER = {"#W0000001": ANN, "#W0000002": ANN, "#W0000009": BOB}
CARD, GIFT = "credit_card_1000000", "gift_card_2000000"


def answer(name, arguments):
    """What a call answers in a small world in which orders belong to `OWNER`."""
    if name.startswith("find_user"):
        return {"user_id": ANN if arguments.get("email", "").startswith("ann") else BOB}
    if name == "get_user_details":
        user = arguments["user_id"]
        return {"orders": [order for order, owner in OWNER.items() if owner == user]}
    if "order_id" in arguments:
        return {"order_id": arguments["order_id"], "user_id": OWNER[arguments["order_id"]]}
    return {}


called = caller(answer)
FIND = called("find_user_id_by_email", email="ann@example.com")
FIND_BOB = called("find_user_id_by_email", email="bob@example.com")
FIND_BY_NAME = called("find_user_id_by_name_zip", first_name="Bob", last_name="Ray", zip="10000")
NOBODY = called("find_user_id_by_email", "user_not_found", email="ann@example.com")
LOOK = called("get_order_details", order_id="#W0000001")
LOOK_OTHER = called("get_order_details", order_id="#W0000009")
LOOK_FAILED = called("get_order_details", "order_not_found", order_id="#W0000009")
PROFILE = called("get_user_details", user_id=ANN)
PROFILE_BOB = called("get_user_details", user_id=BOB)
PRODUCT = called("get_product_details", product_id="1" * 10)
CANCEL = called("cancel_pending_order", order_id="#W0000001", reason="no longer needed")
CANCEL_FAILED = called(
    "cancel_pending_order", "order_not_pending", order_id="#W0000001", reason="no longer needed"
)
CANCEL_YES = yes("cancel_pending_order", order_id="#W0000001", reason="no longer needed")


def swap(items, new_items, payment=CARD):
    return {
        "order_id": "#W0000001",
        "item_ids": items,
        "new_item_ids": new_items,
        "payment_method_id": payment,
    }


def exchange(*arguments):
    return called("exchange_delivered_order_items", **swap(*arguments))


def exchange_yes(*arguments):
    return yes("exchange_delivered_order_items", **swap(*arguments))


KEPT = {
    "authenticate_first": [
        [FIND, PROFILE, LOOK, CANCEL, TRANSFER],
        [FIND_BY_NAME, LOOK],
        [PRODUCT, called("list_all_product_types"), Said("Hi")],
        [called("get_order_details", "order_not_found", order_id="#W0000001")],
    ],
    "one_customer": [
        [LOOK_OTHER, FIND, PROFILE, LOOK, CANCEL],
        [FIND, FIND, LOOK],
        [FIND, called("find_user_id_by_email", "user_not_found", email="bob@example.com")],
        [FIND, LOOK_FAILED],
        [FIND_BOB, LOOK_OTHER, PROFILE_BOB, LOOK_OTHER],
    ],
    "explicit_yes": [
        [CANCEL_YES, CANCEL],
        [yes("cancel_pending_order"), LOOK, Said("I do it now"), CANCEL],
        [CANCEL_YES, CANCEL_FAILED, CANCEL],
        [CANCEL_FAILED],
        [CANCEL_YES, CANCEL_YES, CANCEL, CANCEL],
        [DENY, CANCEL_YES, CANCEL],
        [CANCEL_YES, correct("payment_method_id", GIFT), CANCEL],
        [CANCEL_YES, correct("order_id", "#W0000001"), CANCEL],
        [exchange_yes(["1", "2"], ["3", "4"]), exchange(["2", "1"], ["4", "3"])],
        [CANCEL_YES, exchange_yes(["1"], ["3"]), exchange(["1"], ["3"]), CANCEL],
        [
            *(exchange_yes(["1", "2"], ["3", "4"]), exchange_yes(["1", "2"], ["4", "3"])),
            *(exchange(["1", "2"], ["4", "3"]), exchange(["1", "2"], ["3", "4"])),
        ],
    ],
    "no_made_up_facts": [
        [heard(text="It is about W0000001"), Said("Order #W0000001?")],
        [inform("order_id", "#W0000001"), Said("Order #W0000001?")],
        [LOOK, Said(f"{ANN} has #W0000001.")],
        [PROFILE, Said("You have #W0000001 and #W0000002.")],
        [Said("Your order id, such as #W7654321, or your e-mail address (e.g., me@example.com)?")],
        [Said("What is your user id?")],
        # Ids in the descriptions of the tools.
        [Said("It looks as #W1234567, jane_roe_1234, gift_card_1234567 and paypal_1234567 do.")],
    ],
    "allowed_cancel_reason": [
        [inform("reason", "no longer needed"), CANCEL],
        [wish("cancel", reason="no longer needed"), CANCEL],
        [CANCEL_YES, CANCEL],
        [correct("reason", "no longer needed"), CANCEL],
        [inform("reason", "ordered by mistake"), inform("reason", "no longer needed"), CANCEL],
        [CANCEL_FAILED],
        [
            called(
                "cancel_pending_order", "invalid_arguments", order_id="#W0000001", reason="No longer needed"
            )
        ],
        [called("cancel_pending_order", "invalid_arguments", order_id="#W0000001")],
    ],
    "modify_items_once": [
        [called("modify_pending_order_items", **swap(["1"], ["2"]))],
        [called("modify_pending_order_items", "order_not_pending", **swap(["1"], ["2"]))],
    ],
    "same_product_type": [
        [exchange(["1"], ["2"])],
        [called("exchange_delivered_order_items", "new_item_not_available")],
    ],
    "refund_method": [
        [called("return_delivered_order_items", order_id="#W0000001")],
        [called("modify_pending_order_payment", "payment_method_not_allowed")],
    ],
    "transfer_last": TRANSFER_KEPT,
}
BROKEN = {
    "authenticate_first": [
        ([PROFILE], 0),
        ([NOBODY, LOOK, FIND], 1),
        ([CANCEL], 0),
        ([wish("out_of_scope"), TRANSFER], 1),
    ],
    "one_customer": [
        ([FIND, FIND_BOB], 1),
        ([FIND, FIND_BY_NAME], 1),
        ([FIND, PROFILE_BOB], 1),
        ([FIND, LOOK, LOOK_OTHER], 2),
        ([FIND, PROFILE, called("cancel_pending_order", order_id="#W0000009", reason="no longer needed")], 2),
        ([FIND, called("modify_user_address", user_id=BOB)], 1),
    ],
    "explicit_yes": [
        ([CANCEL], 0),
        ([inform("order_id", "#W0000001"), wish("cancel"), CANCEL], 2),
        ([CANCEL_YES, CANCEL, CANCEL], 2),
        ([CANCEL_YES, DENY, CANCEL], 2),
        ([CANCEL_YES, correct("order_id", "#W0000002"), CANCEL], 2),
        ([yes("cancel_pending_order", order_id="#W0000002"), CANCEL], 1),
        ([yes("modify_user_address"), CANCEL], 1),
        ([exchange_yes(["1", "2"], ["3", "4"]), exchange(["1", "2"], ["4", "3"])], 1),
        ([exchange_yes(["1", "1"], ["3", "3"]), exchange(["1"], ["3"])], 1),
        ([exchange_yes(["1"], ["3"]), exchange(["1"], ["3"], GIFT)], 1),
        ([exchange_yes(["1"], ["3"]), correct("item_ids", "2"), exchange(["1"], ["3"])], 2),
    ],
    "no_made_up_facts": [
        ([Said("Order #W7654321?")], 0),
        ([LOOK, Said("It goes to gift_card_7654321.")], 1),
        ([Said("Your user id is jim_roe_1111.")], 0),
        ([Said("Write to help@example.com.")], 0),
        ([LOOK, Said("Would you like 1234567891?")], 1),
        ([Said("Your tracking number is 123456789012.")], 0),
        ([called("think", thought="#W7654321"), Said("#W7654321")], 1),
        ([called("calculate", expression="1234567891 + 1"), Said("Would you like 1234567891?")], 1),
        ([called("get_order_details", "order_not_found", order_id="#W7654321"), Said("No #W7654321.")], 1),
        ([Said("Such as #W7654321. It is #W7654321.")], 0),
    ],
    "allowed_cancel_reason": [
        ([CANCEL], 0),
        ([inform("reason", "ordered by mistake"), CANCEL], 1),
        ([inform("reason", "too expensive"), CANCEL], 1),
        ([yes("modify_user_address", reason="no longer needed"), CANCEL], 1),
        ([called("cancel_pending_order", "invalid_arguments", reason="too expensive")], 0),
    ],
    "modify_items_once": [
        ([LOOK, called("modify_pending_order_items", "items_already_modified", **swap(["1"], ["2"]))], 1),
        ([called("cancel_pending_order", "items_already_modified")], 0),
    ],
    "same_product_type": [
        ([called("exchange_delivered_order_items", "not_same_product")], 0),
        ([LOOK, called("modify_pending_order_items", "not_same_product")], 1),
    ],
    "refund_method": [([called("return_delivered_order_items", "payment_method_not_allowed")], 0)],
    "transfer_last": TRANSFER_BROKEN,
}


# --- A correct agent

READING = Reading(
    start=[
        heard({"act": "wish", "kind": "cancel"}, text="Cancel #W0000001"),
        Said("Your e-mail address?"),
        inform("email", "ann@example.com"),
    ],
    find=FIND,
    anybody=[PRODUCT],
    own=[PROFILE, LOOK, called("get_order_details", order_id="#W0000002")],
    end=[
        Said("Shall I cancel #W0000001 because it is no longer needed?"),
        CANCEL_YES,
        CANCEL,
        Said("Order #W0000001 is cancelled. Anything else?"),
        wish("out_of_scope"),
        TRANSFER,
    ],
)


# --- Whatever happens

orders = st.sampled_from(sorted(OWNER))
users = st.sampled_from([ANN, BOB])
codes = st.sampled_from(
    [None, None, None, "order_not_pending", "items_already_modified", "invalid_arguments"]
)
reasons = st.sampled_from([*retail.CANCEL_REASONS, "too expensive"])
two_items = st.permutations(["4579334072", "4579334073"])
ARGUMENTS = {
    "find_user_id_by_email": {"email": st.sampled_from(["ann@example.com", "bob@example.com"])},
    "get_user_details": {"user_id": users},
    "get_order_details": {"order_id": orders},
    "cancel_pending_order": {"order_id": orders, "reason": reasons},
    "exchange_delivered_order_items": {"order_id": orders, "item_ids": two_items, "new_item_ids": two_items},
    "modify_user_address": {"user_id": users},
    "transfer_to_human_agents": {},
    "think": {},
}
others = st.sampled_from(
    [
        *[DENY, ASK, ACCEPT_NO, wish("cancel"), wish("out_of_scope")],
        *[inform("reason", reason) for reason in retail.CANCEL_REASONS],
        *[correct("order_id", order) for order in OWNER],
    ]
)

RETAIL_RULES = RuleBook(
    domain="retail",
    rules=retail.RULES,
    policy_text=retail.policy_text,
    writes=retail.WRITES,
    transfer=retail.TRANSFER,
    customers_own=retail.CUSTOMERS_OWN,
    refusals=frozenset(no.refusal.code for no in No),
    finders=frozenset(ARGUMENTS) - {"get_user_details", "modify_user_address"},
    kept=KEPT,
    broken=BROKEN,
    reading=READING,
    calls=calls_of(called, ARGUMENTS, codes),
    others=others,
    says=st.sampled_from(["Hello", "#W0000001 and #W0000002", "#W0000009 4579334072", ANN]),
)
