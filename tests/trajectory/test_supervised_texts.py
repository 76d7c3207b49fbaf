"""What of a message is trained on: words, calls and what stands beside them, but no thoughts."""

import pytest
from chat_tokenizers import chat_tokenizer
from talks import record_of, said
from trajectory_records import observation

from tool_envs.trajectory import tokenize

CALL = {"name": "find", "arguments": {"id": "#1", "note": "as is", "count": 2}, "id": "c1"}
HELLO = observation("user", "Hello")


def trained_text(record, template="chatml_tools"):
    """What of a record is trained on, through a tokenizer that loses nothing."""
    tokenizer = chat_tokenizer(template, "byte_bpe")
    sequence = tokenize(record, tokenizer)
    ids = [number for number, bit in zip(sequence.input_ids, sequence.loss_mask, strict=True) if bit]
    return tokenizer.tokenizer.decode(ids, skip_special_tokens=False)


CALL_TEXT = (
    '<tool_call>\n{"name": "%s", "arguments": {"id": "#1", "note": "as is", "count": 2}}\n</tool_call>'
)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (said("Well", thought="Hm"), "Well"),  # thoughts are in no text
        (said(""), ""),
        (said("", tool_calls=[CALL]), CALL_TEXT % "find"),
        (said("", tool_calls=[CALL], thought="Hm"), CALL_TEXT % "find"),
        (said("", tool_calls=[CALL], aside="Let me see"), "Let me see\n" + CALL_TEXT % "find"),
        (
            said("", tool_calls=[CALL, {**CALL, "name": "put"}]),
            CALL_TEXT % "find" + "\n" + CALL_TEXT % "put",
        ),
        # What could not be read is trained on as it was written, thoughts in it too.
        (said("", aside='{"name": "find", "argu'), '{"name": "find", "argu'),
        (said("", aside="<think>Hm</think>{"), "<think>Hm</think>{"),
    ],
)
def test_what_is_trained_on(message, text):
    assert trained_text(record_of([HELLO, message])) == text + "<|im_end|>"


def test_what_is_not_trainable_is_seen_and_not_trained_on():
    record = record_of([HELLO, said("Well", trainable=False), HELLO, said("Bye"), HELLO])

    assert trained_text(record) == "Bye<|im_end|>"
