"""Evaluations with the records of their episodes, for tests of what people look at."""

from tool_envs.agents import Agent, load_agent
from tool_envs.evaluation import evaluate_slice
from tool_envs.trajectory import record_episode

HOSTILE = (
    "<script>window.broken = true</script>",
    "</script><img src=x onerror=window.broken=true>",
    "<!--<script>{{data}} {{script}} &lt;b&gt; \u2028\u2029 \x07 \U0001f600 </SCRIPT >",
    "\ud800 javascript:window.broken=true",
)
"""What an agent might write to get out of a page's data."""


def watch(frozen, agent, trials=1, floors=False):
    """The report of an agent on a slice, and the records of its episodes."""
    records = []

    def note(env, result):
        records.append(record_episode(env, agent.name, agent.version, result.seed))

    report = evaluate_slice(frozen, agent, trials=trials, on_episode=note, floors=floors)
    return report, records


def saboteur(rule, share=1.0, rest="oracle"):
    """An agent that breaks one rule in a share of its episodes; in the others it acts as another agent."""

    def policy(env, observation, key):
        if key % 1000 >= 1000 * share:
            return load_agent(rest).policy(env, observation, key)
        return _sabotage(env, rule)

    return Agent(f"breaks {rule}", "tests", policy)


def talker(*texts):
    """An agent that says things, and calls a tool with them, until it is stopped."""

    def policy(_env, _observation, _key):
        while True:
            for text in texts:
                yield {"name": "respond", "arguments": {"content": text}}
                yield {"name": "find_user_id_by_email", "arguments": {"email": text}}
                yield f"<think>{text}</think> {text} <tool_call>"

    return Agent("talker <b>&amp;", "tests <i>", policy)


def _sabotage(env, rule):
    while True:
        yield env.domain.saboteurs[rule](env.episode)
