"""The tools: functions of the database and the parameters of the schema."""

import importlib.resources

from library_desk.data import TITLES, book_id, find_email, find_title
from tool_envs.database import Database
from tool_envs.messages import Json
from tool_envs.schema import ToolSchema
from tool_envs.toolkit import Refusal, Toolkit

_NO_LOAN = Refusal("loan_not_found", "There is no loan with this id.")
_NO_MEMBER = Refusal("member_not_found", "There is no such member.")
_NO_BOOK = Refusal("book_not_found", "There is no book with this id.")
_RETURNED = Refusal("loan_is_returned", "The book of this loan was returned.")
_RENEWED = Refusal("loan_renewed_before", "This loan was renewed before, and a loan is renewed once.")
_RESERVED = Refusal("already_reserved", "The member has reserved this book.")

_BOOKS = {book_id(book): title for book, title in enumerate(TITLES)}


def find_member_by_email(database: Database, email: str) -> Json:
    found = find_email(email)
    return _NO_MEMBER if found is None or database.get("members", found) is None else {"user_id": found}


def get_member_details(database: Database, user_id: str) -> Json:
    return database.get("members", user_id) or _NO_MEMBER


def get_loan_details(database: Database, loan_id: str) -> Json:
    return database.get("loans", loan_id) or _NO_LOAN


def search_books(database: Database, title: str) -> Json:  # noqa: ARG001 - all tools are called alike
    book = find_title(title)
    return {"books": [] if book is None else [{"book_id": book_id(book), "title": TITLES[book]}]}


def renew_loan(database: Database, loan_id: str, days: int) -> Json:
    loan = database.get("loans", loan_id)
    if loan is None:
        return _NO_LOAN
    if loan["status"] != "open":
        return _RETURNED
    if loan["renewed"]:
        return _RENEWED
    return _put_loan(database, {**loan, "renewed": True, "days_left": loan["days_left"] + days})


def return_book(database: Database, loan_id: str) -> Json:
    loan = database.get("loans", loan_id)
    if loan is None:
        return _NO_LOAN
    if loan["status"] != "open":
        return _RETURNED
    return _put_loan(database, {**loan, "status": "returned", "days_left": 0})


def reserve_book(database: Database, user_id: str, book_id: str) -> Json:
    member = database.get("members", user_id)
    if member is None:
        return _NO_MEMBER
    if book_id not in _BOOKS:
        return _NO_BOOK
    if book_id in member["reserved"]:
        return _RESERVED
    changed = {**member, "reserved": sorted([*member["reserved"], book_id])}
    database.put("members", user_id, changed)
    return changed


def transfer_to_librarian(database: Database, summary: str) -> Json:  # noqa: ARG001
    """The schema says that the episode ends."""
    return {}


def _put_loan(database: Database, loan: Json) -> Json:
    database.put("loans", loan["loan_id"], loan)
    return loan


TOOLKIT = Toolkit(
    ToolSchema.from_file(importlib.resources.files("library_desk") / "schemas" / "1.0.0.json"),
    {
        tool.__name__: tool
        for tool in (
            find_member_by_email,
            get_loan_details,
            get_member_details,
            renew_loan,
            reserve_book,
            return_book,
            search_books,
            transfer_to_librarian,
        )
    },
)
