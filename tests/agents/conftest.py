"""Fixtures of the agents' tests: a tiny environment in place of the simulator, and short runs on it."""

import dataclasses
import sys
from pathlib import Path

import pytest

from acesim_rl import envs
from acesim_rl.agents.config import Config, PPOConfig
from acesim_rl.agents.trainer import Trainer

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2]))  # train.py and play.py

from cartpole import CartPoleBatch

SMALL = Config(
    env="inverted_pendulum",
    num_envs=8,
    total_steps=8 * 16 * 6,
    ppo=PPOConfig(horizon=16, epochs=2, minibatches=2, hidden=(16,)),
)


@pytest.fixture
def trainer(tmp_path):
    """`trainer("name", checkpoint=None, **options)`: a Trainer of the small configuration on cart-poles."""

    def make(name: str = "run", checkpoint: dict | None = None, env_class=CartPoleBatch, **options) -> Trainer:
        config = dataclasses.replace(SMALL, **options)
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        run = Trainer(env_class("inverted_pendulum", config.num_envs, seed=config.seed), config, folder)
        if checkpoint:
            run.load_state_dict(checkpoint)
        return run

    return make


@pytest.fixture
def cartpoles(monkeypatch):
    """Let train.py and play.py find cart-poles where they look for robots."""

    def robot_name(name: str) -> str:
        if name.lower().replace("-", "_") not in ("ant", "inverted_pendulum"):
            raise ValueError(f"unknown robot {name!r}; known: ant, inverted_pendulum")
        return name.lower().replace("-", "_")

    monkeypatch.setitem(vars(envs), "BatchEnv", CartPoleBatch)
    monkeypatch.setitem(vars(envs), "robot_name", robot_name)
