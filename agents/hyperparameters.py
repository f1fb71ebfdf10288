"""Where one set of hyperparameters does not serve every robot and device: the differences, in one table."""

import dataclasses
from typing import Any

from acesim_rl.agents.config import Config, PPOConfig

__all__ = ["default_config"]

# Options of the run and of PPO by device, then by robot on that device; later ones win.
_DEVICES: dict[str, dict[str, Any]] = {
    "cpu": {
        "num_envs": 128,
        "total_steps": 2_000_000,
        "horizon": 64,
        "minibatches": 8,
        "target_kl": 0.02,
        "activation": "relu",
    },
    "cuda": {
        "num_envs": 4096,
        "total_steps": 100_000_000,
        "horizon": 24,
        "hidden": (256, 128, 64),
    },
}
_ROBOTS: dict[tuple[str, str], dict[str, Any]] = {
    # An ant pays half a point a step for each squared unit of action: loud noise costs more than standing still earns.
    ("ant", "cpu"): {"initial_std": 0.25},
    ("ant", "cuda"): {"initial_std": 0.25},
    # A swimmer's stroke pays late: what an action is worth shows after hundreds of steps.
    ("swimmer", "cpu"): {
        "gamma": 0.999,
        "gae_lambda": 0.99,
        "num_envs": 64,
        "horizon": 256,
        "total_steps": 3_000_000,
    },
    ("swimmer", "cuda"): {"gamma": 0.999, "gae_lambda": 0.99, "num_envs": 1024, "horizon": 256, "minibatches": 16},
    # Arms that are done within a second or two: episodes of 50, 100 and 250 steps.
    ("reacher", "cpu"): {"gamma": 0.95, "horizon": 50, "total_steps": 1_000_000},
    ("reacher", "cuda"): {"gamma": 0.95, "total_steps": 50_000_000},
    ("pusher", "cpu"): {"gamma": 0.98, "horizon": 50},
    ("pusher", "cuda"): {"gamma": 0.98},
    ("grasp", "cpu"): {"gamma": 0.98, "total_steps": 3_000_000},
    ("grasp", "cuda"): {"gamma": 0.98},
    # Humanoids need wide networks, and pay little for loud noise.
    ("humanoid", "cpu"): {"hidden": (256, 128), "total_steps": 5_000_000},
    ("humanoid", "cuda"): {"hidden": (512, 256, 128), "total_steps": 300_000_000},
    ("humanoid_standup", "cpu"): {"hidden": (256, 128), "total_steps": 5_000_000},
    ("humanoid_standup", "cuda"): {"hidden": (512, 256, 128), "total_steps": 200_000_000},
    ("inverted_pendulum", "cpu"): {
        "num_envs": 32,
        "total_steps": 150_000,
        "horizon": 32,
        "minibatches": 4,
        "target_kl": 0.01,
        "hidden": (32, 32),
        "activation": "elu",
    },
}


def default_config(env: str, device: str) -> Config:
    """The configuration of a run where the command line says nothing else.

    Args:
        env: the canonical name of a robot.
        device: "cpu" or "cuda".
    """
    options = {"env": env, "device": device} | _DEVICES[device] | _ROBOTS.get((env, device), {})
    of_ppo = {f.name for f in dataclasses.fields(PPOConfig)}
    ppo = PPOConfig(**{name: options[name] for name in options.keys() & of_ppo})
    return Config(ppo=ppo, **{name: options[name] for name in options.keys() - of_ppo})
