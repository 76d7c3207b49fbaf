"""How users bring up their wishes: ten ways for each, with the fields that the makers of tasks fill."""

from string import Formatter

import pytest
from samples import SAMPLES

from tool_envs.simulators.booking_openings import OPENINGS as BOOKING_OPENINGS
from tool_envs.simulators.phrasing import has_contraction
from tool_envs.simulators.retail_openings import OPENINGS as RETAIL_OPENINGS

ORDER = {"order"}
BOOKED = {"route", "dates", "wanted", "cabin", "payment"}
FIELDS = {
    "retail": {
        "cancel": ORDER | {"reason"},
        "order_address": ORDER | {"address"},
        "user_address": {"address"},
        "items": ORDER | {"items", "wanted", "payment"},
        "payment": ORDER | {"payment"},
        "return": ORDER | {"items", "payment"},
        "exchange": ORDER | {"items", "wanted", "payment"},
    },
    "booking": {
        "book_one_way": BOOKED,
        "book_round_trip": BOOKED,
        "book_one_stop": BOOKED,
        "change_flights": {"trip", "wanted", "payment"},
        "change_cabin": {"trip", "cabin", "payment"},
        "add_bags": {"trip", "bags", "payment"},
        "change_passengers": {"trip", "passengers"},
        "cancel": {"trip", "reason"},
        "compensation": {"trip", "what"},
        "insurance": {"trip"},
        "remove_bags": {"trip", "bags"},
        "add_passenger": {"trip", "passengers"},
    },
}
OPENINGS = {"retail": RETAIL_OPENINGS, "booking": BOOKING_OPENINGS}
KINDS = [(domain, kind) for domain, fields in FIELDS.items() for kind in fields]


@pytest.mark.parametrize("domain", FIELDS)
def test_every_kind_has_openings_and_can_be_refused(domain):
    assert OPENINGS[domain].keys() == FIELDS[domain].keys()
    assert OPENINGS[domain].keys() <= SAMPLES[domain].phrases.refusals.keys()


@pytest.mark.parametrize(("domain", "kind"), KINDS)
def test_there_are_ten_ways_to_bring_it_up(domain, kind):
    pool = OPENINGS[domain][kind]

    assert len(set(pool)) == len(pool) >= 10
    assert not any(has_contraction(opening) for opening in pool)


@pytest.mark.parametrize(("domain", "kind"), KINDS)
def test_every_opening_says_all_of_it(domain, kind):
    for opening in OPENINGS[domain][kind]:
        assert {field for _, field, _, _ in Formatter().parse(opening) if field} == FIELDS[domain][kind]
