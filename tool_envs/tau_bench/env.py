"""`tool_envs/TauBench-v0`: tau-bench's tasks with tau-bench's tools, observations and rewards."""

import functools
from typing import Literal

from tool_envs.domain import Domain
from tool_envs.env import ToolEnv
from tool_envs.errors import UsageError
from tool_envs.messages import Json
from tool_envs.service.user_model import user_model_text
from tool_envs.tau_bench.domain import load_domain
from tool_envs.vector import ToolVectorEnv


class TauBenchEnv(ToolEnv):
    """tau-bench, byte for byte, without its waiting.

    ## Description
    The agent serves a customer of tau-bench's retail store, or of its airline. Tools, observations, database
    hash and reward are tau-bench's (v1, commit 59a200c), its quirks included; an episode costs about a
    thousandth of the time.

    ## Action Space
    `ToolCallSpace` of tau-bench's 16 retail or 14 airline tools and `respond`. Arguments are not validated,
    as upstream does not: bad ones reach the tool, and what goes wrong there is the observation. An action
    that cannot be read at all is answered with an error code, and so is what upstream crashes on: a `respond`
    without text, and a `send_certificate` to a user who has the three that there are.

    ## Observation Space
    `MessageSpace`; the content is tau-bench's observation. The user's hanging up reads `###STOP###`.

    ## Rewards
    tau-bench's: 1.0 when the database ends as the task's gold actions leave it and every output was said to
    the user; else 0.0. Components in the ledger: `end_state`, and `facts_told` where the task has outputs.

    ## Starting State
    tau-bench's database; the user's first words, which never end the episode.

    ## Episode End
    Terminated when a turn of the user contains `###STOP###` or the agent transfers to a human; truncated
    after `max_steps` actions, as upstream without grading and with reward 0.0.

    ## Information
    As `ToolEnv`. `interface` says whose tool descriptions and policy these are: `upstream` from a checkout,
    `ours` from JSON files, which hold neither; scores under the two are not comparable.

    ## Arguments
    * `path`: a tau-bench checkout (its Python files are read, never run), or a folder with
      `databases/<domain>/*.json` and `tasks/<domain>_<split>.json`; None: a small built-in set in that form.
    * `domain`: `retail` or `airline`.
    * `split`: `test`, `train` or `dev`, as far as the folder has them.
    * `user`: `scripted` says `options["user_turns"]` and then hangs up (none given: the first message is
      empty); `silent` says hello and hangs up at the first reply; `llm` is tau-bench's own user, a language
      model that is told what the checkout at `path` tells it.
    * `user_model`, `user_base_url`, `user_api_key_env`, `user_arguments`, `user_client`: of the user `llm`,
      the model's name, its server, the environment variable that holds the key, what each request holds
      (`{"temperature": 1.0}`; beside the conversation, upstream sends nothing, and here a seed goes with it
      unless `"seed"` is None), and how it is asked (`tool_envs.service.user_model.ClientOptions`).
    * `max_steps`, `parallel_calls`, `render_mode`: as `ToolEnv`; upstream's limit is 30 actions.

    ## References
    Yao et al., tau-bench: A Benchmark for Tool-Agent-User Interaction in Real-World Domains, 2024;
    https://github.com/sierra-research/tau-bench

    ## Version History
    * v0: first version.
    """

    def __init__(
        self,
        path: str | None = None,
        domain: str = "retail",
        split: str = "test",
        user: str = "scripted",
        user_model: str | None = None,
        user_base_url: str | None = None,
        user_api_key_env: str | None = None,
        user_arguments: dict[str, Json] | None = None,
        user_client: dict[str, Json] | None = None,
        max_steps: int = 30,
        parallel_calls: Literal["run", "refuse"] = "run",
        render_mode: str | None = None,
    ) -> None:
        if not (path is None or isinstance(path, str)):
            raise UsageError(
                f"`path` is a string (so that the spec of the environment is JSON), not {path!r:.80}."
            )
        model = user_model_text(
            user, user_model, user_base_url, user_api_key_env, user_arguments, user_client
        )
        bundle: Domain = load_domain(path, domain, split, user_model=model)
        super().__init__(
            bundle, user=user, max_steps=max_steps, parallel_calls=parallel_calls, render_mode=render_mode
        )


TauBenchVectorEnv = functools.partial(ToolVectorEnv, "tool_envs/TauBench-v0")
"""Many of them, for `gymnasium.make_vec`."""
