"""Judges: rubrics, pairwise comparisons, a critic that learns, and the filter before fine-tuning.

What a judge says is never the Gymnasium reward. A rubric of the kind `reward` gives scores for the `rubric`
bin of the ledger; one of the kind `filter` gives a verdict, which is no reward at all.
"""

from tool_envs.judging.rubric import Checkpoint, Item, Rubric, read_rubric, shipped_rubric

__all__ = ["Checkpoint", "Item", "Rubric", "read_rubric", "shipped_rubric"]
