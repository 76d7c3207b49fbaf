"""TRL's forms for supervised fine-tuning (TRL 1.x, `docs/source/dataset_formats.md`): messages, or tokens.

`message_rows`: one row for each record. Arguments of calls are objects and `tools` is a JSON text, from which
the trainer reads the list. It is for `assistant_only_loss=True`, which takes a template with
`{% generation %}`; then every assistant message counts, so a record of which one must not is refused.

    {"messages": [{"role", "content", ...}], "tools": "[...]"}

`token_rows`: one row for each sequence. `labels` are the ids where the mask is 1, elsewhere -100; the trainer
takes them as they are and shifts them itself.

    {"input_ids": [int], "labels": [int]}

`datasets.load_dataset("json", data_files="DIR/rows.jsonl")` reads both. Before 4.7 it filled up the arguments
of every call with those of all others. `concatenate_datasets([rows, index], axis=1)` puts rewards beside the
rows, to choose episodes by.
"""

import json

from tool_envs.errors import UsageError
from tool_envs.trajectory.exports.chat import as_templates_expect, led_chat
from tool_envs.trajectory.exports.source import Row, Source
from tool_envs.trajectory.record import assistant_messages

IGNORED = -100
"""The label of a token that is not trained on."""


def message_rows(source: Source) -> list[Row]:
    """The row of a record; none when no message of it is trained on.

    Raises:
        UsageError: Only some of the agent's messages are trained on.
    """
    if not source.is_trainable:
        return []
    for index, message in assistant_messages(source.record):
        if not message.trainable:
            raise UsageError(
                f"message {index} is not trained on, but the form `trl` has no place to say so. "
                "Take `trl-tokens` or `openai`."
            )
    tools = json.dumps(source.context.tools, ensure_ascii=False, separators=(",", ":"))
    return [{"messages": as_templates_expect(led_chat(source)), "tools": tools}]


def token_rows(source: Source) -> list[Row]:
    """A row for each sequence of a record."""
    return [
        {
            "input_ids": list(sequence.input_ids),
            "labels": [
                number if bit else IGNORED
                for number, bit in zip(sequence.input_ids, sequence.loss_mask, strict=True)
            ],
        }
        for sequence in source.sequences
    ]
