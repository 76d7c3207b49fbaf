"""What requests cost: tokens, and US dollars at prices that the caller gives."""

import msgspec

from tool_envs.chat.reply import Usage


class Prices(msgspec.Struct, frozen=True):
    """US dollars per million tokens."""

    prompt: float
    completion: float

    def of(self, usage: Usage) -> float:
        """US dollars for one reply."""
        return (usage.prompt_tokens * self.prompt + usage.completion_tokens * self.completion) / 1e6


class Ledger(msgspec.Struct):
    """The sums over all requests of a client.

    Attributes:
        requests: Requests made by the caller.
        attempts: Requests sent, those again included.
        replies: Requests that brought a reply. The others failed, did not fit into the context or run still.
        uncounted: Replies whose usage the server did not tell: unknown, and in none of the sums below.
        prompt_tokens: Tokens sent, as the server counted them.
        completion_tokens: Tokens sampled, likewise.
        cost: US dollars for the replies that were counted; None: the client knows no prices.
    """

    requests: int = 0
    attempts: int = 0
    replies: int = 0
    uncounted: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None

    def add(self, usage: Usage | None, cost: float | None) -> None:
        """Count one reply; see `ChatReply` for its usage and cost."""
        self.replies += 1
        if usage is None:
            self.uncounted += 1
            return
        self.prompt_tokens += usage.prompt_tokens
        self.completion_tokens += usage.completion_tokens
        if cost is not None:
            self.cost = (self.cost or 0.0) + cost
