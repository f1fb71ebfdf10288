"""Our numbers against the installed MuJoCo's, robot by robot and field by field: `python benchmarks/parity.py`.

Forward pass: states that random actions reach, rounded to float32, given to both; the error of a field in a state is
the largest absolute difference over the largest absolute value. Rollouts: how far qpos is from MuJoCo's after 50 steps,
and how many of them it stays within 1e-3; against MuJoCo itself with its state rounded to float32.
"""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
import tyro
import warp as wp

from acesim_rl import Simulation
from acesim_rl.scene import ROBOTS
from report import machine, print_table, write_json
from states import States, reached_states

__all__ = ["DRIFTS", "FIELDS", "drift", "forward_errors", "steps_within"]

DRIFTS = ("ours", "MuJoCo rounded at the start", "MuJoCo rounded every step")
"""What is compared with float64 MuJoCo: us, and itself with its state rounded to float32."""
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


def drift(robot: str, runs: int, steps: int = 50, device: str | None = None) -> dict[str, np.ndarray]:
    """Distance in qpos from float64 MuJoCo, [steps, runs], for each of DRIFTS.

    Rollouts begin where random actions led, with contacts, and go on with random actions.
    """
    simulation = Simulation(robot, runs, device=device, scheduler="serial")
    group = simulation.groups[0]
    mj = group.model.mj
    rng = np.random.default_rng(1)
    controls = rng.uniform(*mj.actuator_ctrlrange.T, (steps, runs, mj.nu)).astype(np.float32)
    exact = np.empty((steps, runs, mj.nq))
    reached = {name: np.empty_like(exact) for name in DRIFTS}
    for run in range(runs):
        data = mujoco.MjData(mj)
        data.qvel[:] = rng.normal(0.0, 0.1, mj.nv)
        for _ in range(rng.integers(40, 100)):
            data.ctrl[:] = rng.uniform(*mj.actuator_ctrlrange.T)
            mujoco.mj_step(mj, data)
        group.state.set("qpos", np.float32(data.qpos), [run])
        group.state.set("qvel", np.float32(data.qvel), [run])
        twins = {name: mujoco.MjData(mj) for name in DRIFTS[1:]}
        for twin in twins.values():
            twin.qpos[:], twin.qvel[:] = np.float32(data.qpos), np.float32(data.qvel)
        for step in range(steps):
            for one in (data, *twins.values()):
                one.ctrl[:] = controls[step, run]
                mujoco.mj_step(mj, one)
            exact[step, run] = data.qpos
            for name, twin in twins.items():
                reached[name][step, run] = twin.qpos
            always = twins["MuJoCo rounded every step"]
            always.qpos[:], always.qvel[:] = np.float32(always.qpos), np.float32(always.qvel)
    for step in range(steps):
        group.state.set("ctrl", controls[step])
        simulation.step()
        reached["ours"][step] = group.state.get("qpos")
    return {name: np.abs(values - exact).max(axis=2) for name, values in reached.items()}


def steps_within(distance: np.ndarray, bound: float = 1e-3) -> np.ndarray:
    """Steps that each run stays within a bound of the other, from their distances [steps, runs]."""
    left = distance > bound
    return np.where(left.any(axis=0), left.argmax(axis=0), len(distance))


def main(options: Options) -> None:
    rows = []
    for robot in options.env.split(","):
        mj = Simulation(robot, 1, device=options.device, scheduler="serial").groups[0].model.mj
        for field, errors in forward_errors(robot, reached_states(mj, options.states), options.device).items():
            rows.append({"robot": robot, "field": field, "median": float(np.median(errors)), "worst": errors.max()})
        for name, distance in drift(robot, options.runs, device=options.device).items():
            for field, values, worst in (
                (f"qpos after 50 steps, {name}", distance[-1], np.max),
                (f"steps within 1e-3, {name}", steps_within(distance), np.min),
            ):
                rows.append({"robot": robot, "field": field, "median": np.median(values), "worst": worst(values)})
    rows = [row | {name: float(row[name]) for name in ("median", "worst")} for row in rows]
    print_table("relative error against MuJoCo (rollouts: absolute)", rows)
    if options.json:
        write_json(options.json, [row | machine(wp.get_device(options.device)) for row in rows])


if __name__ == "__main__":
    main(tyro.cli(Options))
