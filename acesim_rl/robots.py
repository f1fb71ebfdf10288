"""The robots known by name: how a name may be spelled, and their files. Imports neither Warp nor torch."""

import difflib
import importlib
import re
from pathlib import Path

__all__ = ["ROBOTS", "asset_path", "robot_name"]

ROBOTS = {
    "ant": ("Ant-v5", "ant.xml"),
    "half_cheetah": ("HalfCheetah-v5", "half_cheetah.xml"),
    "hopper": ("Hopper-v5", "hopper.xml"),
    "walker2d": ("Walker2d-v5", "walker2d_v5.xml"),
    "humanoid": ("Humanoid-v5", "humanoid.xml"),
    "humanoid_standup": ("HumanoidStandup-v5", "humanoidstandup.xml"),
    "swimmer": ("Swimmer-v5", "swimmer.xml"),
    "reacher": ("Reacher-v5", "reacher.xml"),
    "pusher": ("Pusher-v5", "pusher_v5.xml"),
    "inverted_pendulum": ("InvertedPendulum-v5", "inverted_pendulum.xml"),
    "inverted_double_pendulum": ("InvertedDoublePendulum-v5", "inverted_double_pendulum.xml"),
    "grasp": ("Grasp-v0", "grasp.xml"),
}
"""Name: the id of its environment, and its file, one of Gymnasium's as they are, or our own in `envs/assets`."""


def robot_name(text: str) -> str:
    """The name in ROBOTS that is meant: case, dashes, underscores and spaces are forgiven (`Half-Cheetah`), and the
    environment's id (`Ant-v5`, `acesim_rl/Ant-v5`) and the file (`ant.xml`) stand for the robot."""

    def squash(spelling: str) -> str:
        return re.sub(r"[-_ ]", "", spelling.lower())

    meant = {squash(spelling): (name, spelling) for name, other in ROBOTS.items() for spelling in (name, *other)}
    key = squash(text.strip().removeprefix("acesim_rl/"))
    if key not in meant:
        close = difflib.get_close_matches(key, meant, n=1)
        hint = f" (did you mean {meant[close[0]][1]!r}?)" if close else ""
        raise ValueError(f"no robot named {text!r}{hint}; known: {', '.join(ROBOTS)}")
    return meant[key][0]


def asset_path(text: str) -> Path:
    """The file of a robot known by name."""
    file = ROBOTS[robot_name(text)][1]
    own = Path(importlib.import_module("acesim_rl.envs").__file__ or "").parent / "assets" / file
    home = Path(importlib.import_module("gymnasium").__file__ or "").parent
    return own if own.is_file() else home / "envs" / "mujoco" / "assets" / file
