"""Small tokenizers of bytes for chats in ChatML, trained here."""

import json

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from tool_envs.env import unwrap
from tool_envs.environments import make_env

START, END = "<|im_start|>", "<|im_end|>"


def train_tokenizer(texts, vocab_size, template, pad=END):
    """A tokenizer of bytes and of what often stands together in some texts."""
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=vocab_size, initial_alphabet=alphabet, show_progress=False)
    backend.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        additional_special_tokens=[START],
        chat_template=template,
        eos_token=END,
        pad_token=pad,
    )


def prompt_texts():
    """What stands in every prompt of the store: the policy and the tools."""
    domain = unwrap(make_env("tool_envs/Retail-v0", {})).domain
    return [domain.policy_text, json.dumps(domain.toolkit.schema.to_openai())]
