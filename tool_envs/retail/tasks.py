"""The store's tasks: who comes to the desk, what they know, and how they are found."""

import functools

from tool_envs.messages import ToolCall
from tool_envs.retail.data import RetailBase
from tool_envs.retail.wishes import FAMILIES, UNRULED, Shopper, lexicon
from tool_envs.service.tasks import GeneratedTasks, TaskMaker


def retail_tasks(
    base: RetailBase,
    split: str,
    difficulty: int | None,
    size: int | None = None,
    family: str | None = None,
) -> GeneratedTasks[Shopper]:
    """The tasks of one split over a store, or the first of them; raises as `GeneratedTasks` does."""
    return GeneratedTasks(_maker(base), split, difficulty, size, family)


def _maker(base: RetailBase) -> TaskMaker[Shopper]:
    return TaskMaker(
        domain="retail",
        seed=base.seed,
        customers=base.customers,
        visit=functools.partial(Shopper, base),
        families=FAMILIES,
        unruled=UNRULED,
        knows=_knows,
        identify=_identify,
        lexicon=lexicon,
    )


def _knows(shopper: Shopper) -> dict[str, str]:
    """What a customer can say of themselves; forgetful ones do not know which e-mail address they gave."""
    first, last = shopper.base.name(shopper.customer)
    known = {"name": f"{first} {last}", "zip": shopper.base.address(shopper.row.address).zip}
    if not shopper.forgetful:
        known["email"] = shopper.base.email(shopper.customer)
    return known


def _identify(shopper: Shopper) -> ToolCall:
    known = _knows(shopper)
    if "email" in known:
        return ToolCall("find_user_id_by_email", {"email": known["email"]})
    first, last = shopper.base.name(shopper.customer)
    return ToolCall("find_user_id_by_name_zip", {"first_name": first, "last_name": last, "zip": known["zip"]})
