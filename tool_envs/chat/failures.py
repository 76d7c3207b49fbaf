"""What can go wrong between a client and a model's server.

All but one are the infrastructure's failures: the episode has no reward. That a conversation has outgrown the
model's context is none, and no wrong answer either: it truncates the episode.
"""

from tool_envs.errors import InfrastructureError, ToolEnvsError


class ChatError(InfrastructureError):
    """Raised when a model's server gave no usable reply.

    Args:
        problem: What happened, as half a sentence.
        path: The path of the URL; neither the server's name nor the key are told.
        status: The HTTP status of the last answer; None: there was none.
        attempts: How often the request was sent.
    """

    def __init__(self, problem: str, path: str, status: int | None, attempts: int) -> None:
        self.problem, self.path, self.status, self.attempts = problem, path, status, attempts
        answered = "no status" if status is None else f"status {status}"
        times = "1 attempt" if attempts == 1 else f"{attempts} attempts"
        super().__init__(f"POST {path}: {problem} ({answered}, {times}).")

    def __reduce__(self) -> tuple[type, tuple[str, str, int | None, int]]:
        return type(self), (self.problem, self.path, self.status, self.attempts)


class ChatTransportError(ChatError):
    """Raised when the last attempt brought no whole answer: no connection, or one that was cut."""


class ChatStatusError(ChatError):
    """Raised when the server answered with an HTTP status that is no success."""


class ChatReplyError(ChatError):
    """Raised when the server answered with success, but not with a chat completion that can be used."""


class ChatDeadlineError(ChatError):
    """Raised when the deadline of a request passed, or could not be kept."""


class ContextOverflowError(ToolEnvsError):
    """Raised when a request does not fit into the model's context: no failure, and no wrong answer."""
