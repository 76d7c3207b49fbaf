"""Masks over chat templates and tokenizers of the shapes in use: proven, or refused for a reason."""

import msgspec
import pytest
from chat_tokenizers import (
    ENDS,
    TOKENIZERS,
    JinjaTokenizer,
    chat_tokenizer,
    oracle_records,
    trained,
)
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sweeping import examples
from talks import record_of, said, talks
from trajectory_records import observation

from tool_envs.errors import MaskProofError
from tool_envs.trajectory import prove_supervised, supervised, tokenize
from tool_envs.trajectory.chat_tokenizer import chat_of, join_composed

GOOD = sorted(ENDS.keys() - {"chatml_thoughts"})
templates = pytest.mark.parametrize("template", GOOD)
tokenizers = st.sampled_from(sorted(TOKENIZERS))


def agent_messages(trajectory):
    """The agent's messages."""
    return [message for message in trajectory.messages if hasattr(message, "author")]


def covered(tokenizer, trajectory, sequence):
    """The characters that the tokens under the mask stand for."""
    encoded = tokenizer.encode(tokenizer.render(chat_of(trajectory), False))
    places = zip(encoded, sequence.loss_mask, strict=True)
    return {place for (_, start, end), bit in places if bit for place in range(start, end)}


def reason_to_refuse(template, trajectory):
    """Why a template refuses a conversation, or cannot show what is trained on as it is; None: it does."""
    if template == "llama_headers":
        if any(len(message.tool_calls) > 1 for message in agent_messages(trajectory)):
            return "one call at a time"
        trained_on = [m for m in agent_messages(trajectory) if m.trainable]
        texts = [m.aside if m.tool_calls else m.content or m.aside for m in trained_on]
        if any(text != text.strip() for text in texts):
            return "does not show|of 2 words in it"
    if template == "mistral_inst":
        spoken = [
            m for m in trajectory.messages if not getattr(m, "tool_calls", ()) and not hasattr(m, "code")
        ]
        if any(hasattr(m, "author") != place % 2 for place, m in enumerate(spoken)):
            return "take turns"
    return None


# --- Laws


@templates
@examples(20, in_sweep=100)
@given(trajectory=talks, name=tokenizers)
def test_the_mask_is_what_the_template_marks_as_written_by_the_model(template, trajectory, name):
    tokenizer = chat_tokenizer(template, name)
    if reason := reason_to_refuse(template, trajectory):
        with pytest.raises(MaskProofError, match=reason):
            tokenize(trajectory, tokenizer)
        return

    sequence = tokenize(trajectory, tokenizer)

    spans = zip(agent_messages(trajectory), tokenizer.generated(chat_of(trajectory)), strict=True)
    chosen = [span for message, span in spans if message.trainable]
    assert covered(tokenizer, trajectory, sequence) == {p for start, end in chosen for p in range(start, end)}
    if name == "byte_bpe":  # the only one that loses nothing
        ids = [i for i, bit in zip(sequence.input_ids, sequence.loss_mask, strict=True) if bit]
        text = tokenizer.render(chat_of(trajectory), False)
        assert tokenizer.tokenizer.decode(ids, skip_special_tokens=False) == "".join(
            text[start:end] for start, end in chosen
        )


@templates
@pytest.mark.parametrize("name", sorted(TOKENIZERS))
def test_what_the_oracle_does_in_store_and_airline_is_tokenized(template, name):
    for trajectory in oracle_records():
        tokenizer = chat_tokenizer(template, name)
        sequence = tokenize(trajectory, tokenizer)

        spans = tokenizer.generated(chat_of(trajectory))
        assert covered(tokenizer, trajectory, sequence) == {p for a, b in spans for p in range(a, b)}


@templates
@examples(15, in_sweep=60)
@given(trajectory=talks, name=tokenizers, data=st.data())
def test_every_other_mask_is_refused(template, trajectory, name, data):
    assume(reason_to_refuse(template, trajectory) is None)
    tokenizer = chat_tokenizer(template, name)
    sequence = tokenize(trajectory, tokenizer)
    mask = list(sequence.loss_mask)
    start = data.draw(st.integers(0, len(mask) - 1))
    end = data.draw(st.integers(start + 1, len(mask)))
    mask[start:end] = [1 - bit for bit in mask[start:end]]

    with pytest.raises(MaskProofError, match="the mask is"):
        prove_supervised(trajectory, tokenizer, msgspec.structs.replace(sequence, loss_mask=tuple(mask)))


@settings(max_examples=40)
@given(trajectory=talks, name=tokenizers)
def test_a_template_that_rewrites_earlier_turns_is_refused(trajectory, name):
    assume(any(message.trainable for message in agent_messages(trajectory)))

    with pytest.raises(MaskProofError, match=r"^message \d+: "):
        tokenize(trajectory, chat_tokenizer("chatml_thoughts", name))


@given(st.text(st.sampled_from("ae \n\u0301\u0323\u0344\u0338\u1112\u1161\u11abｶﾞﬁ日\u200b")), tokenizers)
def test_composed_characters_belong_to_a_token(text, name):
    """Except where a tokenizer changes their order, which a proof refuses."""
    tokenizer = chat_tokenizer("zephyr_roles", name)
    raw = tokenizer.tokenizer.encode(text, add_special_tokens=False)
    found = join_composed(text, [(i, *place) for i, place in zip(raw.ids, raw.offsets, strict=True)])

    assert [number for number, _, _ in found] == raw.ids
    assert all(
        start == old_start and end >= old_end
        for (_, start, end), (old_start, old_end) in zip(found, raw.offsets, strict=True)
    )


def test_an_accent_belongs_to_the_letter_that_it_was_composed_with():
    found = chat_tokenizer("zephyr_roles", "composed_bpe").encode("ae\u0301 \u1112\u1161\u11ab")

    assert [place for _, *place in found] == [[0, 1], [1, 3], [1, 3], [3, 4], [4, 7], [4, 7], [4, 7]]


def test_a_character_that_was_dropped_belongs_to_no_token():
    tokens = [(1, 0, 1), (2, 2, 3)]

    assert join_composed("a\u200bb", tokens) == tokens


# --- Errors that are planted in the sequences


def shifted(by):
    """Spans that are off by characters."""
    return lambda spans: [(start + by, end + by) for start, end in spans]


PLANTED = {
    "off by one": shifted(1),
    "off by one, before": shifted(-1),
    "without the end of the turn": lambda spans: [(start, end - len("<|im_end|>")) for start, end in spans],
    "with the line break after it": lambda spans: [(start, end + 1) for start, end in spans],
    "with its header": lambda spans: [(start - len("assistant\n"), end) for start, end in spans],
    "with the observations between": lambda spans: [(spans[0][0], spans[-1][1])],
    "one left out": lambda spans: spans[1:],
    "none": lambda _: [],
    "all that is there": lambda spans: [(0, spans[-1][1])],
}


@pytest.mark.parametrize("name", sorted(TOKENIZERS))
@pytest.mark.parametrize("plant", PLANTED.values(), ids=PLANTED)
def test_the_proof_finds_what_is_wrong_with_spans(plant, name, monkeypatch):
    trajectory, tokenizer = oracle_records()[0], chat_tokenizer("chatml_tools", name)
    tokenize(trajectory, tokenizer)
    right = supervised._spans

    def wrong(*arguments):
        text, spans = right(*arguments)
        return text, plant(spans)

    monkeypatch.setattr(supervised, "_spans", wrong)

    with pytest.raises(MaskProofError, match="the mask is"):
        tokenize(trajectory, tokenizer)


# --- Templates that are refused


CALL = {"name": "find", "arguments": {"id": "#1", "note": "as is", "count": 2}, "id": "c1"}
HELLO, NONE = observation("user", "Hello"), observation("tool", "none")
UNHEARD = record_of([HELLO])
PLAIN = record_of([HELLO, said("Well"), HELLO])
SPACED = record_of([HELLO, said(" Well\n")])
EMPTY = record_of([HELLO, said(""), HELLO])
TWICE = record_of([HELLO, said("Well"), said("Bye")])
ONE = record_of([HELLO, said("", tool_calls=[CALL]), NONE])
SEVERAL = record_of([HELLO, said("", tool_calls=[CALL, {**CALL, "name": "put"}]), NONE, NONE])
BESIDE = record_of([HELLO, said("", tool_calls=[CALL], aside="Let me see"), NONE])

WHOLE = "message.content ~ calls(message)"


def shape(text, over="messages", after="", end="<|im_end|>"):
    """A template of turns in ChatML, each with this text."""
    return f"""
{{%- macro calls(message) %}}{{% for call in message.tool_calls or [] %}}
    {{{{- {{'name': call.function.name, 'arguments': call.function.arguments}} | tojson }}}}
{{%- endfor %}}{{% endmacro %}}
{{%- for message in {over} %}}
    {{{{- '<|im_start|>' }}}}{{{{ message.role }}}}{{{{ '\n' }}}}{{{{ {text} }}}}{{{{ '{end}\n' }}}}{after}
{{%- endfor %}}
{{%- if add_generation_prompt %}}{{{{ '<|im_start|>assistant\n' }}}}{{% endif %}}"""


MERGES = """
{%- for message in messages %}
    {%- if loop.first or loop.previtem.role != message.role %}
        {{- '<|im_start|>' ~ message.role ~ '\n' }}
    {%- endif %}
    {{- message.content }}
    {%- if loop.last or loop.nextitem.role != message.role %}{{ '<|im_end|>\n' }}{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"""
ECHOES = "{{ '(' ~ loop.previtem.content ~ ')' if loop.previtem else '' }}"
PROMPTLESS = shape(WHOLE).partition("{%- if add_generation_prompt")[0]
OF_AGENT = "if message.role == 'assistant' else ''"

REWRITES, SHOWS = "message 1: the template rewrites", "message 1: of {} words in it, the template shows {}$"
NEXT = "(loop.nextitem or {'content': ''}).content"
CHANGES = "message 1: with other words in it, the template changes"
# The template, a record that it is refused for, one that it does no harm to, and the reason.
REFUSED = {
    "trims texts": (shape(f"({WHOLE}) | trim"), SPACED, ONE, "does not show ' Well.n' as it is, but 'Well'"),
    "drops empty messages": (shape(WHOLE, "messages if message.content"), EMPTY, PLAIN, REWRITES),
    "merges messages of one role": (MERGES, TWICE, PLAIN, REWRITES),
    "leaves out earlier calls": (
        shape("message.content ~ (calls(message) if loop.last else '')"),
        ONE,
        EMPTY,
        REWRITES,
    ),
    "leaves out calls": (shape("message.content"), ONE, PLAIN, SHOWS.format(3, 0)),
    "shows one call": (
        shape("message.content ~ calls({'tool_calls': (message.tool_calls or [])[:1]})"),
        SEVERAL,
        ONE,
        SHOWS.format(6, 3),
    ),
    "leaves out text beside calls": (
        shape("calls(message) or message.content"),
        BESIDE,
        ONE,
        SHOWS.format(4, 3),
    ),
    "says it twice": (shape(f"{WHOLE} ~ (message.content {OF_AGENT})"), PLAIN, ONE, SHOWS.format(1, 2)),
    "echoes": (shape(WHOLE, after=ECHOES), TWICE, UNHEARD, SHOWS.format(1, 2)),
    "changes arguments": (shape(f"({WHOLE}) | replace('as is', 'as')"), ONE, PLAIN, "does not show 'as is'"),
    "changes words": (shape(f"({WHOLE}) | replace('Well', 'Bad')"), PLAIN, ONE, "does not show 'Well'"),
    "adds words": (shape(f"('So: ' {OF_AGENT}) ~ {WHOLE}"), PLAIN, UNHEARD, "puts 'So: ' around what it"),
    "has no prompt, and words": (PROMPTLESS, PLAIN, UNHEARD, "puts '<.im_start.>assistant.n' around what"),
    "has no prompt, and calls": (
        PROMPTLESS,
        ONE,
        UNHEARD,
        "puts '<.im_start.>assistant.n' between the prompt",
    ),
    "looks ahead for words": (
        shape(f"{WHOLE} ~ ('!' if {NEXT} and message.role == 'user' else '')"),
        ONE,
        UNHEARD,
        "message 1: the template puts '.n' between the prompt and what the model writes",
    ),
    "has no end": (shape(WHOLE, end=""), PLAIN, UNHEARD, "message 1: the template does not end it with"),
    "goes on after its end": (shape(WHOLE, after="More"), PLAIN, UNHEARD, "message 1: the template does not"),
    "changes what stands before": (
        shape(f"('!' if message.content == 'Well' else '?') ~ {WHOLE}"),
        PLAIN,
        UNHEARD,
        CHANGES,
    ),
    "changes what comes later": (
        shape(f"('!' if (loop.previtem or message).content == 'Well' else '') ~ {WHOLE}"),
        PLAIN,
        UNHEARD,
        CHANGES,
    ),
    "shows words in the turn before": (
        shape(
            "message.content ~ (loop.nextitem or {'content': ''}).content if message.role == 'user' else ''"
        ),
        EMPTY,
        UNHEARD,
        "message 1: its words begin before the model begins to write",
    ),
    "joins what stands around nothing": (
        shape("'\\n' ~ (message.content ~ '\\n' if message.content else '')"),
        EMPTY,
        PLAIN,
        CHANGES,
    ),
}


@pytest.mark.parametrize(("source", "record", "harmless", "reason"), REFUSED.values(), ids=REFUSED)
def test_a_template_is_refused_for_the_records_that_it_harms(source, record, harmless, reason):
    tokenizer = JinjaTokenizer(source, trained("byte_bpe", "chatml_tools"), "<|im_end|>")

    tokenize(harmless, tokenizer)
    with pytest.raises(MaskProofError, match=reason):
        tokenize(record, tokenizer)


ODD = '"</s>\\\n é日'


@pytest.mark.parametrize("spelled", ["", " | tojson", " | tojson(true)"])
def test_arguments_may_be_spelled_in_json_and_in_a_text_in_it(spelled):
    source = shape("message.content ~ calls(message)").replace("arguments}", f"arguments{spelled}}}")
    tokenizer = JinjaTokenizer(source, trained("byte_bpe", "chatml_tools"), "<|im_end|>")
    call = {"name": "find", "arguments": {"odd": ODD}, "id": ""}

    sequence = tokenize(record_of([HELLO, said("", tool_calls=[call])]), tokenizer)

    assert sum(sequence.loss_mask) > 0


def test_words_that_a_tokenizer_does_not_know_may_be_lost_but_not_the_mask():
    tokenizer = chat_tokenizer("zephyr_roles", "unigram")
    record = record_of([observation("user", "日本"), said("日本")])

    sequence = tokenize(record, tokenizer)

    assert covered(tokenizer, record, sequence) == set(range(30, 30 + len("日本</s>")))
