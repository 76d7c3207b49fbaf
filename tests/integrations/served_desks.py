"""Desks for a server: one with a defect, and one whose tools are another project's; and calls at a desk."""

import dataclasses

import gymnasium
from toy_domain import FUNCTIONS, DeskEnv, load

from tool_envs.schema import ToolSchema
from tool_envs.toolkit import Toolkit

DEFECTIVE = "served_desks:tool_envs_tests/DefectiveDesk-v0"
FOREIGN = "served_desks:tool_envs_tests/ForeignDesk-v0"

CALLS = [
    {"name": "get_book", "arguments": {"book_id": "B3"}},
    {"name": "lend", "arguments": {"member_id": "M2", "book_id": "B1", "days": 7}},
    {"name": "lend", "arguments": {"days": 1 << 70}},
    {"name": "no_such_tool"},
    {"name": "close_desk", "arguments": {}},
]


class DefectiveDeskEnv(DeskEnv):
    """Raises what no environment should when it is told to break."""

    async def astep(self, action):
        if action == "Break.":
            raise RuntimeError("a defect")
        return await super().astep(action)


class ForeignDeskEnv(DeskEnv):
    """Has its tools as OpenAI-style tools."""

    def __init__(self, **options):
        super().__init__(**options)
        ours = load().toolkit.schema
        tools = [tool for tool in ours.to_openai() if tool["function"]["name"] in FUNCTIONS]
        effects = {name: ours.tools[name].effect for name in FUNCTIONS}
        schema = ToolSchema.from_openai("desk", "theirs", tools, effects)
        self.domain = dataclasses.replace(self.domain, toolkit=Toolkit(schema, FUNCTIONS))


for env_id, name in ((DEFECTIVE, "DefectiveDeskEnv"), (FOREIGN, "ForeignDeskEnv")):
    gymnasium.register(id=env_id.rpartition(":")[2], entry_point=f"served_desks:{name}")
