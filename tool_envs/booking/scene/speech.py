"""What an agent of the array view says: drafts to sentences, on what was shown."""

from tool_envs.booking.rows import CERTIFICATE, GIFT_CARD, STATUSES
from tool_envs.booking.scene.memory import Memory
from tool_envs.booking.scene.reasons import (
    REASONS,
    bags_cost,
    credit,
    free_bags,
    paid,
    reason_against,
    trips_in,
    upgrade_cost,
)
from tool_envs.booking.scene.sight import (
    ASKS_BAGS,
    ASKS_CERTIFICATES,
    ASKS_FREE_BAGS,
    ASKS_GIFT_CARDS,
    ASKS_PAID,
    ASKS_TRIPS,
    ASKS_UPGRADE,
    OWN,
    QUESTIONS,
    THERE,
    WISHES,
    Draft,
)
from tool_envs.messages import ToolCall
from tool_envs.simulators.agent_voice import AgentVoice
from tool_envs.simulators.booking_phrases import BOOKING_PHRASES
from tool_envs.simulators.goal import Fact

VOICE = AgentVoice(BOOKING_PHRASES, key=0, turn=0, brief=True, formal=True)
"""Always the same sentence for the same thing, with ids alone, and as brief and formal as anybody demands."""


class Speaker:
    """What is said next.

    Args:
        memory: What was shown.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory, self._sight = memory, memory.sight

    def ask(self, slot: str) -> str:
        """Asks for what the customer knows."""
        return VOICE.ask([slot])

    def propose(self, call: ToolCall) -> str:
        """Puts a call to the customer, with the parameter names of the first schema version."""
        return VOICE.propose(call.name, call.arguments)

    def say(self, verb: str, draft: Draft) -> str:
        """Another thing to say, by the name of its verb."""
        match verb:
            case "refuse":
                return self._refuse()
            case "report":
                return self._report()
            case "more":
                return VOICE.more()
            case answer:
                return VOICE.tell(self._fact(QUESTIONS.index(answer.removeprefix("tell_")), draft))

    def _fact(self, question: int, draft: Draft) -> Fact:
        """The answer to a question, from what was shown."""
        sight, trip = self._sight, draft.trip
        if question == ASKS_PAID:
            return Fact("amount", paid(sight.trips[trip]), "")
        if question == ASKS_UPGRADE:
            return Fact("amount", upgrade_cost(sight, trip, draft.cabin), "")
        if question == ASKS_BAGS:
            return Fact("amount", bags_cost(sight, trip), "")
        if question in (ASKS_GIFT_CARDS, ASKS_CERTIFICATES):
            kind = GIFT_CARD if question == ASKS_GIFT_CARDS else CERTIFICATE
            return Fact("amount", credit(sight, kind), "")
        if question == ASKS_FREE_BAGS:
            return Fact("count", free_bags(sight, trip), "")
        if question == ASKS_TRIPS:
            return Fact("count", trips_in(sight, draft.cabin), "")
        return Fact("status", STATUSES[sight.ways[OWN * trip + THERE].status[0]], "")

    def _refuse(self) -> str:
        wish = self._sight.scene.wish
        kind = WISHES[wish] if wish >= 0 else "question"
        return VOICE.refuse(kind, REASONS[reason_against(self._sight)])

    def _report(self) -> str:
        call = self._memory.written
        if call is None:
            raise ValueError("there was no write to report")
        return VOICE.report(call.name, call.arguments)
