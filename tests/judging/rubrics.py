"""Rubrics for tests, and a Hypothesis strategy of them."""

import copy

from hypothesis import strategies as st

ITEMS = [
    {"id": "clear", "group": "core", "text": "It is clear."},
    {"id": "no_praise", "group": "prescriptive", "text": "No praise."},
    {"id": "date", "group": "task", "text": "It names the date."},
]
CHECKS = [
    {"kind": "tool_called", "tool": "cancel_order"},
    {"kind": "tool_called", "tool": "cancel_order", "arguments": [{"order_id": "#W1"}, {"order_id": "#W2"}]},
    {"kind": "tool_not_called", "tool": "transfer"},
    {"kind": "said", "texts": ["cancelled", "canceled"]},
    {"kind": "told", "type": "amount", "value": 4300},
    {"kind": "rule_kept", "rule": "explicit_yes"},
]


def reward_rubric(**changes):
    rubric = {
        "format_version": "1.0.0",
        "name": "letter",
        "version": "1.0.0",
        "kind": "reward",
        "items": ITEMS,
    }
    return copy.deepcopy(rubric | changes)


def filter_rubric(checks=CHECKS, **changes):
    rubric = {
        "format_version": "1.0.0",
        "name": "cancel",
        "version": "1.2.0",
        "kind": "filter",
        "items": [],
        "success_criteria": ["The order is cancelled."],
        "expected_tools": ["cancel_order"],
        "checkpoints": [
            {"id": f"check_{number}", "text": f"Number {number}.", "check": check}
            for number, check in enumerate(checks)
        ],
    }
    return copy.deepcopy(rubric | changes)


texts = st.text(min_size=1, max_size=12, alphabet=st.characters(exclude_categories=["Cs"]))


@st.composite
def rubrics(draw):
    """A rubric of either kind, as its JSON object."""
    ids = draw(st.lists(texts, min_size=1, max_size=6, unique=True))
    split = draw(st.integers(1, len(ids)))
    groups = st.sampled_from(["core", "prescriptive", "task"])
    items = [{"id": name, "group": draw(groups), "text": draw(texts)} for name in ids[:split]]
    if split == len(ids):
        return reward_rubric(name=draw(texts), items=items)
    return filter_rubric(
        name=draw(texts),
        items=items,
        success_criteria=draw(st.lists(texts, min_size=1, max_size=2)),
        expected_tools=draw(st.lists(texts, max_size=2)),
        checkpoints=[
            {"id": name, "text": draw(texts), "check": draw(st.sampled_from(CHECKS))} for name in ids[split:]
        ],
    )
