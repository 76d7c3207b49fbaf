"""Every registered environment, and a third party's, passes every check; and every check finds its defect."""

import gymnasium
import pytest
from broken_envs import BROKEN
from toy_domain import ENV_ID

import tool_envs
from tool_envs import compliance

ELSEWHERE = {"tool_envs/RepoTests-v0", "tool_envs/RepoSimilarity-v0"}
"""Those that need files: see `tests/repo/test_repo_compliance.py`."""

ENV_IDS = [
    *(
        spec.id
        for spec in gymnasium.registry.values()
        if spec.namespace == tool_envs.__name__ and "env_id" not in spec.kwargs  # an array view has no JSON
        if spec.id not in ELSEWHERE
    ),
    ENV_ID,
]


@pytest.mark.parametrize("check", compliance.CHECKS)
@pytest.mark.parametrize("env_id", ENV_IDS)
def test_environment(env_id, check):
    compliance.CHECKS[check](env_id, {})


@pytest.mark.parametrize("check", compliance.CHECKS)
def test_the_airline_of_tau_bench(check):
    compliance.CHECKS[check]("tool_envs/TauBench-v0", {"domain": "airline"})


def test_arguments_go_to_the_environment():
    with pytest.raises(compliance.ComplianceError, match="InfrastructureError: The line is dead"):
        compliance.CHECKS["determinism"](ENV_ID, {"user": "dead_line"})


@pytest.mark.parametrize("name", BROKEN)
def test_a_defect_is_found(name):
    check = BROKEN[name].fails

    with pytest.raises(compliance.ComplianceError, match=f"{name}-v0 fails the check `{check}`"):
        compliance.CHECKS[check](f"broken_envs:tool_envs_tests/{name}-v0", {})


def test_every_check_has_a_defect_that_it_finds():
    assert {env.fails for env in BROKEN.values()} == set(compliance.CHECKS)


def test_run_goes_through_all_checks_up_to_the_first_that_fails(monkeypatch):
    ran = []
    monkeypatch.setattr(
        compliance, "CHECKS", {name: lambda *args: ran.append(args) for name in ("first", "second")}
    )

    compliance.run(ENV_ID, user="silent")

    assert ran == [(ENV_ID, {"user": "silent"})] * 2


def test_an_id_that_is_not_registered_says_so():
    with pytest.raises(compliance.ComplianceError, match="Desk-v9 fails the check `schema`: VersionNotFound"):
        compliance.CHECKS["schema"]("toy_domain:tool_envs_tests/Desk-v9", {})


def test_another_kind_of_environment_is_told_apart():
    with pytest.raises(compliance.ComplianceError, match="expected a ToolEnv, got CartPoleEnv"):
        compliance.CHECKS["schema"]("CartPole-v1", {})
