"""What a user understood of something that the agent said."""

import msgspec

from tool_envs.messages import Json


class Reading(msgspec.Struct, frozen=True):
    """The dialogue acts of one message of an agent.

    Attributes:
        asks_confirmation: It asks for a yes to one definite act.
        requests: Slots that it asks the user for, sorted.
        informs: It tells something: data, prices, results.
        denies: It says that something cannot be done.
        transfers: It says that it hands the user over to a human.
        closes: It offers further help or says goodbye.
        tool: The write that it proposes, asks about or reports; empty when none can be made out.
        mentions: Slot -> values of it that the message names, in the order of the text: ids as they stand
            there, and values of the goal's lexicon of which one form stands there.
    """

    asks_confirmation: bool = False
    requests: tuple[str, ...] = ()
    informs: bool = False
    denies: bool = False
    transfers: bool = False
    closes: bool = False
    tool: str = ""
    mentions: dict[str, tuple[Json, ...]] = {}
