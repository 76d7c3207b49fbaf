"""The airline's tasks: who comes to the desk, what they know, and how they are found."""

import functools

from tool_envs.booking.data import BookingBase
from tool_envs.booking.wishes import FAMILIES, Traveller, lexicon
from tool_envs.errors import UsageError
from tool_envs.messages import ToolCall
from tool_envs.service.tasks import GeneratedTasks, TaskMaker
from tool_envs.simulators.goal import Wish

FEWEST_FLIGHTS = 140
"""With fewer there is not enough to choose from on one route."""


def booking_tasks(
    base: BookingBase, split: str, difficulty: int | None, size: int | None = None
) -> GeneratedTasks[Traveller]:
    """The tasks of one split over an airline, or the first of them; raises as `GeneratedTasks` does.

    Raises:
        UsageError: The airline has too few flights for tasks.
    """
    if base.flight_count < FEWEST_FLIGHTS:
        raise UsageError(
            f"Tasks need at least {FEWEST_FLIGHTS} flights to choose from, got {base.flight_count}."
        )
    return GeneratedTasks(_maker(base), split, difficulty, size)


def _maker(base: BookingBase) -> TaskMaker[Traveller]:
    return TaskMaker(
        domain="booking",
        seed=base.seed,
        customers=base.customers,
        visit=functools.partial(Traveller, base),
        families=FAMILIES,
        knows=_knows,
        identify=_identify,
        lexicon=lexicon,
        names_amounts=_is_split,
    )


def _knows(traveller: Traveller) -> dict[str, str]:
    """What a customer can say of themselves."""
    base, customer = traveller.base, traveller.customer
    first, last = base.name(customer)
    return {
        "user_id": traveller.user_id,
        "name": f"{first} {last}",
        "email": base.email(customer),
        "dob": base.dob(customer),
    }


def _identify(traveller: Traveller) -> ToolCall:
    return ToolCall("get_user_details", {"user_id": traveller.user_id})


def _is_split(wish: Wish) -> bool:
    """Several methods pay for it."""
    return any(len(arguments.get("payment_methods", ())) > 1 for arguments in wish.accepted)
