"""What `tool-envs serve` says when it cannot serve; that it does is shown in `tests/integrations`."""

import sys

import pytest
from typer.testing import CliRunner

from tool_envs.cli.app import app
from tool_envs.cli.serve import read_token
from tool_envs.errors import UsageError


def test_a_library_that_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "fastapi", None)
    monkeypatch.delitem(sys.modules, "tool_envs.serve.http", raising=False)

    result = CliRunner().invoke(app, ["serve", "http", "tool_envs/Retail-v0"])

    assert result.exit_code == 2
    assert "pip install 'tool-envs[http]'" in result.output


def test_tokens_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("SOME_TOKEN", "s3cret")
    monkeypatch.setenv("EMPTY_TOKEN", "")

    assert read_token(None) is None
    assert read_token("SOME_TOKEN") == "s3cret"
    for variable in ("EMPTY_TOKEN", "NO_SUCH_TOKEN"):
        with pytest.raises(UsageError, match=variable):
            read_token(variable)
