"""A policy trained here, in Gymnasium's own environment: `python benchmarks/transfer.py --run-dir runs/ant`.

Plays the policy's mean action from the same first states in both, and prints both mean returns with their standard
errors.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import gymnasium
import numpy as np
import torch
import tyro
from gymnasium.utils.seeding import np_random

from acesim_rl.agents import load_policy
from acesim_rl.agents.checkpoint import load_checkpoint
from acesim_rl.agents.config import UsageError
from acesim_rl.agents.display import warnings_text
from acesim_rl.envs import BatchEnv, gymnasium_id
from report import write_json

__all__ = ["gymnasium_returns", "our_returns"]


@dataclass
class Options:
    """Play a policy in both environments."""

    run_dir: Path
    """Folder of a run that train.py wrote."""
    episodes: int = 100
    """Episodes in each."""
    seed: int = 1
    """Seed of the first episode; one more for each further one."""
    json: Path | None = None
    """Write both means and standard errors to this file."""


def our_returns(policy, env: BatchEnv, seed: int) -> np.ndarray:
    """Returns of the policy's mean action in our environment: one episode in each world, [num_envs].

    Episode `i` begins in the state that Gymnasium draws from the seed `seed + i`.
    """
    states = [env.task.initial_state(np_random(seed + i)[0]) for i in range(env.num_envs)]
    env.reset()
    obs = env.set_state(*(np.stack(parts) for parts in zip(*states, strict=True)))
    returns, running = torch.zeros(env.num_envs), torch.ones(env.num_envs, dtype=torch.bool)
    while running.any():
        obs, reward, terminated, truncated, _ = env.step(policy(obs))
        returns += reward * running
        running &= ~(terminated | truncated)
    return returns.numpy()


def gymnasium_returns(policy, task: str, episodes: int, seed: int, **arguments) -> np.ndarray:
    """The same in Gymnasium's environment, [episodes]."""
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
    if options.episodes < 2:
        raise UsageError(f"--episodes {options.episodes}: expected 2 or more, for a standard error")
    config = load_checkpoint(options.run_dir)["config"]
    policy, task = load_policy(options.run_dir), config["env"]
    arguments = {"xml_file": config["xml_file"]} if config["xml_file"] else {}
    theirs = gymnasium_returns(policy, task, options.episodes, options.seed, **arguments)
    env = BatchEnv(task, options.episodes, device="cpu", **arguments)
    ours = our_returns(policy, env, options.seed)
    row: dict[str, object] = {"env": task, "episodes": options.episodes}
    for name, returns in (("ours", ours), ("gymnasium", theirs)):
        mean, error = float(returns.mean()), float(returns.std(ddof=1) / np.sqrt(len(returns)))
        row |= {f"{name}_mean": mean, f"{name}_standard_error": error}
        place = "AceSim RL" if name == "ours" else "Gymnasium"
        print(f"{task} in {place}: return {mean:.1f} +- {error:.1f} (standard error, {len(returns)} episodes)")
    row["share"] = float(theirs.mean() / ours.mean()) if ours.mean() > 0 else None
    if row["share"] is not None:
        print(f"in Gymnasium {row['share']:.1%} of the return in AceSim RL")
    if counted := warnings_text(env.warnings):
        print(f"the engine's {counted}")
    if options.json:
        write_json(options.json, [row])


if __name__ == "__main__":
    try:
        torch.set_num_threads(1)
        main(tyro.cli(Options))
    except UsageError as error:
        sys.exit(f"transfer.py: error: {error}")
