"""The library's members, loans and books: plain JSON records, the same in every process."""

import functools

from tool_envs.database import BaseData
from tool_envs.messages import Json
from tool_envs.people import People
from tool_envs.randomness import Draws, Shuffle

SEED = 7
MEMBERS = 200
LOANS = 6  # of each member

TITLES = tuple(
    f"The {first} {second}"
    for first in ("Amber", "Silent", "Crooked", "Golden", "Hollow", "Distant", "Winter", "Paper")
    for second in ("River", "Garden", "Lantern", "Harbor", "Orchard", "Mirror", "Tower", "Forest")
)
"""Book by number -> its title; no two are alike."""

# Numbers of streams of random words; those from 40 on are taken by the tasks, the first few by `People`.
_LOAN_IDS, _BOOK_IDS, _LOANS_OF_MEMBER = 20, 21, 22
_PEOPLE = People(SEED)
_LOAN_NUMBERS = Shuffle(300, 300, SEED, _LOAN_IDS)
_BOOK_NUMBERS = Shuffle(90, 100, SEED, _BOOK_IDS)


def user_id(member: int) -> str:
    """Such as `jane_roe_1234`."""
    return _PEOPLE.user_id(_PEOPLE.identity(member))


def find_email(email: str) -> str | None:
    """The user id of the member with that address; None when nobody could have it."""
    member = _PEOPLE.of_email(email)
    return None if member is None else user_id(member)


def book_id(book: int) -> str:
    """Such as `B1234`."""
    return f"B{1000 + _BOOK_NUMBERS.to(book)}"


def find_title(title: str) -> int | None:
    """The book of that title; case does not matter."""
    return next((book for book, known in enumerate(TITLES) if known.lower() == title.lower()), None)


@functools.cache
def library_base() -> BaseData:
    """All tables, made once in a process."""
    members = [_member(member) for member in range(MEMBERS)]
    loans = [loan for member in range(MEMBERS) for loan in _loans(member)]
    return BaseData(
        {
            "members": {member["user_id"]: member for member in members},
            "loans": {loan["loan_id"]: loan for loan in loans},
        }
    )


def _member(member: int) -> dict[str, Json]:
    return {
        "user_id": user_id(member),
        "email": _PEOPLE.email(_PEOPLE.identity(member)),
        "loans": [_loan_id(member, number) for number in range(LOANS)],
        "reserved": [],
    }


def _loans(member: int) -> list[dict[str, Json]]:
    """The loans of a member: of different books, half of them renewed before."""
    draws = Draws(SEED, _LOANS_OF_MEMBER, member)
    first = draws.below(len(TITLES))
    return [
        {
            "loan_id": _loan_id(member, number),
            "user_id": user_id(member),
            "title": TITLES[(first + number) % len(TITLES)],
            "days_left": 1 + draws.below(20),
            "renewed": number % 2 == 1,
            "status": "open",
        }
        for number in range(LOANS)
    ]


def _loan_id(member: int, number: int) -> str:
    """Such as `L12345`."""
    return f"L{10_000 + _LOAN_NUMBERS.to(member * LOANS + number)}"
