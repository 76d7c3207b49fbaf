"""What a customer of an airline understands: numbers, insurance, people, airports, and writes."""

import pytest
from sample_bookings import LEXICON

from tool_envs.simulators.booking_language import BOOKING
from tool_envs.simulators.understanding import read


def named(text, leaf):
    """The values of a leaf that a text names."""
    return read(text, BOOKING, LEXICON).mentions.get(leaf, ())


@pytest.mark.parametrize(
    ("text", "total"),
    [
        ("with 2 checked bags", (2,)),
        ("two bags", (2,)),
        ("no checked bags", (0,)),
        ("1 checked bag in all", (1,)),
        ("**Total Baggages**: 3", (3,)),
        ("- Number of checked bags: 3", (3,)),
        ("Baggage: 2 total, 0 non-free", (2,)),
        ("I will add 2 checked bags, for a total of 5", (5,)),
        ("2 free checked bags and 1 more, 3 in total", (2, 3)),
        ("12 bags", (12,)),
        ("add 2 checked bags", ()),
        ("an additional 2 checked bags", ()),
        ("2 more checked bags", ()),
        ("non-free bags: 1", ()),
        ("extra checked bags: 1", ()),
        ("1 of them paid", ()),
        ("$50 in total", ()),
        ("flight HAT002 in total", ()),
        ("the bags", ()),
    ],
)
def test_bags_in_all(text, total):
    assert named(text, "total_baggages") == total


@pytest.mark.parametrize(
    ("text", "paid"),
    [
        ("3 checked bags in all (1 of them paid)", (1,)),
        ("none of them paid", (0,)),
        ("Non-Free Baggages: 2", (2,)),
        ("2 total, 0 non-free", (0,)),
        ("1 of which is to be paid for", (1,)),
        ("one non-free bag", (1,)),
        ("2 free bags", ()),
        ("to be paid with your card", ()),
        ("$50 paid", ()),
    ],
)
def test_bags_that_are_paid_for(text, paid):
    assert named(text, "nonfree_baggages") == paid


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("a certificate of $100.", (100,)),
        ("$1,250 and $50.00", (1250, 50)),
        ("200 dollars", (200,)),
        ("$12.50", ()),
        ("100", ()),
        ("A$", ()),
    ],
)
def test_amounts(text, amount):
    assert named(text, "amount") == amount


@pytest.mark.parametrize(
    ("text", "insured"),
    [
        ("with travel insurance", ("yes",)),
        ("without travel insurance", ("no",)),
        ("and no travel insurance", ("no",)),
        ("- **Travel Insurance:** Yes", ("yes",)),
        ("- **Insurance**: No", ("no",)),
        ("I will not add travel insurance", ("no",)),
        ("Would you like to hear about travel insurance?", ()),
    ],
)
def test_insurance(text, insured):
    assert named(text, "insurance") == insured


@pytest.mark.parametrize(
    ("text", "cabin"),
    [
        ("in basic economy", ("basic_economy",)),
        ("in Economy", ("economy",)),
        ("business class", ("business",)),
        ("from economy to business", ("economy", "business")),
    ],
)
def test_cabins(text, cabin):
    assert named(text, "cabin") == cabin


@pytest.mark.parametrize(
    ("text", "kind"),
    [("a one-way trip", ("one_way",)), ("Trip type: Round Trip", ("round_trip",)), ("a trip", ())],
)
def test_types_of_trips(text, kind):
    assert named(text, "flight_type") == kind


def test_people_are_named_by_both_names():
    text = "For Jane Park and Mia Price, not for Jane alone: the price of flights from MIA may change."

    assert named(text, "first_name") == ("Jane", "Mia")
    assert named(text, "last_name") == ("Park", "Price")


@pytest.mark.parametrize(
    ("text", "origin", "destination"),
    [
        ("from JFK to SEA", ("JFK",), ("SEA",)),
        ("from New York (JFK) to Seattle (SEA)", ("JFK",), ("SEA",)),
        ("JFK \u2192 SEA", ("JFK",), ("SEA",)),
        ("- Origin: Boston\n- Destination: MIA", ("BOS",), ("MIA",)),
        ("from SEA back to JFK", (), ()),
        ("by way of Boston", (), ()),
    ],
)
def test_airports_are_known_by_the_words_around_them(text, origin, destination):
    assert (named(text, "origin"), named(text, "destination")) == (origin, destination)


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("Shall I book HAT001?", "book_reservation"),
        ("Would you like me to upgrade you to business?", "update_reservation_flights"),
        ("Shall I change the flights of reservation K7QX2M?", "update_reservation_flights"),
        ("Shall I change the passengers of reservation K7QX2M?", "update_reservation_passengers"),
        ("Shall I add 2 checked bags?", "update_reservation_baggages"),
        ("Shall I update the baggage of your reservation?", "update_reservation_baggages"),
        ("Shall I cancel reservation K7QX2M?", "cancel_reservation"),
        ("Shall I send you a certificate of $100?", "send_certificate"),
        (
            "Since your flight was cancelled, I can offer you a $100 certificate. Is that okay?",
            "send_certificate",
        ),
        ("A certificate of $100 has been issued.", "send_certificate"),
        ("Your reservation was cancelled, and certificate_4444444 is yours again.", "cancel_reservation"),
    ],
)
def test_the_write_is_made_out(text, tool):
    assert read(text, BOOKING, LEXICON).tool == tool
