"""The tasks by name, and their ids in Gymnasium. Imports neither Warp nor torch."""

import difflib
import importlib

import gymnasium

__all__ = ["canonical", "register", "task_class", "tasks"]

# Asset stem -> (Gymnasium name, home of the task class). All of them have Gymnasium's time limit of 1,000 steps.
_TASKS = {
    "ant": ("Ant-v5", "acesim_rl.envs.ant:Ant"),
    "half_cheetah": ("HalfCheetah-v5", "acesim_rl.envs.half_cheetah:HalfCheetah"),
    "hopper": ("Hopper-v5", "acesim_rl.envs.hopper:Hopper"),
    "walker2d": ("Walker2d-v5", "acesim_rl.envs.walker2d:Walker2d"),
    "inverted_pendulum": ("InvertedPendulum-v5", "acesim_rl.envs.inverted_pendulum:InvertedPendulum"),
    "inverted_double_pendulum": (
        "InvertedDoublePendulum-v5",
        "acesim_rl.envs.inverted_double_pendulum:InvertedDoublePendulum",
    ),
}


def tasks() -> list[str]:
    """Names of the tasks: the stems of their robots' files."""
    return list(_TASKS)


def canonical(name: str) -> str:
    """Asset stem of a task from any usual spelling: ``Ant-v5``, ``acesim_rl/Ant-v5``, ``half-cheetah``, ``HOPPER``."""

    def squash(text: str) -> str:
        text = text.lower().rpartition("/")[2].removesuffix(".xml").removesuffix("_v5").removesuffix("-v5")
        return text.replace("_", "").replace("-", "").replace(" ", "")

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


def register() -> None:
    """Make ``gymnasium.make`` and ``gymnasium.make_vec`` know the ids ``acesim_rl/Ant-v5`` and so on."""
    for stem, (name, _) in _TASKS.items():
        if f"acesim_rl/{name}" not in gymnasium.registry:
            gymnasium.register(
                id=f"acesim_rl/{name}",
                entry_point="acesim_rl.envs.single:SingleEnv",
                vector_entry_point="acesim_rl.envs.vector:VectorEnv",
                max_episode_steps=1000,
                kwargs={"task": stem},
            )
