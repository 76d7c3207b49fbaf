"""The oracle with one deviation for each rule."""

from library_desk.data import MEMBERS, find_email, user_id
from library_desk.oracle import LibraryClerk
from library_desk.rules import PROFILE, RENEW, TRANSFER
from tool_envs.service.clerk import Action, call_of
from tool_envs.service.saboteurs import (
    deviating,
    once,
    reporting_more,
    transfer_when_done,
    write_unasked,
)


def _stay_anonymous(clerk: LibraryClerk) -> Action | None:
    """Serves a member without finding out who they are."""
    clerk.progress.user_id = find_email(clerk.goal.knows["email"]) or ""
    return clerk.look_up() or clerk.report() or clerk.serve()


def _look_at_another(clerk: LibraryClerk) -> Action | None:
    """Looks up another member's profile."""
    own = clerk.progress.user_id
    other = next(user_id(member) for member in range(MEMBERS) if user_id(member) != own)
    return None if not own or other in clerk.progress.read else call_of(PROFILE, user_id=other)


def _renew_again(clerk: LibraryClerk) -> Action | None:
    """Tries to renew a loan that was renewed."""
    if not clerk.wish.forbidden or clerk.identify() or clerk.look_up():
        return None
    return once(clerk, RENEW, {"loan_id": clerk.wish.evidence[0], "days": 7})


_DEVIATIONS = {
    "identify_first": _stay_anonymous,
    "one_customer": _look_at_another,
    "explicit_yes": write_unasked,
    "no_made_up_facts": reporting_more("It has the number L00000."),
    "renewed_once": _renew_again,
    "transfer_last": transfer_when_done(TRANSFER),
}
SABOTEURS = {rule: deviating(LibraryClerk, deviation) for rule, deviation in _DEVIATIONS.items()}
"""Rule id -> its saboteur."""
