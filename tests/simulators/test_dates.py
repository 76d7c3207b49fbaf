"""Dates as people write them: what is said is understood, and no two dates are taken for each other."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_envs.simulators.booking_language import BOOKING
from tool_envs.simulators.dates import date_forms, say_date
from tool_envs.simulators.goal import Value
from tool_envs.simulators.understanding import read

STYLES = ("month_first", "ordinal", "day_first", "with_year", "iso")
dates = st.dates(datetime.date(1900, 1, 1), datetime.date(2099, 12, 31)).map(datetime.date.isoformat)
in_a_year = st.dates(datetime.date(2025, 1, 1), datetime.date(2025, 12, 31)).map(datetime.date.isoformat)


def dates_in(text, *known, year_needed=False):
    lexicon = {"date": tuple(Value(date, date_forms(date, year_needed)) for date in known)}
    return read(text, BOOKING, lexicon).mentions.get("date", ())


@pytest.mark.parametrize("style", STYLES)
@given(dates)
def test_a_date_is_understood_however_it_is_said(style, date):
    assert dates_in(f"It is on {say_date(date, style)}.", date) == (date,)


@given(in_a_year, in_a_year, st.sampled_from(STYLES))
def test_dates_of_a_year_are_told_apart(date, other, style):
    assert dates_in(f"It is on {say_date(date, style)}.", date, other) == (date,)


@given(dates, dates)
def test_dates_of_birth_are_told_apart_by_their_years_too(date, other):
    text = f"Born {say_date(date, 'with_year')}, that is {say_date(date, 'iso')}."

    assert dates_in(text, date, other, year_needed=True) == (date,)
    assert dates_in(f"On {say_date(date)}.", date, year_needed=True) == ()


@given(dates, st.booleans())
def test_forms_are_lower_case_and_not_doubled(date, year_needed):
    forms = date_forms(date, year_needed)

    assert len(set(forms)) == len(forms)
    assert all(form == form.lower() for form in forms)
    assert forms[0] == say_date(date, "with_year" if year_needed else "month_first").lower()


@pytest.mark.parametrize(
    ("date", "style", "text"),
    [
        ("2025-07-03", "month_first", "July 3"),
        ("2025-07-01", "ordinal", "July 1st"),
        ("2025-07-02", "ordinal", "July 2nd"),
        ("2025-07-03", "ordinal", "July 3rd"),
        ("2025-07-11", "ordinal", "July 11th"),
        ("2025-07-12", "ordinal", "July 12th"),
        ("2025-07-13", "ordinal", "July 13th"),
        ("2025-07-22", "ordinal", "July 22nd"),
        ("2025-07-30", "ordinal", "July 30th"),
        ("2025-07-03", "day_first", "3 July"),
        ("2025-07-03", "with_year", "July 3, 2025"),
        ("2025-07-03", "iso", "2025-07-03"),
    ],
)
def test_styles(date, style, text):
    assert say_date(date, style) == text


@pytest.mark.parametrize(
    "text",
    ["Jul 3rd", "the 3rd of July", "3 jul", "07/03", "07/03/2025", "7/3/2025", "July 3 2025", "JULY 3"],
)
def test_usual_texts_are_understood(text):
    assert dates_in(f"Flying out {text}, right?", "2025-07-03", "2025-07-30") == ("2025-07-03",)


@pytest.mark.parametrize("text", ["July 31", "July 13", "23 July", "107/03", "May 3", "July", "3"])
def test_other_texts_are_not(text):
    assert dates_in(f"Flying out {text}, right?", "2025-07-03") == ()


def test_no_date_is_refused():
    with pytest.raises(ValueError, match="month must be"):
        say_date("2025-13-01")
