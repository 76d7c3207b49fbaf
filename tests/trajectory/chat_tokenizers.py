"""Chat templates and tokenizers of the shapes in use: templates are files, tokenizers are trained here."""

import functools
import json
from pathlib import Path
from typing import Any

import gymnasium
import jinja2
from jinja2.ext import Extension
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

import tool_envs  # noqa: F401 - registers the ids
from tool_envs.errors import MaskProofError
from tool_envs.trajectory import record_episode
from tool_envs.trajectory.chat_tokenizer import chat_of, join_composed

TEMPLATES = Path(__file__).parent / "templates"

ENDS = {
    "chatml_tools": "<|im_end|>",
    "chatml_thoughts": "<|im_end|>",
    "llama_headers": "<|eot_id|>",
    "mistral_inst": "</s>",
    "tagged_parameters": "<|end|>",
    "zephyr_roles": "</s>",
}
"""The text that ends a turn, by template."""

SPECIAL = {
    "chatml_tools": ("<|im_start|>", "<|im_end|>"),
    "chatml_thoughts": ("<|im_start|>", "<|im_end|>"),
    "llama_headers": ("<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"),
    "mistral_inst": ("<s>", "</s>", "[INST]", "[/INST]", "[TOOL_CALLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]"),
    "tagged_parameters": ("<|user|>", "<|tool|>", "<|assistant|>", "<|end|>"),
    "zephyr_roles": ("<s>", "</s>"),
}
"""What is a token of its own, wherever it stands, by template."""

_OPEN, _CLOSE = "\0<generation>", "\0</generation>"


class _Generation(Extension):
    """The tag `{% generation %}`, in which a template's author puts what the model writes."""

    tags = frozenset({"generation"})

    def parse(self, parser: jinja2.parser.Parser) -> jinja2.nodes.CallBlock:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_mark"), [], [], body).set_lineno(line)

    def _mark(self, caller: Any) -> str:
        written: str = caller()
        return f"{_OPEN}{written}{_CLOSE}" if self.environment.globals["is_marking"] else written


def _refuse(message: str) -> None:
    raise jinja2.TemplateError(message)


def _dump(value: Any, ensure_ascii: bool = False) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii)


@functools.cache
def compile_template(source: str, is_marking: bool = False) -> jinja2.Template:
    """A template as `transformers` compiles it; `is_marking`: with signs around what the model writes."""
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, "jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = _dump
    environment.globals.update(raise_exception=_refuse, is_marking=is_marking)
    return environment.from_string(source)


class JinjaTokenizer:
    """A chat template and a tokenizer, as a `ChatTokenizer`."""

    def __init__(self, source: str, tokenizer: Tokenizer, end: str) -> None:
        self.source, self.tokenizer, self.end = source, tokenizer, end

    def render(self, messages: list[dict[str, Any]], add_generation_prompt: bool) -> str:
        return self._render(messages, add_generation_prompt, False)

    def encode(self, text: str) -> list[tuple[int, int, int]]:
        encoded = self.tokenizer.encode(text, add_special_tokens=False)
        places = zip(encoded.ids, encoded.offsets, strict=True)
        return join_composed(text, [(number, *place) for number, place in places])

    def generated(self, messages: list[dict[str, Any]]) -> list[tuple[int, int]]:
        """From and up to which character the author of the template says that the model writes."""
        _, *parts = self._render(messages, False, True).split(_OPEN)
        place, spans = len(_), []
        for part in parts:
            written, _, rest = part.partition(_CLOSE)
            spans.append((place, place + len(written)))
            place += len(written) + len(rest)
        return spans

    def _render(self, messages: list[dict[str, Any]], add_generation_prompt: bool, is_marking: bool) -> str:
        chat = [_with_objects(message) for message in messages]
        try:
            return compile_template(self.source, is_marking).render(
                messages=chat, add_generation_prompt=add_generation_prompt
            )
        except jinja2.TemplateError as problem:
            raise MaskProofError(f"the template refuses the conversation: {problem}") from None


def _with_objects(message: dict[str, Any]) -> dict[str, Any]:
    """A message with arguments as objects, and no content as an empty one."""
    calls = [
        {**call, "function": {**call["function"], "arguments": json.loads(call["function"]["arguments"])}}
        for call in message.get("tool_calls", [])
    ]
    return {**message, "content": message["content"] or "", **({"tool_calls": calls} if calls else {})}


# --- Tokenizers


@functools.cache
def oracle_records(count: int = 3) -> tuple[Any, ...]:
    """Records of the oracle's episodes in the store and the airline."""
    found = []
    for env_id in ("tool_envs/Retail-v0", "tool_envs/Booking-v0"):
        env = gymnasium.make(env_id)
        for seed in range(count):
            env.reset(seed=seed)
            inner = env.unwrapped
            while inner.outcome is None:
                env.step(inner.domain.oracle(inner.episode))
            found.append(record_episode(env, "oracle", "v1", seed))
    return tuple(found)


@functools.cache
def _corpus() -> tuple[str, ...]:
    texts = []
    for record in oracle_records():
        for message in chat_of(record):
            texts.append(message["content"] or "")
            texts += [call["function"]["arguments"] for call in message.get("tool_calls", [])]
    return tuple(texts)


_WORDS = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def _byte_bpe() -> tuple[Tokenizer, Any]:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    return tokenizer, trainers.BpeTrainer(vocab_size=900, initial_alphabet=alphabet, show_progress=False)


def _composed_bpe() -> tuple[Tokenizer, Any]:
    """With composed characters, and words cut by a pattern that knows line breaks."""
    tokenizer, trainer = _byte_bpe()
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_WORDS), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    return tokenizer, trainer


def _unigram() -> tuple[Tokenizer, Any]:
    """Words with their space as a sign, compatible characters as one, unknown ones as none of their own."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    trainer = trainers.UnigramTrainer(
        vocab_size=500,
        unk_token="<unk>",  # noqa: S106 - a token, not a secret
        special_tokens=["<unk>"],
        initial_alphabet=list("\n<>[]{}|/=:"),
        show_progress=False,
    )
    return tokenizer, trainer


def _piece_bpe() -> tuple[Tokenizer, Any]:
    """As SentencePiece's: a sign before every piece and for every space, and bytes for what is unknown."""
    tokenizer = Tokenizer(models.BPE(fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")]
    )
    signs = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256))]
    return tokenizer, trainers.BpeTrainer(vocab_size=900, special_tokens=signs, show_progress=False)


TOKENIZERS = {
    "byte_bpe": _byte_bpe,
    "composed_bpe": _composed_bpe,
    "piece_bpe": _piece_bpe,
    "unigram": _unigram,
}


@functools.cache
def trained(name: str, template: str) -> Tokenizer:
    """A tokenizer of a kind, trained on the oracle's conversations, with the tokens of a template."""
    tokenizer, trainer = TOKENIZERS[name]()
    tokenizer.train_from_iterator(_corpus(), trainer)
    marks = [AddedToken(mark, special=True, normalized=False) for mark in SPECIAL[template]]
    tokenizer.add_special_tokens(marks)
    return tokenizer


def read_template(name: str) -> str:
    """The source of a template."""
    return (TEMPLATES / f"{name}.jinja").read_text(encoding="utf-8")


@functools.cache
def chat_tokenizer(template: str, tokenizer: str) -> JinjaTokenizer:
    """A template with a tokenizer."""
    return JinjaTokenizer(read_template(template), trained(tokenizer, template), ENDS[template])
