"""Judges: rubrics, pairwise comparisons, a critic that learns, and the filter before fine-tuning.

What a judge says is never the Gymnasium reward. A rubric of the kind `reward` gives scores for the `rubric`
bin of the ledger; one of the kind `filter` gives a verdict, which is no reward at all.
"""

from tool_envs.judging.asking import ChatModel
from tool_envs.judging.checklist import meets
from tool_envs.judging.critic import Critic, Example, HashedWordsCritic, accuracy, examples_of
from tool_envs.judging.filter_store import Filtered, filter_store
from tool_envs.judging.judges import (
    ChatJudge,
    FunctionJudge,
    Judge,
    PolicyJudge,
    Preference,
    find_judge,
)
from tool_envs.judging.pairwise import CONCURRENCY, Scores, episode_digest, score_rollouts, with_rubric
from tool_envs.judging.rubric import Checkpoint, Item, Rubric, read_rubric, shipped_rubric
from tool_envs.judging.sft_filter import (
    ChatFilterJudge,
    ChecklistJudge,
    FilterJudge,
    Review,
    RubricOf,
    filter_trajectories,
    verdict_of,
    with_verdict,
)
from tool_envs.judging.task_rubrics import TaskRubrics

__all__ = [
    "CONCURRENCY",
    "ChatFilterJudge",
    "ChatJudge",
    "ChatModel",
    "ChecklistJudge",
    "Checkpoint",
    "Critic",
    "Example",
    "FilterJudge",
    "Filtered",
    "FunctionJudge",
    "HashedWordsCritic",
    "Item",
    "Judge",
    "PolicyJudge",
    "Preference",
    "Review",
    "Rubric",
    "RubricOf",
    "Scores",
    "TaskRubrics",
    "accuracy",
    "episode_digest",
    "examples_of",
    "filter_store",
    "filter_trajectories",
    "find_judge",
    "meets",
    "read_rubric",
    "score_rollouts",
    "shipped_rubric",
    "verdict_of",
    "with_rubric",
    "with_verdict",
]
