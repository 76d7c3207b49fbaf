"""A model without a server, which says what a test has written down."""

import json

from tool_envs.chat import ChatReply


class Scripted:
    """A model that gives these replies, one after the other, and keeps what it was asked.

    A reply is its text, or a `ChatReply`; texts have the `cost` and the `usage` that are given.
    """

    def __init__(self, *replies, cost=None, usage=None, model="m"):
        self.replies, self.asked, self.model = list(replies), [], model
        self.paid = {"cost": cost, "usage": usage}

    async def complete(self, messages, *, response_format=None, arguments=None):
        self.asked.append((json.loads(json.dumps(messages)), response_format, arguments))
        reply = self.replies.pop(0)
        return reply if isinstance(reply, ChatReply) else ChatReply(message={"content": reply}, **self.paid)
