"""PPO with action masks in one file of plain PyTorch: learns to serve a store from one reward at the end.

    python examples/train_ppo.py --choices 1000000 --difficulty 1

It wants a vectorized array view with `observation="features"`, in either form of actions, and Gymnasium's
usual autoreset: after the last step of an episode, a lane's next step starts a new one, whatever the action.
What the environment gives must not be overwritten by its next step.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import torch
from gymnasium.vector import VectorEnv
from torch import Tensor, nn

import tool_envs  # noqa: F401 - registers the ids

Choose = Callable[[dict[str, Any]], Tensor]
"""Batched observation -> actions, int64 of shape (lanes, dimensions)."""


class Settings(NamedTuple):
    """What PPO can be told; the names are those of the paper (Schulman et al., 2017) and of GAE."""

    steps: int = 32  # of each lane in a rollout
    epochs: int = 3
    minibatch: int = 2048
    hidden: int = 128
    learning_rate: float = 1e-3  # at first; both this and the entropy bonus shrink to 0 in training
    discount: float = 0.99
    gae_lambda: float = 0.95
    clip: float = 0.2
    entropy_bonus: float = 0.02
    value_weight: float = 0.5
    max_gradient: float = 0.5


class Agent(nn.Module):
    """A policy over one or more dimensions of choices, and a value, from a vector of features.

    Args:
        features: Length of the vector.
        sizes: How many choices each dimension of an action has.
        hidden: Width of both layers.
    """

    starts: Tensor

    def __init__(self, features: int, sizes: list[int], hidden: int) -> None:
        super().__init__()
        self.sizes = sizes
        self.register_buffer("starts", torch.tensor([0, *np.cumsum(sizes)[:-1]]))
        self.body = nn.Sequential(
            nn.Linear(features, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh()
        )
        self.policy, self.value = nn.Linear(hidden, sum(sizes)), nn.Linear(hidden, 1)
        nn.init.orthogonal_(self.policy.weight, 0.01)  # begins as a random choice of what is possible

    def forward(self, features: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probabilities of all choices, and values."""
        hidden = self.body(features)
        logits = self.policy(hidden).masked_fill(~masks, -1e9)
        parts = [part.log_softmax(-1) for part in logits.split(self.sizes, -1)]
        return torch.cat(parts, -1), self.value(hidden).squeeze(-1)

    def log_probability(self, log_probabilities: Tensor, actions: Tensor) -> Tensor:
        """Of whole actions."""
        return log_probabilities.gather(-1, actions + self.starts).sum(-1)

    @torch.no_grad()
    def choose(self, observation: dict[str, Any]) -> Tensor:
        """The most probable choices."""
        return most_probable(self(*inputs(observation))[0], self.sizes)


class Rollout(NamedTuple):
    """`steps` steps of all lanes: each tensor has the shape (steps, lanes, ...).

    Attributes:
        counts: False where a step only began a new episode.
        ended: Whether the step ended its episode.
    """

    features: Tensor
    masks: Tensor
    actions: Tensor
    log_probabilities: Tensor
    values: Tensor
    rewards: Tensor
    ended: Tensor
    counts: Tensor


def sample(log_probabilities: Tensor, sizes: list[int]) -> Tensor:
    """A choice in each dimension: int64 of shape (lanes, dimensions)."""
    noise = -torch.empty_like(log_probabilities).exponential_().log()  # Gumbel's
    return most_probable(log_probabilities + noise, sizes)


def most_probable(log_probabilities: Tensor, sizes: list[int]) -> Tensor:
    """The best choice in each dimension: int64 of shape (lanes, dimensions)."""
    return torch.stack([part.argmax(-1) for part in log_probabilities.split(sizes, -1)], -1)


def inputs(observation: dict[str, Any]) -> tuple[Tensor, Tensor]:
    """Features and masks as a network takes them."""
    return torch.from_numpy(observation["features"]), torch.from_numpy(observation["action_mask"]).bool()


def as_actions(envs: VectorEnv[Any, Any, Any], actions: Tensor) -> Any:  # noqa: ANN401 - an array
    """Actions as the environment takes them."""
    is_single = isinstance(envs.single_action_space, gymnasium.spaces.Discrete)
    return (actions[:, 0] if is_single else actions).numpy()


def sizes_of(envs: VectorEnv[Any, Any, Any]) -> list[int]:
    """How many choices each dimension of an action has."""
    space = envs.single_action_space
    return [int(space.n)] if isinstance(space, gymnasium.spaces.Discrete) else space.nvec.tolist()


def make_agent(envs: VectorEnv[Any, Any, Any], settings: Settings) -> Agent:
    """A fresh agent for an environment."""
    (features,) = envs.single_observation_space["features"].shape
    return Agent(features, sizes_of(envs), settings.hidden)


class Collector:
    """Goes on from one rollout to the next."""

    def __init__(self, envs: VectorEnv[Any, Any, Any], seed: int) -> None:
        self.envs = envs
        self.observation, _ = envs.reset(seed=seed)
        self.ended = torch.zeros(envs.num_envs, dtype=torch.bool)

    @torch.no_grad()
    def collect(self, agent: Agent, steps: int) -> tuple[Rollout, Tensor]:
        """A rollout, and the values of where it stops."""
        rows = []
        for _ in range(steps):
            features, masks = inputs(self.observation)
            log_probabilities, values = agent(features, masks)
            actions = sample(log_probabilities, agent.sizes)
            chosen = agent.log_probability(log_probabilities, actions)
            counts = ~self.ended
            self.observation, rewards, terminated, truncated, _ = self.envs.step(
                as_actions(self.envs, actions)
            )
            # How much of an episode is left can be seen, so running out is an end like any other.
            self.ended = torch.from_numpy(terminated | truncated)
            reward = torch.from_numpy(rewards).float()
            rows.append((features, masks, actions, chosen, values, reward, self.ended, counts))
        return Rollout(*map(torch.stack, zip(*rows, strict=True))), agent(*inputs(self.observation))[1]


def advantages(rollout: Rollout, last_values: Tensor, settings: Settings) -> Tensor:
    """Generalised advantage estimates (Schulman et al., 2016), shape (steps, lanes)."""
    result = torch.zeros_like(rollout.values)
    following, carried = last_values, torch.zeros_like(last_values)
    for step in reversed(range(len(result))):
        goes_on = (~rollout.ended[step]).float() * settings.discount
        surprise = rollout.rewards[step] + goes_on * following - rollout.values[step]
        carried = surprise + goes_on * settings.gae_lambda * carried
        result[step], following = carried, rollout.values[step]
    return result


def loss_of(agent: Agent, batch: Rollout, gains: Tensor, returns: Tensor, settings: Settings) -> Tensor:
    """PPO's clipped loss, with the value's and less an entropy bonus."""
    log_probabilities, values = agent(batch.features, batch.masks)
    ratio = (agent.log_probability(log_probabilities, batch.actions) - batch.log_probabilities).exp()
    clipped = ratio.clamp(1 - settings.clip, 1 + settings.clip)
    policy_loss = -torch.min(ratio * gains, clipped * gains).mean()
    value_loss = (values - returns).square().mean()
    entropy = -(log_probabilities.exp() * log_probabilities).sum(-1).mean()
    return policy_loss + settings.value_weight * value_loss - settings.entropy_bonus * entropy


def update(
    agent: Agent, optimizer: torch.optim.Optimizer, rollout: Rollout, gains: Tensor, settings: Settings
) -> None:
    """Learn from one rollout."""
    optimizer.param_groups[0]["lr"] = settings.learning_rate
    kept = rollout.counts
    returns = (gains + rollout.values)[kept]
    gains = gains[kept]
    gains = (gains - gains.mean()) / (gains.std() + 1e-8)
    flat = Rollout(*(part[kept] for part in rollout))
    for _ in range(settings.epochs):
        for rows in torch.randperm(len(gains)).split(settings.minibatch):
            batch = Rollout(*(part[rows] for part in flat))
            optimizer.zero_grad()
            loss_of(agent, batch, gains[rows], returns[rows], settings).backward()
            nn.utils.clip_grad_norm_(agent.parameters(), settings.max_gradient)
            optimizer.step()


def train(
    envs: VectorEnv[Any, Any, Any],
    seed: int,
    settings: Settings,
    report: Callable[[Agent, int, float], float],
) -> Agent:
    """Train an agent from nothing.

    Args:
        envs: See the module.
        seed: Of the network and of the episodes.
        settings: Of PPO.
        report: Called after each update with the agent, the choices taken so far, and the mean reward of the
            episodes that ended in this rollout (NaN: none did). It says which share of the training is left,
            to which learning rate and entropy bonus shrink; at 0 training ends.
    """
    torch.manual_seed(seed)
    agent = make_agent(envs, settings)
    optimizer = torch.optim.Adam(agent.parameters(), lr=settings.learning_rate, eps=1e-5)
    collector = Collector(envs, seed)
    choices, left = 0, 1.0
    while left > 0:
        now = settings._replace(
            learning_rate=left * settings.learning_rate, entropy_bonus=left * settings.entropy_bonus
        )
        rollout, last_values = collector.collect(agent, now.steps)
        update(agent, optimizer, rollout, advantages(rollout, last_values, now), now)
        choices += int(rollout.counts.sum())
        left = report(agent, choices, float(rollout.rewards[rollout.ended].mean()))
    return agent


def success_rate(envs: VectorEnv[Any, Any, Any], choose: Choose, episodes: int, seed: int) -> float:
    """Mean reward of `episodes` episodes of each lane; all of them, so that long ones count as much."""
    observation, _ = envs.reset(seed=seed)
    left = np.full(envs.num_envs, episodes)
    total = 0.0
    while left.any():
        observation, rewards, terminated, truncated, _ = envs.step(as_actions(envs, choose(observation)))
        ended = (terminated | truncated) & (left > 0)
        total += rewards[ended].sum()
        left -= ended
    return total / (episodes * envs.num_envs)


def main() -> None:
    """Train, say how it goes, and try what was learned on tasks that were never seen."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--env-id", default="tool_envs/RetailArray-v0")
    parser.add_argument("--action-form", choices=("sequential", "multidiscrete"), default="sequential")
    parser.add_argument("--difficulty", type=int, default=1)
    parser.add_argument("--choices", type=int, default=1_000_000)
    parser.add_argument("--num-envs", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    kind = {"action_form": options.action_form, "difficulty": options.difficulty, "observation": "features"}
    torch.set_num_threads(1)  # more do not pay for a network of this size
    began = time.perf_counter()

    def report(agent: Agent, choices: int, success: float) -> float:  # noqa: ARG001 - not asked here
        print(f"{choices:>9} choices  {time.perf_counter() - began:6.1f} s  success {success:.3f}")
        return 1 - choices / options.choices

    envs = gymnasium.make_vec(options.env_id, num_envs=options.num_envs, split="train", **kind)
    agent = train(envs, options.seed, Settings(), report)
    held_out = gymnasium.make_vec(options.env_id, num_envs=options.num_envs, split="test", **kind)
    print(f"held-out tasks: success {success_rate(held_out, agent.choose, 4, seed=0):.3f}")


if __name__ == "__main__":
    main()
