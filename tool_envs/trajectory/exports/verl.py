"""verl's `AgentLoopOutput` of verl 0.9: a row for each sequence.

prompt_ids        [int]  up to the first token that the policy wrote
response_ids      [int]  the rest
response_mask     [int]  1 on what is trained on; as long as response_ids
response_logprobs [float] | None  0.0 where nothing was sampled; None for text that no policy sampled
reward_score      float  the episode's; all sequences of it share it
num_turns         int    messages of user, agent and tools, up to the last that the policy wrote here
metrics           {}     verl's own measurements of time: none
extra_fields      min_global_steps, max_global_steps: numbers of the oldest and the newest version that
                  sampled a token; left out for text that no policy sampled
"""

from tool_envs.trajectory.exports.source import Row, Source, response_start
from tool_envs.trajectory.tokens import TokenSequence


def rows(source: Source) -> list[Row]:
    """A row for each sequence of a record."""
    return [_row(sequence, source.is_tokenized) for sequence in source.sequences]


def _row(sequence: TokenSequence, is_tokenized: bool) -> Row:
    start = response_start(sequence)
    return {
        "prompt_ids": list(sequence.input_ids[:start]),
        "response_ids": list(sequence.input_ids[start:]),
        "response_mask": list(sequence.loss_mask[start:]),
        "response_logprobs": None if is_tokenized else list(sequence.logprobs[start:]),
        "reward_score": sequence.reward,
        "num_turns": sequence.messages[-1] + 1,
        "metrics": {},
        "extra_fields": {} if is_tokenized else _steps(sequence),
    }


def _steps(sequence: TokenSequence) -> dict[str, int]:
    return {
        "min_global_steps": min(sequence.version_names),
        "max_global_steps": max(sequence.version_names),
    }
