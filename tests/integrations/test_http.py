"""A real server over HTTP, and its client: equal to the environment itself, bounded, restartable."""

import contextlib
import json
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip(
    "fastapi", reason="needs an environment of its own: make test-integrations LIBRARIES=http"
)

import gymnasium
import httpx
import served_desks
import toy_domain
from gymnasium.utils.env_checker import check_env
from http_servers import RETAIL, WHO, Server, ends, serving
from hypothesis import given, settings
from hypothesis import strategies as st
from served_desks import CALLS

from tool_envs.env import unwrap
from tool_envs.environments import make_env
from tool_envs.errors import ActionTypeError, EpisodeEndedError, UsageError
from tool_envs.serve.client import RemoteEnv, ServerError, ServerFullError
from tool_envs.serve.sessions import SessionGoneError
from tool_envs.trajectory import read_trajectories, replay

pytestmark = pytest.mark.library("fastapi")

# --- The same as the environment itself

actions = st.one_of(
    st.sampled_from(CALLS),
    st.text(),  # lone surrogates too
    st.sampled_from(['<tool_call>{"name": "think"}</tool_call>', "{broken", '{"action": NaN}', "[" * 5000]),
    st.sampled_from([float("nan"), b"\xff", b"Hello.", [CALLS[0], CALLS[1]], None, 10**5000]),
)


@pytest.mark.shows("episodes over HTTP equal to local ones")
@settings(max_examples=40)
@given(seed=st.integers(0, 1 << 40), texts=st.lists(actions, max_size=12))
def test_episodes_are_those_of_the_environment_itself(desk, seed, texts):
    here = make_env(toy_domain.ENV_ID, {})
    with contextlib.closing(desk.env()) as there:
        assert there.reset(seed=seed) == here.reset(seed=seed)
        for action in texts:
            assert there.step(action) == here.step(action)
            if unwrap(here).outcome is not None:
                with pytest.raises(EpisodeEndedError):
                    there.step(action)
                break


def test_what_is_no_action_does_not_reach_the_server(desk):
    with contextlib.closing(desk.env()) as env:
        env.reset(seed=0)
        with pytest.raises(ActionTypeError):
            env.step(object())
        env.step("Hello.")


@pytest.mark.shows("Gymnasium's checker passes `RemoteEnv`")
def test_gymnasium_checks_it(desk):
    with contextlib.closing(desk.env()) as env:
        check_env(env, skip_render_check=True)
        assert env.env_id == toy_domain.ENV_ID


def test_it_is_a_gymnasium_env(desk):
    with contextlib.closing(desk.env()) as env:
        limited = gymnasium.wrappers.TimeLimit(env, 1)
        limited.reset(seed=0)

        assert limited.step("Hello.")[3]


def test_foreign_tool_lists_come_as_they_are():
    with serving(served_desks.FOREIGN) as server:
        schema = server.env().schema

    here = unwrap(make_env(served_desks.FOREIGN, {})).schema
    assert (schema, schema.to_openai()) == (here, here.to_openai())


def test_resets_without_a_seed_follow_from_the_seed_before(desk):
    with contextlib.closing(desk.env()) as env:
        first = [env.reset(seed=5), env.reset(), env.reset()]
        again = [env.reset(seed=5), env.reset(), env.reset()]

        assert first == again
        assert len({str(each) for each in first}) > 1


def test_mistakes_of_the_caller(desk):
    with contextlib.closing(desk.env()) as env:
        with pytest.raises(EpisodeEndedError):
            env.step("Hello.")
        with pytest.raises(UsageError, match="no_such_task"):
            env.reset(seed=0, options={"task_id": "no_such_task"})
        with pytest.raises(UsageError, match="JSON values"):
            env.reset(seed=0, options={"task_id": float("nan")})
        env.version = ""
        with pytest.raises(UsageError, match="name and version"):
            env.reset(seed=0)
    for url in ("ftp://127.0.0.1", "127.0.0.1:80", ""):
        with pytest.raises(UsageError, match="URL"):
            RemoteEnv(url, agent="visitor", version="7")


def test_a_failure_behind_the_server_ends_the_episode_alone(tmp_path):
    with serving(toy_domain.ENV_ID, "-k", "user=dead_line", "--out", tmp_path) as server:
        env = server.env()
        env.reset(seed=0, options={"fails_at": 1})
        with pytest.raises(ServerError, match="The line is dead"):
            env.step("Hello.")
        with pytest.raises(EpisodeEndedError):
            env.step("Hello.")
        env.reset(seed=0, options={"fails_at": 9})
        env.close()

    assert ends(tmp_path) == [
        ("infrastructure", None, "InfrastructureError"),
        ("truncated", 0.0, "closed"),
    ]


# --- Many at once


@pytest.mark.shows("1,000 sessions, then 429")
def test_a_thousand_sessions_and_no_more():
    with serving(toy_domain.ENV_ID, "--sessions", 1000) as server, httpx.Client(base_url=server.url) as http:
        sessions = [http.post("/sessions").json()["session"] for _ in range(1000)]
        for session in sessions:
            assert http.post(f"/sessions/{session}/reset", json={**WHO, "seed": 0}).status_code == 200
        with ThreadPoolExecutor(16) as pool:
            refused = list(pool.map(lambda _: http.post("/sessions"), range(64)))
            steps = [{"session": session, "action": "Hello."} for session in sessions]
            results = http.post("/steps", json={"steps": steps}).json()["results"]

        assert {answer.status_code for answer in refused} == {429}
        assert all(1 <= int(answer.headers["retry-after"]) <= 10 for answer in refused)
        assert len(results) == 1000
        assert len({json.dumps(result) for result in results}) == 1  # equal seeds, equal episodes
        assert "error" not in results[0]


def test_clients_wait_for_a_session():
    with serving(toy_domain.ENV_ID, "--sessions", 1, "--ttl", 3) as server:
        first, second = server.env(), server.env(patience=60.0)
        first.reset(seed=0)
        with pytest.raises(ServerFullError, match="All 1 sessions are taken"):
            server.env(patience=0.0).reset(seed=0)
        threading.Timer(0.2, first.close).start()

        second.reset(seed=0)


# --- Ends


@pytest.mark.shows("410 after a restart")
def test_a_server_that_was_killed_and_started_anew(tmp_path):
    server = Server(toy_domain.ENV_ID, "--out", tmp_path)
    env, other = server.env(), server.env()
    finished = env.reset(seed=0), env.step(CALLS[-1])
    other.reset(seed=1)
    env.reset(seed=2)
    server.end(signal.SIGKILL)
    with pytest.raises(ServerError, match="no answer"):
        other.step("Hello.")
    with serving(toy_domain.ENV_ID, "--out", tmp_path, port=server.port) as anew:
        old = httpx.post(f"{anew.url}/sessions/{env._session}/step", json={"action": "Hello."})
        assert old.status_code == 410
        assert old.json()["error"]["type"] == "SessionGoneError"
        with pytest.raises(SessionGoneError, match="Open another one"):
            env.step("Hello.")
        assert (env.reset(seed=0), env.step(CALLS[-1])) == finished
        server.hang_up()

    records = list(read_trajectories(tmp_path))
    assert [each.outcome.status for each in records] == ["completed", "completed"]
    assert records[0] == records[1]
    assert (records[0].agent.name, records[0].agent.version, records[0].seed) == ("visitor", "7", 0)


def test_what_a_stopped_server_leaves_has_no_reward(tmp_path):
    with serving(RETAIL, "--out", tmp_path) as server:
        env = server.env(version="step-1")
        env.reset(seed=0)
        env.step("Hello.")
        env.version = "step-2"
        env.reset(seed=1)

    assert ends(tmp_path) == [("truncated", 0.0, "reset"), ("infrastructure", None, "ServerStoppedError")]
    records = list(read_trajectories(tmp_path))
    assert [each.agent.version for each in records] == ["step-1", "step-2"]
    replay(records[0])


def test_a_silent_player_is_cut_off_without_a_reward(tmp_path):
    with serving(toy_domain.ENV_ID, "--out", tmp_path, "--ttl", 0.2) as server:
        env = server.env()
        env.reset(seed=0)
        while not ends(tmp_path):
            time.sleep(0.05)
        with pytest.raises(SessionGoneError):
            env.step("Hello.")
        env.reset(seed=0)

    assert ends(tmp_path)[0] == ("infrastructure", None, "PlayerLostError")


def test_the_oracle_earns_its_reward_over_the_line(tmp_path):
    with serving(RETAIL, "-k", "difficulty=1", "--out", tmp_path) as server:
        here, there = make_env(RETAIL, {"difficulty": 1}), server.env()
        here.reset(seed=4)
        there.reset(seed=4)
        inner = unwrap(here)
        while inner.outcome is None:
            action = inner.domain.oracle(inner.episode)
            here.step(action)
            *_, reward, terminated, _, info = there.step(action)

        assert (reward, terminated, info["outcome"]["reward"]) == (1.0, True, 1.0)
        assert ends(tmp_path) == [("completed", 1.0, inner.outcome.ended_by)]
