"""The store's oracle: how it finds customers, what it looks up, and in which words it speaks of things."""

from collections.abc import Mapping

import orjson

from tool_envs.episode import Episode
from tool_envs.messages import Json
from tool_envs.randomness import Draws
from tool_envs.retail.codes import base_of
from tool_envs.retail.data import RetailBase
from tool_envs.retail.desk import RETAIL_DESK
from tool_envs.retail.letters import write_letter
from tool_envs.retail.rows import DELIVERED, PENDING
from tool_envs.retail.wishes import Shopper
from tool_envs.retail.wishes.planned import option_text
from tool_envs.rules import events, succeeded
from tool_envs.service.clerk import Action, Clerk, call_of, say
from tool_envs.service.progress import read_key
from tool_envs.simulators.letters import letter_of

_PRODUCT_LIST = "list_all_product_types"


class RetailClerk(Clerk):
    """The oracle at one step of an episode in the store.

    Args:
        episode: The episode.
    """

    def __init__(self, episode: Episode) -> None:
        super().__init__(RETAIL_DESK, episode)
        self.base: RetailBase = base_of(episode.database)

    def identify(self) -> Action | None:
        """Find the customer by e-mail address, or by name and zip code; ask for them first."""
        told = self.progress.told
        if self.progress.user_id:
            return None
        if "email" in told:
            return call_of("find_user_id_by_email", email=told["email"])
        if "name" in told and "zip" in told:
            first, last = told["name"].split(" ", 1)
            return call_of("find_user_id_by_name_zip", first_name=first, last_name=last, zip=told["zip"])
        return say(self.voice.ask(["email"] if "email" in self.goal.knows else ["name", "zip"]))

    def look_up(self) -> Action | None:
        """The profile, then what the wish is about; ids of products that are asked about stand in a list."""
        if self.progress.user_id not in self.progress.read:
            return call_of("get_user_details", user_id=self.progress.user_id)
        action = super().look_up()
        if (
            action
            and self.wish.fact
            and "product_id" in action["arguments"]
            and _PRODUCT_LIST not in self.progress.read
        ):
            return call_of(_PRODUCT_LIST)
        return action

    def reason_against(self) -> str:
        """From the status of the order, mostly."""
        wish = self.wish
        if wish.otherwise:
            return "not_available"
        place = self.base.find_order(wish.evidence[0])
        status = self.base.order(*place).status if place else -1
        if wish.kind == "cancel" and status == PENDING:
            return "cancel_reason"
        if wish.kind == "return":
            return "refund_method" if status == DELIVERED else "not_delivered"
        return "not_pending"

    def serve(self) -> Action:
        """Write a letter, or as for any desk."""
        wanted = letter_of(self.wish)
        if wanted is None:
            return super().serve()
        name = self._looked_up(self.progress.user_id)["name"]
        order = self._looked_up(self.wish.evidence[0])
        to = f"{name['first_name']} {name['last_name']}"
        return say(write_letter(wanted.kind, to, order, self.wish.words.get("item", "")))

    def _looked_up(self, key: str) -> Json:
        """What the last call with a key (see `read_key`) answered."""
        history = self.desk.renames.first_history(self.episode.history)
        calls = [event for _, event in events(history) if succeeded(event) and read_key(event.call) == key]
        return orjson.loads(calls[-1].result)

    def words_for(self, arguments: Mapping[str, Json]) -> dict[str, str]:
        """What items and payment methods are called."""
        place = self.base.find_user(self.progress.user_id)
        shopper = Shopper(self.base, place or 0, Draws(0, 0, 0), forgetful=False)
        catalog = self.base.catalog
        words = {}
        for name in ("item_ids", "new_item_ids"):
            for item_id in arguments.get(name, ()):
                variant = catalog.variants[catalog.variant_codes[item_id]]
                words[item_id] = option_text(variant) if name == "new_item_ids" else shopper.name(variant)
        method = arguments.get("payment_method_id")
        if method in shopper.method_ids:
            words[method] = shopper.method_forms(shopper.method_ids.index(method))[0]
        return words


def decide(episode: Episode) -> Action:
    """The oracle's next action, with the parameter names of schema 1.0.0."""
    return RetailClerk(episode).decide()
