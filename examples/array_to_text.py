"""Turns what an agent did among arrays into conversations; `python examples/array_to_text.py [FOLDER]`.

The agent is the simplest one: possible choices at random, in hundreds of episodes at once. The few episodes
that earn their reward become records, as data for fine-tuning a language model.
"""

import sys

import gymnasium
import numpy as np

import tool_envs  # noqa: F401 - registers the ids
from tool_envs.trajectory import TrajectoryWriter, episodes_of, from_actions

ENV_ID, KIND = "tool_envs/RetailArray-v0", {"difficulty": 1}
envs = gymnasium.make_vec(ENV_ID, num_envs=256, pool_size=256, **KIND).unwrapped
json_env = envs.reference.json_env
rng, rows = np.random.default_rng(0), []

_, infos = envs.reset(seed=0)
for _ in range(400):
    actions, before = envs.sample_actions(rng), infos  # your agent here
    _, rewards, terminated, truncated, infos = envs.step(actions)
    rows.append((actions, rewards, terminated | truncated, before["task_index"], before["choices"]))

episodes = list(episodes_of(*map(np.array, zip(*rows, strict=True))))
served = [episode for episode in episodes if episode.reward == 1.0]
records = []
with TrajectoryWriter(sys.argv[1] if len(sys.argv) > 1 else "runs/from_arrays") as writer:
    for seed, episode in enumerate(served):
        task_id = json_env.domain.tasks[episode.task_index].id
        sha256 = json_env.schema.sha256
        record = from_actions(ENV_ID, sha256, task_id, seed, episode.actions, "random", reward=1.0, **KIND)
        writer.append(record)
        records.append(record)

for message in records[0].messages if records else ():
    who = getattr(message, "name", "agent")
    for call in getattr(message, "tool_calls", ()):
        print(f"{who}: {call.name}({call.arguments})")
    if message.content:
        print(f"{who}: {message.content}")
print(f"{len(records)} conversations of {len(episodes)} episodes, all of which earned 1.0, in {writer.path}")
