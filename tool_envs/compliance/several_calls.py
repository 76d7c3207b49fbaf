"""Checks of several calls in one action."""

from tool_envs.compliance.episodes import SEEDS, go_on, plan_actions
from tool_envs.compliance.expectations import expect
from tool_envs.compliance.subject import Subject
from tool_envs.errors import Code
from tool_envs.messages import RESPOND


def several_calls(subject: Subject) -> None:
    """Several calls of one action run in order, as they would one by one."""
    for seed in SEEDS:
        single, several = (subject.bare(parallel_calls="run") for _ in range(2))
        single.reset(seed=seed)
        several.reset(seed=seed)
        calls = [action for action in plan_actions(single, seed) if action["name"] != RESPOND][:6]
        one_by_one = go_on(single, calls)
        together = go_on(several, [calls])
        answers = [m["content"] for m in together[0][4]["messages"] if m["role"] == "tool"]
        expected = [entry[0]["content"] for entry in one_by_one]
        expect(answers[: len(expected)] == expected, f"expected {expected!r:.200}, got {answers!r:.200}")
        expect(len(answers) == len(calls), f"{len(calls)} calls, but {len(answers)} answers")
        expect(single.data_digest() == several.data_digest(), "the data differs")
        expect(one_by_one[-1][1:4] == together[-1][1:4], "reward or end differ")


def refused_calls(subject: Subject) -> None:
    """With `parallel_calls="refuse"` several calls of one action are answered and none is run."""
    env = subject.bare(parallel_calls="refuse")
    env.reset(seed=0)
    before = env.data_digest()
    calls = [action for action in plan_actions(env, 0) if action["name"] != RESPOND][:4]
    _, _, _, _, info = env.step(calls)
    expect(info["error_code"] == Code.SEVERAL_CALLS, f"the code is {info['error_code']!r}")
    expect(env.data_digest() == before, "the data changed")
    expect(env.episode.steps == 1, f"it counts as {env.episode.steps} actions")


CHECKS = (several_calls, refused_calls)
