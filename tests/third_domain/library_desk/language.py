"""What is said at the desk: how agents are understood, and the sentences of members and of the oracle."""

import re
from collections.abc import Mapping

from tool_envs.messages import Json
from tool_envs.simulators import IdPattern, Language, Phrases, Verb, groups
from tool_envs.simulators.shared_phrases import CONDITIONS

LANGUAGE = Language(
    domain="library",
    nouns=groups(
        {
            "email": r"e-?mail\b",
            "loan_id": r"loan (?:ids?|numbers?)\b|which loan\b",
            "book_id": r"book (?:ids?|numbers?)\b|titles?\b|which book\b",
            "days": r"number of days\b|how (?:many days|long)\b",
        }
    ),
    options=groups({"loan_id": r"loans?\b", "book_id": r"books?\b|titles?\b"}),
    fixed=groups({}),
    acts=re.compile(r"\b(?:renew\w*|return\w*|reserv\w*|transfer\w*)"),
    verbs=groups({"renew": "renew", "back": "return", "reserve": "reserv", "transfer": "transfer"}),
    writes={
        "renew": Verb("renew_loan"),
        "back": Verb("return_book"),
        "reserve": Verb("reserve_book"),
        "transfer": Verb("transfer_to_librarian"),
    },
    objects=groups({}),
    needs={},
    ids=groups({"loan": r"l\d{5}", "book": r"b\d{4}", "user": r"[a-z]{1,40}_[a-z]{1,40}_\d{4}"}),
    kinds={
        "loan": IdPattern(("loan_id",), option="loan_id", upper=True),
        "book": IdPattern(("book_id",), option="book_id", upper=True),
        "user": IdPattern(("user_id",)),
    },
    values={},
    done=re.compile(r"\b(?:has|have) been (?:renewed|reserved)\b"),
    numbers={"days": re.compile(r"\b(\d{1,2}) days?\b")},
)


def _fields(arguments: Mapping[str, Json], words: Mapping[str, str]) -> dict[str, str]:
    """What stands in the fields of deeds and results."""

    def named(name: str) -> str:
        value = arguments.get(name, "")
        return f"{value} ({words[value]})" if value in words else str(value)

    return {"loan": named("loan_id"), "book": named("book_id"), "days": str(arguments.get("days", ""))}


PHRASES = Phrases(
    language=LANGUAGE,
    slots={
        "email": ("email",),
        "user_id": ("user_id",),
        "loan_id": ("loan_id",),
        "book_id": ("book_id",),
        "days": ("days",),
    },
    questions={
        "email": "your email address",
        "loan_id": "the loan ID",
        "book_id": "the book ID",
        "days": "the number of days",
    },
    nouns={
        "email": "my email address",
        "user_id": "my user ID",
        "loan_id": "the loan",
        "book_id": "the book",
        "days": "the number of days",
    },
    wants={
        "loan_id": "I mean {words}",
        "book_id": "I mean {words}",
        "days": "it should be {words}",
    },
    fields=_fields,
    deeds={
        "renew_loan": ("renew loan {loan} for {days} days",),
        "return_book": ("return the book of loan {loan}",),
        "reserve_book": ("reserve book {book} for you",),
    },
    brief_deeds={
        "renew_loan": "renew loan {loan} for {days} days",
        "return_book": "return the book of loan {loan}",
        "reserve_book": "reserve book {book}",
    },
    results={
        "renew_loan": ("Loan {loan} has been renewed",),
        "return_book": ("The book of loan {loan} has been returned",),
        "reserve_book": ("Book {book} has been reserved",),
    },
    refusals={"renew": "renew this loan"},
    reasons={"renewed_before": "the loan was renewed before"},
    identity=frozenset({"email", "user_id"}),
    introduction=("email",),
    identifying=frozenset({"loan_id", "book_id"}),
    look_alikes=(),
    conditions=dict(CONDITIONS),
)
