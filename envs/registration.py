"""The tasks by name, and their ids in Gymnasium. Imports neither Warp nor torch."""

import difflib
import importlib
import re

import gymnasium

__all__ = ["canonical", "gymnasium_id", "register", "task_class", "tasks"]

# Task -> (id, home of the task class, time limit [steps]). Ids that end in v5 have Gymnasium's own time limits.
_TASKS = {
    "ant": ("Ant-v5", "acesim_rl.envs.ant:Ant", 1000),
    "half_cheetah": ("HalfCheetah-v5", "acesim_rl.envs.half_cheetah:HalfCheetah", 1000),
    "hopper": ("Hopper-v5", "acesim_rl.envs.hopper:Hopper", 1000),
    "walker2d": ("Walker2d-v5", "acesim_rl.envs.walker2d:Walker2d", 1000),
    "reacher": ("Reacher-v5", "acesim_rl.envs.reacher:Reacher", 50),
    "humanoid": ("Humanoid-v5", "acesim_rl.envs.humanoid:Humanoid", 1000),
    "humanoid_standup": ("HumanoidStandup-v5", "acesim_rl.envs.humanoid_standup:HumanoidStandup", 1000),
    "swimmer": ("Swimmer-v5", "acesim_rl.envs.swimmer:Swimmer", 1000),
    "pusher": ("Pusher-v5", "acesim_rl.envs.pusher:Pusher", 100),
    "inverted_pendulum": ("InvertedPendulum-v5", "acesim_rl.envs.inverted_pendulum:InvertedPendulum", 1000),
    "inverted_double_pendulum": (
        "InvertedDoublePendulum-v5",
        "acesim_rl.envs.inverted_double_pendulum:InvertedDoublePendulum",
        1000,
    ),
    "grasp": ("Grasp-v0", "acesim_rl.envs.grasp:Grasp", 250),
}


def tasks() -> list[str]:
    """Names of the tasks: the stems of their robots' files."""
    return list(_TASKS)


def canonical(name: str) -> str:
    """Asset stem of a task from any usual spelling: ``Ant-v5``, ``acesim_rl/Ant-v5``, ``half-cheetah``, ``HOPPER``."""

    def squash(text: str) -> str:
        text = re.sub(r"[-_ ]?v\d+$", "", text.lower().rpartition("/")[2].removesuffix(".xml"))
        return re.sub(r"[-_ ]", "", text)

    known = {squash(stem): stem for stem in _TASKS}
    key = squash(name)
    if key not in known:
        close = difflib.get_close_matches(key, known, n=1)
        hint = f" (did you mean {known[close[0]]!r}?)" if close else ""
        raise ValueError(f"no environment named {name!r}{hint}; known: {', '.join(_TASKS)}")
    return known[key]


def task_class(name: str) -> type:
    """Class of a task by name, imported when asked for."""
    module, _, attribute = _TASKS[canonical(name)][1].partition(":")
    return getattr(importlib.import_module(module), attribute)


def gymnasium_id(name: str) -> str:
    """The id for ``gymnasium.make`` of a task by name."""
    return f"acesim_rl/{_TASKS[canonical(name)][0]}"


def register() -> None:
    """Make ``gymnasium.make`` and ``gymnasium.make_vec`` know the ids ``acesim_rl/Ant-v5`` and so on."""
    for stem, (name, _, limit) in _TASKS.items():
        if f"acesim_rl/{name}" not in gymnasium.registry:
            gymnasium.register(
                id=f"acesim_rl/{name}",
                entry_point="acesim_rl.envs.single:SingleEnv",
                vector_entry_point="acesim_rl.envs.vector:VectorEnv",
                max_episode_steps=limit,
                kwargs={"task": stem},
            )
