"""Our numbers against the installed MuJoCo's, file by file and field by field: `python benchmarks/parity.py`.

Forward pass: states that random actions reach, rounded to float32, given to both; the error of a field in a state is
the largest absolute difference over the largest absolute value. Rollouts: how far qpos is from MuJoCo's after 50 steps,
and how many of them it stays within 1e-3; against MuJoCo itself with its state rounded to float32.

How much of an error is float32's: beside ours stands that of MuJoCo itself, in float64, with the numbers of its model
and state moved by up to half of a float32's last digit, the worst of a few such moves. A state is on the edge where a
contact or a limit comes or goes if all margins change by 1e-6: nobody can say in float32 which rows there are.
"""

import copy
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import gymnasium
import mujoco
import numpy as np
import tyro
import warp as wp

from acesim_rl import Model, Simulation
from acesim_rl.scene import asset_path
from report import machine, print_table, write_json
from states import States, reached_states

__all__ = ["DRIFTS", "FILES", "ROWS", "Forward", "drift", "forward", "steps_within"]

FILES = {
    path.name: path
    for path in (*sorted((Path(gymnasium.__file__).parent / "envs/mujoco/assets").glob("*.xml")), asset_path("grasp"))
}
"""All of Gymnasium's MJCF files, and our own."""
DRIFTS = ("ours", "rounded at first", "rounded always")
"""What is compared with float64 MuJoCo: us, and itself with its state rounded to float32 at first, or every step."""
SMOOTH = ("xpos", "M", "qfrc_bias")
"""The compared fields that mean the same with any contacts."""
CONSTRAINED = ("qacc", "cfrc_ext", "contact_dist", "sensordata")
ROWS = ("equality", "friction", "limit", "contact", "contacts")
"""What is counted in each state: constraint rows by type, and contacts, which may be without rows in a gap."""
MOVES = 8
"""Random moves of all numbers by up to half of a float32's last digit."""
EDGE = 1e-6
"""A change of margins [m or rad]: what float32 leaves open in a coordinate of some metres."""


@dataclass
class Options:
    """Compare with MuJoCo."""

    files: str = ",".join(FILES)
    """Files, separated by commas."""
    states: int = 200
    """States of each file's model."""
    runs: int = 20
    """Rollouts of each file's model."""
    device: str | None = None
    """cpu or cuda; by default the GPU where there is one."""
    json: Path | None = None
    """Write the results to this file."""


@dataclass
class Forward:
    """A forward pass in n states, against MuJoCo's."""

    errors: dict[str, np.ndarray]
    """Relative error of each field, [n]; NaN in states with other rows, for the fields that depend on them."""
    float32: dict[str, np.ndarray]
    """The same of MuJoCo itself: the worst of MOVES."""
    unequal: np.ndarray
    """Whether a count of ROWS differs, [n]."""
    on_edge: np.ndarray
    """Whether one of MuJoCo's changes with the margins, [n]."""
    first: str
    """The counts in the first state off the edge where they differ, in words."""


def half_digit(values, rng: np.random.Generator) -> np.ndarray:
    """Values moved by up to half of a float32's last digit."""
    return values * (1.0 + 2.0**-24 * rng.uniform(-1, 1, np.shape(values)))


def moved(mj: mujoco.MjModel, rng: np.random.Generator) -> mujoco.MjModel:
    """A copy, each number moved by up to half of a float32's last digit."""
    twin = copy.copy(mj)
    for part in (twin, twin.opt):
        for name in dir(part):
            if name.startswith("_") or name.endswith(("aabb", "rbound")):  # boxes around infinite planes
                continue
            values = getattr(part, name)
            if isinstance(values, np.ndarray) and values.dtype == np.float64:
                values[...] = half_digit(values, rng)
            elif isinstance(values, float):
                setattr(part, name, float(half_digit(values, rng)))
    return twin


def with_margins(mj: mujoco.MjModel, change: float) -> mujoco.MjModel:
    """A copy with all margins changed, of contacts and of limits."""
    twin = copy.copy(mj)
    twin.geom_margin += 0.5 * change  # a contact's margin is the sum of its geoms'
    for margins in (twin.pair_margin, twin.jnt_margin, twin.tendon_margin):
        margins += change
    return twin


def mujoco_forward(
    mj: mujoco.MjModel, data: mujoco.MjData, qpos, qvel, ctrl
) -> tuple[dict[str, np.ndarray], list[int]]:
    """The fields, and the counts of ROWS, of MuJoCo's forward pass in one state."""
    mujoco.mj_resetData(mj, data)
    data.qpos[:], data.qvel[:], data.ctrl[:] = qpos, qvel, ctrl
    mujoco.mj_forward(mj, data)
    mujoco.mj_rnePostConstraint(mj, data)
    full = np.zeros((mj.nv, mj.nv))
    mujoco.mj_fullM(mj, data, full)
    fields = {name: getattr(data, name).copy() for name in (*SMOOTH, *CONSTRAINED) if name not in ("M", "contact_dist")}
    fields |= {"M": full, "contact_dist": np.sort(data.contact.dist)}
    return fields, [data.ne, data.nf, data.nl, data.nefc - data.ne - data.nf - data.nl, data.ncon]


def our_forward(model: Model, states: States, device: str | None) -> tuple[list[dict[str, np.ndarray]], np.ndarray]:
    """Our fields in each state, and the counts of ROWS [n, 5]."""
    sensors = model.mj.nsensor > 0
    simulation = Simulation(model, len(states), device=device, scheduler="serial", sensors=sensors)
    group = simulation.groups[0]
    for name in ("qpos", "qvel", "ctrl"):
        group.state.set(name, getattr(states, name))
    simulation.forward()
    simulation.run("forces", group.emit_rne_post_constraint)
    columns = {name: group.state.get(name) for name in (*SMOOTH, *CONSTRAINED)}
    need = group.state.get("row_need")
    limit, contact = np.split(need.clip(0), [2 * model.nlimit], axis=1)
    fixed = np.full((len(states), 2), (model.nequality_row, model.nfriction))
    counts = np.column_stack([fixed, limit.sum(axis=1), contact.sum(axis=1), group.state.get("ncon")])
    fields = [{name: values[k] for name, values in columns.items()} for k in range(len(states))]
    for one, (ncon,) in zip(fields, counts[:, 4:], strict=True):
        # our slots are in the order of pairs, MuJoCo's contacts too but with pairs in another order
        one["contact_dist"] = np.sort(one["contact_dist"])[:ncon]
    return fields, counts


def forward(model: Model, states: States, device: str | None = None) -> Forward:
    """Compare one forward pass in each state."""
    mj, rng = model.mj, np.random.default_rng(0)
    ours, counts = our_forward(model, states, device)
    data, wide, narrow = mujoco.MjData(mj), with_margins(mj, EDGE), with_margins(mj, -EDGE)
    twins = [moved(mj, rng) for _ in range(MOVES)]
    extent = max(mj.stat.extent, 1e-9)

    def error(name: str, fields: dict[str, np.ndarray], same_rows: bool) -> float:
        if name in CONSTRAINED and not same_rows:
            return np.nan
        difference = float(np.abs(fields[name] - theirs[name]).max(initial=0.0))
        largest = extent if name == "contact_dist" else float(np.abs(theirs[name]).max(initial=0.0))
        return difference / largest if largest > 0 else difference

    errors, float32 = defaultdict(list), defaultdict(list)
    unequal, on_edge, first = [], [], ""
    for k, state in enumerate(zip(states.qpos, states.qvel, states.ctrl, strict=True)):
        theirs, rows = mujoco_forward(mj, data, *state)
        around = [mujoco_forward(twin, data, *state)[1] for twin in (wide, narrow)]
        near = [mujoco_forward(twin, data, *(half_digit(x, rng) for x in state)) for twin in twins]
        on_edge.append(around != [rows, rows])
        unequal.append(counts[k].tolist() != rows)
        if unequal[k] and not on_edge[k] and not first:
            first = f"state {k}: {', '.join(ROWS)}: {counts[k].tolist()}, MuJoCo's {rows}"
        for name in (*SMOOTH, *CONSTRAINED):
            errors[name].append(error(name, ours[k], not unequal[k]))
            float32[name].append(np.fmax.reduce([error(name, fields, found == rows) for fields, found in near]))
    columns = ({name: np.array(values) for name, values in found.items()} for found in (errors, float32))
    return Forward(*columns, np.array(unequal), np.array(on_edge), first)


def drift(model: Model, runs: int, steps: int = 50, device: str | None = None) -> dict[str, np.ndarray]:
    """Distance in qpos from float64 MuJoCo, [steps, runs], for each of DRIFTS.

    Rollouts begin where random actions led, with contacts, and go on with random actions.
    """
    simulation = Simulation(model, runs, device=device, scheduler="serial")
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
            always = twins["rounded always"]
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


def statistics(values: np.ndarray) -> tuple[float, float]:
    """Median and worst; NaN where nothing could be compared."""
    known = values[~np.isnan(values)]
    return (float(np.median(known)), float(known.max())) if len(known) else (np.nan, np.nan)


def main(options: Options) -> None:
    rows, counts, rollouts = [], [], []
    for name in options.files.split(","):
        model = Model.from_mjcf(FILES[name])
        found = forward(model, reached_states(model.mj, options.states), options.device)
        for key, errors in found.errors.items():
            if key != "sensordata" or model.mj.nsensor:
                columns = (*statistics(errors), *statistics(found.float32[key]))
                titles = ("median", "worst", "float32 median", "float32 worst")
                rows.append({"file": name, "field": key, **dict(zip(titles, columns, strict=True))})
        other, edge = found.unequal, found.on_edge
        counts.append({
            "file": name, "states": len(edge), "on the edge": int(edge.sum()),
            "other rows, on the edge": int((other & edge).sum()), "other rows, elsewhere": int((other & ~edge).sum()),
        })  # fmt: skip
        distances = drift(model, options.runs, device=options.device)
        row: dict[str, object] = {"file": name}
        for who, distance in distances.items():
            row |= {f"{who}, median": float(np.median(distance[-1])), f"{who}, worst": float(distance[-1].max())}
        rollouts.append(row | {"fewest steps within 1e-3": int(steps_within(distances["ours"]).min())})
    print_table("relative errors of a forward pass; float32: MuJoCo's own, from numbers half a digit away", rows)
    print_table("states with other constraint rows or contacts than MuJoCo's", counts)
    print_table("distance in qpos from float64 MuJoCo after 50 steps", rollouts)
    if options.json:
        write_json(options.json, [row | machine(wp.get_device(options.device)) for row in (*rows, *counts, *rollouts)])


if __name__ == "__main__":
    main(tyro.cli(Options))
