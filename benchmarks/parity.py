"""Our numbers against the installed MuJoCo's, robot by robot and field by field: `python benchmarks/parity.py`.

Forward pass: states that random actions reach, rounded to float32, given to both; the error of a field in a state is the
largest absolute difference over the largest absolute value. Rollout: how far 50 steps drift from MuJoCo's, against how
far MuJoCo drifts from itself when its start is rounded to float32.
"""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
import tyro

from acesim_rl import Simulation
from acesim_rl.scene import ROBOTS
from report import print_table, write_json
from states import States, reached_states

__all__ = ["FIELDS", "drift", "forward_errors"]

FIELDS = ("xpos", "M", "qfrc_bias", "qacc", "cfrc_ext", "contact_dist")


@dataclass
class Options:
    """Compare with MuJoCo."""

    env: str = ",".join(ROBOTS)
    """Robots, separated by commas."""
    states: int = 200
    """States of each robot."""
    runs: int = 20
    """Rollouts of each robot."""
    device: str | None = None
    """cpu or cuda; by default the GPU where there is one."""
    json: Path | None = None
    """Write the results to this file."""


def mujoco_forward(mj: mujoco.MjModel, data: mujoco.MjData, states: States, index: int) -> None:
    """MuJoCo's forward pass in one of the states, and the forces on bodies."""
    mujoco.mj_resetData(mj, data)
    data.qpos[:], data.qvel[:], data.ctrl[:] = states.qpos[index], states.qvel[index], states.ctrl[index]
    mujoco.mj_forward(mj, data)
    mujoco.mj_rnePostConstraint(mj, data)


def relative_error(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Largest absolute difference over the largest absolute reference value."""
    difference = float(np.abs(ours - theirs).max(initial=0.0))
    largest = float(np.abs(theirs).max(initial=0.0))
    return difference / largest if largest > 0 else difference


def forward_errors(robot: str, states: States, device: str | None = None) -> dict[str, np.ndarray]:
    """Relative error of each field in each state; raises AssertionError where the contacts are not the same ones."""
    simulation = Simulation(robot, len(states), device=device, scheduler="serial")
    group = simulation.groups[0]
    mj = group.model.mj
    for field in ("qpos", "qvel", "ctrl"):
        group.state.set(field, getattr(states, field))
    simulation.forward()
    simulation.run("forces", group.emit_rne_post_constraint)
    ours = {field: group.state.get(field) for field in FIELDS}
    ncon, nefc = group.state.get("ncon")[:, 0], group.state.get("nefc")[:, 0]
    data = mujoco.MjData(mj)
    errors = defaultdict(list)
    for index in range(len(states)):
        mujoco_forward(mj, data, states, index)
        assert ncon[index] == data.ncon, f"{robot}, state {index}: {ncon[index]} contacts, MuJoCo has {data.ncon}"
        assert nefc[index] == data.nefc, f"{robot}, state {index}: {nefc[index]} rows, MuJoCo has {data.nefc}"
        full = np.zeros((mj.nv, mj.nv))
        mujoco.mj_fullM(mj, data, full)
        theirs = {field: getattr(data, field) for field in ("xpos", "qfrc_bias", "qacc", "cfrc_ext")} | {"M": full}
        for field, value in theirs.items():
            errors[field].append(relative_error(ours[field][index], value))
        # our slots are in the order of pairs, MuJoCo's contacts too but with pairs in another order
        nearest = np.sort(ours["contact_dist"][index])[: data.ncon]
        size = max(mj.stat.extent, 1e-9)
        errors["contact_dist"].append(float(np.abs(nearest - np.sort(data.contact.dist)).max(initial=0.0)) / size)
    return {field: np.array(errors[field]) for field in FIELDS}


def drift(robot: str, runs: int, steps: int = 50, device: str | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Distance in qpos from float64 MuJoCo after so many steps: ours, and MuJoCo's from a rounded start; [runs] each."""
    simulation = Simulation(robot, runs, device=device, scheduler="serial")
    group = simulation.groups[0]
    mj = group.model.mj
    rng = np.random.default_rng(1)
    controls = rng.uniform(*mj.actuator_ctrlrange.T, (steps, runs, mj.nu)).astype(np.float32)
    exact, rounded = [], []
    for run in range(runs):
        data = mujoco.MjData(mj)
        mujoco.mj_integratePos(mj, data.qpos, rng.uniform(-0.1, 0.1, mj.nv), 1.0)
        data.qvel[:] = rng.normal(0.0, 0.1, mj.nv)
        twin = mujoco.MjData(mj)
        twin.qpos[:], twin.qvel[:] = np.float32(data.qpos), np.float32(data.qvel)
        group.state.set("qpos", np.float32(data.qpos), [run])
        group.state.set("qvel", np.float32(data.qvel), [run])
        for step in range(steps):
            data.ctrl[:] = twin.ctrl[:] = controls[step, run]
            mujoco.mj_step(mj, data)
            mujoco.mj_step(mj, twin)
        exact.append(data.qpos.copy())
        rounded.append(twin.qpos.copy())
    for step in range(steps):
        group.state.set("ctrl", controls[step])
        simulation.step()
    ours = np.abs(group.state.get("qpos") - exact).max(axis=1)
    return ours, np.abs(np.array(rounded) - exact).max(axis=1)


def main(options: Options) -> None:
    rows = []
    for robot in options.env.split(","):
        mj = Simulation(robot, 1, device=options.device, scheduler="serial").groups[0].model.mj
        for field, errors in forward_errors(robot, reached_states(mj, options.states), options.device).items():
            rows.append({"robot": robot, "field": field, "median": float(np.median(errors)), "worst": errors.max()})
        ours, rounded = drift(robot, options.runs, device=options.device)
        for name, errors in (("50 steps, qpos", ours), ("50 steps, qpos, MuJoCo rounded", rounded)):
            rows.append({"robot": robot, "field": name, "median": float(np.median(errors)), "worst": errors.max()})
    rows = [row | {"worst": float(row["worst"])} for row in rows]
    print_table("relative error against MuJoCo (rollouts: absolute)", rows)
    if options.json:
        write_json(options.json, rows)


if __name__ == "__main__":
    main(tyro.cli(Options))
