"""A server that answers as models' servers do, and as they fail; `python tests/chat_stub.py` runs one.

It stands on loopback at a port that the system chooses, and serves whatever it was given to answer.
"""

import asyncio
import contextlib
import itertools
import json
import math
import sys
import threading
from dataclasses import dataclass, field, replace

from tool_envs.randomness import splitmix64


@dataclass(frozen=True)
class Answer:
    """What the server does with one request.

    Attributes:
        body: Of the answer.
        status: Its HTTP status.
        headers: More headers.
        delay: Seconds before the first byte.
        pieces: In how many pieces the body is sent.
        pause: Seconds between them.
        cut: Where the connection is dropped: "before" the first byte, in the "body"; empty: nowhere.
        chunked: Whether each piece is a chunk, and the length of the body is not told beforehand.
    """

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    pieces: int = 1
    pause: float = 0.0
    cut: str = ""
    chunked: bool = False


@dataclass(frozen=True)
class Request:
    """What the server was sent: the number of the request, its headers in lower case, its body."""

    number: int
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


# --- Answers


def completion(content="Hello.", *, finish="stop", usage=(10, 5), model="stub", message=None, **more):
    """A chat completion; `message` has members beside `content`, `more` are members of the choice."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": content, **(message or {})},
        "finish_reason": finish,
        **more,
    }
    body = {"id": "chatcmpl-1", "object": "chat.completion", "model": model, "choices": [choice]}
    if usage is not None:
        prompt, sampled = usage
        body["usage"] = {"prompt_tokens": prompt, "completion_tokens": sampled}
    return Answer(json.dumps(body).encode())


def tool_calls(*calls, content=None, **more):
    """A completion that calls tools: (name, arguments) each."""
    message = {
        "tool_calls": [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for number, (name, arguments) in enumerate(calls)
        ]
    }
    return completion(content, finish="tool_calls", message=message, **more)


def refusal(text="I cannot help with that."):
    """A model that refuses, in OpenAI's form."""
    return completion(None, message={"refusal": text})


def failure(status, message="It did not work.", *, code=None, kind="server_error", **headers):
    """An error in OpenAI's form; headers with `_` for `-`."""
    body = json.dumps({"error": {"message": message, "type": kind, "code": code}}).encode()
    return Answer(body, status, {name.replace("_", "-"): value for name, value in headers.items()})


def overflow():
    """The request does not fit into the context."""
    words = "This model's maximum context length is 4096 tokens."
    return failure(400, words, code="context_length_exceeded", kind="invalid_request_error")


def error_in_success():
    """An error with the status of success."""
    return replace(failure(500), status=200)


def cut_json():
    """A whole answer that holds half of a completion."""
    return Answer(completion().body[:40])


def no_choices():
    """A completion without choices."""
    return Answer(b'{"object": "chat.completion", "choices": []}')


def huge(size):
    """A completion of that many bytes and more."""
    return completion("a" * size)


def streamed(*words, finish=None, ends=True, error=None):
    """A completion as a stream of events, which is what `"stream": true` would have asked for.

    Args:
        words: What the model says, an event for each.
        finish: Why the model stopped, in an event of its own, with the usage; None: nothing says so.
        ends: Whether the stream says that it is over.
        error: What the server says in it that has gone wrong; None: nothing has.
    """
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "stub"}
    chunks = [{**head, "choices": [{"index": 0, "delta": {"content": word}}]} for word in words]
    if finish is not None:
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        last = {"index": 0, "delta": {}, "finish_reason": finish}
        chunks.append({**head, "choices": [last], "usage": usage})
    if error is not None:
        chunks.append({"error": {"message": error, "type": "server_error"}})
    events = [json.dumps(chunk) for chunk in chunks] + ["[DONE]"] * ends
    body = "".join(f"data: {event}\n\n" for event in events).encode()
    headers = {"content-type": "text/event-stream"}
    return Answer(body, headers=headers, pieces=max(1, len(events)), chunked=True)


def dropped(where="before"):
    """The connection is cut."""
    return replace(completion(), cut=where)


def slow(answer, delay=0.0, pieces=1, pause=0.0):
    """The same answer, later, and in pieces."""
    return replace(answer, delay=delay, pieces=pieces, pause=pause)


_FAULTS = (
    lambda: failure(500),
    lambda: failure(503),
    lambda: failure(429, retry_after="0"),
    lambda: dropped("before"),
    lambda: dropped("body"),
    lambda: slow(completion("A slow one."), pieces=8, pause=0.002),
)


def random_answers(seed, *, latency=0.02, faults=0.1, content="Goodbye."):
    """Answers after exponentially distributed latencies, some of them faults that a later attempt betters.

    Args:
        seed: What the n-th request gets follows from it and from n alone.
        latency: Mean, in seconds.
        faults: Share of the requests.
        content: What the model says.
    """

    def draw(number, k):
        return (splitmix64(seed, number, 0, k) + 1) / 2**64

    def answer(request):
        fault = draw(request.number, 0) <= faults
        made = _FAULTS[splitmix64(seed, request.number, 0, 1) % len(_FAULTS)]() if fault else usual
        return replace(made, delay=-latency * math.log(draw(request.number, 2)))

    usual = completion(content)
    return answer


# --- The server


class ChatStub:
    """The server, in the running event loop; `async with` starts and stops it.

    Args:
        answers: What each request gets: a function of the `Request`, or a list, of which the last one is
            given again and again.
        keep: Whether to keep the requests.

    Attributes:
        requests: What was sent, in order of arrival.
        connections: How many were made.
        open: How many of them are open.
    """

    def __init__(self, answers, *, keep=True):
        self._answer = answers if callable(answers) else self._in_turn(tuple(answers))
        self._keep = keep
        self._numbers = itertools.count()
        self._handlers = set()
        self.requests = []
        self.connections = 0

    @staticmethod
    def _in_turn(answers):
        return lambda request: answers[min(request.number, len(answers) - 1)]

    @property
    def open(self):
        return len(self._handlers)

    @property
    def url(self):
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=4096)
        return self

    async def __aexit__(self, *_):
        self._server.close()
        for handler in self._handlers:
            handler.cancel()
        await asyncio.gather(*self._handlers, return_exceptions=True)

    async def _serve(self, reader, writer):
        handler = asyncio.current_task()
        self._handlers.add(handler)
        self.connections += 1
        try:
            while await self._serve_one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client went away, or the test is over
        finally:
            self._handlers.discard(handler)
            writer.close()

    async def _serve_one(self, reader, writer):
        """Answers one request; False: the connection is to be closed."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:])}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        request = Request(next(self._numbers), head[0].split(" ")[1], headers, body)
        if self._keep:
            self.requests.append(request)
        answer = self._answer(request)
        if answer.delay:
            await asyncio.sleep(answer.delay)
        if answer.cut == "before":
            return False
        size = "transfer-encoding: chunked" if answer.chunked else f"content-length: {len(answer.body)}"
        lines = [f"HTTP/1.1 {answer.status} Said", size]
        lines += [f"{name}: {value}" for name, value in answer.headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
        return await _send(writer, answer)


async def _send(writer, answer):
    size = math.ceil(len(answer.body) / answer.pieces) or 1
    pieces = [answer.body[start : start + size] for start in range(0, len(answer.body), size)]
    if answer.chunked:
        pieces = [b"%x\r\n%b\r\n" % (len(piece), piece) for piece in [*pieces, b""]]
    for number, piece in enumerate(pieces):
        if number and answer.pause:
            await asyncio.sleep(answer.pause)
        if answer.cut == "body":
            writer.write(piece[: len(piece) // 2])
            return False
        writer.write(piece)
        await writer.drain()
    return True


@contextlib.contextmanager
def serving(answers, **options):
    """The server in a thread of its own, for clients that block."""
    stub = ChatStub(answers, **options)
    started, loop = threading.Event(), asyncio.new_event_loop()

    async def run():
        stop.append(asyncio.Event())
        async with stub:
            started.set()
            await stop[0].wait()

    stop = []
    thread = threading.Thread(target=loop.run_until_complete, args=[run()])
    thread.start()
    started.wait()
    try:
        yield stub
    finally:
        loop.call_soon_threadsafe(stop[0].set)
        thread.join()
        loop.close()


async def _serve_for_ever(seed):
    async with ChatStub(random_answers(seed), keep=False) as stub:
        print(stub.url, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve_for_ever(int(sys.argv[1]) if len(sys.argv) > 1 else 0))
