"""Several sessions of a server over HTTP that are asked in one request: each for itself."""

import pytest

pytest.importorskip(
    "fastapi", reason="needs an environment of its own: make test-integrations LIBRARIES=http"
)

import httpx
import served_desks
import toy_domain
from http_servers import WHO, ends, serving
from served_desks import CALLS

from tool_envs.environments import make_env
from tool_envs.errors import EpisodeEndedError, UsageError
from tool_envs.serve.client import ServerError, reset_each, step_each
from tool_envs.serve.sessions import SessionGoneError

pytestmark = pytest.mark.library("fastapi")


@pytest.mark.shows("resets and steps of many sessions in one request")
def test_steps_of_one_request_are_those_of_many(desk):
    envs, alone = [desk.env() for _ in range(8)], [make_env(toy_domain.ENV_ID, {}) for _ in range(8)]
    for seed, (env, other) in enumerate(zip(envs, alone, strict=True)):
        env.reset(seed=seed)
        other.reset(seed=seed)
    sent = [CALLS[place % len(CALLS)] for place in range(8)]

    assert step_each(envs, sent) == [env.step(action) for env, action in zip(alone, sent, strict=True)]
    with pytest.raises(UsageError, match="8 environments"):
        step_each(envs, sent[:7])
    with pytest.raises(UsageError, match="twice"):
        step_each([envs[0], envs[0]], sent[:2])
    assert step_each([], []) == []
    for env in envs:
        env.close()


def test_one_of_many_that_fails_harms_no_other():
    with serving(toy_domain.ENV_ID, "-k", "user=dead_line") as server:
        envs = [server.env() for _ in range(3)]
        for env, fails_at in zip(envs, (9, 1, 9), strict=True):
            env.reset(seed=0, options={"fails_at": fails_at})
        envs[2]._line.ask("DELETE", f"/sessions/{envs[2]._session}")

        first, failed, gone = step_each(envs, ["Hello."] * 3)

        assert first[0]["content"] == "Are you there?"
        assert isinstance(failed, ServerError)
        assert isinstance(gone, SessionGoneError)
        with pytest.raises(EpisodeEndedError):
            step_each(envs, ["Hello."] * 3)
        envs[0].step("Hello.")


@pytest.mark.shows("resets and steps of many sessions in one request")
def test_resets_of_one_request_are_those_of_many(desk):
    envs, alone = [desk.env() for _ in range(8)], [make_env(toy_domain.ENV_ID, {}) for _ in range(8)]
    seeds, options = [*range(7), None], [{"task_id": "swap"}, *[None] * 7]
    last = desk.env()
    last.reset(seed=7)
    envs[-1].reset(seed=7)

    together = reset_each(envs, seeds=seeds, options=options)

    assert together[:-1] == [
        env.reset(seed=seed, options=each)
        for env, seed, each in zip(alone[:-1], seeds[:-1], options[:-1], strict=True)
    ]
    assert together[-1] == last.reset()
    assert len(step_each(envs, [CALLS[0]] * 8)) == 8
    assert reset_each([]) == []
    for env in (*envs, last):
        env.close()


def test_resets_of_one_request_that_cannot_be(desk):
    envs = [desk.env() for _ in range(2)]
    reset_each(envs)
    for wrong, words in (
        ({"seeds": [1]}, "2 environments, not 1"),
        ({"options": [None] * 3}, "2 environments, not 3"),
        ({"options": [{"task_id": "no_such_task"}, None]}, "no_such_task"),
        ({"options": [{"task_id": float("nan")}, None]}, "JSON values"),
    ):
        with pytest.raises(UsageError, match=words):
            reset_each(envs, **wrong)
    with pytest.raises(UsageError, match="twice"):
        reset_each([envs[0], envs[0]])
    with pytest.raises(EpisodeEndedError):
        step_each(envs, ["Hello."] * 2)
    for env in envs:
        env.close()


def test_one_of_many_resets_that_fails_harms_no_other(desk):
    sessions = [httpx.post(f"{desk.url}/sessions").json()["session"] for _ in range(3)]
    httpx.delete(f"{desk.url}/sessions/{sessions[1]}")
    resets = [{"session": session, **WHO, "seed": 0} for session in [*sessions, "7"]]
    resets[2]["seed"] = -1

    started, *failed = httpx.post(f"{desk.url}/resets", json={"resets": resets}).json()["results"]

    assert started["observation"]["role"] == "user"
    assert [(each["status"], each["error"]["type"]) for each in failed] == [
        (410, "SessionGoneError"),
        (422, "Error"),
        (404, "UnknownSessionError"),
    ]


def test_sessions_that_are_gone_are_opened_anew_by_resets_of_one_request(tmp_path):
    with serving(toy_domain.ENV_ID, "--out", tmp_path) as server:
        envs = [server.env() for _ in range(3)]
        before = reset_each(envs, seeds=[0, 1, 2])
        envs[1]._line.ask("DELETE", f"/sessions/{envs[1]._session}")

        assert reset_each(envs, seeds=[0, 1, 2]) == before

    assert [end[2] for end in ends(tmp_path)][:3] == ["closed", "reset", "reset"]


def test_a_defect_of_the_environment_harms_no_other():
    with serving(served_desks.DEFECTIVE) as server:
        env, other = server.env(), server.env()
        env.reset(seed=0)
        other.reset(seed=0)
        with pytest.raises(ServerError, match="the server's log says which"):
            env.step("Break.")
        env.reset(seed=0)

        failed, step = step_each([env, other], ["Break.", "Hello."])

        assert isinstance(failed, ServerError)
        assert step[0]["role"] == "user"
