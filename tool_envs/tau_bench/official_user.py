"""tau-bench's own user: a language model that is told what tau-bench tells it, and writes plain text."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

from tool_envs.chat import ChatModel, ChatReply
from tool_envs.messages import Json
from tool_envs.service.user_model import model_user, refuse_user
from tool_envs.simulators import ModelUser, Turn, UnusableReply, recorded_replies, without_thought
from tool_envs.task import Task
from tool_envs.tau_bench.user import STOP
from tool_envs.tau_bench.user_prompt import UserPrompt, read_user_prompt


class OfficialUser(ModelUser[str, str]):
    """The user of tau-bench's strategy `llm` (`LLMUserSimulationEnv`), by the prompt of a checkout.

    Each reply is said as it is, and one that contains `###STOP###` hangs up, unless it is the first. Upstream
    fails on a reply without text. Here that is asked for once more, in the same words, and so is one that was
    cut at the limit of tokens; a thought before `</think>` is not said.

    Args:
        prompt: What the model is told.
        source: Where replies come from.
        arguments: See `ModelUser`.
    """

    name = "tau_bench_llm"
    version = "1.0.0"

    def __init__(
        self, prompt: UserPrompt, source: ChatModel, arguments: Mapping[str, Json] | None = None
    ) -> None:
        super().__init__(source, arguments)
        self._prompt = prompt

    async def areset(self, goal: Json, key: int) -> Turn:
        """The first turn, which never ends the episode.

        Raises:
            InfrastructureError: The model could not be reached, or gave no reply that can be used.
        """
        return Turn(await self._begin(goal["instruction"], key))

    async def arespond(self, agent_text: str) -> Turn:
        """The turn after that.

        Raises:
            UsageError: There is no episode.
            InfrastructureError: The model could not be reached, or gave no reply that can be used.
        """
        said = await self._answer(agent_text)
        return Turn(said, ended=STOP in said)

    def _prompts(self) -> dict[str, Json]:
        return {"system": list(self._prompt.system), "greeting": self._prompt.greeting}

    def _opening(self, goal: str) -> list[dict[str, Json]]:
        return [
            {"role": "system", "content": self._prompt.instructions(goal)},
            {"role": "user", "content": self._prompt.greeting},
        ]

    def _content(self, reply: str) -> str:
        return reply

    def _read(self, reply: ChatReply) -> str:
        content = reply.message.get("content")  # a refusal is nothing that a user says
        said = without_thought(content) if isinstance(content, str) else ""
        if not said:
            raise UnusableReply("it has no text")
        if reply.finish_reason == "length":
            raise UnusableReply("it was cut at the limit of tokens")
        return said


def official_user(path: str | None, model: str) -> Callable[[Task, Mapping[str, Json]], ModelUser[Any, Any]]:
    """Makes the users of a bundle whom a model plays.

    Args:
        path: See `TauBenchEnv`.
        model: What `user_model_text` returned; empty: such users are refused, and no prompt is read.

    Raises:
        UsageError: There is no checkout at the path.
        DataFileError: Its `user.py` is missing, or is not written as tau-bench's is.
    """
    if not model:
        return refuse_user
    make = functools.partial(OfficialUser, read_user_prompt(path))
    return model_user(model, make, lambda turns: recorded_replies(turns, str))
