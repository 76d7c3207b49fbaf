"""Records of scripted agents in our own domains: oracle, trivial ones and saboteurs."""

import functools
import json

from tool_envs.agents import Agent, load_agent, play
from tool_envs.environments import make_env
from tool_envs.trajectory import record_episode


@functools.cache
def _env(env_id, kwargs):
    return make_env(env_id, json.loads(kwargs))


def agent_in(env, name):
    """A scripted agent, or the saboteur of the rule of that name."""
    saboteurs = env.unwrapped.domain.saboteurs
    if name not in saboteurs:
        return load_agent(name)

    def policy(env, _observation, _key):
        while True:
            yield saboteurs[name](env.episode)

    return Agent(name, "1", policy)


def record_of(env_id, name, task, **kwargs):
    """The record of an agent's episode of a task."""
    return _record(env_id, name, task, json.dumps(kwargs, sort_keys=True))


@functools.cache
def _record(env_id, name, task, kwargs):
    env = _env(env_id, kwargs)
    agent = agent_in(env, name)
    observation, _ = env.reset(seed=task, options={"task_index": task})
    play(env, agent, observation, task)
    return record_episode(env, agent.name, agent.version, task)
