"""What customers of the store can want: a maker for each kind of wish, and what is right for it."""

from collections.abc import Callable, Mapping

from tool_envs.retail.wishes.changes import cancel, order_address, payment, return_some, user_address
from tool_envs.retail.wishes.forbidden import forbidden
from tool_envs.retail.wishes.letters import letter
from tool_envs.retail.wishes.lexicon import lexicon
from tool_envs.retail.wishes.questions import question
from tool_envs.retail.wishes.shopper import Shopper
from tool_envs.retail.wishes.swaps import exchange, items
from tool_envs.service.wishes import Planned
from tool_envs.simulators.letters import LETTER

FAMILIES: Mapping[str, Callable[[Shopper], Planned | None]] = {
    "cancel": cancel,
    "order_address": order_address,
    "user_address": user_address,
    "items": items,
    "payment": payment,
    "return": return_some,
    "exchange": exchange,
    "question": question,
    "forbidden": forbidden,
}
"""Makers of wishes by family; None when this customer can have none."""

UNRULED: Mapping[str, Callable[[Shopper], Planned | None]] = {LETTER: letter}
"""Likewise, of wishes that no rule grades; they come up only where their family is asked for."""

__all__ = ["FAMILIES", "UNRULED", "Shopper", "lexicon"]
