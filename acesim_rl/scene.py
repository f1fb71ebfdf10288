"""Scenes: which robots are stepped together, and how many of each."""

from collections.abc import Iterable
from pathlib import Path

from acesim_rl.model import Model
from acesim_rl.robots import ROBOTS, asset_path, robot_name

__all__ = ["ROBOTS", "Scene", "asset_path", "robot_name"]


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
        text = str(robot)
        if text.lstrip().startswith("<"):
            return "model", Model.from_mjcf(robot)
        model = Model.from_mjcf(robot)
        is_file = text.endswith(".xml") or Path(text).is_file()
        return Path(text).stem if is_file else robot_name(text), model
