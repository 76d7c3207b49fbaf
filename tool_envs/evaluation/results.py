"""How one episode of an evaluation went."""

import msgspec

from tool_envs.evaluation.failures import Failure
from tool_envs.reward import Status
from tool_envs.trajectory.refs import TokenUsage


class EpisodeResult(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How one episode of an evaluation went.

    Attributes:
        index: Index of its task in the split.
        task_id: Id of its task.
        seed: The seed of its `reset`.
        status: `completed`, `truncated` or `infrastructure`.
        reward: The terminal reward; None when it was not graded: it then counts nowhere.
        steps: Actions taken; 0 when the user could not even be met.
        trial: Which trial of its task it is, from 0.
        family: The kind of its task.
        difficulty: Of its task, 1 to 5; 0: not graded.
        error_codes: How often each kind of agent's mistake was answered.
        said: Messages of the agent to the user.
        not_understood: How many of them the user did not understand.
        failure: Why it did not succeed; None: it did, or there is no success in its reward.
        cost: US dollars paid for models, agent and user.
        usage: Tokens of the requests to them.
    """

    index: int
    task_id: str
    seed: int
    status: Status
    reward: float | None
    steps: int
    trial: int = 0
    family: str = ""
    difficulty: int = 0
    error_codes: dict[str, int] = {}
    said: int = 0
    not_understood: int = 0
    failure: Failure | None = None
    cost: float = 0.0
    usage: TokenUsage = TokenUsage()
