"""A desk with a defect: `defective_desk:tool_envs_tests/DefectiveDesk-v0` breaks when it is told to."""

import gymnasium
from toy_domain import DeskEnv

ENV_ID = "defective_desk:tool_envs_tests/DefectiveDesk-v0"


class DefectiveDeskEnv(DeskEnv):
    """A desk that raises what no environment should."""

    async def astep(self, action):
        if action == "Break.":
            raise RuntimeError("a defect")
        return await super().astep(action)


gymnasium.register(id=ENV_ID.rpartition(":")[2], entry_point="defective_desk:DefectiveDeskEnv")
