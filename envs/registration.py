"""The tasks by name, and their ids in Gymnasium. Imports neither Warp nor torch."""

import importlib

import gymnasium

from acesim_rl.robots import ROBOTS, robot_name

__all__ = ["gymnasium_id", "register", "task_class", "tasks"]

_TIME_LIMITS = {"grasp": 250}
"""Steps of an episode of the tasks that are not Gymnasium's."""


def tasks() -> list[str]:
    """Names of the tasks: those of their robots."""
    return list(ROBOTS)


def task_class(name: str) -> type:
    """Class of a task by name, imported when asked for."""
    robot = robot_name(name)
    module = importlib.import_module(f"acesim_rl.envs.{robot}")
    return getattr(module, ROBOTS[robot][0].partition("-")[0])


def gymnasium_id(name: str) -> str:
    """The id for ``gymnasium.make`` of a task by name."""
    return f"acesim_rl/{ROBOTS[robot_name(name)][0]}"


def register() -> None:
    """Make ``gymnasium.make`` and ``gymnasium.make_vec`` know the ids ``acesim_rl/Ant-v5`` and so on."""
    for robot, (name, _) in ROBOTS.items():
        if f"acesim_rl/{name}" not in gymnasium.registry:
            original = gymnasium.registry.get(name)
            gymnasium.register(
                id=f"acesim_rl/{name}",
                entry_point="acesim_rl.envs.single:SingleEnv",
                vector_entry_point="acesim_rl.envs.vector:VectorEnv",
                max_episode_steps=original.max_episode_steps if original else _TIME_LIMITS[robot],
                reward_threshold=original.reward_threshold if original else None,
                kwargs={"task": robot},
            )
