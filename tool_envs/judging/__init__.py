"""Judges: rubrics, pairwise comparisons, a critic that learns, and the filter before fine-tuning.

What a judge says is never the Gymnasium reward. A rubric of the kind `reward` gives scores for the `rubric`
bin of the ledger; one of the kind `filter` gives a verdict, which is no reward at all.
"""

from tool_envs.judging.critic import Critic, Example, HashedWordsCritic, accuracy, examples_of
from tool_envs.judging.judges import (
    ChatJudge,
    ChatModel,
    FunctionJudge,
    Judge,
    PolicyJudge,
    Preference,
    find_judge,
)
from tool_envs.judging.pairwise import Scores, episode_digest, score_rollouts, with_rubric
from tool_envs.judging.rubric import Checkpoint, Item, Rubric, read_rubric, shipped_rubric

__all__ = [
    "ChatJudge",
    "ChatModel",
    "Checkpoint",
    "Critic",
    "Example",
    "FunctionJudge",
    "HashedWordsCritic",
    "Item",
    "Judge",
    "PolicyJudge",
    "Preference",
    "Rubric",
    "Scores",
    "accuracy",
    "episode_digest",
    "examples_of",
    "find_judge",
    "read_rubric",
    "score_rollouts",
    "shipped_rubric",
    "with_rubric",
]
