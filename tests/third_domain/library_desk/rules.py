"""The rules: each a sentence and a check, made by the factories that all service desks share."""

import orjson

from tool_envs.facts import MOST_VALUES, FactReader, IdKind
from tool_envs.rules import Called, Names
from tool_envs.service.rules import (
    Ownership,
    enforced,
    explicit_yes,
    identify_first,
    no_made_up_facts,
    one_customer,
    policy_lines,
    transfer_last,
)

FIND, PROFILE, LOAN, SEARCH = (
    "find_member_by_email",
    "get_member_details",
    "get_loan_details",
    "search_books",
)
RENEW, RETURN, RESERVE = "renew_loan", "return_book", "reserve_book"
TRANSFER = "transfer_to_librarian"
WRITES = Names((RENEW, RETURN, RESERVE))
MEMBERS_OWN = frozenset({PROFILE, LOAN, *WRITES})

FACTS = FactReader(
    IdKind("loan", "L[0-9]{5}", capitals=True),
    IdKind("book", "B[0-9]{4}", capitals=True),
    IdKind("user", "[a-z]+_[a-z]+_[0-9]{4}"),
)


def found_user(event: Called) -> str:
    """The user id that a successful call found; empty when it is no call that finds a member."""
    return str(orjson.loads(event.result)["user_id"]) if event.call.name == FIND else ""


RULES = (
    identify_first(
        "identify_first",
        "Find out who the member is (`{find}`) before you look up or change anything of theirs.",
        found_user,
        MEMBERS_OWN | {TRANSFER},
        find=FIND,
    ),
    one_customer(
        "A conversation is with one member, the first that you found. Leave the data of others alone.",
        Ownership(found_user, PROFILE, "loans", "loan_id", MEMBERS_OWN),
    ),
    explicit_yes(
        "Before each {writes:`}, say exactly what you are about to do and get a yes to it; it counts once.",
        WRITES,
    ),
    no_made_up_facts(
        "Tell members only what they or a tool told you, and no id that has not come up before.",
        FACTS,
        own_words={TRANSFER},
        examples={"L12345", "B1234", "jane_roe_1234"},
    ),
    enforced(
        "renewed_once",
        "A loan is renewed once. For a loan that was renewed, say no.",
        ("loan_renewed_before",),
        (RENEW,),
    ),
    transfer_last(TRANSFER, "out_of_scope"),
)

POLICY = f"""\
# Domain policy: the desk of a public library

You serve members of a library: tell them about their loans, renew loans, take books back, reserve books.

## Rules

{policy_lines(RULES)}

Members may have several wishes, one after the other. A message with more than {MOST_VALUES} different numbers
does not answer a question for one of them. When a member asks for a certain form of reply, keep to it.
"""
