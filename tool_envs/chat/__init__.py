"""The one client of OpenAI-compatible servers of chat models; it needs the extra `[llm]` (httpx)."""

from tool_envs.chat.client import ChatClient
from tool_envs.chat.failures import (
    ChatDeadlineError,
    ChatError,
    ChatReplyError,
    ChatStatusError,
    ChatTransportError,
    ContextOverflowError,
)
from tool_envs.chat.ledger import Ledger, Prices
from tool_envs.chat.model import ChatModel
from tool_envs.chat.reply import ChatReply, Usage, total_usage

__all__ = [
    "ChatClient",
    "ChatDeadlineError",
    "ChatError",
    "ChatModel",
    "ChatReply",
    "ChatReplyError",
    "ChatStatusError",
    "ChatTransportError",
    "ContextOverflowError",
    "Ledger",
    "Prices",
    "Usage",
    "total_usage",
]
