"""Trains a tokenizer on recorded conversations; `python examples/train_tokenizer.py STORE FOLDER`.

What it saves, a byte-level BPE with a chat template in the style of ChatML, is enough to turn records of
scripted agents into tokens: `tool-envs export STORE --format trl-tokens --tokenizer FOLDER --out ...`.
Wants `pip install -e '.[tokenizers]'`.
"""

import sys
from itertools import islice

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from tool_envs.trajectory import read_trajectories

END = "<|im_end|>"
TEMPLATE = """\
{%- if tools %}<|im_start|>tools
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}<|im_end|>
{% endif %}
{%- for message in messages -%}
<|im_start|>{{ message.role }}
{{ message.content }}
{%- for call in message.tool_calls or [] -%}
{%- set name, arguments = call.function.name, call.function.arguments -%}
<tool_call>{"name": {{ name | tojson }}, "arguments": {{ arguments | tojson }}}</tool_call>
{%- endfor -%}
<|im_end|>
{% endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""

store, folder = sys.argv[1:3]
texts = (record.to_line() for record in islice(read_trajectories(store), 500))
tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
trainer = trainers.BpeTrainer(
    vocab_size=4096,
    special_tokens=["<|im_start|>", END],
    initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    show_progress=False,
)
tokenizer.train_from_iterator(texts, trainer)
fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer)
fast.eos_token = fast.pad_token = END
fast.chat_template = TEMPLATE
fast.save_pretrained(folder)
print(f"{folder}: {len(fast)} tokens")
