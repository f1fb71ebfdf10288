"""MuJoCo's features, ours and mujoco_warp's: `python benchmarks/features.py` writes docs/features.md."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import mujoco
import numpy as np
import tyro
import warp as wp

from acesim_rl import Model, Simulation
from feature_models import SIMULATED, Feature
from parity import half_digit, moved
from refused_models import REFUSED

__all__ = ["FEATURES", "mujoco_fields", "our_fields", "trajectory", "worst_error"]

FEATURES = (*SIMULATED, *REFUSED)
STEPS = 100
MOVES = 4
"""Random moves of all numbers by up to half of a float32's last digit."""
STATE = ("qpos", "qvel", "act", "ctrl", "qacc_warmstart", "mocap_pos", "mocap_quat", "time")
States = dict[str, np.ndarray]
"""The parts of STATE, [steps, ...] in float32."""
Fields = dict[str, np.ndarray]
"""Of each state: `qacc`, `sensordata`; `counts`: contacts, rows; `qpos`, `qvel`, `act` after a step."""


INTRODUCTION = """# Features

MuJoCo's features, one small model each, written by `python benchmarks/features.py` ({versions}).

A number is the largest difference from MuJoCo in float64, relative to the largest value of the field. MuJoCo passes
through {steps} states, and each is given to both for one step. Compared are `qacc`, `sensordata`, and `qpos`, `qvel`,
`act` after the step; in the chapter on sensors, `sensordata`. The numbers of contacts and constraint rows are MuJoCo's
in all states unless the table says otherwise. *float32 alone* is MuJoCo itself, all numbers of its model and state
moved by up to half of a float32's last digit, the worst of {moves} such moves.

*refused* is what the program says when it reads the model; *accepted*, that mujoco_warp reads it, where a step depends
on more than the state (callbacks, delays, yielding springs). mujoco_warp ran on the CPU, with two forward passes in
each state: connects and welds take derivatives from the pass before.

`benchmarks/feature_models.py` and `benchmarks/refused_models.py` have the models, and
`tests/engine/test_feature_models.py` holds us to them. No model can say what is given at run time: forces on joints and
bodies (`qfrc_applied`, `xfrc_applied`), constraints turned on and off (`eq_active`) and callbacks are not there.
"""


@dataclass
class Options:
    """Compare features with MuJoCo's and mujoco_warp's."""

    out: Path = Path(__file__).parent.parent / "docs" / "features.md"
    """The page to write."""


def trajectory(mj: mujoco.MjModel, spread: float, speed: float, steps: int = STEPS) -> States:
    """States that MuJoCo passes through under random controls, rounded to float32 before each step."""
    rng = np.random.default_rng(0)
    low, high = np.where(mj.actuator_ctrllimited, mj.actuator_ctrlrange.T, np.array([[-1.0], [1.0]]))
    data = mujoco.MjData(mj)
    mujoco.mj_integratePos(mj, data.qpos, rng.uniform(-spread, spread, mj.nv), 1.0)
    data.qvel[:] = speed * rng.normal(size=mj.nv)
    data.act[:] = rng.normal(size=mj.na)
    found = []
    for step in range(steps):
        if step % 10 == 0:
            data.ctrl[:] = 1.3 * rng.uniform(low, high)
            data.mocap_pos[:] += 0.2 * spread * rng.normal(size=(mj.nmocap, 3))
            data.mocap_quat[:] += 0.2 * spread * rng.normal(size=(mj.nmocap, 4))
        found.append({name: np.array(getattr(data, name), np.float32) for name in STATE})
        load(data, found[-1])
        mujoco.mj_step(mj, data)
    return {name: np.array([state[name] for state in found]) for name in STATE}


def load(data: mujoco.MjData, state: dict[str, np.ndarray]) -> None:
    """Put one state into MuJoCo."""
    for name, values in state.items():
        if name == "time":
            data.time = float(values)
        else:
            getattr(data, name)[...] = values


def mujoco_fields(mj: mujoco.MjModel, states: States) -> Fields:
    """MuJoCo's, in float64."""
    data = mujoco.MjData(mj)
    rows = []
    for k in range(len(states["time"])):
        state = {name: values[k] for name, values in states.items()}
        load(data, state)
        mujoco.mj_forward(mj, data)
        row = {name: getattr(data, name).copy() for name in ("qacc", "sensordata")}
        row["counts"] = np.array([data.ncon, data.nefc])
        load(data, state)  # the forward pass leaves another warm start
        mujoco.mj_step(mj, data)
        rows.append(row | {name: getattr(data, name).copy() for name in ("qpos", "qvel", "act")})
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def our_fields(model: Model, states: States) -> Fields:
    """Ours, a world a state."""
    sensors = model.mj.nsensor > 0
    simulation = Simulation(model, len(states["time"]), device="cpu", scheduler="serial", sensors=sensors)
    state = simulation.groups[0].state

    def start() -> None:
        for name, values in states.items():
            state.set("qacc" if name == "qacc_warmstart" else name, values[:, None] if name == "time" else values)

    start()
    simulation.forward()
    fields = {name: state.get(name) for name in ("qacc", "sensordata")}
    fields["counts"] = np.hstack([state.get("ncon"), state.get("nefc")])
    start()
    simulation.step()
    return fields | {name: state.get(name) for name in ("qpos", "qvel", "act")}


def warp_model(mj: mujoco.MjModel):
    """mujoco_warp's model."""
    import mujoco_warp

    with wp.ScopedDevice("cpu"):
        return mujoco_warp.put_model(mj)


def warp_fields(mj: mujoco.MjModel, states: States) -> Fields:
    """mujoco_warp's, a world a state."""
    import mujoco_warp  # who only tests our own features needs none

    model = warp_model(mj)
    with wp.ScopedDevice("cpu"):
        data = mujoco_warp.make_data(mj, nworld=len(states["time"]), nconmax=32, njmax=128)

        def start() -> None:
            for name, values in states.items():
                array = getattr(data, name)
                if values.size:
                    array.assign(np.ascontiguousarray(values.reshape(array.numpy().shape)))

        for _ in range(2):  # the first takes derivatives of constraints' Jacobians from the pass before
            start()
            mujoco_warp.forward(model, data)
        fields = {name: getattr(data, name).numpy().copy() for name in ("qacc", "sensordata")}
        start()
        mujoco_warp.step(model, data)
        return fields | {name: getattr(data, name).numpy().copy() for name in ("qpos", "qvel", "act")}


def worst_error(feature: Feature, found: Fields, exact: Fields) -> float:
    """The largest difference of a field over its largest value along the trajectory; of sensors, theirs alone."""
    names = ("sensordata",) if feature.chapter == "Sensors" else ("qacc", "sensordata", "qpos", "qvel", "act")
    differences = [np.abs(found[name] - exact[name]).max(initial=0.0) for name in names]
    largest = [max(np.abs(exact[name]).max(initial=0.0), 1e-6) for name in names]
    return float(np.divide(differences, largest).max())


def float32_error(feature: Feature, mj: mujoco.MjModel, states: States, exact: Fields) -> float:
    """The same of MuJoCo itself, all numbers moved by up to half of a float32's last digit: the worst of MOVES."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(MOVES):
        near = {name: half_digit(values.astype(float), rng) for name, values in states.items()}
        found.append(worst_error(feature, mujoco_fields(moved(mj, rng), near), exact))
    return max(found)


def warp_row(feature: Feature, mj: mujoco.MjModel) -> str:
    """mujoco_warp's error; of models whose step depends on more than their state, whether it accepts them."""
    if not mj.nv or mj.nhistory or mj.nplastic or "user" in feature.name:
        warp_model(mj)
        return "accepted"
    states = trajectory(mj, feature.spread, feature.speed)
    return f"{worst_error(feature, warp_fields(mj, states), mujoco_fields(mj, states)):.0e}"


def row(feature: Feature) -> tuple[str, str, str]:
    """What the table says of a feature: ours, float32's, mujoco_warp's."""
    if feature.refused:
        ours = outcome(lambda: Simulation(feature.xml, 1, device="cpu", sensors=True))
        return ours, "", outcome(lambda: warp_row(feature, mujoco.MjModel.from_xml_string(feature.xml)))
    model = Model.from_mjcf(feature.xml)
    states = trajectory(model.mj, feature.spread, feature.speed)
    exact = mujoco_fields(model.mj, states)
    ours = our_fields(model, states)
    differ = int((ours["counts"] != exact["counts"]).any(axis=1).sum())
    error = worst_error(feature, ours, exact)
    text = f"{error:.0e}" + (f", other contacts or rows in {differ} states" if differ else "")
    text += f" ({feature.note})" if feature.note else ""
    float32 = float32_error(feature, model.mj, states, exact)
    return text, f"{float32:.0e}", outcome(lambda: warp_row(feature, model.mj))


def outcome(attempt: Callable[[], object]) -> str:
    """What comes of an attempt, in one cell: a text, or the refusal without the name of the model."""
    try:
        return str(attempt())
    except (ValueError, NotImplementedError, RuntimeError) as error:
        words = " ".join(str(error).split()).removeprefix("XML string: ").partition("; supported: ")[0]
        return f"{'fails' if type(error) is RuntimeError else 'refused'}: {words}"


def document() -> str:
    """The page, with a table for each chapter."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("mujoco", "mujoco-warp", "warp-lang"))
    parts = [INTRODUCTION.format(versions=versions, steps=STEPS, moves=MOVES)]
    for chapter in dict.fromkeys(feature.chapter for feature in FEATURES):
        parts += [
            f"\n## {chapter}\n\n| feature | AceSim RL | float32 alone | mujoco_warp |\n| --- | --- | --- | --- |\n"
        ]
        for feature in (feature for feature in FEATURES if feature.chapter == chapter):
            parts.append(f"| {' | '.join((feature.name, *row(feature)))} |\n")
    return "".join(parts)


def main(options: Options) -> None:
    text = document()
    scratch = options.out.with_suffix(".tmp")
    scratch.write_text(text)
    os.replace(scratch, options.out)
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main(tyro.cli(Options))
