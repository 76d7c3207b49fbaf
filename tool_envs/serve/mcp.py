"""Serves episodes over the Model Context Protocol; it needs the extra `mcp`.

One connection is one episode. A client is offered the tools of the schema, `respond` among them, and is told
the domain policy and the customer's first words as the server's `instructions`. Nothing else is offered:
neither a reset nor the score, which the operator finds in the records. An episode that its client leaves is
truncated: by disconnecting ("closed") or by silence ("silence").

The result of a call is what the agent observes, as text; `isError` says that the call was a mistake or was
refused, and a second text that the conversation is over. Calls after that are answered with an error of the
protocol, and so is whatever is no part of the conversation.
"""

import asyncio
import contextlib
import logging
import signal
from collections.abc import Callable
from typing import Any

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from tool_envs.env import Observation
from tool_envs.errors import EpisodeEndedError, UsageError
from tool_envs.evaluation.seeds import episode_seed
from tool_envs.messages import RESPOND, Json
from tool_envs.schema import Effect, ToolSchema
from tool_envs.serve.sessions import Session, SessionGoneError, Sessions
from tool_envs.trajectory.refs import AgentRef

OVER = "The conversation is over."
"""What a client is told at the end of its episode, however it ended."""
FAILED = "The server failed, and the conversation is over. Connect again for another one."
"""What a client is told of a failure that is not its own; why, only the operator's log says."""
_NOT_RUNNING = "No conversation is going on here: it is over, or never began. Connect again for another one."
_INSTRUCTIONS = """{policy}

You talk to a customer with the tool `respond` and act for them with the other tools, one call at a time. The
customer says first:

{opening}"""

_log = logging.getLogger(__name__)


class Host:
    """Gives each connection an episode: that of the next task, with the seeds of evaluations.

    Args:
        sessions: Where the episodes are played and recorded.
        agent: Who plays them, and under which version, for the records.
        first_task: Index of the first connection's task.
        seed: Seed of all episodes; it never chooses tasks.

    Raises:
        UsageError: `first_task` is not at least 0.
    """

    def __init__(self, sessions: Sessions, agent: AgentRef, *, first_task: int = 0, seed: int = 0) -> None:
        if first_task < 0:
            raise UsageError(f"`first_task` is an index of at least 0, not {first_task!r}.")
        self.sessions, self._agent, self._seed = sessions, agent, seed
        self._next = first_task

    @property
    def schema(self) -> ToolSchema:
        """The tools of all episodes."""
        return self.sessions.example.schema

    async def begin(self) -> tuple[Session, str]:
        """Begin an episode; returns its session, and what its agent is told.

        After the last task the first one follows, with another seed.

        Raises:
            TooManySessionsError: There are as many as there can be.
            InfrastructureError: The episode cannot begin; its task is passed over.
        """
        session = self.sessions.open()
        sample, task = divmod(self._next, len(self.sessions.example.domain.tasks))
        self._next += 1
        seed = episode_seed(self._seed, task, sample)
        try:
            opening, info = await session.reset(self._agent, seed=seed, options={"task_index": task})
        except BaseException:
            self.sessions.close(session)
            raise
        return session, _INSTRUCTIONS.format(policy=info["domain_policy"], opening=opening["content"])


class Conversation:
    """What one connection plays: one episode, from `begin` until it ends or the client leaves.

    Args:
        host: Gives it its episode.
    """

    def __init__(self, host: Host) -> None:
        self.host = host
        self._session: Session | None = None
        self._instructions: str | None = None
        self._turn = asyncio.Lock()  # calls that a client sends at once are carried out in their order
        self._calls: set[asyncio.Task[types.CallToolResult]] = set()

    @property
    def is_running(self) -> bool:
        """Whether the episode began and may still go on."""
        if self._session is None:
            return False
        try:
            self.host.sessions.find(self._session.id)
        except SessionGoneError:
            return False
        return True

    async def begin(self) -> str:
        """Begin the episode, if it did not begin before; returns what the agent is told.

        Raises:
            InfrastructureError: There are too many sessions, or the episode cannot begin.
        """
        async with self._turn:
            if self._instructions is None:
                self._session, self._instructions = await self.host.begin()
            return self._instructions

    async def call(self, name: str, arguments: dict[str, Json] | None) -> types.CallToolResult:
        """Carry out a call of the agent.

        It is carried out to its end even if the client cancels it: else an agent could turn an episode that
        goes badly into one that failed.

        Raises:
            MCPError: No episode is running, or something outside of it failed.
        """
        call = asyncio.ensure_future(self._call({"name": name, "arguments": arguments or {}}))
        self._calls.add(call)  # the event loop alone would not keep it
        call.add_done_callback(self._calls.discard)
        return await asyncio.shield(call)

    async def leave(self) -> None:
        """End the episode, since its client is gone."""
        async with self._turn:
            self._close()

    async def _call(self, action: Json) -> types.CallToolResult:
        async with self._turn:
            if self._session is None:
                raise MCPError(types.INVALID_REQUEST, _NOT_RUNNING)
            try:
                observation, _, terminated, truncated, info = await self._session.step(action)
            except (SessionGoneError, EpisodeEndedError):
                self._close()
                raise MCPError(types.INVALID_REQUEST, _NOT_RUNNING) from None
            except Exception as failure:
                # What failed is nothing that the agent may see: it could name the user's goal, say.
                _log.exception("a call of %s failed", action["name"], exc_info=failure)
                if self._session.env.outcome is None:  # a defect, for which nobody gets a reward of 0
                    self._session.env.fail(failure)
                self._close()
                raise MCPError(types.INTERNAL_ERROR, FAILED) from None
            if terminated or truncated:
                self._close()
            return _result(observation, info["error_code"], is_over=terminated or truncated)

    def _close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            with contextlib.suppress(SessionGoneError):
                self.host.sessions.close(session)


def build_server(
    host: Host,
    find: Callable[[Any], Conversation],
    *,
    instructions: str | None = None,
    lifespan: Callable[[Any], contextlib.AbstractAsyncContextManager[Any]] | None = None,
) -> Server:
    """An MCP server of the host's tools.

    Args:
        host: Whose episodes are played.
        find: The conversation of a request, from its `ServerRequestContext`.
        instructions: What agents are told, if that is the same for all requests.
        lifespan: What is entered before the first request and left after the last one.
    """
    tools = list_tools(host.schema)

    async def on_list_tools(_: object, __: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def on_call_tool(context: object, params: types.CallToolRequestParams) -> types.CallToolResult:
        return await find(context).call(params.name, params.arguments)

    more = {} if lifespan is None else {"lifespan": lifespan}
    return Server(
        host.schema.domain,
        version=host.schema.version,
        instructions=instructions,
        on_list_tools=on_list_tools,
        on_call_tool=on_call_tool,
        **more,
    )


def list_tools(schema: ToolSchema) -> list[types.Tool]:
    """The tools of a schema as MCP has them: those that it lists, and `respond`.

    Without `respond` a client could say nothing: in this protocol there are calls alone. Annotations follow
    from a tool's effect.
    """
    listed = [tool["function"] for tool in schema.to_openai()]
    if RESPOND not in {function["name"] for function in listed}:
        respond = schema.tools[RESPOND]
        listed.append({"name": RESPOND, "description": respond.description, "parameters": respond.parameters})
    return [
        types.Tool(
            name=function["name"],
            description=function.get("description"),
            input_schema=function.get("parameters", {"type": "object"}),
            annotations=_annotate(schema.tools[function["name"]].effect),
        )
        for function in listed
    ]


def _annotate(effect: Effect) -> types.ToolAnnotations:
    return types.ToolAnnotations(read_only_hint=effect == "read", open_world_hint=False)


def _result(observation: Observation, code: str | None, *, is_over: bool) -> types.CallToolResult:
    texts = [observation["content"], *([OVER] if is_over else [])]
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text) for text in texts], is_error=code is not None
    )


async def serve_stdio(host: Host) -> None:
    """Serve one client over stdin and stdout, and one episode, until stdin ends.

    SIGTERM ends the process; an episode that then runs has no reward.

    Raises:
        InfrastructureError: The episode cannot begin.
    """
    conversation = Conversation(host)
    async with host.sessions.served():
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, _stop, host.sessions)
        instructions = await conversation.begin()
        server = build_server(host, lambda _: conversation, instructions=instructions)
        async with stdio_server() as (reading, writing):
            try:
                await server.run(reading, writing, server.create_initialization_options())
            finally:
                await conversation.leave()


def _stop(sessions: Sessions) -> None:
    sessions.stop()
    # A thread waits for stdin, which may never end: the process cannot leave by itself.
    asyncio.get_running_loop().remove_signal_handler(signal.SIGTERM)
    signal.raise_signal(signal.SIGTERM)
