"""A desk whose domain says that it blocks, and whose tool `think` has to run beside the event loop."""

import dataclasses
import threading

import gymnasium
from toy_domain import FUNCTIONS, DeskEnv, load

from tool_envs.toolkit import Toolkit

ENV_ID = "blocking_desk:tool_envs_tests/BlockingDesk-v0"
threads = []
"""The threads in which the agent thought."""


def think(database, thought=""):  # noqa: ARG001 - a tool's form
    threads.append(threading.current_thread())


class BlockingDeskEnv(DeskEnv):
    """The desk."""

    def __init__(self, **options):
        super().__init__(**options)
        toolkit = Toolkit(load().toolkit.schema, {**FUNCTIONS, "think": think})
        self.domain = dataclasses.replace(self.domain, toolkit=toolkit, blocking=True)


gymnasium.register(id=ENV_ID.rpartition(":")[2], entry_point="blocking_desk:BlockingDeskEnv")
