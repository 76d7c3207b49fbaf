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


Step = tuple[str, Callable[[dict[str, Json]], dict[str, Json]]]

STEPS: dict[str, Step] = {"1.0.0": ("2.0.0", from_1_to_2)}
"""By format version: the next version, and the function that makes a valid record one of that version."""
