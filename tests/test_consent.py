"""The definition of consent, held to a naive one that keeps dictionaries and tries all orders."""

from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from tool_envs.consent import Yes, covering, heard, used, yes_to
from tool_envs.messages import ToolCall

PAIRS = (("item_ids", "new_item_ids"),)
LISTS = ("item_ids", "new_item_ids")
tools = st.sampled_from(["cancel", "exchange"])
items = st.lists(st.sampled_from("ab"), min_size=1, max_size=3)
full_arguments = st.integers(1, 3).flatmap(
    lambda size: st.fixed_dictionaries(
        {
            "order_id": st.sampled_from(["#1", "#2"]),
            "item_ids": st.lists(st.sampled_from("ab"), min_size=size, max_size=size),
            "new_item_ids": st.lists(st.sampled_from("cd"), min_size=size, max_size=size),
        }
    )
)


@st.composite
def some_arguments(draw):
    arguments = draw(full_arguments)
    return {name: value for name, value in arguments.items() if draw(st.booleans())}


def naive_contradicts(agreed, asked):
    """There is no order of the agreed items in which everything that both name is the same."""
    both = [name for name in agreed if name in asked]
    plain = any(agreed[name] != asked[name] for name in both if name not in LISTS)
    lists = [name for name in both if name in LISTS]
    if len(lists) < 2:
        return plain or any(list(asked[name]) not in map(list, permutations(agreed[name])) for name in lists)
    pairs = list(zip(*(asked[name] for name in LISTS), strict=True))
    agreed_pairs = zip(*(agreed[name] for name in LISTS), strict=True)
    return plain or pairs not in map(list, permutations(agreed_pairs))


def naive_correct(agreed, slot, value):
    if slot not in agreed:
        return False
    if slot in LISTS and not isinstance(value, list):
        return value not in agreed[slot]
    return naive_contradicts({slot: agreed[slot]}, {slot: value})


class Consent(RuleBasedStateMachine):
    """Acts and writes in any order."""

    def __init__(self):
        super().__init__()
        self.open = ()
        self.model = []

    @rule(tool=tools, arguments=some_arguments())
    def affirm(self, tool, arguments):
        self.open = heard(self.open, [{"act": "affirm", "tool": tool, "arguments": arguments}])
        self.model.append((tool, arguments))

    @rule()
    def deny(self):
        self.open = heard(self.open, [{"act": "deny"}])
        self.model = []

    @rule(
        change=st.tuples(st.just("order_id"), st.sampled_from(["#1", "#2"]))
        | st.tuples(st.sampled_from(LISTS), items | st.sampled_from("ab"))
    )
    def correct(self, change):
        slot, value = change
        self.open = heard(self.open, [{"act": "correct", "slot": slot, "value": value}])
        self.model = [(tool, agreed) for tool, agreed in self.model if not naive_correct(agreed, slot, value)]

    @rule(act=st.sampled_from(["inform", "thank", "ask_details", "ask_again", "insist", "bye", "wish"]))
    def say_something_else(self, act):
        assert (
            heard(self.open, [{"act": act, "slot": "order_id", "value": "#1", "tool": "cancel"}]) == self.open
        )

    @rule(tool=tools, arguments=full_arguments)
    def write(self, tool, arguments):
        call = ToolCall(tool, arguments)
        fitting = [yes for yes in self.model if yes[0] == tool and not naive_contradicts(yes[1], arguments)]

        assert (covering(self.open, call, PAIRS) is not None) == bool(fitting)
        self.open = used(self.open, call, PAIRS)
        if fitting:
            self.model.remove(max(fitting, key=lambda yes: len(yes[1])))
        assert [yes_to(*yes) for yes in self.model] == list(self.open)


TestConsent = Consent.TestCase
TestConsent.settings = settings(max_examples=50, deadline=None)


@given(full_arguments, st.randoms())
def test_items_may_be_named_in_another_order_when_the_pairs_stay(arguments, random):
    places = list(range(len(arguments["item_ids"])))
    random.shuffle(places)
    shuffled = {**arguments, **{name: [arguments[name][place] for place in places] for name in LISTS}}

    assert covering([yes_to("exchange", arguments)], ToolCall("exchange", shuffled), PAIRS)


def test_the_same_items_paired_otherwise_need_a_new_yes():
    yes = yes_to("exchange", {"item_ids": ["a", "b"], "new_item_ids": ["c", "d"]})
    swapped = ToolCall("exchange", {"item_ids": ["a", "b"], "new_item_ids": ["d", "c"]})

    assert covering([yes], swapped, PAIRS) is None
    assert covering([yes], swapped) == yes


def test_an_item_counts_as_often_as_it_stands_there():
    yes = yes_to("return", {"item_ids": ["a", "a", "b"]})

    assert covering([yes], ToolCall("return", {"item_ids": ["a", "b", "a"]}))
    assert not covering([yes], ToolCall("return", {"item_ids": ["a", "b"]}))


def test_the_most_definite_yes_is_used_up_first():
    open_yeses = (yes_to("cancel", {}), yes_to("cancel", {"order_id": "#1"}))

    assert used(open_yeses, ToolCall("cancel", {"order_id": "#1"})) == (Yes("cancel", ()),)


def test_what_was_added_to_a_yes_is_part_of_it():
    (yes,) = heard((), [{"act": "affirm", "tool": "return", "arguments": {"payment_method_id": "gift"}}])

    assert covering([yes], ToolCall("return", {"order_id": "#1", "payment_method_id": "gift"}))
    assert not covering([yes], ToolCall("return", {"order_id": "#1", "payment_method_id": "paypal"}))


def test_a_call_may_hold_anything():
    yes = yes_to("exchange", {"item_ids": ["a"], "new_item_ids": ["c"], "address": {"zip": "1"}})
    odd = {"item_ids": [["a"], {"b": [1]}, None], "new_item_ids": "c", "address": {"zip": "1"}}

    assert covering([yes], ToolCall("exchange", odd), PAIRS) is None
