"""How many episodes may begin, so that rollouts do not run too far ahead of the trainer."""

from typing import Literal

from tool_envs.errors import UsageError

StalePolicy = Literal["continue", "restart", "keep"]
"""What becomes of a running episode when newer versions are published.

* `continue`: it goes on with the newest one, so that its turns, or parts of one, are of several versions.
* `restart`: likewise, but once its head version, the one that it began with, is more than `max_staleness`
  behind, it is given up and begun again.
* `keep`: it goes on with the version that it began with, which has to be served as long as it runs.
"""


class Admission:
    """The admission rule of AReaL, which bounds how far rollouts run ahead of the trainer.

    An episode is admitted, runs, and is then accepted, to be trained on, or rejected. The trainer makes
    version number v + 1 of the v-th batch, counted from 0. At version v there may be, of accepted and running
    episodes together, no more than it can train on up to version v + `max_staleness`:

        capacity(v) = min(max_concurrent - running,
                          (max_staleness + v + 1) * batch_size - (accepted + running))

    Alone it does not bound how old what is trained on gets: an episode that outlives updates is older than
    `max_staleness` when its turn comes. See `StalePolicy`, and `Batches`, which holds `restart` to the bound.

    It counts episodes, or groups of them if batches are counted in groups. Source: AReaL (arXiv:2505.24298),
    `areal/infra/staleness_manager.py`.

    Args:
        batch_size: How many accepted episodes the trainer makes one version of.
        max_staleness: How many versions behind one may be that is trained on; 0: rollouts and training take
            turns (synchronous).
        max_concurrent: How many may run at once.

    Raises:
        UsageError: A number is none, or too small.
    """

    def __init__(self, batch_size: int, max_staleness: int, max_concurrent: int) -> None:
        self.batch_size = _at_least(1, "batch_size", batch_size)
        self.max_staleness = _at_least(0, "max_staleness", max_staleness)
        self.max_concurrent = _at_least(1, "max_concurrent", max_concurrent)
        self._running = self._accepted = 0

    @property
    def running(self) -> int:
        """How many run."""
        return self._running

    @property
    def accepted(self) -> int:
        """How many were accepted since version 0: what the trainer has had, and what waits for it."""
        return self._accepted

    def capacity(self, version: int) -> int:
        """How many more may be admitted now; 0: none.

        Args:
            version: The number of the version in force.

        Raises:
            UsageError: It is no number of a version.
        """
        _at_least(0, "version", version)
        trainable = (self.max_staleness + version + 1) * self.batch_size
        ahead = self._accepted + self._running
        return max(0, min(self.max_concurrent - self._running, trainable - ahead))

    def is_stale(self, head: int, version: int) -> bool:
        """Whether an episode is too old to be trained on.

        Args:
            head: The number of the version under which it began.
            version: The number of the version that would be trained on it.
        """
        return version - head > self.max_staleness

    def admit(self) -> None:
        """An episode begins. `capacity` has said that it may.

        Raises:
            UsageError: As many run as may at once.
        """
        if self._running >= self.max_concurrent:
            raise UsageError(f"{self._running} episodes run, the most that may. Ask `capacity` before.")
        self._running += 1

    def accept(self) -> None:
        """A running episode has ended and will be trained on.

        Raises:
            UsageError: None runs.
        """
        self._end_one()
        self._accepted += 1

    def reject(self) -> None:
        """A running episode has ended, failed or was given up, and will not be trained on.

        Raises:
            UsageError: None runs.
        """
        self._end_one()

    def withdraw(self) -> None:
        """An accepted episode that waited for the trainer will not be trained on after all.

        Raises:
            UsageError: None was accepted.
        """
        if not self._accepted:
            raise UsageError("No episode was accepted that could be withdrawn.")
        self._accepted -= 1

    def _end_one(self) -> None:
        if not self._running:
            raise UsageError("No episode runs that could end. Each is admitted once and ends once.")
        self._running -= 1

    def state_dict(self) -> dict[str, int]:
        """What a run that is resumed needs to know. Running episodes are not in it: they are begun again."""
        return {"batch_size": self.batch_size, "accepted": self._accepted}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Go on from where `state_dict` was taken, if what was accepted by then is still there.

        Raises:
            UsageError: The state is of another batch size, or not of the form that `state_dict` gives.
        """
        if state.keys() != self.state_dict().keys() or state["batch_size"] != self.batch_size:
            raise UsageError(f"Expected a state of batches of {self.batch_size}, not {state!r:.80}.")
        self._running, self._accepted = 0, _at_least(0, "accepted", state["accepted"])

    def recover(self, version: int) -> None:
        """Go on at a version with nothing left of what waited for the trainer, as AReaL does after a crash.

        Args:
            version: The number of the version in force. All batches before it were trained on.

        Raises:
            UsageError: It is no number of a version.
        """
        self._running, self._accepted = 0, _at_least(0, "version", version) * self.batch_size


def _at_least(least: int, name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise UsageError(f"`{name}` is an integer of at least {least}, not {value!r:.40}.")
    return value
