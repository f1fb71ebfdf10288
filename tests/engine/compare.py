"""Our step against MuJoCo's, state by state along trajectories of MuJoCo's own."""

from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np

from acesim_rl import Model, Simulation
from acesim_rl.simulation import Group

__all__ = ["SMOOTH", "STATE", "Reference", "assert_matches", "errors", "reference", "simulate", "step_both"]

SMOOTH = (
    "xpos", "xquat", "xipos", "geom_xpos", "xanchor", "xaxis", "cdof", "cvel", "M", "qfrc_bias", "qfrc_passive",
    "actuator_force", "qfrc_actuator", "qfrc_smooth",
)  # fmt: skip
"""Fields of the forward pass that contacts and limits have no part in."""
EXTRA = ("ten_length", "ten_velocity", "actuator_length", "actuator_velocity", "act_dot")
"""Smooth fields of tendons and actuators of any kind, for tests that ask for them."""
STATE = ("qpos", "qvel", "ctrl", "act", "mocap_pos", "mocap_quat", "qacc_warmstart")
CONSTRAINED = ("qfrc_constraint", "qacc", "cfrc_ext", "next qpos", "next qvel")
FORWARD = (*SMOOTH, "qfrc_constraint", "qacc", "cfrc_ext")


@dataclass
class Reference:
    """States [n, ...] in float32, and what MuJoCo makes of them in float64."""

    qpos: np.ndarray
    qvel: np.ndarray
    ctrl: np.ndarray
    act: np.ndarray
    mocap_pos: np.ndarray
    mocap_quat: np.ndarray
    qacc_warmstart: np.ndarray
    """Where the solver begins: what PGS ends with depends on it."""
    fields: dict[str, np.ndarray]
    """FORWARD fields, `next qpos`, `next qvel`; [n, ...]."""
    counts: np.ndarray
    """Contacts and constraint rows, [n, 2]."""


def reference(mj: mujoco.MjModel, *, runs: int, steps: int, spread: float, speed: float, seed: int = 0) -> Reference:
    """States of a few runs from random starts, under random controls that also go beyond their ranges."""
    rng = np.random.default_rng(seed)
    low, high = np.where(mj.actuator_ctrllimited, mj.actuator_ctrlrange.T, np.array([[-1.0], [1.0]]))
    data = mujoco.MjData(mj)
    rows = []
    for _ in range(runs):
        mujoco.mj_resetData(mj, data)
        mujoco.mj_integratePos(mj, data.qpos, rng.uniform(-spread, spread, mj.nv), 1.0)
        data.qvel[:] = speed * rng.normal(size=mj.nv)
        if mj.na:
            data.act[:] = rng.normal(size=mj.na)
        if mj.nmocap:
            data.mocap_pos[:] += spread * rng.normal(size=(mj.nmocap, 3))
            data.mocap_quat[:] = rng.normal(size=(mj.nmocap, 4))
        for _ in range(steps):
            data.ctrl[:] = 1.3 * rng.uniform(low, high)
            for values in (getattr(data, key) for key in STATE):
                values[:] = values.astype(np.float32)
            rows.append(step_both(mj, data))
    columns = {key: np.array([row[key] for row in rows]) for key in rows[0]}
    state = [columns.pop(key).astype(np.float32) for key in STATE]
    return Reference(*state, counts=columns.pop("counts"), fields=columns)


def step_both(mj: mujoco.MjModel, data: mujoco.MjData) -> dict[str, np.ndarray]:
    """The state of `data`, MuJoCo's forward pass in it, and the next state, where `data` is left."""
    state = {key: getattr(data, key).copy() for key in STATE}
    mujoco.mj_forward(mj, data)
    mujoco.mj_rnePostConstraint(mj, data)
    full = np.zeros((mj.nv, mj.nv))
    mujoco.mj_fullM(mj, data, full)
    found = {key: getattr(data, key).copy() for key in (*FORWARD, *EXTRA) if key != "M"}
    counts = np.array([data.ncon, data.nefc])
    mujoco.mj_step(mj, data)
    return {
        **state, **found, "M": full, "counts": counts,
        **{f"next {key}": getattr(data, key).copy() for key in ("qpos", "qvel", "act")},
    }  # fmt: skip


def simulate(
    model: Model, parts: list[Reference], device: str = "cpu", change: Callable[[Group], None] | None = None
) -> tuple[list[dict[str, np.ndarray]], list[np.ndarray]]:
    """Our fields and counts in the states of each part, one world a state; `change` is done to the group at first."""
    sizes = [len(part.qpos) for part in parts]
    simulation = Simulation(model, sum(sizes), device=device, scheduler="serial")
    group = simulation.groups[0]
    if change:
        change(group)
    for key in STATE:
        group.state.set(key.removesuffix("_warmstart"), np.concatenate([getattr(part, key) for part in parts]))
    simulation.forward()
    simulation.run("forces", group.emit_rne_post_constraint)
    general = model.has_actuation and not model.only_motors
    extra = [*EXTRA[:2]] * model.uses_tendons + [*EXTRA[2:]] * general  # else nobody computes them
    ours = {key: group.state.get(key) for key in (*FORWARD, *extra)}
    counts = np.hstack([group.state.get("ncon"), group.state.get("nefc")])
    group.state.set("qacc", np.concatenate([part.qacc_warmstart for part in parts]))
    simulation.step()
    ours |= {f"next {key}": group.state.get(key) for key in ("qpos", "qvel", "act")}
    cuts = np.cumsum(sizes)[:-1]
    split = {key: np.split(values, cuts) for key, values in ours.items()}
    return [{key: split[key][k] for key in split} for k in range(len(parts))], np.split(counts, cuts)


def errors(ours: dict[str, np.ndarray], theirs: Reference) -> dict[str, np.ndarray]:
    """For each field and state: largest difference over the field's largest value in all states."""
    found = {}
    for key, value in ((key, theirs.fields[key]) for key in ours if key in theirs.fields):
        difference = np.abs(ours[key] - value).reshape(len(value), -1).max(axis=1, initial=0.0)
        found[key] = difference / max(np.abs(value).max(initial=0.0), 1e-6)
    return found


def assert_matches(
    source: str | Model,
    *,
    runs: int = 8,
    steps: int = 5,
    spread: float = 0.1,
    speed: float = 1.0,
    smooth: float = 3e-6,
    constrained: float = 1e-4,
    contacts: bool | None = None,
    rows: bool | None = None,
    seed: int = 0,
) -> Reference:
    """Compare a model with MuJoCo over `runs` times `steps` states.

    Args:
        spread: how far the starts lie from the initial state [m or rad].
        speed: standard deviation of the starting velocities [m/s or rad/s].
        smooth: largest relative error of the SMOOTH fields.
        constrained: largest relative error of the fields that contacts and limits act on.
        contacts, rows: whether the states must have contacts, or constraint rows, for the test to mean anything.
    """
    model = source if isinstance(source, Model) else Model.from_mjcf(source)
    theirs = reference(model.mj, runs=runs, steps=steps, spread=spread, speed=speed, seed=seed)
    (ours,), (counts,) = simulate(model, [theirs])
    wrong = np.flatnonzero((counts != theirs.counts).any(axis=1))
    assert not len(wrong), (
        f"state {wrong[0]}: {counts[wrong[0]]} contacts and rows, MuJoCo has {theirs.counts[wrong[0]]} "
        f"({len(wrong)} of {len(counts)} states differ)"
    )
    for key, error in errors(ours, theirs).items():
        state = int(error.argmax())
        allowed = smooth if key in (*SMOOTH, *EXTRA) else constrained
        assert error[state] <= allowed, (
            f"{key} in state {state}: relative error {error[state]:.1e}, allowed {allowed:.0e}; "
            f"ours {ours[key][state].ravel()}, MuJoCo's {theirs.fields[key][state].ravel()}"
        )
    for wanted, column, what in ((contacts, 0, "contacts"), (rows, 1, "constraint rows")):
        if wanted is not None:
            assert theirs.counts[:, column].any() == wanted, f"the states were meant to have {what}: {wanted}"
    return theirs
