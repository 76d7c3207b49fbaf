"""Checks of rewards, outcomes, and how episodes end."""

import functools

from tool_envs.compliance.episodes import SEEDS, UNKNOWN_TOOL, planned, play
from tool_envs.compliance.expectations import expect, expect_possible, expect_raises
from tool_envs.compliance.subject import Subject
from tool_envs.errors import EpisodeEndedError


def rewards(subject: Subject) -> None:
    """Every reward is 0.0 but the last, which its source can give; all types are Python's own."""
    for seed in SEEDS:
        env = subject.bare()
        steps = play(env, seed, planned(subject, seed))[1:]
        for _, reward, terminated, truncated, *_ in steps:
            types = (type(reward), type(terminated), type(truncated))
            expect(types == (float, bool, bool), f"expected float, bool, bool, got {types}")
        early = [entry[1] for entry in steps[:-1]]
        expect(not any(early), f"rewards before the last step: {early}")
        expect_possible(steps[-1][1], env, "the last step")


def outcome(subject: Subject) -> None:
    """The last step, and no other, has the outcome; it agrees with the reward, which is 0.0 for none."""
    for seed in SEEDS:
        env = subject.bare()
        steps = play(env, seed, planned(subject, seed))[1:]
        early = [number for number, entry in enumerate(steps[:-1]) if "outcome" in entry[4]]
        expect(not early, f"an outcome before the end, at steps {early}")
        _, reward, terminated, truncated, info, _ = steps[-1]
        expect(terminated or truncated, f"the episode does not end within {len(steps)} actions")
        expect("outcome" in info, "no outcome at the last step")
        came = info["outcome"]
        expect(came["reward"] == came["ledger"]["terminal"], f"the outcome contradicts itself: {came}")
        expect((came["reward"] is not None) == env.task.graded, f"task.graded is {env.task.graded}: {came}")
        expect((came["reward"] or 0.0) == reward, f"reward {reward}, outcome {came}")
        source = came["ledger"]["terminal_source"]
        expect(source == env.domain.terminal_source, f"the ledger says that the reward comes from {source}")
        wanted = "completed" if terminated else "truncated"
        expect(came["status"] == wanted, f"expected the status {wanted}, got {came}")
        expect(env.outcome is not None and env.outcome.steps == came["steps"], "`env.outcome` differs")


def truncation(subject: Subject) -> None:
    """After `max_steps` actions the episode is truncated, without a reward."""
    steps = play(subject.bare(max_steps=3), 0, [UNKNOWN_TOOL] * 9)[1:]
    flags = [(entry[1], entry[2], entry[3]) for entry in steps]
    expected = [(0.0, False, False), (0.0, False, False), (0.0, False, True)]
    expect(flags == expected, f"expected {expected}, got {flags}")


def ended_errors(subject: Subject) -> None:
    """A step before the first reset or after the end raises EpisodeEndedError; a reset helps."""
    env = subject.bare(max_steps=1)
    expect_raises(EpisodeEndedError, functools.partial(env.step, UNKNOWN_TOOL), "a step before `reset`")
    env.reset(seed=0)
    env.step(UNKNOWN_TOOL)
    expect_raises(EpisodeEndedError, functools.partial(env.step, UNKNOWN_TOOL), "a step after the end")
    env.reset()
    env.step(UNKNOWN_TOOL)


CHECKS = (rewards, outcome, truncation, ended_errors)
