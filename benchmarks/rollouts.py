"""Rollouts of a chat model against a bare client that sends the same requests, as ratios within one run.

    python benchmarks/rollouts.py [--episodes N] [--concurrency N] [--latency S] [--faults SHARE] [--json]

The model is a stub in another process, on loopback: it answers "Goodbye." after exponentially distributed
latencies, and a share of its answers are faults (500, 503, 429, dropped connections, slow bytes). The bare
client is httpx, with a task and a connection for each conversation at once; it sends the same requests, each
until it is answered, and does nothing with the answers.

`cpu_ratio` is the CPU time of a request in rollouts (environment, user, records and store included) over that
of the bare client. `throughput_ratio` is requests a second of rollouts over those of the bare client; it says
something where neither is out of CPU, that is, with long latencies, and with several times more episodes than
run at once: else both wait for their last, slowest conversation, whose length is chance.
"""

import argparse
import asyncio
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx

from tool_envs.agents.llm import ChatPolicy
from tool_envs.chat import ChatClient, ChatReply
from tool_envs.rollout import Engine, Plan, RolloutSummary, Versions
from tool_envs.trajectory.record import PolicyVersion

TESTS = Path(__file__).parents[1] / "tests"
SERVER = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from chat_stub import ChatStub, random_answers

async def serve():
    answers = random_answers(0, latency=float(sys.argv[2]), faults=float(sys.argv[3]))
    async with ChatStub(answers, keep=False) as stub:
        print(stub.url, flush=True)
        await asyncio.to_thread(sys.stdin.read)

asyncio.run(serve())
"""

KWARGS = {"split": "train", "max_steps": 4}
WARM_UP = 32  # episodes, which load and compile what there is to

Requests = list[list[dict[str, Any]]]
"""The requests of each conversation, in order."""


def main() -> None:
    options = _arguments()
    figures = measure(options.episodes, options.concurrency, options.latency, options.faults)
    if options.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:20} {value:,.3f}")


def measure(episodes: int, concurrency: int, latency: float, faults: float) -> dict[str, float]:
    """What rollouts cost, and what their requests cost alone."""
    with serving(latency, faults) as url:
        asyncio.run(roll_out(url, WARM_UP, concurrency))
        seconds, cpu, (summary, sent, requests) = timed(roll_out(url, episodes, concurrency))
        bare_seconds, bare_cpu, bare_sent = timed(send(url, requests, concurrency))
    return {
        "episodes": summary.episodes,
        "recorded": summary.recorded,
        "failed": summary.failed,
        "requests": sent,
        "requests_per_s": sent / seconds,
        "cpu_ms": 1e3 * cpu / sent,
        "bare_cpu_ms": 1e3 * bare_cpu / bare_sent,
        "cpu_ratio": (cpu / sent) / (bare_cpu / bare_sent),
        "throughput_ratio": (sent / seconds) / (bare_sent / bare_seconds),
    }


@contextlib.contextmanager
def serving(latency: float, faults: float) -> Iterator[str]:
    """The URL of a stub in another process."""
    command = [sys.executable, "-c", SERVER, str(TESTS), str(latency), str(faults)]
    with subprocess.Popen(  # noqa: S603 - ours
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        yield process.stdout.readline().strip()
        process.stdin.close()


def timed(work: Any) -> tuple[float, float, Any]:  # noqa: ANN401 - whatever the coroutine returns
    """Seconds, CPU seconds and the result of a coroutine."""
    began, cpu_began = time.perf_counter(), time.process_time()
    result = asyncio.run(work)
    return time.perf_counter() - began, time.process_time() - cpu_began, result


async def roll_out(url: str, episodes: int, concurrency: int) -> tuple[RolloutSummary, int, Requests]:
    """Play episodes of the store; returns what came out, how many requests were sent, and which."""
    async with ChatClient("stub", base_url=url, retries=8) as client:
        keeper = Keeper(client)
        policy = ChatPolicy(keeper)
        versions = Versions(PolicyVersion(version=policy.version, number=0))
        plan = Plan(range(episodes))
        with tempfile.TemporaryDirectory() as out:
            engine = Engine(
                "tool_envs/Retail-v0", KWARGS, policy, versions, plan, out=out, concurrency=concurrency
            )
            summary = await engine.run()
        return summary, client.ledger.attempts, list(keeper.requests.values())


class Keeper:
    """A client that keeps what is sent, by how the conversation began."""

    def __init__(self, client: ChatClient) -> None:
        self.model = client.model
        self.requests: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self._client = client

    async def complete(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        response_format: Mapping[str, Any] | None = None,
        arguments: Mapping[str, Any] | None = None,
    ) -> ChatReply:
        request = {"model": self.model, "messages": messages, "tools": tools, **(arguments or {})}
        self.requests[messages[1]["content"]].append(request)
        return await self._client.complete(
            messages, tools=tools, response_format=response_format, arguments=arguments
        )


async def send(url: str, conversations: Requests, concurrency: int) -> int:
    """Send the same requests bare; returns how many it were."""
    waiting, sent = iter(conversations), 0
    tls = httpx.create_ssl_context(verify=False)  # made once: each client would make its own

    async def work() -> None:
        nonlocal sent
        async with httpx.AsyncClient(headers={"content-type": "application/json"}, verify=tls) as http:
            for request in (request for conversation in waiting for request in conversation):
                answered = False
                while not answered:
                    sent += 1
                    body = json.dumps(request).encode()
                    with contextlib.suppress(httpx.TransportError):
                        answer = await http.post(f"{url}/chat/completions", content=body, timeout=None)
                        answered = answer.is_success and bool(json.loads(answer.content))

    await asyncio.gather(*(work() for _ in range(concurrency)))
    return sent


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--episodes", type=int, default=1024)
    parser.add_argument("--concurrency", type=int, default=1024)
    parser.add_argument("--latency", type=float, default=1.0, help="mean, in seconds")
    parser.add_argument("--faults", type=float, default=0.1, help="share of the answers")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    return parser.parse_args()


if __name__ == "__main__":
    main()
