"""Records for the tests of credit: of one episode, with whatever reward a test wants."""

import functools

import msgspec
import toy_domain

from tool_envs.agents import load_agent, play
from tool_envs.environments import make_env
from tool_envs.reward import RubricSource
from tool_envs.trajectory import record_episode

DESK = toy_domain.ENV_ID


def play_and_record(env, agent, seed=1, key=0, **options):
    """The record of an agent's episode."""
    observation, _ = env.reset(seed=seed, options=options)
    play(env, agent, observation, key)
    return record_episode(env, agent.name, agent.version, seed)


@functools.cache
def base_record():
    return play_and_record(make_env(DESK, {}), load_agent("gold"), task_index=0)


def rewarded(reward, **ledger):
    """A record with this reward; None: its infrastructure failed."""
    outcome = base_record().outcome
    status = "infrastructure" if reward is None else "completed"
    ledger = msgspec.structs.replace(outcome.ledger, terminal=reward, **ledger)
    outcome = msgspec.structs.replace(outcome, status=status, reward=reward, ledger=ledger)
    return changed(outcome=outcome, messages=base_record().messages if reward is not None else untrainable())


def untrainable():
    """The messages of the record, none of which may be trained on."""
    return tuple(msgspec.structs.replace(message, trainable=False) for message in base_record().messages)


def changed(part=None, **fields):
    """A record of which something is different: fields of one of its parts, or its own."""
    record = base_record()
    if part:
        fields = {part: msgspec.structs.replace(getattr(record, part), **fields)}
    return msgspec.structs.replace(record, **fields)


def scored(score, terminal=1.0, **source):
    """A record with this score by a rubric."""
    named = {"rubric": "letter", "version": "1.0.0", "digest": "d" * 64, "judge": "critic"}
    judged = {"judge_version": "3", "group": ("a" * 64, "b" * 64), "agreement": 1.0}
    return rewarded(terminal, rubric=score, rubric_source=RubricSource(**{**named, **judged, **source}))
