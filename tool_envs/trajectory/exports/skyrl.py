"""SkyRL's `GeneratorOutput` (SkyRL 0.3, `skyrl/train/generators/base.py`): a row for each record.

A row is the output of one trajectory: lists with an entry for each of its sequences, in order, as in
`generator.step_wise_trajectories`. `concatenate_generator_outputs(rows, step_wise=True)` makes a batch of
rows, when each entry of `trajectory_ids` was made a `TrajectoryID`.

    prompt_token_ids [[int]]    up to the first token that the policy wrote
    response_ids     [[int]]    the rest
    loss_masks       [[int]]    1 on what is trained on; as long as response_ids
    rewards          [float]    the episode's, in each entry
    rollout_logprobs [[float]] | None  0.0 where nothing was sampled; None for text that no policy sampled
    stop_reasons     [str]      "stop"; "length" for a truncated episode, which overlong filtering leaves out
    rollout_metrics  None
    trajectory_ids   [{"instance_id": "<env id>/<task id>", "repetition_id": int}]
    is_last_step     [bool]     true for the last sequence
"""

from tool_envs.trajectory.exports.source import Row, Source, response_start


def rows(source: Source) -> list[Row]:
    """The row of a record; none when nothing of it is trained on."""
    sequences, record = source.sequences, source.record
    if not sequences:
        return []
    pairs = [(sequence, response_start(sequence)) for sequence in sequences]
    logprobs = [list(sequence.logprobs[start:]) for sequence, start in pairs]
    instance = {"instance_id": f"{record.env.id}/{record.task.id}", "repetition_id": source.sample}
    return [
        {
            "prompt_token_ids": [list(sequence.input_ids[:start]) for sequence, start in pairs],
            "response_ids": [list(sequence.input_ids[start:]) for sequence, start in pairs],
            "loss_masks": [list(sequence.loss_mask[start:]) for sequence, start in pairs],
            "rewards": [sequence.reward for sequence in sequences],
            "rollout_logprobs": None if source.is_tokenized else logprobs,
            "stop_reasons": ["length" if record.outcome.status == "truncated" else "stop"] * len(pairs),
            "rollout_metrics": None,
            "trajectory_ids": [instance] * len(pairs),
            "is_last_step": [sequence is sequences[-1] for sequence in sequences],
        }
    ]
