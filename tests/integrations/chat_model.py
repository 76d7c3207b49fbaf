"""A small tokenizer with a chat template, and a model's folder with nothing but it and a configuration."""

from byte_tokenizer import prompt_texts, train_tokenizer
from transformers import LlamaConfig

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
    tokenizer = train_tokenizer(prompt_texts(), 1024, TEMPLATE)
    tokenizer.save_pretrained(folder)
    LlamaConfig(vocab_size=len(tokenizer), architectures=["LlamaForCausalLM"]).save_pretrained(folder)
    return tokenizer


def sample_ids(tokenizer, text):
    """Tokens that a model may have sampled for a text: other ones than the tokenizer gives for it."""
    ids = [token for character in text for token in tokenizer.encode(character, add_special_tokens=False)]
    assert ids != tokenizer.encode(text, add_special_tokens=False)
    return [*ids, tokenizer.eos_token_id]
