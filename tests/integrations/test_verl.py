"""verl's own worker plays whole episodes with our agent loop, on a server that says what the oracle does."""

import asyncio
import json
from pathlib import Path

import pytest

pytest.importorskip("verl", reason="needs an environment of its own: make test-integrations LIBRARIES=verl")

import numpy as np
import torch
import verl
from byte_tokenizer import START
from chat_model import sample_ids, save_model
from omegaconf import OmegaConf
from oracle_episodes import DEAD, ROWS, as_text, conversation, oracle_actions, oracle_record
from verl.experimental.agent_loop.agent_loop import AgentLoopWorker
from verl.protocol import DataProto
from verl.workers.rollout.replica import TokenOutput

from tool_envs.errors import InfrastructureError, UsageError
from tool_envs.integrations import verl as integration
from tool_envs.integrations.verl import AGENT_NAME, GenerationAbortedError, ToolEnvAgentLoop, data_row
from tool_envs.trajectory import to_tokens
from tool_envs.trajectory.record import assistant_messages
from tool_envs.trajectory.tokens import prove_sampled

torch.set_num_threads(1)

pytestmark = pytest.mark.library("verl")

LENGTHS = {"prompt_length": 8192, "response_length": 16384}


class Server:
    """A server of verl's that samples given texts, and keeps what it was asked.

    Args:
        texts: What is sampled, in each episode.
        openings: With what the user opens each of them; by that a server knows which one asks.
        steps: The first and the last step of the trainer, for each turn; the last one goes on.
    """

    def __init__(self, *texts, openings=("",), steps=((3, 3),), stop_reason="completed", log_probs=True):
        self._texts, self._openings, self._steps = texts, openings, steps
        self._stop_reason, self._log_probs = stop_reason, log_probs
        self.asked = {}  # by the request's id, the prompts and what was sampled, in turn

    async def generate(self, request_id, *, prompt_ids, sampling_params):
        assert sampling_params["logprobs"] is True
        asked = self.asked.setdefault(request_id, [])
        turn, prompt = len(asked), self.tokenizer.decode(prompt_ids)
        pairs = zip(self._texts, self._openings, strict=True)
        (texts,) = (texts for texts, opening in pairs if opening in prompt)
        ids = sample_ids(self.tokenizer, texts[turn])[: sampling_params["max_tokens"]]
        asked.append((list(prompt_ids), ids, [-0.125 * (1 + place % 7) for place in range(len(ids))]))
        first, last = self._steps[min(turn, len(self._steps) - 1)]
        return TokenOutput(
            token_ids=ids,
            log_probs=asked[-1][2] if self._log_probs else None,
            stop_reason=self._stop_reason,
            extra_fields={"global_steps": last, "min_global_steps": first, "max_global_steps": last},
        )


def oracle_texts(row, write=as_text):
    return [write(action) for action in oracle_actions(row)]


def serve_all(rows, write=as_text):
    openings = [oracle_record(row).messages[0].content for row in rows]
    return Server(*(oracle_texts(row, write) for row in rows), openings=openings)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    save_model(folder)
    return folder


@pytest.fixture
def kept(monkeypatch):
    """The records of the episodes that are played."""
    records = []
    monkeypatch.setattr(ToolEnvAgentLoop, "keep", lambda _, record: records.append(record))
    return records


def make_worker(folder, server, **rollout):
    config = OmegaConf.load(Path(verl.__file__).parent / "trainer/config/_generated_ppo_trainer.yaml")
    changes = {"name": "vllm", "temperature": 0.7, "calculate_log_probs": False, **LENGTHS, **rollout}
    config.actor_rollout_ref.model.path = str(folder)
    config.actor_rollout_ref.rollout = OmegaConf.merge(config.actor_rollout_ref.rollout, changes)
    worker = AgentLoopWorker(config, llm_client=server)
    server.tokenizer = worker.tokenizer
    return worker


def play(worker, rows):
    """The batch that verl's worker makes of rows, as its data set gives them."""
    columns = {"raw_prompt": [], "agent_name": [], "episode": [], "index": []}
    for index, row in enumerate(rows):
        columns["raw_prompt"].append(data_row(row["episode"])["prompt"])
        columns["agent_name"].append(data_row(row["episode"])["agent_name"])
        columns["episode"].append(row["episode"])
        columns["index"].append(index)
    arrays = {}
    for name, values in columns.items():
        arrays[name] = np.empty(len(rows), dtype=object)
        arrays[name][:] = values
    batch = DataProto.from_dict({"dummy_tensor": torch.zeros(len(rows), 1)}, non_tensors=arrays)
    return asyncio.run(worker.generate_sequences(batch))


def unpadded(batch, number):
    """The prompt, the response, its mask, and its log-probabilities, of one row of verl's batch."""
    tensors = batch.batch
    prompts, responses = tensors["prompts"][number], tensors["responses"][number]
    attention = tensors["attention_mask"][number].bool()
    response = attention[len(prompts) :]
    return (
        prompts[attention[: len(prompts)]].tolist(),
        responses[response].tolist(),
        tensors["response_mask"][number][response].tolist(),
        tensors["rollout_log_probs"][number][response].tolist(),
    )


@pytest.mark.shows("agent loop in its own worker, by name")
def test_the_oracle_is_rewarded(folder, kept):
    batch = play(make_worker(folder, serve_all(ROWS)), ROWS)

    assert batch.batch["rm_scores"].sum(dim=1).tolist() == [1.0] * len(ROWS)
    assert sorted(map(str, map(conversation, kept))) == sorted(
        str(conversation(oracle_record(row))) for row in ROWS
    )
    assert batch.non_tensor_batch["__num_turns__"].tolist() == [
        len(oracle_record(row).messages) - 1 for row in ROWS
    ]


@pytest.mark.shows("token ids, masks and log-probabilities as sampled")
def test_the_batch_is_the_records_tokens(folder, kept):
    for row in ROWS[::3]:
        server = Server(oracle_texts(row))
        batch = play(make_worker(folder, server), [row])

        (record,) = kept[-1:]
        (sequence,) = sequences = to_tokens(record)
        prove_sampled(record, sequences)
        prompt, response, mask, logprobs = unpadded(batch, 0)
        (turns,) = server.asked.values()
        start = len(turns[0][0])
        assert tuple(prompt + response) == sequence.input_ids
        assert (prompt, tuple(mask), tuple(logprobs)) == (
            turns[0][0],
            sequence.loss_mask[start:],
            sequence.logprobs[start:],
        )
        assert sum(mask) == sum(len(ids) for _, ids, _ in turns)
        for prompt_ids, ids, _ in turns:
            assert (prompt + response)[: len(prompt_ids) + len(ids)] == prompt_ids + ids


def test_between_turns_the_model_is_given_what_was_said_and_done_since(folder, kept):
    server = Server(oracle_texts(ROWS[0]))
    play(make_worker(folder, server), [ROWS[0]])

    (turns,) = server.asked.values()
    said = [message.content for message in kept[0].messages if not hasattr(message, "tokens")]
    assert len(said) >= len(turns) > 2
    for (prompt, ids, _), (after, *_), content in zip(turns, turns[1:], said[1:], strict=False):
        text = server.tokenizer.decode(after[len(prompt) + len(ids) :])
        assert content in text
        assert (text.count(START), text.count(f"{START}assistant")) == (2, 1)


@pytest.mark.shows("policy versions in extra_fields and records")
def test_versions_of_a_policy_that_changes_in_an_episode(folder, kept):
    batch = play(
        make_worker(folder, Server(oracle_texts(ROWS[0]), steps=[(3, 3), (3, 5), (6, 6)])), [ROWS[0]]
    )

    extra = batch.non_tensor_batch
    assert (extra["min_global_steps"][0], extra["max_global_steps"][0]) == (3, 6)
    (record,) = kept
    assert [version.number for version in record.policy_versions] == [3, 5, 6]
    assert record.agent.version == "3"
    runs = [
        [(run.version, run.count) for run in message.policy_version]
        for _, message in assistant_messages(record)
    ]
    assert [version for version, _ in runs[1]] == ["3", "5"]
    assert runs[1][1][1] == 1


def test_weights_that_no_trainer_brought_are_step_0(folder, kept):
    batch = play(make_worker(folder, Server(oracle_texts(ROWS[0]), steps=[(None, None)])), [ROWS[0]])

    assert batch.non_tensor_batch["max_global_steps"][0] == 0
    assert [version.number for version in kept[0].policy_versions] == [0]


def test_a_record_says_how_it_was_sampled_and_with_which_tokenizer(folder, kept):
    play(make_worker(folder, Server(oracle_texts(ROWS[0]))), [ROWS[0]])

    assert (kept[0].sampling.temperature, kept[0].sampling.top_p, kept[0].reference_policy) == (
        0.7,
        1.0,
        None,
    )
    assert kept[0].tokenizer != kept[0].chat_template


@pytest.mark.shows("failures fail the prompt, never a reward of 0")
def test_a_failure_is_raised(folder, kept):
    hello = as_text({"name": "respond", "arguments": {"content": "Hello."}})
    with pytest.raises(InfrastructureError, match="line is dead"):
        play(make_worker(folder, Server([hello])), [DEAD])
    with pytest.raises(GenerationAbortedError):
        play(make_worker(folder, Server([hello], stop_reason="aborted")), [ROWS[0]])
    assert kept == []


def test_a_response_that_is_too_long_is_cut(folder, kept):
    texts = oracle_texts(ROWS[0])
    play(make_worker(folder, Server(texts)), [ROWS[0]])
    (sequence,) = to_tokens(kept[0])
    start = sequence.loss_mask.index(1)
    # In the middle of what was sampled last; and in the middle of what was said before it.
    last = len(sequence.loss_mask) - sequence.loss_mask[::-1].index(0)
    for end, truncated_by in ((last + 3, "length"), (last - 2, "context")):
        batch = play(make_worker(folder, Server(texts), response_length=end - start), [ROWS[0]])

        outcome = kept[-1].outcome
        assert (outcome.status, outcome.ended_by, outcome.reward) == ("truncated", truncated_by, 0.0)
        assert batch.batch["rm_scores"].sum() == 0.0
        prompt, response, mask, _ = unpadded(batch, 0)
        assert tuple(prompt + response) == sequence.input_ids[: len(prompt + response)]
        assert len(response) <= end - start
        assert sum(mask) == sum(sequence.loss_mask[: len(prompt + response)])


def test_a_prompt_that_is_too_long_is_refused(folder):
    with pytest.raises(UsageError, match="Make `rollout"):
        play(make_worker(folder, Server(oracle_texts(ROWS[0])), prompt_length=64), [ROWS[0]])


def test_a_server_without_log_probabilities_is_refused(folder):
    with pytest.raises(UsageError, match="0 logprobs"):
        play(make_worker(folder, Server(oracle_texts(ROWS[0]), log_probs=False)), [ROWS[0]])


def as_xml(action):
    """A call as Qwen3-Coder writes it; and what is said as it is said."""
    name, arguments = action["name"], action["arguments"]
    if name == "respond":
        return arguments["content"]
    values = {key: value if isinstance(value, str) else json.dumps(value) for key, value in arguments.items()}
    parameters = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in values.items())
    return f"<tool_call>\n<function={name}>\n{parameters}</function>\n</tool_call>"


@pytest.mark.shows("formats of calls that verl parses")
def test_calls_in_another_format(folder, kept):
    server = serve_all(ROWS, as_xml)
    batch = play(make_worker(folder, server, multi_turn={"format": "qwen3_coder"}), ROWS)

    assert batch.batch["rm_scores"].sum(dim=1).tolist() == [1.0] * len(ROWS)
    assert sorted(map(str, map(conversation, kept))) == sorted(
        str(conversation(oracle_record(row))) for row in ROWS
    )


def test_a_broken_call_is_an_observation(folder, kept):
    play(make_worker(folder, Server(['<tool_call>{"name": </tool_call>', *oracle_texts(ROWS[0])])), [ROWS[0]])

    assert kept[0].messages[2].code == "malformed_call"
    assert kept[0].outcome.reward == 1.0


def test_it_is_registered_by_its_name():
    from verl.experimental.agent_loop.agent_loop import _agent_loop_registry

    target = f"{integration.__name__}.{ToolEnvAgentLoop.__name__}"
    assert _agent_loop_registry[AGENT_NAME] == {"_target_": target}
