"""Gymnasium environments on the engine: one world, many worlds, or torch tensors without copies."""

import importlib

__all__ = ["BatchEnv", "SingleEnv", "Task", "TaskData", "VectorEnv", "gymnasium_id", "robot_name", "tasks"]

_homes = {
    "BatchEnv": "acesim_rl.envs.batch",
    "SingleEnv": "acesim_rl.envs.single",
    "Task": "acesim_rl.envs.base",
    "TaskData": "acesim_rl.envs.base",
    "VectorEnv": "acesim_rl.envs.vector",
    "robot_name": "acesim_rl.robots",
    "gymnasium_id": "acesim_rl.envs.registration",
    "tasks": "acesim_rl.envs.registration",
}


def __getattr__(name: str):
    """Import a class, and Warp and torch with it, only when somebody asks for it."""
    if name in _homes:
        return getattr(importlib.import_module(_homes[name]), name)
    raise AttributeError(f"module 'acesim_rl.envs' has no attribute {name!r}")
