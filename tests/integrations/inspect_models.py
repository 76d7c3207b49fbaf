"""Models without a server for evaluations by Inspect: what each says follows from what it is shown."""

import itertools
import json

import numpy as np
from inspect_ai.model import ChatMessageAssistant, ModelOutput, ModelUsage, get_model
from inspect_ai.tool import ToolCall

from tool_envs.env import unwrap
from tool_envs.environments import make_env
from tool_envs.evaluation.seeds import episode_seed
from tool_envs.messages import CONTENT, RESPOND

_TEXTS = ("", "Yes.", "<tool_call>{", '<tool_call>{"name": "think", "arguments": {}}</tool_call>', "{1}")


def model_of(answer):
    """A model that answers by a function of the messages that it was shown."""

    def generate(messages, *_):
        output = answer(messages)
        output.usage = ModelUsage(input_tokens=10, output_tokens=5, total_tokens=15)
        return output

    return get_model("mockllm/model", custom_outputs=generate, memoize=False)


def say(text):
    return ModelOutput.from_content("mockllm/model", text)


def call(*calls, text="", **more):
    """An output that calls tools: (name, arguments) each; `parse_error`, that nobody could read them."""
    made = [
        ToolCall(id=f"c{number}", function=name, arguments=arguments, **more)
        for number, (name, arguments) in enumerate(calls)
    ]
    return ModelOutput.from_message(ChatMessageAssistant(content=text, tool_calls=made), "tool_calls")


def written(messages):
    """How many messages the model wrote."""
    return sum(message.role == "assistant" for message in messages)


def play_here(env_id, kwargs, index, trial=0):
    """The oracle's actions for a task, and what it observes, its first observation first."""
    env = unwrap(make_env(env_id, kwargs))
    seed = episode_seed(0, index, trial)
    observations = [env.reset(seed=seed, options={"task_index": index})[0]["content"]]
    actions = []
    while env.outcome is None:
        actions.append(env.domain.oracle(env.episode))
        observations.append(env.step(actions[-1])[0]["content"])
    return actions, observations


def oracle(env_id, kwargs, indexes, trials=1):
    """A model that does in each episode what the oracle does; it knows an episode by what it was shown."""
    scripts = {}
    for index, trial in itertools.product(indexes, range(trials)):
        actions, observations = play_here(env_id, kwargs, index, trial)
        for number, action in enumerate(actions):
            scripts[tuple(observations[: number + 1])] = action

    def answer(messages):
        shown = [message.text for message in messages if message.role in ("user", "tool")]
        action = scripts[tuple(shown)]
        if action["name"] == RESPOND:
            return say(action["arguments"][CONTENT])
        return call((action["name"], action["arguments"]))

    return model_of(answer)


def wild(names, key):
    """A model that calls and says anything, several calls at once and broken ones among them.

    It refuses, as a server would, a conversation in which not each call is answered, once.
    """
    rng = np.random.default_rng(key)
    values = [{}, {CONTENT: "Yes, go on."}, {"email": "a@b.c"}, {"order_id": 7}]

    def pick(options):
        return options[rng.integers(len(options))]

    def answer(messages):
        require_answers(messages)
        kind = rng.random()
        if kind < 0.3:
            return say(pick(_TEXTS))
        if kind < 0.5:
            return call((pick(names), {}), text="Hm.", parse_error=f"Not read: {json.dumps(pick(values))}!")
        some = [(pick([*names, RESPOND, *["no_tool"] * 9]), pick(values)) for _ in range(rng.integers(1, 4))]
        return call(*some, text=pick(["", "Let me see."]))

    return model_of(answer)


def require_answers(messages):
    """Each call is answered by one message, right after it, and nothing else is answered."""
    expected = []
    for message in messages:
        if message.role == "tool":
            assert message.tool_call_id in expected
            expected.remove(message.tool_call_id)
        else:
            assert expected == []
        if message.role == "assistant":
            expected = [each.id for each in message.tool_calls or ()]
    assert expected == []
