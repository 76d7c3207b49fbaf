"""How records of older format versions become records of today's: one function per step."""

from collections.abc import Callable

from tool_envs.messages import Json


def from_1_to_2(record: dict[str, Json]) -> dict[str, Json]:
    """A record 1.0.0 as 2.0.0, which adds what was sampled, in which setting, and the order of versions.

    1.0.0 held neither tokens nor a reference policy, nor whether the policy sampled: all null. It did not
    order the versions either. They are numbered as they come up, `agent.version` first, so that a record
    which comes back to an earlier one is refused as one that goes backwards.
    """
    messages = [_with_author(message) for message in record["messages"]]
    runs = [run["version"] for message in messages for run in message.get("policy_version", [])]
    names = dict.fromkeys([record["agent"]["version"], *runs])
    return {
        **record,
        "format_version": "2.0.0",
        "policy_versions": [{"version": name, "number": number} for number, name in enumerate(names)],
        "reference_policy": None,
        "sampling": None,
        "tokenizer": None,
        "chat_template": None,
        "messages": messages,
    }


def _with_author(message: dict[str, Json]) -> dict[str, Json]:
    if message["role"] != "assistant":
        return message
    return {**message, "author": "policy", "override": None, "tokens": None}


def from_2_to_3(record: dict[str, Json]) -> dict[str, Json]:
    """A record 2.0.0 as 3.0.0, which adds what gave the rewards of each bin.

    In 2.0.0 process rewards were those of the domain's sub-goals, which the environment's argument `process`
    turned on: True is "sub_goals" now, and False is None. Nothing of it gave a score by a rubric, or said who
    gave one: a record that holds one all the same is refused, for its source is not known.
    """
    ledger = record["outcome"]["ledger"]
    sub_goals = None if ledger["process"] is None else {"name": "sub_goals", "digest": None}
    sources = {"format": None, "process_source": sub_goals, "rubric_source": None}
    return {
        **record,
        "format_version": "3.0.0",
        "env": {**record["env"], "kwargs": _with_named_process(record["env"]["kwargs"])},
        "outcome": {**record["outcome"], "ledger": {**ledger, **sources}},
    }


def _with_named_process(kwargs: dict[str, Json]) -> dict[str, Json]:
    if not isinstance(kwargs.get("process"), bool):
        return kwargs
    return {**kwargs, "process": "sub_goals" if kwargs["process"] else None}


def from_3_to_4(record: dict[str, Json]) -> dict[str, Json]:
    """A record 3.0.0 as 4.0.0, which adds what gave the terminal reward, and the tokens of agent and user.

    Until then only rules gave rewards, and nobody counted tokens.
    """
    ledger = {**record["outcome"]["ledger"], "terminal_source": "rules"}
    return {
        **record,
        "format_version": "4.0.0",
        "outcome": {**record["outcome"], "ledger": ledger},
        "usage": {"agent": None, "user": None},
    }


Step = tuple[str, Callable[[dict[str, Json]], dict[str, Json]]]

STEPS: dict[str, Step] = {
    "1.0.0": ("2.0.0", from_1_to_2),
    "2.0.0": ("3.0.0", from_2_to_3),
    "3.0.0": ("4.0.0", from_3_to_4),
}
"""By format version: the next version, and the function that makes a valid record one of that version."""
