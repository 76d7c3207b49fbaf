"""How a user fails whom a model plays, and why one of its replies is asked for once more."""

from tool_envs.errors import InfrastructureError


class UserReplyError(InfrastructureError):
    """Raised when a model that plays the user has twice given no reply that can be used.

    Each subclass is one way of not being the customer of the goal. The name of the class stands in the
    outcome's `ended_by` and is the cause by which such failures are counted.
    """


class UserMadeUpError(UserReplyError):
    """Raised when the user twice named an id which they do not know and were not told."""


class UserHungUpError(UserReplyError):
    """Raised when the user twice hung up before what they want was done, answered or refused."""


class UserDisclosureError(UserReplyError):
    """Raised when the user twice said what they are to keep to themselves."""


class UserRoleError(UserReplyError):
    """Raised when the verifying model found twice that the user had left their role."""


class UserVerdictError(UserReplyError):
    """Raised when the verifying model has twice given no verdict that can be read."""


USER_FAILURES: tuple[type[UserReplyError], ...] = (
    UserReplyError,
    UserMadeUpError,
    UserHungUpError,
    UserDisclosureError,
    UserRoleError,
    UserVerdictError,
)
"""All failures that are the simulated user's, and neither an agent's nor a server's."""


class UnusableReply(Exception):  # noqa: N818 - a user asks again, and nobody else sees it
    """A reply of a model cannot be used.

    Args:
        problem: What is against it, as the model is told.
        failure: What it is when it happens twice.
    """

    def __init__(self, problem: str, failure: type[UserReplyError] = UserReplyError) -> None:
        super().__init__(problem)
        self.failure = failure
