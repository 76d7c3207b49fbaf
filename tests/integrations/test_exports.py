"""Exported rows are taken by the systems that they are for, and mean there what the records say."""

import copy
import itertools
import json
import math
import sys
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="needs an environment of its own: make test-integrations")

import datasets
import gymnasium
import torch
from byte_tokenizer import prompt_texts, train_tokenizer
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import SFTConfig, SFTTrainer
from typer.testing import CliRunner

from tool_envs.agents import load_agent
from tool_envs.cli.app import app
from tool_envs.errors import DataFileError, UsageError
from tool_envs.evaluation import evaluate
from tool_envs.integrations.export_tokenizer import ExportTokenizer
from tool_envs.trajectory import (
    PolicySetting,
    TrajectoryWriter,
    Turn,
    read_trajectories,
    record_episode,
    to_tokens,
)
from tool_envs.trajectory.exports import export_records, read_manifest
from tool_envs.trajectory.record import (
    PolicyRun,
    PolicyVersion,
    Sampling,
    Tokens,
)

torch.set_num_threads(1)

TEMPLATE = """\
{%- if tools %}<|im_start|>tools
{{ tools | tojson }}<|im_end|>
{% endif %}
{%- for message in messages %}<|im_start|>{{ message.role }}
{% if message.role == 'assistant' %}{% generation %}{{ message.content or '' }}
{%- for call in message.tool_calls or [] %}
{{- '<call>' ~ call.function.name ~ ' ' ~ (call.function.arguments | tojson) ~ '</call>' }}
{%- endfor %}<|im_end|>{% endgeneration %}
{% else %}{{ message.content }}<|im_end|>
{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
"""ChatML with tools, in which what the assistant writes is marked."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where all is written."""
    return tmp_path_factory.mktemp("exports")


@pytest.fixture(scope="module")
def tokenizer_folder(folder):
    """A tokenizer of bytes and of what often stands together in a prompt."""
    train_tokenizer(prompt_texts(), 2048, TEMPLATE).save_pretrained(folder / "tokenizer")
    return folder / "tokenizer"


@pytest.fixture(scope="module")
def tokenizer(tokenizer_folder):
    return PreTrainedTokenizerFast.from_pretrained(tokenizer_folder)


@pytest.fixture(scope="module")
def model(tokenizer):
    """A small model with random weights."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=32768,
    )
    return LlamaForCausalLM(config)


@pytest.fixture(scope="module")
def written(folder):
    """A store of what scripted agents wrote."""
    with TrajectoryWriter(folder / "written", sync_every=100) as writer:
        for env_id, name in (
            ("tool_envs/Retail-v0", "oracle"),
            ("tool_envs/Booking-v0", "oracle"),
            ("tool_envs/Retail-v0", "random"),
        ):
            agent = load_agent(name)
            evaluate(
                env_id,
                {"split": "train", "difficulty": 1},
                agent,
                tasks=range(3),
                on_episode=lambda env, r, agent=agent: writer.append(
                    record_episode(env, agent.name, agent.version, r.seed)
                ),
            )
    return folder / "written"


@pytest.fixture(scope="module")
def sampled(folder, model, tokenizer, tokenizer_folder):
    """A store of what the model sampled: other tokens than the tokenizer gives for its text."""
    with TrajectoryWriter(folder / "sampled", sync_every=100) as writer:
        for seed in range(4):
            writer.append(sample_episode(model, tokenizer, ExportTokenizer(tokenizer_folder).ref, seed))
    return folder / "sampled"


def sample_episode(model, tokenizer, ref, seed):
    """The record of an episode in which the model acts, under two versions.

    With an odd seed what was sampled is sent again as it is, so that the chain of tokens holds; with an even
    one as the tokens of its text, as most clients do.
    """
    limit = 4 if seed < 2 else 2  # the user hangs up on the third word that they do not understand
    env = gymnasium.make("tool_envs/Retail-v0", split="train", max_steps=limit, disable_env_checker=True)
    env.reset(seed=seed, options={"task_index": seed // 2})
    inner, turns, generator = env.unwrapped, [], torch.Generator().manual_seed(seed)
    known, known_text = (), ""
    while inner.outcome is None:
        chat = [{"role": "system", "content": inner.domain.policy_text}, *inner.messages]
        text = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        if not (seed % 2 and text.startswith(known_text)):
            known, known_text = (), ""
        new = tokenizer(text.removeprefix(known_text), add_special_tokens=False)["input_ids"]
        prompt = (*known, *new)
        ids, logprobs = sample_tokens(model, prompt, 6, generator)
        version = PolicyRun(version=f"step-{min(len(turns), 1)}", count=len(ids))
        tokens = Tokens(prompt_token_ids=prompt, token_ids=ids, logprobs=logprobs)
        turns.append(Turn(policy_version=(version,), tokens=tokens))
        known, known_text = prompt + ids, text + tokenizer.decode(ids)
        env.step(tokenizer.decode(ids))
    return record_episode(
        env,
        "tiny",
        "step-0",
        seed,
        setting=PolicySetting(
            reference_policy="step-0",
            sampling=Sampling(temperature=1.0, top_p=1.0, seed=seed, stop=()),
            tokenizer=ref.sha256,
            chat_template=ref.chat_template,
        ),
        policy_versions=[PolicyVersion(version=f"step-{n}", number=n) for n in range(2)],
        turns=turns,
    )


@torch.no_grad()
def sample_tokens(model, prompt, count, generator):
    """Tokens drawn one by one, with their log-probabilities."""
    ids, logprobs, given, cache = [], [], list(prompt), None
    for _ in range(count):
        output = model(torch.tensor([given]), past_key_values=cache, use_cache=True, logits_to_keep=1)
        scores, cache = torch.log_softmax(output.logits[0, -1].double(), -1), output.past_key_values
        given = [int(torch.multinomial(scores.exp(), 1, generator=generator))]
        ids += given
        logprobs.append(float(scores[given[0]]))
    return tuple(ids), tuple(logprobs)


def export(store, name, out, tokenizer_folder=None):
    """Export a store; returns the rows."""
    tokenizer = ExportTokenizer(tokenizer_folder) if tokenizer_folder else None
    export_records(read_trajectories(store), name, out, tokenizer=tokenizer)
    assert read_manifest(out).format.name == name
    return [json.loads(line) for line in (out / "rows.jsonl").read_text().splitlines()]


def load(out, cache):
    """The rows as a dataset, with the index beside them, as a user loads them."""
    parts = [
        datasets.load_dataset("json", data_files=str(out / file), split="train", cache_dir=str(cache))
        for file in ("rows.jsonl", "index.jsonl")
    ]
    return datasets.concatenate_datasets(parts, axis=1)


def trainer(model, tokenizer, dataset, folder, **options):
    """A trainer that has prepared the data."""
    arguments = SFTConfig(
        output_dir=str(folder),
        max_steps=1,
        per_device_train_batch_size=2,
        max_length=None,
        report_to="none",
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        save_strategy="no",
        **options,
    )
    return SFTTrainer(model, arguments, train_dataset=dataset, processing_class=tokenizer)


# --- TRL


@pytest.mark.library("trl")
@pytest.mark.shows("`SFTTrainer` trains on exported tokens and masks")
def test_trl_takes_tokens_as_they_are_and_trains(written, tokenizer_folder, model, tokenizer, tmp_path):
    rows = export(written, "trl-tokens", tmp_path / "x", tokenizer_folder)
    dataset = load(tmp_path / "x", tmp_path / "cache")

    prepared = trainer(model, tokenizer, dataset, tmp_path / "run")

    assert [{name: row[name] for name in ("input_ids", "labels")} for row in prepared.train_dataset] == rows
    assert math.isfinite(prepared.train().training_loss)


@pytest.mark.library("trl")
@pytest.mark.shows("its own masks of exported messages are ours")
def test_trl_makes_of_messages_the_labels_that_we_make(written, tokenizer_folder, model, tokenizer, tmp_path):
    rows = export(written, "trl", tmp_path / "messages")
    tokens = export(written, "trl-tokens", tmp_path / "tokens", tokenizer_folder)
    dataset = load(tmp_path / "messages", tmp_path / "cache")
    assert [{name: row[name] for name in ("messages", "tools")} for row in dataset] == rows

    prepared = trainer(model, tokenizer, dataset, tmp_path / "run", assistant_only_loss=True)

    for row, expected in zip(prepared.train_dataset, tokens, strict=True):
        assert row["input_ids"] == expected["input_ids"]
        assert row["labels"] == expected["labels"]
    assert math.isfinite(prepared.train().training_loss)


@pytest.mark.library("datasets")
@pytest.mark.shows("rows and index load as one dataset")
def test_the_index_chooses_episodes_by_reward(written, tmp_path):
    export(written, "trl", tmp_path / "x")
    dataset = load(tmp_path / "x", tmp_path / "cache")

    kept = dataset.filter(lambda row: row["reward"] == 1.0)

    assert kept["agent"] == ["oracle"] * 6
    assert len(dataset) == 9


@pytest.mark.library("trl")
@pytest.mark.shows("`SFTTrainer` trains on exported tokens and masks")
def test_trl_trains_on_what_a_model_sampled(sampled, model, tokenizer, tmp_path):
    export(sampled, "trl-tokens", tmp_path / "x")
    dataset = load(tmp_path / "x", tmp_path / "cache")

    prepared = trainer(model, tokenizer, dataset, tmp_path / "run")

    trained = sum(label != -100 for row in prepared.train_dataset for label in row["labels"])
    assert trained == sum(sum(sequence.loss_mask) for sequence in sequences(sampled))
    assert math.isfinite(prepared.train().training_loss)


# --- The tokenizer of a folder


def test_the_command_line_takes_a_tokenizer(written, tokenizer_folder, tmp_path):
    command = ["export", str(written), "--format", "trl-tokens", "--out", str(tmp_path / "x")]

    result = CliRunner().invoke(app, [*command, "--tokenizer", str(tokenizer_folder)])

    assert result.exit_code == 0, result.output
    assert read_manifest(tmp_path / "x").tokenizers == (ExportTokenizer(tokenizer_folder).ref,)


def test_a_folder_that_is_no_tokenizer_is_told(tokenizer, tmp_path):
    with pytest.raises(DataFileError, match="is no folder"):
        ExportTokenizer(tmp_path / "nowhere")
    with pytest.raises(DataFileError, match="holds no tokenizer"):
        ExportTokenizer(tmp_path)
    for template, problem in ((None, "no chat template"), ({"a": TEMPLATE}, r"templates \['a'\]; keep one")):
        copied = copy.deepcopy(tokenizer)
        copied.chat_template = template
        copied.save_pretrained(tmp_path / problem[:5])
        with pytest.raises(UsageError, match=problem):
            ExportTokenizer(tmp_path / problem[:5])


# --- OpenAI and ATIF


@pytest.mark.library("openai")
@pytest.mark.shows("rows are of the types of its messages and tools")
def test_openai_messages_are_of_its_types(written, sampled, tmp_path):
    pydantic = pytest.importorskip("pydantic")
    types = pytest.importorskip("openai.types.chat", reason="the package openai is not installed")
    messages = pydantic.TypeAdapter(list[types.ChatCompletionMessageParam])
    tools = pydantic.TypeAdapter(list[types.ChatCompletionToolParam])

    for store in (written, sampled):
        for row in export(store, "openai", tmp_path / store.name):
            weights = [m.pop("weight") for m in row["messages"] if m["role"] == "assistant"]
            assert set(weights) == {1}
            messages.validate_python(row["messages"], strict=True)
            tools.validate_python(row["tools"])


@pytest.mark.library("atif")
@pytest.mark.shows("records are read back, with rewards, tokens and log-probabilities")
def test_atif_reads_every_record(written, sampled, tmp_path):
    atif = pytest.importorskip("atif")

    for store in (written, sampled):
        for row, record in zip(
            export(store, "atif", tmp_path / store.name), read_trajectories(store), strict=True
        ):
            read = atif.Trajectory.model_validate(row)
            assert read.to_json_dict(exclude_none=False)["extra"] == row["extra"]
            assert read.extra["tool_envs"]["outcome"]["reward"] == record.outcome.reward
            agent = [step for step in read.steps if step.source == "agent"]
            sent = [getattr(m, "tokens", None) for m in record.messages if hasattr(m, "tokens")]
            for step, tokens in zip(agent, sent, strict=True):
                assert (step.metrics is None) == (tokens is None)
                assert tokens is None or step.metrics.logprobs == list(tokens.logprobs)


# --- Systems that learn from rewards


REASONS = {"completed": "stop", "truncated": "length"}


def sequences(store):
    """The sequences of a store with something to train on."""
    return [s for record in read_trajectories(store) for s in to_tokens(record) if any(s.loss_mask)]


def test_chains_of_tokens_hold_in_some_episodes_and_break_in_others(sampled):
    counts = [len(to_tokens(record)) for record in read_trajectories(sampled)]

    assert min(counts) == 1
    assert max(counts) > 1


@pytest.mark.library("verl")
@pytest.mark.shows("rows become `AgentLoopOutput` and `DataProto`")
def test_verl_makes_tensors_of_rows(sampled, tmp_path):
    loop = pytest.importorskip("verl.experimental.agent_loop.agent_loop", reason="verl is not installed")
    protocol = pytest.importorskip("verl.protocol", reason="verl is not installed")

    rows = export(sampled, "verl", tmp_path / "x")

    for row, sequence in zip(rows, sequences(sampled), strict=True):
        tensors = loop.AgentLoopOutput.model_validate(row, strict=True).as_dict()
        both = torch.cat([tensors["prompts"], tensors["responses"]])
        start, count = len(tensors["prompts"]), len(tensors["responses"])
        assert both.tolist() == list(sequence.input_ids)
        assert tensors["response_mask"].tolist() == list(sequence.loss_mask[start:])
        torch.testing.assert_close(tensors["rollout_log_probs"], torch.tensor(sequence.logprobs[start:]))
        assert tensors["rm_scores"].tolist() == [0.0] * (count - 1) + [sequence.reward]
        assert tensors["extra_fields"]["max_global_steps"] == max(sequence.version_names)
        batch = {name: value[None] for name, value in tensors.items() if torch.is_tensor(value)}
        assert len(protocol.DataProto.from_dict(tensors=batch)) == 1


@pytest.mark.library("skyrl")
@pytest.mark.shows("rows become a batch of `GeneratorOutput`")
@pytest.mark.skipif(sys.version_info < (3, 12), reason="SkyRL's types need Python 3.12 to be imported")
def test_skyrl_makes_a_batch_of_rows(sampled, tmp_path):
    base = pytest.importorskip("skyrl.train.generators.base", reason="SkyRL is not installed")
    made = pytest.importorskip("skyrl.train.generators.utils", reason="SkyRL is not installed")
    pytest.importorskip("skyrl.train.utils.trainer_utils", reason="a library that SkyRL needs is missing")

    rows = export(sampled, "skyrl", tmp_path / "x")
    for row in rows:
        assert row.keys() <= base.GeneratorOutput.__annotations__.keys()
        row["trajectory_ids"] = [base.TrajectoryID(**each) for each in row["trajectory_ids"]]
    batch = made.concatenate_generator_outputs(rows, step_wise=True)

    found = sequences(sampled)
    statuses = [r.outcome.status for r in read_trajectories(sampled) for _ in to_tokens(r)]
    joined = map(list, map(itertools.chain, batch["prompt_token_ids"], batch["response_ids"]))
    assert list(joined) == [list(sequence.input_ids) for sequence in found]
    assert [sum(mask) for mask in batch["loss_masks"]] == [sum(sequence.loss_mask) for sequence in found]
    assert sum(batch["is_last_step"]) == 4
    samples = [each.repetition_id for each in batch["trajectory_ids"]]
    assert sorted(set(samples)) == [0, 1]
    assert batch["stop_reasons"] == [REASONS[status] for status in statuses]
    assert set(statuses) == set(REASONS)


@pytest.mark.library("areal")
@pytest.mark.shows("rows become a padded batch")
def test_areal_takes_rows_as_tensors(sampled, tmp_path):
    executor = pytest.importorskip(
        "areal.infra.workflow_executor", reason="AReaL, which needs an older PyTorch, is not installed"
    )
    data = pytest.importorskip("areal.utils.data")
    kinds = {"attention_mask": torch.bool, "logprobs": torch.float32, "rewards": torch.float32}

    found = []
    for row in export(sampled, "areal", tmp_path / "x"):
        found.append({name: torch.tensor(v, dtype=kinds.get(name, torch.int32)) for name, v in row.items()})
        assert executor.check_trajectory_format(found[-1], expected_keys=set(row))
    batch = data.concat_padded_tensors(found)

    assert batch["loss_mask"].sum() == sum(sum(sequence.loss_mask) for sequence in sequences(sampled))
    assert (batch["versions"][batch["loss_mask"] == 1] >= 0).all()
    assert batch["rewards"].tolist() == [sequence.reward for sequence in sequences(sampled)]


def test_no_file_is_left_beside_an_export(folder):
    assert not list(Path(folder).glob(".*.part"))
