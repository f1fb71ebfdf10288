"""A policy trained here, in Gymnasium's own environment: `python benchmarks/transfer.py --run-dir runs/ant`.

Plays the policy's mean action from the same number of first states in both, and prints both returns.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import gymnasium
import numpy as np
import torch
import tyro

from acesim_rl.agents import load_policy
from acesim_rl.agents.checkpoint import load_checkpoint
from acesim_rl.agents.config import UsageError
from acesim_rl.envs import BatchEnv, gymnasium_id

__all__ = ["gymnasium_returns", "our_returns"]


@dataclass
class Options:
    """Play a policy in both environments."""

    run_dir: Path
    """Folder of a run that train.py wrote."""
    episodes: int = 20
    """Episodes in each."""
    seed: int = 1
    """Seed of the first states."""


def our_returns(policy, task: str, episodes: int, seed: int, **arguments) -> np.ndarray:
    """Returns of the policy's mean action in our environment, [episodes]: one episode each in as many worlds."""
    env = BatchEnv(task, episodes, device="cpu", seed=seed, **arguments)
    obs = env.reset(seed=seed)
    returns, running = torch.zeros(episodes), torch.ones(episodes, dtype=torch.bool)
    while running.any():
        obs, reward, terminated, truncated, _ = env.step(policy(obs))
        returns += reward * running
        running &= ~(terminated | truncated)
    return returns.numpy()


def gymnasium_returns(policy, task: str, episodes: int, seed: int, **arguments) -> np.ndarray:
    """The same in Gymnasium's environment."""
    id = gymnasium_id(task).removeprefix("acesim_rl/")
    if id not in gymnasium.registry:
        raise UsageError(f"{task}: Gymnasium has no such environment")
    returns = np.zeros(episodes)
    env = gymnasium.make(id, **arguments)
    for episode in range(episodes):
        obs, over = env.reset(seed=seed + episode)[0], False
        while not over:
            obs, reward, terminated, truncated, _ = env.step(policy(obs))
            returns[episode] += reward
            over = terminated or truncated
    env.close()
    return returns


def main(options: Options) -> None:
    config = load_checkpoint(options.run_dir)["config"]
    policy, task = load_policy(options.run_dir), config["env"]
    arguments = {"xml_file": config["xml_file"]} if config["xml_file"] else {}
    theirs = gymnasium_returns(policy, task, options.episodes, options.seed, **arguments)
    ours = our_returns(policy, task, options.episodes, options.seed, **arguments)
    share = f", {theirs.mean() / ours.mean():.1%} of it" if ours.mean() > 0 else ""
    print(f"{task} in AceSim RL: return {ours.mean():.1f} +- {ours.std():.1f} ({len(ours)} episodes)")
    print(f"{task} in Gymnasium: return {theirs.mean():.1f} +- {theirs.std():.1f} ({len(theirs)} episodes{share})")


if __name__ == "__main__":
    try:
        torch.set_num_threads(1)
        main(tyro.cli(Options))
    except UsageError as error:
        sys.exit(f"transfer.py: error: {error}")
