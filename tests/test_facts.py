"""Facts are found however they are usually written, and only where they stand."""

import pytest
from effort import effort
from hypothesis import given
from hypothesis import strategies as st

from tool_envs.errors import UnknownNameError
from tool_envs.facts import MOST_VALUES
from tool_envs.retail.rules import FACTS

cents = st.integers(0, 99_999_999)
order_ids = st.from_regex(r"#W[0-9]{7}", fullmatch=True)
ten_digits = st.from_regex(r"[1-9][0-9]{9}", fullmatch=True)
parcels = st.from_regex(r"[1-9][0-9]{11}", fullmatch=True)
payments = st.from_regex(r"(credit_card|gift_card|paypal)_[0-9]{7}", fullmatch=True)
ids = st.one_of(order_ids, ten_digits, parcels, payments)

DECIMAL_FORMS = [
    "{plain}",
    "{grouped}",
    "${plain}",
    "${grouped}",
    "$ {grouped}",
    "-${grouped}",
    "$-{plain}",
    "US${plain}",
    "US ${grouped}",
    "USD {grouped}",
    "USD{plain}",
    "${plain} USD",
    "{grouped} USD",
    "{plain} dollars",
    "{grouped} US dollars",
    "{plain}$",
]
WHOLE_FORMS = [
    "${0}",
    "${0:,}",
    "{0} dollars",
    "{0:,} dollars",
    "{0} USD",
    "USD {0:,}",
    "{0}-dollar",
    "{0}.0",
]
SURROUNDINGS = [
    "{}",
    "It is {}.",
    "**{}**",
    "({})",
    "It is {}, as I said",
    "Total: {}!",
    "_{}_",
    "`{}`",
    "{}\n",
    "was {};",
]


@given(amount=cents, form=st.sampled_from(DECIMAL_FORMS), around=st.sampled_from(SURROUNDINGS))
def test_an_amount_is_found_in_every_usual_form(amount, form, around):
    written = form.format(plain=f"{amount / 100:.2f}", grouped=f"{amount / 100:,.2f}")

    assert FACTS.values_in(around.format(written), "amount") == [amount]
    assert FACTS.is_told("amount", amount, [around.format(written)])


@given(
    dollars=st.integers(0, 999_999), form=st.sampled_from(WHOLE_FORMS), around=st.sampled_from(SURROUNDINGS)
)
def test_whole_dollars_are_found_in_every_usual_form(dollars, form, around):
    assert FACTS.values_in(around.format(form.format(dollars)), "amount") == [100 * dollars]


@pytest.mark.parametrize(
    ("text", "amounts"),
    [
        ("1234.5", [123450]),
        ("45 dollars and 50 cents", [4550]),
        ("99 cents, or 99¢", [99, 99]),
        ("$40-$50", [4000, 5000]),
        ("$112 ($438)", [11200, 43800]),
        ("you will receive a refund of $9.89.", [989]),
        ("Price: $54.85 (Item ID: 4579334072)", [5485]),
        ("Suite 45, zip code 19122, in 2010", []),
        ("10% or 10.5% or 7.5 percent", []),
        ("#W1234567 4579334072 gift_card_1234567 123456789012", []),
        ("2024-05-10, 10.05.2024, 10:30, version 1.2.3", []),
        ("$3.14159 and 1.234 and 12,34.50", []),
        ("1.5 kg, 10.5 inches, 2.5L, 4.5 stars", []),
        ("CA$45", []),
        ("$1.2k", []),
        ("", []),
    ],
)
def test_what_is_an_amount(text, amounts):
    assert FACTS.values_in(text, "amount") == amounts


@given(value=cents, longer=st.integers(1, 9))
def test_a_part_of_a_longer_number_is_no_amount(value, longer):
    written = f"{value / 100:.2f}"

    assert value not in FACTS.values_in(f"${longer}{written}", "amount")
    assert FACTS.values_in(f"{written}{longer}", "amount") == []


@given(one=ids, kind=st.sampled_from(["amount", "count"]))
def test_an_id_is_neither_amount_nor_count(one, kind):
    assert FACTS.values_in(f"It is {one}.", kind) == []


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("There are 10 of them.", [10]),
        ("Ten of them, twenty at most; zero now", [10, 20, 0]),
        ("in 2010", [2010]),
        ("1,234 variants", [1234]),
        ("12 of **13**", [12, 13]),
        ("$45, 45 dollars, five dollars, 45.00, 10%, ten percent", []),
        ("twenty-one, a one-time offer, a 13-inch laptop, 2x", []),
        ("on May 10, 2024 or 2024-05-10 at 10:30", []),
        ("1. a red one\n2. a blue one\n - 3) a green one", [1, 1, 1]),
        ("someone, often", []),
    ],
)
def test_what_is_a_count(text, counts):
    assert FACTS.values_in(text, "count") == counts


@given(count=st.integers(0, 9_999), more=st.integers(0, 9))
def test_a_count_is_not_found_in_a_longer_one(count, more):
    assert FACTS.values_in(f"There are {count}.", "count") == [count]
    assert count not in FACTS.values_in(f"There are {more + 1}{count}", "count")


@given(some=st.lists(ids, max_size=5), around=st.sampled_from(SURROUNDINGS[:-1]))
def test_ids_are_found_in_order(some, around):
    text = " and ".join(some)

    assert FACTS.values_in(around.replace("_{}_", "{}").format(text), "id") == some


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("order W1234567 or #w1234567", ["#W1234567", "#W1234567"]),
        ("Jane_Roe_1234, Jane@Example.com.", ["jane_roe_1234", "jane@example.com"]),
        ("#W12345678 W123456 12345678901 x1234567890", []),
        ("$1234567890, 1234567890.50", []),
        ("item #1234567890", ["1234567890"]),
    ],
)
def test_what_is_an_id(text, found):
    assert FACTS.values_in(text, "id") == found


STATUSES = ("pending", "processed", "delivered", "cancelled", "pending (item modified)", "return requested")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It is **Delivered**.", ["delivered"]),
        ("It was canceled", ["cancelled"]),
        ("pending (item modified)", ["pending (item modified)"]),
        ("pending\n(item  modified), pending", ["pending (item modified)", "pending"]),
        ("return_requested", ["return requested"]),
        ("undelivered, impending", []),
    ],
)
def test_words_are_found_whole(text, found):
    assert FACTS.values_in(text, "status", STATUSES) == found
    assert FACTS.values_in(text, "word", STATUSES) == found
    assert FACTS.values_in(text, "word") == []


@pytest.mark.parametrize(
    ("kind", "value", "form", "others"),
    [
        ("amount", 4500, "$45.00", [f"${n}.10" for n in range(MOST_VALUES)]),
        ("count", 45, "45", ["1", "2", "3", "four"]),
        ("id", "#W1234567", "#W1234567", [f"#W000000{n}" for n in range(MOST_VALUES)]),
        ("status", "delivered", "delivered", ["pending", "processed", "cancelled", "return requested"]),
    ],
)
def test_a_fact_among_too_many_is_not_told(kind, value, form, others):
    few, many = " and ".join([form, *others[1:]]), " and ".join([form, *others])

    assert FACTS.is_told(kind, value, ["", few], STATUSES)
    assert FACTS.is_told(kind, value, [few + " and " + form], STATUSES)
    assert not FACTS.is_told(kind, value, [many, " and ".join(others)], STATUSES)
    assert not FACTS.is_told(kind, value, [], STATUSES)


def test_ids_of_other_things_are_not_other_answers():
    items = [str(n) for n in range(4579334072, 4579334082)]

    assert FACTS.is_told("id", "123456789012", [f"Parcel 123456789012 holds {', '.join(items)}."])
    assert FACTS.is_told("id", "W1234567", ["It is #W1234567."])
    assert not FACTS.is_told("id", "no id", ["no id"])


def test_money_that_comes_back_is_told_without_a_sign():
    assert FACTS.is_told("amount", -4500, ["You get $45 back."])
    assert not FACTS.is_told("amount", -4500, ["You get $4.50 back."])


def test_an_unknown_type_says_which_there_are():
    with pytest.raises(UnknownNameError, match="Did you mean: `amount`"):
        FACTS.values_in("", "amounts")


@given(st.text(), st.sampled_from(["amount", "count", "id", "status"]))
def test_any_text_can_be_read(text, kind):
    assert FACTS.is_told(kind, 1, [text]) in (True, False)


@pytest.mark.parametrize(
    "piece", ["a", "a_", "1", "1,111", "$", "a@", "a.", "1.", " ", "May 1", "one-", "gift_card_"]
)
def test_long_texts_are_read_at_once(piece):
    text = piece * (100_000 // len(piece))

    assert effort(lambda: [FACTS.values_in(text, kind) for kind in ("amount", "count", "id")]) < 100
