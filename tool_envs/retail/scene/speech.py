"""What an agent of the array view says: drafts to sentences, on what was shown."""

from collections.abc import Callable, Mapping

from tool_envs.messages import Json, ToolCall
from tool_envs.retail.rows import STATUSES
from tool_envs.retail.scene.memory import Memory
from tool_envs.retail.scene.reasons import (
    NO_TOOL,
    REASONS,
    available,
    cheapest,
    order_at_hand,
    paid,
    reason_against,
    was_sent,
)
from tool_envs.retail.scene.sight import FOR_SWAP, WISHES, Draft
from tool_envs.simulators.agent_voice import AgentVoice
from tool_envs.simulators.goal import Fact
from tool_envs.simulators.retail_phrases import RETAIL_PHRASES

VOICE = AgentVoice(RETAIL_PHRASES, key=0, turn=0, brief=True, formal=True)
"""Always the same sentence for the same thing, with ids alone, and as brief and formal as anybody demands."""


class Speaker:
    """What is said next.

    Args:
        memory: What was shown.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory, self._sight, self._shelves = memory, memory.sight, memory.shelves

    def ask(self, slot: str) -> str:
        """Asks for what the customer knows."""
        return VOICE.ask([slot])

    def propose(self, call: ToolCall) -> str:
        """Puts a call to the customer, with the parameter names of the first schema version."""
        return VOICE.propose(call.name, call.arguments)

    def say(self, verb: str, draft: Draft) -> str:
        """Another thing to say, by the name of its verb."""
        says: Mapping[str, Callable[[Draft], str]] = {
            "tell_total": self._tell_total,
            "tell_status": self._tell_status,
            "tell_cheapest": self._tell_cheapest,
            "tell_count": self._tell_count,
            "refuse": self._refuse,
            "report": self._report,
            "more": lambda _: VOICE.more(),
        }
        return says[verb](draft)

    def _tell_total(self, draft: Draft) -> str:
        return self._tell("amount", paid(self._sight.orders[draft.order]))

    def _tell_status(self, draft: Draft) -> str:
        return self._tell("status", STATUSES[self._sight.orders[draft.order].status])

    def _tell_cheapest(self, draft: Draft) -> str:
        return self._tell("amount", cheapest(self._shelves, draft.product))

    def _tell_count(self, draft: Draft) -> str:
        return self._tell("count", available(self._shelves, draft.product))

    def _tell(self, kind: str, value: Json) -> str:
        return VOICE.tell(Fact(kind, value, ""))

    def _refuse(self, _: Draft) -> str:
        reason = reason_against(self._sight, self._shelves)
        return VOICE.refuse(self._kind_at_hand(), REASONS[reason if reason >= 0 else NO_TOOL])

    def _kind_at_hand(self) -> str:
        """The kind of the wish at hand, as the domain's sentences know it."""
        wish = self._sight.scene.wish
        if wish != FOR_SWAP:
            return WISHES[wish] if wish >= 0 else "question"
        place = order_at_hand(self._sight, self._shelves)
        return "exchange" if place >= 0 and was_sent(self._sight.orders[place]) else "items"

    def _report(self, _: Draft) -> str:
        call = self._memory.written
        if call is None:
            raise ValueError("there was no write to report")
        return VOICE.report(call.name, call.arguments)
