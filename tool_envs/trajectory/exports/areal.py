"""AReaL's tensors of a trajectory (AReaL 1.0, `areal/workflow/multi_turn.py`): a row for each sequence.

All but `rewards` have the shape [1, L]; the types are those that the tensors have there.

    input_ids      int32
    loss_mask      int32    1 on what is trained on
    logprobs       float32  0.0 where nothing was sampled
    versions       int32    number of the policy version that sampled the token; -1 where nothing was sampled
    attention_mask bool     true
    rewards        float32  of the shape [1]: the episode's; all sequences of it share it

A token's values stand at its own place. AReaL shifts `loss_mask` and `logprobs` by one when it computes
advantages, but not `versions`.
"""

from tool_envs.trajectory.exports.source import Row, Source


def rows(source: Source) -> list[Row]:
    """A row for each sequence of a record."""
    return [
        {
            "input_ids": [list(sequence.input_ids)],
            "loss_mask": [list(sequence.loss_mask)],
            "logprobs": [list(sequence.logprobs)],
            "versions": [list(sequence.versions)],
            "attention_mask": [[True] * len(sequence.input_ids)],
            "rewards": [sequence.reward],
        }
        for sequence in source.sequences
    ]
