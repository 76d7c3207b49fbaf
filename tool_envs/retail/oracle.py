"""The oracle: decides from the state of an episode, and so can take over anybody's at any step.

It reads the hidden goal, but does what a good agent would: it finds out who the customer is, looks up what it
needs, proposes, waits for the yes, acts, and says what it did.
"""

from collections.abc import Mapping

from tool_envs.consent import covering
from tool_envs.episode import Episode
from tool_envs.messages import CONTENT, RESPOND, Json, ToolCall
from tool_envs.randomness import Draws
from tool_envs.retail.codes import base_of
from tool_envs.retail.data import RetailBase
from tool_envs.retail.grading import first_version, goal_of
from tool_envs.retail.progress import Progress, follow
from tool_envs.retail.rows import DELIVERED, PENDING
from tool_envs.retail.rules import PAIRS
from tool_envs.retail.wishes import Shopper
from tool_envs.retail.wishes.planned import option_text
from tool_envs.simulators.agent_voice import AgentVoice
from tool_envs.simulators.goal import UserGoal, Wish
from tool_envs.simulators.retail_phrases import RETAIL_PHRASES

Action = dict[str, Json]


class Situation:
    """What the oracle looks at before it decides.

    Args:
        episode: The episode.
    """

    def __init__(self, episode: Episode) -> None:
        self.episode = episode
        self.goal: UserGoal = goal_of(episode.task)
        self.progress: Progress = follow(self.goal, first_version(episode.history))
        self.base: RetailBase = base_of(episode.database)
        demanded = self.goal.conditions
        brief, formal = "max_characters" in demanded, "formal" in demanded
        self.voice = AgentVoice(RETAIL_PHRASES, 0, episode.steps, brief, formal)

    @property
    def wish(self) -> Wish:
        """What the user wants now."""
        return self.progress.wish

    def target(self) -> ToolCall:
        """The write that fulfils the wish, with what the user corrected."""
        corrections = self.progress.corrections
        fitting = [
            arguments
            for arguments in self.wish.accepted
            if all(_agrees(arguments.get(name), value) for name, value in corrections.items())
        ]
        covered = [
            arguments
            for arguments in fitting
            if covering(self.progress.yeses, ToolCall(self.wish.tool, arguments), PAIRS)
        ]
        return ToolCall(self.wish.tool, [*covered, *fitting, *self.wish.accepted][0])


def decide(episode: Episode) -> Action:
    """The next action, with the parameter names of schema 1.0.0."""
    now = Situation(episode)
    return identify(now) or look_up(now) or report(now) or serve(now)


def _agrees(value: Json, other: Json) -> bool:
    if isinstance(value, list):
        return set(other if isinstance(other, list) else [other]) <= set(value)
    return bool(value == other)


# --- Who they are


def identify(now: Situation) -> Action | None:
    """Find the customer, with what they said; ask for it first."""
    progress, told = now.progress, now.progress.told
    if progress.user_id:
        return None
    if "email" in told:
        return _call("find_user_id_by_email", email=told["email"])
    if "name" in told and "zip" in told:
        first, last = told["name"].split(" ", 1)
        return _call("find_user_id_by_name_zip", first_name=first, last_name=last, zip=told["zip"])
    return say(now.voice.ask(["email"] if "email" in now.goal.knows else ["name", "zip"]))


# --- What must be known


def look_up(now: Situation) -> Action | None:
    """The next record that is needed and was not looked up."""
    read = now.progress.read
    if now.progress.user_id not in read:
        return _call("get_user_details", user_id=now.progress.user_id)
    for record in _needed(now):
        if record not in read:
            if record.startswith("#"):
                return _call("get_order_details", order_id=record)
            if not _is_in_an_order(now) and "list_all_product_types" not in read:
                return _call("list_all_product_types")
            return _call("get_product_details", product_id=record)
    return None


def _needed(now: Situation) -> list[str]:
    """Ids of the orders and products behind the wish, orders first."""
    needed = [*now.wish.evidence]
    if now.wish.otherwise:
        needed += [arguments["order_id"] for arguments in now.wish.otherwise.accepted]
    for arguments in now.wish.accepted[:1]:
        needed += [arguments["order_id"]] if "order_id" in arguments else []
        if "new_item_ids" in arguments:
            needed += [_product_id(now.base, item) for item in arguments["item_ids"]]
    return sorted(dict.fromkeys(needed))


def _is_in_an_order(now: Situation) -> bool:
    """The product stands in an order of the customer, where its id is to be seen."""
    return bool(now.wish.accepted or now.wish.otherwise)


def _product_id(base: RetailBase, item_id: str) -> str:
    variant = base.catalog.variants[base.catalog.variant_codes[item_id]]
    return base.catalog.products[variant.product].product_id


# --- What to do


def serve(now: Situation) -> Action:
    """Answer, refuse, propose or act."""
    wish = now.wish
    if wish.fact and not wish.tool:
        return say(now.voice.tell(wish.fact))
    if wish.forbidden:
        return say(now.voice.refuse(wish.kind, reason_against(now)))
    call = now.target()
    if is_done(now):
        return say(now.voice.report(call.name, call.arguments, words_for(now, call.arguments)))
    if covering(now.progress.yeses, call, PAIRS):
        return as_action(call)
    return say(now.voice.propose(call.name, call.arguments, words_for(now, call.arguments)))


def is_done(now: Situation) -> bool:
    """The write of the wish was made."""
    return any(is_write_for(now.wish, call) for call in now.progress.written)


def is_write_for(wish: Wish, call: ToolCall) -> bool:
    """Whether a call is one that the wish is about: the same write, on the same order."""
    orders = [arguments.get("order_id") for arguments in wish.accepted]
    return call.name == wish.tool and call.arguments.get("order_id") in orders


def report(now: Situation) -> Action | None:
    """Say what was done, right after it."""
    if not now.progress.unreported:
        return None
    call = now.progress.written[-1]
    return say(now.voice.report(call.name, call.arguments, words_for(now, call.arguments)))


def reason_against(now: Situation) -> str:
    """Why a forbidden wish cannot be fulfilled: a code of the phrases."""
    wish = now.wish
    if wish.otherwise:
        return "not_available"
    place = now.base.find_order(wish.evidence[0])
    status = now.base.order(*place).status if place else -1
    if wish.kind == "cancel" and status == PENDING:
        return "cancel_reason"
    if wish.kind == "return":
        return "refund_method" if status == DELIVERED else "not_delivered"
    return "not_pending"


def words_for(now: Situation, arguments: Mapping[str, Json]) -> dict[str, str]:
    """Value -> what it is called."""
    place = now.base.find_user(now.progress.user_id)
    shopper = Shopper(now.base, place or 0, Draws(0, 0, 0), forgetful=False)
    catalog = now.base.catalog
    words = {}
    for name in ("item_ids", "new_item_ids"):
        for item_id in arguments.get(name, ()):
            variant = catalog.variants[catalog.variant_codes[item_id]]
            words[item_id] = option_text(variant) if name == "new_item_ids" else shopper.name(variant)
    method = arguments.get("payment_method_id")
    if method in shopper.method_ids:
        words[method] = shopper.method_forms(shopper.method_ids.index(method))[0]
    return words


def say(text: str) -> Action:
    """The action that says something to the user."""
    return {"name": RESPOND, "arguments": {CONTENT: text}}


def as_action(call: ToolCall) -> Action:
    """The action that makes a call."""
    return {"name": call.name, "arguments": dict(call.arguments)}


def _call(name: str, **arguments: Json) -> Action:
    return {"name": name, "arguments": arguments}
