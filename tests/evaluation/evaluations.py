"""Reports of evaluations for tests: real ones, and ones with results that are drawn."""

import functools

import msgspec
from hypothesis import strategies as st

from tool_envs.agents import load_agent
from tool_envs.evaluation import EpisodeResult, Report, evaluate_slice
from tool_envs.evaluation.failures import Failure
from tool_envs.evaluation.slice_files import read_slice
from tool_envs.trajectory.refs import AgentRef, TokenCounts, TokenUsage

SMOKE = read_slice("retail/smoke@1")
SMALL = msgspec.structs.replace(SMOKE, tasks=SMOKE.tasks[:6])


@functools.cache
def played(agent="oracle", trials=1):
    """A real report over six tasks."""
    return evaluate_slice(SMALL, load_agent(agent), trials=trials, floors=False)


counts = st.none() | st.builds(TokenCounts, st.integers(0, 10**6), st.integers(0, 10**4))
usages = st.builds(TokenUsage, counts, counts)


@st.composite
def results(draw, task, index):
    """The trials of one task: graded ones, and some whose infrastructure failed."""
    found = []
    family, difficulty = draw(st.sampled_from(["cancel", "return"])), draw(st.integers(1, 5))
    for trial in range(draw(st.integers(1, 4))):
        reward = draw(st.sampled_from([0.0, 1.0, None]))
        failure = {0.0: Failure("agent", "not met: end_state"), None: Failure("infrastructure", "Down")}
        found.append(
            EpisodeResult(
                index=index,
                task_id=task.id,
                seed=draw(st.integers(0, 2**53 - 1)),
                status="infrastructure" if reward is None else "completed",
                reward=reward,
                steps=draw(st.integers(0, 50)),
                trial=trial,
                family=family,
                difficulty=difficulty,
                said=draw(st.integers(0, 9)),
                failure=failure.get(reward),
                cost=draw(st.floats(0, 10)),
                usage=draw(usages),
            )
        )
    return found


@st.composite
def reports(draw, frozen=SMALL, name="model"):
    """A report with drawn results, of which at least one is graded."""
    drawn = [draw(results(task, index)) for index, task in enumerate(frozen.tasks)]
    first = msgspec.structs.replace(drawn[0][0], status="completed", reward=1.0, failure=None)
    drawn[0][0] = first
    return Report(
        format_version="1.1.0",
        slice=frozen,
        agent=AgentRef(name=name, version="1"),
        trials=4,
        results=tuple(result for each in drawn for result in each),
        floors={"silent": 0.0},
        marks=tuple(draw(st.lists(st.just("trained on retail 2.0.0"), max_size=1))),
        seconds=1.5,
    )
