"""The server: `python -m server.app` in this folder, or `uvicorn server.app:app`.

Another environment is another id here, and another name in `openenv.yaml`.
"""

import argparse
import os

import uvicorn

from tool_envs.integrations.openenv import make_app
from tool_envs.trajectory import TrajectoryWriter

RECORDS = os.environ.get("TOOL_ENVS_RECORDS")
"""A folder for records of all episodes; then `reset` wants `agent` and `agent_version`."""

app = make_app(
    "tool_envs/Retail-v0",
    {"split": "train", "difficulty": 1},
    records=TrajectoryWriter(RECORDS, sync_every=1000) if RECORDS else None,
    limit=256,
)


def main() -> None:
    """Serve on this machine; a container listens to others, behind whatever guards it."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    arguments = parser.parse_args()
    uvicorn.run(app, host=arguments.host, port=arguments.port)


if __name__ == "__main__":
    main()
