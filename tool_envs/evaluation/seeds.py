"""What many episodes are drawn from: a seed and a key for each, from the seed of all."""

from tool_envs.randomness import splitmix64

# Numbers of the draws of one sample of a task.
_EPISODE_DRAW, _AGENT_DRAW = 0, 1


def episode_seed(seed: int, task: int, sample: int = 0) -> int:
    """The seed that `reset` is given: 53 bits, which every reader of a record takes exactly.

    Args:
        seed: Of all episodes.
        task: Index of the task.
        sample: Which of the episodes of this task it is.
    """
    return splitmix64(seed, task, sample, _EPISODE_DRAW) >> 11


def agent_key(seed: int, task: int, sample: int = 0) -> int:
    """The 64-bit key of what the agent chooses in an episode; arguments as of `episode_seed`."""
    return splitmix64(seed, task, sample, _AGENT_DRAW)
