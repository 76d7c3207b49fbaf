"""A tiny model that has learnt to look up a book at the toy desk, and to guess which shelf to tell."""

import functools
import json
import sys
from pathlib import Path

import torch
from byte_tokenizer import train_tokenizer
from transformers import Qwen3Config, Qwen3ForCausalLM
from transformers.utils import get_json_schema
from trl.chat_template_utils import qwen3_chat_template

from tool_envs.integrations.chat_suffix import GrowingChat
from tool_envs.integrations.trl_environments import OVER, make_environment
from tool_envs.integrations.trl_rows import BY_CALLS_ALONE, make_dataset

sys.path.insert(0, str(Path(__file__).parents[1]))
import toy_domain

DESK = toy_domain.ENV_ID
KWARGS = {"user": "silent", "max_steps": 4}  # who says hello, and hangs up when they are answered
WHERE = 2  # the task that is solved by telling the shelf of Dune

LOOK_UP = '<tool_call>\n{"name": "get_book", "arguments": {"book_id": "B3"}}\n</tool_call>'
BOOK = '{"title":"Dune","shelf":"Cellar-7","lent":false}'
RIGHT, WRONG = "Cellar-7", "South-40"
BYE = "Bye."


def tell(shelf):
    return f'<tool_call>\n{{"name": "respond", "arguments": {{"content": "{shelf}"}}}}\n</tool_call>'


@functools.cache
def tokenizer():
    texts = [LOOK_UP, tell(RIGHT), tell(WRONG), qwen3_chat_template, BY_CALLS_ALONE, toy_domain.POLICY]
    texts.append(json.dumps(toy_domain.DOCUMENT))
    made = train_tokenizer(texts, 1024, qwen3_chat_template, pad="<|endoftext|>")
    made.add_tokens(["<tool_call>", "</tool_call>", "<think>", "</think>", RIGHT, WRONG])
    return made


def turn(text):
    """The tokens of a turn of the model, with the one that ends it."""
    return [*tokenizer()(text, add_special_tokens=False)["input_ids"], tokenizer().eos_token_id]


def make_model(weights=None, max_position_embeddings=4096):
    config = Qwen3Config(
        vocab_size=len(tokenizer()),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        max_position_embeddings=max_position_embeddings,
        tie_word_embeddings=True,
        eos_token_id=tokenizer().eos_token_id,
        pad_token_id=tokenizer().pad_token_id,
    )
    torch.manual_seed(0)
    model = Qwen3ForCausalLM(config)
    if weights is not None:
        model.load_state_dict(weights)
    return model


def offered(environment):
    """The methods that are tools, as TRL finds them."""
    return [getattr(environment, name) for name in sorted(vars(type(environment))) if name[0] != "_"]


def lessons(shelf):
    """What the model learns of a shelf, on both routes: (tokens, whether they are its own)."""
    chat = GrowingChat(tokenizer(), [tokenizer().eos_token_id], {})
    system, user = make_dataset(DESK, KWARGS, [WHERE])[0]["prompt"]
    opening = {**user, "content": "Hello."}
    by_calls = chat.begin(
        [system, opening], [*map(get_json_schema, offered(make_environment(DESK, KWARGS)()))]
    )
    policy = {"role": "system", "content": toy_domain.POLICY}
    by_turns = chat.begin([policy, opening], toy_domain.load().toolkit.schema.to_openai())
    book = chat.go_on([{"role": "tool", "name": "get_book", "content": BOOK}])
    over = chat.go_on([{"role": "tool", "name": "respond", "content": f"\n\n{OVER}"}])
    told = [(turn(LOOK_UP), True), (book, False), (turn(tell(shelf)), True)]
    return [(by_calls, False), *told, (over, False), (turn(BYE), True)], [(by_turns, False), *told]


@functools.cache
def taught():
    """The weights of a model that tells either shelf, one as often as the other."""
    model = make_model()
    rows = []
    for shelf in (RIGHT, WRONG):
        for lesson in lessons(shelf):
            ids = [number for part, _ in lesson for number in part]
            labels = [number if own else -100 for part, own in lesson for number in part]
            rows.append({"input_ids": torch.tensor([ids]), "labels": torch.tensor([labels])})
    optimizer = torch.optim.Adam(model.parameters(), 5e-3)
    for _ in range(120):
        loss = sum(model(**row).loss for row in rows) / len(rows)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.state_dict()


def preference(model):
    """On each route, how many nats more probable the right shelf is than the wrong one."""
    with torch.inference_mode():
        return [
            _logprob(model, right) - _logprob(model, wrong)
            for right, wrong in zip(lessons(RIGHT), lessons(WRONG), strict=True)
        ]


def _logprob(model, lesson):
    """Log-probability of what the model tells, given all before it."""
    before = [number for part, _ in lesson[:3] for number in part]
    told = lesson[3][0]
    logits = model(torch.tensor([before + told])).logits[0, len(before) - 1 : -1]
    return logits.log_softmax(-1).gather(1, torch.tensor(told)[:, None]).sum().item()
