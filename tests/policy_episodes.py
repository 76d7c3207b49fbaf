"""Whole episodes of a policy, played by hand as an engine would."""

from tool_envs.chat import total_usage
from tool_envs.errors import InfrastructureError
from tool_envs.trajectory import record_episode
from tool_envs.trajectory.capture import Turn
from tool_envs.trajectory.record import PolicyRun


async def play(env, policy, seed, **options):
    """The record of one episode, and the conversation as the policy saw it."""
    inner, turns, cost, usages = env.unwrapped, [], 0.0, []
    messages = []
    try:
        _, info = await inner.areset(seed=seed, options=options)
        messages = [{"role": "system", "content": info["domain_policy"]}, *info["messages"]]
        tools = inner.schema.to_openai()
        while inner.outcome is None:
            output = await policy.act(tuple(messages), tools)
            cost += output.cost
            usages.append(output.counted)
            if output.finish != "stop":
                inner.truncate(output.finish)
                break
            count = None if output.tokens is None else len(output.tokens.token_ids)
            turns.append(Turn(policy_version=(PolicyRun(version="v", count=count),), tokens=output.tokens))
            *_, info = await inner.astep(output.action)
            messages += info["messages"]
    except InfrastructureError:
        if inner.outcome is None:
            raise
    record = record_episode(
        env,
        policy.name,
        "v",
        seed,
        setting=policy.setting,
        turns=turns,
        agent_cost=cost,
        agent_usage=total_usage(usages),
    )
    return record, messages
