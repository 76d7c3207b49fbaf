"""SkyRL's own generator plays whole episodes, with an engine that says what the oracle does."""

import asyncio
import typing
from unittest.mock import patch

import pytest

pytest.importorskip("skyrl", reason="needs an environment of its own: make test-integrations LIBRARIES=skyrl")

import skyrl_gym
import typing_extensions
from chat_model import sample_ids, save_model
from oracle_episodes import DEAD, ROWS, as_text, conversation, oracle_actions, oracle_record
from toy_domain import ENV_ID as DESK

from tool_envs.errors import InfrastructureError, UsageError
from tool_envs.integrations.episode_rows import episode_rows
from tool_envs.integrations.skyrl import ENV_CLASS, ToolTextEnv, data_row
from tool_envs.rollout import Plan
from tool_envs.trajectory.record import PolicyVersion
from tool_envs.trajectory.refs import AgentRef
from tool_envs.trajectory.replay import replay

# SkyRL gives pydantic a `TypedDict` of `typing`, for which it takes only this package's before Python 3.12.
with patch.object(typing, "TypedDict", typing_extensions.TypedDict):
    from skyrl.train.config.config import GeneratorConfig, SamplingParams, SkyRLGymConfig
    from skyrl.train.generators.base import TrajectoryID
    from skyrl.train.generators.skyrl_gym_generator import SkyRLGymGenerator

pytestmark = pytest.mark.library("skyrl")

HELLO = as_text({"name": "respond", "arguments": {"content": "Hello."}})


class Engine:
    """An engine of SkyRL's that samples given texts, and keeps what it was asked.

    Args:
        texts: By the session's id, what is sampled in turn.
    """

    weight_version = 0

    def __init__(self, texts, tokenizer):
        self._texts, self._tokenizer = texts, tokenizer
        self.asked, self.finished = {session: [] for session in texts}, []

    async def generate(self, input_batch, **_):
        (session,), (prompt,) = input_batch["session_ids"], input_batch["prompt_token_ids"]
        asked = self.asked[session]
        text = self._texts[session][len(asked)]
        ids = sample_ids(self._tokenizer, text)
        logprobs = [-0.125 * (1 + place % 7) for place in range(len(ids))]
        asked.append((list(prompt), list(ids), logprobs))
        return {
            "responses": [text],
            "response_ids": [ids],
            "stop_reasons": ["stop"],
            "response_logprobs": [logprobs],
        }

    async def finish_session(self, session):
        self.finished.append(session)


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    return save_model(tmp_path_factory.mktemp("model"))


def generate(tokenizer, rows, texts, **changes):
    """What SkyRL's generator makes of rows, and the engine that it asked."""
    settings = {"max_turns": 60, "max_input_length": 1 << 15, **changes}
    config = GeneratorConfig(sampling_params=SamplingParams(max_generate_length=4096), **settings)
    engine = Engine({f"{number}_0": said for number, said in enumerate(texts)}, tokenizer)
    generator = SkyRLGymGenerator(config, SkyRLGymConfig(max_env_workers=2), engine, tokenizer)
    columns = [data_row(row["episode"]) for row in rows]
    batch = {
        "prompts": [row.pop("prompt") for row in columns],
        "env_classes": [row.pop("env_class") for row in columns],
        "env_extras": columns,
        "trajectory_ids": [TrajectoryID(str(number), 0) for number in range(len(rows))],
        "sampling_params": None,
    }
    return asyncio.run(generator.generate(batch, disable_tqdm=True)), engine


def oracle_texts(row):
    return [as_text(action) for action in oracle_actions(row)]


@pytest.mark.shows("BaseTextEnv in SkyRL's generator")
def test_the_oracle_is_rewarded_at_its_last_token(tokenizer):
    output, engine = generate(tokenizer, ROWS, map(oracle_texts, ROWS))

    for rewards, mask in zip(output["rewards"], output["loss_masks"], strict=True):
        assert (rewards[-1], sum(rewards)) == (1.0, 1.0)
        assert mask[-1] == 1
    assert output["stop_reasons"] == ["stop"] * len(ROWS)
    assert [metrics["reward"] for metrics in output["env_metrics"]] == [1.0] * len(ROWS)
    assert output["rollout_metrics"]["environment/truncated"] == 0.0
    assert sorted(engine.finished) == sorted(engine.asked)


@pytest.mark.shows("token ids, masks and log-probabilities as sampled")
def test_tokens_are_a_chain_of_what_was_sent_and_sampled(tokenizer):
    output, engine = generate(tokenizer, ROWS, map(oracle_texts, ROWS))

    for number, turns in enumerate(engine.asked.values()):
        sequence = output["prompt_token_ids"][number] + output["response_ids"][number]
        for prompt, ids, _ in turns:
            assert sequence[: len(prompt) + len(ids)] == prompt + ids
        start = len(turns[0][0])
        mask, logprobs = [0] * len(sequence), [0.0] * len(sequence)
        for prompt, ids, sampled in turns:
            mask[len(prompt) : len(prompt) + len(ids)] = [1] * len(ids)
            logprobs[len(prompt) : len(prompt) + len(ids)] = sampled
        assert output["loss_masks"][number] == mask[start:]
        assert output["rollout_logprobs"][number] == logprobs[start:]


def play(row, texts, **extras):
    """An episode by hand: the environment, and the last step."""
    env = skyrl_gym.make(ENV_CLASS, env_config={}, extras={**row, **extras})
    env.init([])
    for text in texts:
        step = env.step(text)
        if step["done"]:
            break
    return env, step


@pytest.mark.parametrize("row", ROWS, ids=range(len(ROWS)))
def test_an_episode_is_what_it_is_elsewhere(row):
    env, step = play(row, oracle_texts(row))
    record = env.record(AgentRef(name="m", version="step-3"))

    assert conversation(record) == conversation(oracle_record(row))
    assert (step["reward"], step["metadata"]["outcome"]["reward"]) == (1.0, 1.0)
    assert record.policy_versions == (PolicyVersion(version="step-3", number=0),)
    replay(record)


def test_the_first_message_describes_the_tools_and_results_are_said():
    env = ToolTextEnv(extras=ROWS[0])
    (system, opening), known = env.init([{"role": "user", "content": "Ignored."}])

    assert '"name": "find_user_id_by_email"' in system["content"]
    assert opening == {"role": "user", "content": oracle_record(ROWS[0]).messages[0].content}
    assert known["task_id"] == "retail/test/1/0"
    call = as_text({"name": "find_user_id_by_email", "arguments": {"email": "nobody@example.org"}})
    (result,) = env.step(call)["observations"]
    assert result["role"] == "user"
    assert result["content"].startswith("Result of find_user_id_by_email: ")


@pytest.mark.shows("failures raised, never a reward of 0")
def test_a_failure_ends_the_batch(tokenizer):
    with pytest.raises(InfrastructureError, match="line is dead"):
        generate(tokenizer, [ROWS[0], DEAD], [oracle_texts(ROWS[0]), [HELLO]])


def test_an_episode_without_more_turns_is_truncated(tokenizer):
    output, _ = generate(tokenizer, ROWS[:1], [oracle_texts(ROWS[0])], max_turns=3)

    assert sum(output["rewards"][0]) == 0.0
    assert output["env_metrics"] == [{"reward": 0.0, "truncated": 1.0, "steps": 3.0}]


def test_an_episode_whose_context_is_full_is_truncated(tokenizer):
    whole, engine = generate(tokenizer, ROWS[:1], [oracle_texts(ROWS[0])])
    (turns,) = engine.asked.values()
    output, _ = generate(tokenizer, ROWS[:1], [oracle_texts(ROWS[0])], max_input_length=len(turns[2][0]) - 1)

    assert (sum(whole["rewards"][0]), sum(output["rewards"][0])) == (1.0, 0.0)
    assert output["stop_reasons"] == ["length"]
    assert output["env_metrics"] == [{"reward": 0.0, "truncated": 1.0, "steps": 2.0}]
    env, _ = play(ROWS[0], oracle_texts(ROWS[0])[:2])
    env.close()
    assert env.record(AgentRef(name="m", version="v")).outcome.ended_by == "left"


def test_a_user_who_is_far_away_would_block_an_event_loop():
    there = {"user": "llm", "user_model": "m", "user_base_url": "http://127.0.0.1:9/v1"}
    (row,) = episode_rows("tool_envs/Retail-v0", there, Plan([0]))

    async def begin():
        ToolTextEnv(extras={"episode": row}).init([])

    with pytest.raises(UsageError, match="An event loop runs"):
        asyncio.run(begin())


def test_a_row_that_names_no_episode_is_refused():
    with pytest.raises(UsageError, match="column `episode`"):
        skyrl_gym.make(ENV_CLASS, env_config={}, extras={"max_turns": 3})
    (row,) = episode_rows(DESK, {}, Plan([0]))
    with pytest.raises(UsageError, match="nobody"):
        ToolTextEnv(extras={"episode": row.replace("lend-emma", "nobody")}).init([])
