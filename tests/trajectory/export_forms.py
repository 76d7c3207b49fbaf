"""The documented forms of exported rows as JSON Schemas, and how to read tokens back from rows."""

INTEGERS = {"type": "array", "items": {"type": "integer"}}
BITS = {"type": "array", "items": {"enum": [0, 1]}}
FLOATS = {"type": "array", "items": {"type": "number"}}
TEXT = {"type": "string"}


def closed(optional=(), **properties):
    """An object with these members, and no others."""
    required = [name for name in properties if name not in optional]
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def each(form, **rest):
    """An array of this form."""
    return {"type": "array", "items": form, **rest}


def chat(arguments, **assistant):
    """Messages of a chat whose arguments are of a form."""
    call = closed(
        id=TEXT,
        type={"const": "function"},
        function=closed(name=TEXT, arguments=arguments),
    )
    return each(
        {
            "oneOf": [
                closed(role={"enum": ["system", "user"]}, content=TEXT),
                closed(role={"const": "assistant"}, content=TEXT, **assistant),
                closed(
                    role={"const": "assistant"},
                    content={"type": ["string", "null"]},
                    tool_calls=each(call, minItems=1),
                    **assistant,
                ),
                closed(
                    ("tool_call_id",) if not assistant else (),
                    role={"const": "tool"},
                    name=TEXT,
                    content=TEXT,
                    tool_call_id=TEXT,
                ),
            ]
        },
        minItems=1,
    )


TOOLS = each(
    closed(
        type={"const": "function"},
        function=closed(name=TEXT, description=TEXT, parameters={"type": "object"}),
    )
)
ONE_LINE = {"minItems": 1, "maxItems": 1}

FORMS = {
    "openai": closed(messages=chat(TEXT, weight={"enum": [0, 1]}), tools=TOOLS),
    "trl": closed(messages=chat({"type": "object"}), tools=TEXT),
    "trl-tokens": closed(input_ids=INTEGERS, labels=INTEGERS),
    "verl": closed(
        prompt_ids=INTEGERS,
        response_ids=INTEGERS,
        response_mask=BITS,
        response_logprobs={"anyOf": [FLOATS, {"type": "null"}]},
        reward_score={"type": "number"},
        num_turns={"type": "integer", "minimum": 1},
        metrics=closed(),
        extra_fields=closed(
            ("min_global_steps", "max_global_steps"),
            min_global_steps={"type": "integer"},
            max_global_steps={"type": "integer"},
        ),
    ),
    "skyrl": closed(
        prompt_token_ids=each(INTEGERS),
        response_ids=each(INTEGERS),
        loss_masks=each(BITS),
        rewards=FLOATS,
        rollout_logprobs={"anyOf": [each(FLOATS), {"type": "null"}]},
        stop_reasons=each({"enum": ["stop", "length"]}),
        rollout_metrics={"type": "null"},
        trajectory_ids=each(closed(instance_id=TEXT, repetition_id={"type": "integer", "minimum": 0})),
        is_last_step=each({"type": "boolean"}),
    ),
    "areal": closed(
        input_ids=each(INTEGERS, **ONE_LINE),
        loss_mask=each(BITS, **ONE_LINE),
        logprobs=each(FLOATS, **ONE_LINE),
        versions=each(INTEGERS, **ONE_LINE),
        attention_mask=each(each({"const": True}), **ONE_LINE),
        rewards={**FLOATS, **ONE_LINE},
    ),
}
"""By format. ATIF's has models of its own, which its rows are held to where they are installed."""


def _from_trl(row):
    yield {"input_ids": row["input_ids"], "loss_mask": [int(label != -100) for label in row["labels"]]}


def _from_verl(row):
    prompt = len(row["prompt_ids"])
    yield {
        "input_ids": row["prompt_ids"] + row["response_ids"],
        "loss_mask": [0] * prompt + row["response_mask"],
        "logprobs": [0.0] * prompt + (row["response_logprobs"] or [0.0] * len(row["response_ids"])),
        "reward": row["reward_score"],
    }


def _from_skyrl(row):
    logprobs = row["rollout_logprobs"] or [[0.0] * len(ids) for ids in row["response_ids"]]
    for prompt, ids, mask, probs, reward in zip(
        row["prompt_token_ids"], row["response_ids"], row["loss_masks"], logprobs, row["rewards"], strict=True
    ):
        yield {
            "input_ids": prompt + ids,
            "loss_mask": [0] * len(prompt) + mask,
            "logprobs": [0.0] * len(prompt) + probs,
            "reward": reward,
        }


def _from_areal(row):
    (reward,) = row["rewards"]
    columns = {name: row[name][0] for name in ("input_ids", "loss_mask", "logprobs", "versions")}
    yield {**columns, "reward": reward}


READERS = {"trl-tokens": _from_trl, "verl": _from_verl, "skyrl": _from_skyrl, "areal": _from_areal}
"""By format: the sequences that a row holds, with those fields of `TokenSequence` that the form has."""
