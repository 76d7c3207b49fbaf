"""Audits an environment: the oracle solves its tasks, nobody else does, and breaking a rule costs all.

Of tasks that no rule grades it asks less: the oracle completes them and breaks no rule of the domain policy,
nobody has a reward, and a saboteur breaks its own rule alone, if it finds a place for it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing

import msgspec

from tool_envs.agents import TRIVIAL, Agent, Script, load_agent
from tool_envs.arrays.vector import ArrayVectorEnv
from tool_envs.domain import Solver
from tool_envs.env import Observation, ToolEnv, unwrap
from tool_envs.environments import make_env
from tool_envs.evaluation.evaluate import evaluate
from tool_envs.evaluation.learner import learn_and_play
from tool_envs.evaluation.results import EpisodeResult
from tool_envs.messages import Json
from tool_envs.reward import Outcome

MOST_UNEARNED = 0.05
"""The share of tasks that a learner may solve without hearing what is wanted: by luck, and by asking."""
_POOL = 1024  # tasks of each split that the learner meets
_FEWEST_PLAYED = 512

RULES = "rules"
"""The component of a ledger that a broken rule leaves unmet."""


_EXPECTED = {
    True: ("reward 1.0", "reward 0.0", "0.0 for its rule alone"),
    False: ("no rule broken", "no reward", "breaks its rule alone"),
}
"""What is expected of oracle, trivial agents and saboteurs where some task is graded, and where none is."""

Judge = Callable[[Outcome, bool], str]
"""What is wrong with an outcome of a task that is graded, or is not; empty when nothing is."""


class Finding(msgspec.Struct, frozen=True):
    """What an audit found about one agent.

    Attributes:
        agent: The agent: `oracle`, a trivial one, `cheat: NAME`, or `saboteur: RULE`.
        expected: What its episodes must be like, in words.
        episodes: How many were played.
        graded: How many of them have a reward.
        solved: How many of these earned 1.0.
        problems: Task ids with what is wrong about them; none: all is as it must be.
    """

    agent: str
    expected: str
    episodes: int
    graded: int
    solved: int
    problems: tuple[str, ...]


def audit(
    env_id: str, kwargs: Mapping[str, Json], tasks: Sequence[int], seed: int = 0, choices: int = 0
) -> Iterator[Finding]:
    """Play the oracle, the trivial agents, the cheats and the saboteurs over tasks; one finding for each.

    Last comes a learner that hears nothing of what customers want, in the array view: what it earns all the
    same is unearned.

    Args:
        env_id: The environment; its domain has an oracle.
        kwargs: Its arguments.
        tasks: Indexes of the tasks.
        seed: As `evaluate`.
        choices: How long the learner learns; 0: there is none. Domains without compiled episodes have none.
    """
    with closing(make_env(env_id, kwargs)) as env:
        domain = unwrap(env).domain
        cheats, saboteurs, rows = domain.cheats, domain.saboteurs, domain.rows
        solved, failed, caught = _EXPECTED[any(domain.tasks[index].graded for index in tasks)]
    yield _play(env_id, kwargs, tasks, seed, load_agent("oracle"), solved, _must_solve)
    for name in TRIVIAL:
        yield _play(env_id, kwargs, tasks, seed, load_agent(name), failed, _must_fail)
    for name, solver in cheats.items():
        yield _play(env_id, kwargs, tasks, seed, _as_agent(f"cheat: {name}", solver), failed, _must_fail)
    for rule, solver in saboteurs.items():
        yield _sabotage(env_id, kwargs, tasks, seed, rule, solver, caught)
    if choices and rows is not None:
        yield _learn(env_id, kwargs, choices, max(_FEWEST_PLAYED, len(tasks)), seed)


def _learn(env_id: str, kwargs: Mapping[str, Json], choices: int, episodes: int, seed: int) -> Finding:
    others = {name: value for name, value in kwargs.items() if name != "split"}

    def make(split: str, lanes: int) -> ArrayVectorEnv:
        return ArrayVectorEnv(
            env_id, lanes, observation="features", words="blanked", pool_size=_POOL, split=split, **others
        )

    played = learn_and_play(make, choices, episodes, seed)
    share = played.solved / played.played
    problems = () if share < MOST_UNEARNED else (f"{share:.1%} were solved without hearing a wish",)
    expected = f"solves less than {MOST_UNEARNED:.0%}"
    return Finding("learner without words", expected, played.played, played.played, played.solved, problems)


def _play(
    env_id: str,
    kwargs: Mapping[str, Json],
    tasks: Sequence[int],
    seed: int,
    agent: Agent,
    expected: str,
    judge: Judge,
) -> Finding:
    problems: list[str] = []

    def note(env: ToolEnv, result: EpisodeResult) -> None:
        problem = judge(env.outcome, env.task.graded) if env.outcome else "no outcome"
        if problem:
            problems.append(f"{result.task_id}: {problem}")

    report = evaluate(env_id, kwargs, agent, tasks=tasks, seed=seed, on_episode=note)
    solved = sum(result.reward == 1.0 for result in report.results)
    return Finding(agent.name, expected, len(report.results), report.scores.graded, solved, tuple(problems))


def _must_solve(outcome: Outcome, graded: bool) -> str:
    if graded:
        good = outcome.reward == 1.0
    else:
        good = outcome.reward is None and outcome.status == "completed" and not outcome.violations
    return "" if good else f"reward {outcome.reward}, {_why(outcome)}"


def _must_fail(outcome: Outcome, graded: bool) -> str:
    good = not outcome.reward if graded else outcome.reward is None
    return "" if good else f"reward {outcome.reward}"


def _sabotage(
    env_id: str,
    kwargs: Mapping[str, Json],
    tasks: Sequence[int],
    seed: int,
    rule: str,
    solver: Solver,
    expected: str,
) -> Finding:
    """A saboteur earns 0.0 where its deviation has a place, for its rule alone; else it is the oracle."""
    broke, needed = 0, False

    def judge(outcome: Outcome, graded: bool) -> str:
        nonlocal broke, needed
        broken = {violation["rule"] for violation in outcome.violations}
        broke += bool(broken)
        needed = needed or graded
        unmet = {name for name, value in outcome.ledger.components.items() if value != 1.0}
        if not broken:
            return _must_solve(outcome, graded)
        if _must_fail(outcome, graded) or broken != {rule} or unmet != ({RULES} if graded else set()):
            return f"expected no reward for {rule} alone; reward {outcome.reward}, {_why(outcome)}"
        return ""

    agent = _as_agent(f"saboteur: {rule}", solver)
    finding = _play(env_id, kwargs, tasks, seed, agent, expected, judge)
    if needed and not broke:
        finding = msgspec.structs.replace(finding, problems=("no task has a place for it",))
    return finding


def _as_agent(name: str, solver: Solver) -> Agent:
    def policy(env: ToolEnv, _observation: Observation, _key: int) -> Script:
        while True:
            yield solver(env.episode)

    return Agent(name, "audit", policy)


def _why(outcome: Outcome) -> str:
    unmet = [name for name, value in outcome.ledger.components.items() if value != 1.0]
    broken = [f"{violation['rule']} at step {violation['step']}" for violation in outcome.violations]
    return (
        f"{outcome.status}; unmet: {', '.join(unmet) or 'nothing'}; broken: {', '.join(broken) or 'nothing'}"
    )
