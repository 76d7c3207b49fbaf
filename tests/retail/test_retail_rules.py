"""The rules of the retail policy: what keeps each of them, what breaks it and where, and the text."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_envs.messages import ToolCall
from tool_envs.retail import rules as retail
from tool_envs.retail.rules import FACTS, RULES, policy_text
from tool_envs.rules import Called, Heard, Said
from tool_envs.schema import load_schema
from tool_envs.schema.files import shipped_files

BY_ID = {rule.id: rule for rule in RULES}
ANN, BOB = "ann_lee_1000", "bob_ray_2000"
OWNER = {"#W0000001": ANN, "#W0000002": ANN, "#W0000009": BOB}
CARD, GIFT = "credit_card_1000000", "gift_card_2000000"


def called(name, code=None, **arguments):
    """A call in a small world in which orders belong to `OWNER`."""
    return Called(ToolCall(name, arguments), code, json.dumps({} if code else result(name, arguments)))


def result(name, arguments):
    if name.startswith("find_user"):
        return {"user_id": ANN if arguments.get("email", "").startswith("ann") else BOB}
    if name == "get_user_details":
        user = arguments["user_id"]
        return {"orders": [order for order, owner in OWNER.items() if owner == user]}
    if "order_id" in arguments:
        return {"order_id": arguments["order_id"], "user_id": OWNER[arguments["order_id"]]}
    return {}


def heard(*acts, text=""):
    return Heard(acts, text)


def inform(slot, value):
    return heard({"act": "inform", "slot": slot, "value": value})


def wish(kind):
    return heard({"act": "wish", "kind": kind, "tool": ""})


def yes(tool, **arguments):
    return heard({"act": "affirm", "tool": tool, "arguments": arguments})


FIND = called("find_user_id_by_email", email="ann@example.com")
FIND_BOB = called("find_user_id_by_email", email="bob@example.com")
FIND_BY_NAME = called("find_user_id_by_name_zip", first_name="Bob", last_name="Ray", zip="10000")
NOBODY = called("find_user_id_by_email", "user_not_found", email="ann@example.com")
LOOK = called("get_order_details", order_id="#W0000001")
LOOK_OTHER = called("get_order_details", order_id="#W0000009")
PROFILE = called("get_user_details", user_id=ANN)
PROFILE_BOB = called("get_user_details", user_id=BOB)
CANCEL = called("cancel_pending_order", order_id="#W0000001", reason="no longer needed")
CANCEL_FAILED = called("cancel_pending_order", "not_pending", order_id="#W0000001", reason="no longer needed")
CANCEL_YES = yes("cancel_pending_order", order_id="#W0000001", reason="no longer needed")
TRANSFER = called("transfer_to_human_agents", summary="wants a loan")
DENY = heard({"act": "deny"})
ASK = heard({"act": "ask", "wish": 1})


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


def correct(slot, value):
    return heard({"act": "correct", "slot": slot, "value": value})


def breaches(rule, happened):
    """Numbers of the events at which a rule is broken."""
    memory, found = rule.start, []
    for number, event in enumerate(happened):
        memory, broken = rule.after(memory, event)
        found += [number] if broken else []
    return found


KEPT = {
    "authenticate_first": [
        [FIND, PROFILE, LOOK, CANCEL, TRANSFER],
        [FIND_BY_NAME, LOOK],
        [called("get_product_details", product_id="1" * 10), called("list_all_product_types"), Said("Hi")],
        [called("get_order_details", "order_not_found", order_id="#W0000001")],
    ],
    "one_customer": [
        [LOOK_OTHER, FIND, PROFILE, LOOK, CANCEL],
        [FIND, FIND, LOOK],
        [FIND, called("find_user_id_by_email", "user_not_found", email="bob@example.com")],
        [FIND, called("get_order_details", "order_not_found", order_id="#W0000009")],
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
    ],
    "allowed_cancel_reason": [
        [inform("reason", "no longer needed"), CANCEL],
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
        [called("modify_pending_order_items", "not_pending", **swap(["1"], ["2"]))],
    ],
    "same_product_type": [
        [exchange(["1"], ["2"])],
        [called("exchange_delivered_order_items", "not_available")],
    ],
    "refund_method": [
        [called("return_delivered_order_items", order_id="#W0000001")],
        [called("modify_pending_order_payment", "payment_method_not_allowed")],
    ],
    "transfer_last": [
        [wish("out_of_scope"), TRANSFER],
        [wish("cancel"), wish("out_of_scope"), Said("One moment"), heard({"act": "insist"}), TRANSFER],
        [called("transfer_to_human_agents", "not_run")],
    ],
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
        ([called("think", thought="#W7654321"), Said("#W7654321")], 1),
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
    "transfer_last": [
        ([TRANSFER], 0),
        ([wish("cancel"), TRANSFER], 1),
        ([wish("out_of_scope"), heard({"act": "accept_no", "wish": 0}), TRANSFER], 2),
        ([wish("out_of_scope"), wish("cancel"), TRANSFER], 2),
        ([wish("out_of_scope"), ASK, TRANSFER], 2),
    ],
}


def cases(table):
    return [
        pytest.param(rule, case, id=f"{rule}-{n}") for rule in table for n, case in enumerate(table[rule])
    ]


@pytest.mark.parametrize(("rule_id", "happened"), cases(KEPT))
def test_what_keeps_a_rule(rule_id, happened):
    assert breaches(BY_ID[rule_id], happened) == []


@pytest.mark.parametrize(("rule_id", "case"), cases(BROKEN))
def test_what_breaks_a_rule_and_where(rule_id, case):
    happened, step = case

    assert breaches(BY_ID[rule_id], happened) == [step]


def test_every_rule_has_examples():
    assert set(KEPT) == set(BROKEN) == set(BY_ID)


@pytest.mark.parametrize(
    ("rule_id", "happened", "event", "permitted"),
    [
        ("authenticate_first", [], LOOK, False),
        ("authenticate_first", [FIND], LOOK, True),
        ("one_customer", [FIND], LOOK_OTHER, True),
        ("one_customer", [FIND, LOOK_OTHER], LOOK_OTHER, False),
        ("one_customer", [FIND, PROFILE], LOOK_OTHER, False),
        ("one_customer", [FIND, PROFILE], LOOK, True),
        ("one_customer", [FIND], PROFILE_BOB, False),
        ("explicit_yes", [CANCEL_YES], CANCEL, True),
        ("explicit_yes", [CANCEL_YES, DENY], CANCEL, False),
        ("allowed_cancel_reason", [inform("reason", "no longer needed")], CANCEL, True),
        (
            "allowed_cancel_reason",
            [inform("reason", "too expensive")],
            called("cancel_pending_order", order_id="#W0000001", reason="too expensive"),
            False,
        ),
        ("transfer_last", [wish("out_of_scope")], TRANSFER, True),
        ("transfer_last", [wish("cancel")], TRANSFER, False),
    ],
)
def test_what_is_known_beforehand(rule_id, happened, event, permitted):
    rule = BY_ID[rule_id]

    assert rule.permits(memory_after(rule, happened), event.call) == permitted


# --- A correct agent

PRODUCT = called("get_product_details", product_id="1" * 10)
GOOD_START = [heard({"act": "wish", "kind": "cancel"}, text="Cancel #W0000001"), Said("Your e-mail address?")]
GOOD_END = [
    Said("Shall I cancel #W0000001 because it is no longer needed?"),
    CANCEL_YES,
    CANCEL,
    Said("Order #W0000001 is cancelled. Anything else?"),
    wish("out_of_scope"),
    TRANSFER,
]


@given(st.permutations([PROFILE, LOOK, called("get_order_details", order_id="#W0000002"), PRODUCT, FIND]))
def test_nothing_is_broken_by_reading_in_another_order(reads):
    early = [read for read in reads[: reads.index(FIND)] if read is PRODUCT]
    late = [read for read in reads if read is not FIND and read not in early]
    happened = [*GOOD_START, inform("email", "ann@example.com"), *early, FIND, *late, *GOOD_END]

    assert [(rule.id, step) for rule in RULES for step in breaches(rule, happened)] == []


# --- Laws

orders = st.sampled_from(sorted(OWNER))
users = st.sampled_from([ANN, BOB])
codes = st.sampled_from([None, None, None, "not_pending", "items_already_modified", "invalid_arguments"])
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


@st.composite
def calls(draw):
    name = draw(st.sampled_from(sorted(ARGUMENTS)))
    arguments = {slot: draw(values) for slot, values in ARGUMENTS[name].items()}
    return called(name, draw(codes), **arguments)


@st.composite
def affirms(draw):
    call = draw(calls()).call
    return yes(call.name, **{slot: value for slot, value in call.arguments.items() if draw(st.booleans())})


others = st.sampled_from(
    [
        *[DENY, ASK, wish("cancel"), wish("out_of_scope"), heard({"act": "accept_no", "wish": 0})],
        *[inform("reason", reason) for reason in retail.CANCEL_REASONS],
        *[correct("order_id", order) for order in OWNER],
        *[Said("Hello"), Said("#W0000001 and #W0000002"), Said("4579334072")],
    ]
)
happenings = st.lists(calls() | affirms() | others, max_size=12)
each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)


def memory_after(rule, happened):
    memory = rule.start
    for event in happened:
        memory, _ = rule.after(memory, event)
    return memory


@each_rule
@given(before=happenings, event=calls())
def test_a_call_that_succeeds_breaks_the_rule_that_does_not_permit_it(rule, before, event):
    memory = memory_after(rule, before)
    _, broken = rule.after(memory, event)
    # Whose an order is, or whom an address finds, is known afterwards.
    undecided = rule.id == "one_customer" and event.call.name not in (
        "get_user_details",
        "modify_user_address",
    )

    if event.code is None and not rule.permits(memory, event.call):
        assert broken
    if event.code is None and rule.permits(memory, event.call):
        assert not broken or undecided


@given(before=happenings, text=st.sampled_from(["Hello", "#W0000001", "#W0000009 4579334072", ANN]))
def test_a_message_breaks_the_rule_that_does_not_permit_it(before, text):
    rule = BY_ID["no_made_up_facts"]
    memory = memory_after(rule, before)

    _, broken = rule.after(memory, Said(text))

    assert broken != rule.permits(memory, ToolCall("respond", {"content": text}))


@each_rule
@given(before=happenings, one=happenings, other=happenings)
def test_a_memory_can_be_gone_on_from_twice(rule, before, one, other):
    memory = memory_after(rule, before)
    as_it_was = (hash(memory), repr(memory))

    def go_on(happened):
        found = []
        now = memory
        for event in happened:
            now, broken = rule.after(now, event)
            found.append(broken)
        return found

    first, _, again = go_on(one), go_on(other), go_on(one)

    assert first == again
    assert (hash(memory), repr(memory)) == as_it_was


@each_rule
@given(
    arguments=st.dictionaries(
        st.sampled_from(["order_id", "user_id", "reason", "content", "item_ids"]),
        st.none() | st.lists(st.none() | st.text()) | st.text(),
    )
)
def test_a_call_may_hold_anything(rule, arguments):
    memory = memory_after(rule, [FIND, PROFILE, CANCEL_YES, exchange_yes(["1"], ["2"])])

    for name in [*retail.WRITES, "get_user_details", "respond", "no_such_tool"]:
        call = ToolCall(name, arguments)
        assert rule.permits(memory, call) in (True, False)
        assert rule.after(memory, Called(call, "invalid_arguments", "{}"))[0] == memory


# --- Text and schema


@each_rule
def test_a_sentence_holds_its_parameters(rule):
    for value in rule.parameters.values():
        assert all(name in rule.text for name in ([value] if isinstance(value, str) else value))
    assert "{" not in rule.text


def test_the_policy_holds_every_rule():
    text = policy_text()

    assert all(rule.text in text for rule in RULES)
    assert "{" not in text
    assert all(f"`{name}`" in text for name in retail.WRITES)


def versions():
    return shipped_files().versions("retail")


@pytest.mark.parametrize("version", versions())
def test_the_rules_name_what_the_schema_has(version):
    schema = load_schema("retail", version)
    effects = {name: tool.effect for name, tool in schema.tools.items()}
    cancel = schema.tools[retail.CANCEL].parameters["properties"]["reason"]

    assert {name for name, effect in effects.items() if effect == "write"} == set(retail.WRITES)
    assert effects[retail.TRANSFER] == "end"
    assert {retail.PROFILE, *retail.FINDERS} | retail.CUSTOMERS_OWN <= effects.keys()
    assert all(tool in effects for rule in RULES for tool in rule.enforced_by)
    assert sorted(cancel.get("enum", retail.CANCEL_REASONS)) == sorted(retail.CANCEL_REASONS)


@pytest.mark.parametrize("version", versions())
def test_examples_in_the_schema_are_not_made_up(version):
    text = Path(__file__).parents[2].joinpath("schemas", "retail", f"{version}.json").read_text("utf-8")
    rule = BY_ID["no_made_up_facts"]

    assert [
        one for one in FACTS.values_in(text, "id") if rule.after(rule.start, Said(f"It is {one}."))[1]
    ] == []
    assert f'"{retail.MODIFIED}"' in text
    assert all(f'"{reason}"' in text for reason in retail.CANCEL_REASONS)
