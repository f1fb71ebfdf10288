"""Scenes: which robots are stepped together, and how many of each."""

import importlib
import re
from collections.abc import Iterable
from pathlib import Path

from acesim_rl.model import Model

__all__ = ["ROBOTS", "Scene", "asset_path", "robot_name"]

ROBOTS = {
    "ant": "ant.xml",
    "half_cheetah": "half_cheetah.xml",
    "hopper": "hopper.xml",
    "walker2d": "walker2d_v5.xml",
    "humanoid": "humanoid.xml",
    "humanoid_standup": "humanoidstandup.xml",
    "swimmer": "swimmer.xml",
    "reacher": "reacher.xml",
    "pusher": "pusher_v5.xml",
    "inverted_pendulum": "inverted_pendulum.xml",
    "inverted_double_pendulum": "inverted_double_pendulum.xml",
    "grasp": "grasp.xml",
}
"""Robots known by name: Gymnasium's files, as they are, and our own in `envs/assets`."""


def robot_name(name: str) -> str | None:
    """The name in ROBOTS that is meant: case, dashes, underscores and Gymnasium's ids (`Ant-v5`) are forgiven."""
    bare = re.sub(r"^acesim_rl/|[-_ ]?v\d+$", "", name.strip(), flags=re.IGNORECASE)
    squeezed = re.sub(r"[-_ ]", "", bare).lower()
    return next((robot for robot in ROBOTS if robot.replace("_", "") == squeezed), None)


def asset_path(name: str) -> Path:
    """The file of a robot known by name."""
    robot = robot_name(name)
    if robot is None:
        raise ValueError(f"unknown robot '{name}'; known: {', '.join(ROBOTS)}, or give the path of an MJCF file")
    own = Path(importlib.import_module("acesim_rl.envs").__file__ or "").parent / "assets" / ROBOTS[robot]
    home = Path(importlib.import_module("gymnasium").__file__ or "").parent
    return own if own.is_file() else home / "envs" / "mujoco" / "assets" / ROBOTS[robot]


class Scene:
    """Groups of worlds that are stepped together: `Scene([("ant", 1024), ("hopper", 512)])`.

    Args:
        groups: pairs of a robot (name, MJCF path, XML string or `Model`) and a number of worlds.
    """

    def __init__(self, groups: Iterable[tuple[str | Path | Model, int]]):
        self.groups: list[tuple[str, Model, int]] = []
        for robot, nworld in groups:
            if nworld != int(nworld) or nworld < 1:
                raise ValueError(f"{robot}: a group needs a whole number of worlds, at least 1, got {nworld}")
            name, model = self._find(robot)
            self.groups.append((name, model, int(nworld)))
        if not self.groups:
            raise ValueError("a scene needs at least one group: [(robot, number of worlds), ...]")

    @staticmethod
    def _find(robot: str | Path | Model) -> tuple[str, Model]:
        if isinstance(robot, Model):
            return robot.name, robot
        known = robot_name(str(robot)) if len(str(robot)) < 100 else None
        if known:
            return known, Model.from_mjcf(asset_path(known))
        text = str(robot)
        if not text.lstrip().startswith("<") and not text.endswith(".xml"):
            asset_path(text)  # says which names there are
        model = Model.from_mjcf(robot)
        return Path(model.name).stem if text.endswith(".xml") else "model", model
