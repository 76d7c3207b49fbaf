"""The checks of a task's own rubric, on an episode that a test has played: an implementation for tests."""

import re

from tool_envs.facts import FactReader
from tool_envs.rules import Said, events, succeeded

NUMBERS = FactReader()


def failed(env, rubric):
    """The checkpoints of a filter that an episode does not meet."""
    return [point["id"] for point in rubric["checkpoints"] if not is_met(point["check"], env)]


def is_met(check, env):
    happened = [event for _, event in events(env.episode.history)]
    calls = [event.call for event in happened if succeeded(event)]
    said = [event.text for event in happened if isinstance(event, Said)]
    match check:
        case {"kind": "tool_called", "tool": tool, "arguments": alternatives}:
            return any(call.name == tool and holds(call.arguments, alternatives) for call in calls)
        case {"kind": "tool_called", "tool": tool}:
            return any(call.name == tool for call in calls)
        case {"kind": "tool_not_called", "tool": tool}:
            return all(call.name != tool for call in calls)
        case {"kind": "said", "texts": texts}:
            return any(has_words(text, one) for text in said for one in texts)
        case {"kind": "told", "type": kind, "value": value}:
            return NUMBERS.is_told(kind, value, said)
        case {"kind": "rule_kept", "rule": rule}:
            return all(found["rule"] != rule for found in env.outcome.violations)
    raise AssertionError(f"no such check: {check}")


def holds(arguments, alternatives):
    return any(arguments | wanted == arguments for wanted in alternatives)


def has_words(text, words):
    plain, wanted = (" ".join(one.lower().split()) for one in (text, words))
    return re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", plain) is not None
