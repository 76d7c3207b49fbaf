"""Both environments of issues pass every check that every environment passes."""

import pytest
from issue_repositories import make_instances

from tool_envs import compliance

ENV_IDS = ("tool_envs/RepoTests-v0", "tool_envs/RepoSimilarity-v0")


@pytest.fixture(scope="module")
def kwargs(tmp_path_factory):
    return make_instances(tmp_path_factory.mktemp("issues"))


@pytest.mark.parametrize("check", compliance.CHECKS)
@pytest.mark.parametrize("env_id", ENV_IDS)
def test_environment(env_id, check, kwargs):
    compliance.CHECKS[check](env_id, kwargs)
