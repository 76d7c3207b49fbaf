"""A small tokenizer with a chat template, and a model's folder with nothing but it and a configuration."""

import json

from oracle_episodes import KWARGS
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, PreTrainedTokenizerFast

from tool_envs.env import unwrap
from tool_envs.environments import make_env

START, END = "<|im_start|>", "<|im_end|>"
TEMPLATE = """\
{%- if tools %}<|im_start|>tools
{{ tools | tojson }}<|im_end|>
{% endif %}
{%- for message in messages %}<|im_start|>{{ message.role }}
{{ message.content or '' }}
{%- for call in message.tool_calls or [] %}
{{- '<tool_call>' ~ call.function.name ~ ' ' ~ (call.function.arguments | tojson) ~ '</tool_call>' }}
{%- endfor %}<|im_end|>
{% endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
"""ChatML with tools."""


def save_model(folder):
    """Write a tokenizer of bytes and of what often stands together in a prompt, and a small configuration."""
    domain = unwrap(make_env("tool_envs/Retail-v0", KWARGS)).domain
    texts = [domain.policy_text, json.dumps(domain.toolkit.schema.to_openai())]
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    backend.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=1024, initial_alphabet=alphabet, show_progress=False)
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend,
        additional_special_tokens=[START],
        chat_template=TEMPLATE,
        **dict.fromkeys(["eos_token", "pad_token"], END),
    )
    tokenizer.save_pretrained(folder)
    LlamaConfig(vocab_size=len(tokenizer), architectures=["LlamaForCausalLM"]).save_pretrained(folder)
    return tokenizer


def sample_ids(tokenizer, text):
    """Tokens that a model may have sampled for a text: other ones than the tokenizer gives for it."""
    ids = [token for character in text for token in tokenizer.encode(character, add_special_tokens=False)]
    assert ids != tokenizer.encode(text, add_special_tokens=False)
    return [*ids, tokenizer.eos_token_id]
