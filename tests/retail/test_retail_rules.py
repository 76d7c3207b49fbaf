"""The rules of the store: what only they have. The laws of all rules are in `tests/service`."""

import json

import pytest
from retail.retail_rule_examples import (
    CANCEL,
    CANCEL_YES,
    FIND,
    LOOK,
    LOOK_OTHER,
    PROFILE,
    PROFILE_BOB,
    called,
)
from service.rule_events import DENY, TRANSFER, inform, memory_after, wish

from tool_envs.retail import rules as retail
from tool_envs.schema import load_schema
from tool_envs.schema.files import shipped_files

BY_ID = {rule.id: rule for rule in retail.RULES}


@pytest.mark.parametrize(
    ("rule_id", "happened", "event", "permitted"),
    [
        ("authenticate_first", [], LOOK, False),
        ("authenticate_first", [FIND], LOOK, True),
        ("one_customer", [FIND], LOOK_OTHER, True),
        ("one_customer", [FIND, LOOK_OTHER], LOOK_OTHER, False),
        ("one_customer", [FIND, PROFILE], LOOK_OTHER, False),
        ("one_customer", [FIND, PROFILE], LOOK, True),
        ("one_customer", [FIND], PROFILE_BOB, False),
        ("explicit_yes", [CANCEL_YES], CANCEL, True),
        ("explicit_yes", [CANCEL_YES, DENY], CANCEL, False),
        ("allowed_cancel_reason", [inform("reason", "no longer needed")], CANCEL, True),
        (
            "allowed_cancel_reason",
            [inform("reason", "too expensive")],
            called("cancel_pending_order", order_id="#W0000001", reason="too expensive"),
            False,
        ),
        ("transfer_last", [wish("out_of_scope")], TRANSFER, True),
        ("transfer_last", [wish("cancel")], TRANSFER, False),
    ],
)
def test_what_is_known_beforehand(rule_id, happened, event, permitted):
    rule = BY_ID[rule_id]

    assert rule.permits(memory_after(rule, happened), event.call) == permitted


@pytest.mark.parametrize("version", shipped_files().versions("retail"))
def test_the_schema_has_the_words_of_the_rules(version):
    schema = load_schema("retail", version)
    reason = schema.tools[retail.CANCEL].parameters["properties"]["reason"]

    assert set(retail.FINDERS) <= schema.tools.keys()
    assert sorted(reason["enum"]) == sorted(retail.CANCEL_REASONS)
    assert f'"{retail.MODIFIED}"' in json.dumps(schema.document)
