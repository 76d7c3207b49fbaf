"""Which version of the policy is in force, and which were before it."""

from collections.abc import Callable

from tool_envs.errors import UsageError
from tool_envs.trajectory.record import PolicyVersion


class Versions:
    """The versions of a policy in the order in which the trainer published them.

    Args:
        first: The version in force at the beginning. A run that is resumed gives the one that it stopped at,
            so that numbers go on from there.
    """

    def __init__(self, first: PolicyVersion) -> None:
        self._published = [first]
        self._listeners: list[Callable[[PolicyVersion], object]] = []

    @property
    def current(self) -> PolicyVersion:
        """The version in force."""
        return self._published[-1]

    def publish(self, version: str) -> PolicyVersion:
        """Put a new version in force. The trainer calls it when whatever serves the policy has the weights.

        Args:
            version: What it is called: a checkpoint, say.

        Returns:
            The version, whose number is one more than that of the version before.

        Raises:
            UsageError: It has no name, or a name that was there before.
        """
        if not version:
            raise UsageError("`version` is empty. Say what the published version is called.")
        if any(known.version == version for known in self._published):
            raise UsageError(f"The version {version!r} was published before. Give each a name of its own.")
        self.follow(PolicyVersion(version=version, number=self.current.number + 1))
        return self.current

    def follow(self, version: PolicyVersion) -> None:
        """Put a version in force that was published elsewhere. An old one changes nothing."""
        if version.number <= self.current.number:
            return
        self._published.append(version)
        for listener in self._listeners:
            listener(version)

    def tell(self, listener: Callable[[PolicyVersion], object]) -> Callable[[], None]:
        """Call somebody with each version from now on, when it comes into force.

        Returns:
            What ends it.
        """
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def since(self, number: int) -> tuple[PolicyVersion, ...]:
        """The versions from one on, oldest first.

        Args:
            number: The number of the first of them. With that of the version under which an episode began,
                these are the `policy_versions` of its record.
        """
        return tuple(version for version in self._published if version.number >= number)
