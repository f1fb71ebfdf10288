"""What solver variants for few rows are worth: `python benchmarks/bins.py --env ant,humanoid --num-envs 1024,4096`.

The same steps with variants as predicted, and with the catch-all alone; both must end with the same bits.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro
import warp as wp

from acesim_rl import Simulation
from report import machine, median_times, print_table, write_json
from schedulers import choices
from states import reached_states

__all__ = ["Options", "measure"]


@dataclass
class Options:
    """Compare a step with solver variants and one without."""

    env: str = "ant,humanoid"
    """Robots, separated by commas; one after another."""
    num_envs: str = "1024,4096"
    """Worlds; several numbers are measured one after another."""
    device: str | None = None
    """cpu or cuda; by default the GPU where there is one. On the CPU nothing is predicted: both are the same."""
    steps: int = 10
    """Steps a measurement."""
    repeats: int = 9
    """Measurements of each; the median counts."""
    json: Path | None = None
    """Write the results to this file."""


def measure(robot: str, worlds: int, device: wp.Device, steps: int, repeats: int) -> dict:
    """Row of the table for one robot and number of worlds."""
    simulations = {name: Simulation(robot, worlds, device=device) for name in ("predicted", "catch-all")}
    simulations["catch-all"].groups[0].prediction.fixed = ()
    model = simulations["predicted"].groups[0].model
    start = reached_states(model.mj, 256).tiled(worlds)

    def reset(simulation: Simulation):
        state = simulation.groups[0].state
        for field in ("qpos", "qvel", "ctrl"):
            state.set(field, getattr(start, field))
        state.set("qacc", 0.0)
        wp.synchronize_device(device)

    def run(simulation: Simulation):
        simulation.step(steps)
        wp.synchronize_device(device)

    medians = median_times(
        {name: lambda s=s: run(s) for name, s in simulations.items()},
        {name: lambda s=s: reset(s) for name, s in simulations.items()},
        steps,
        repeats,
    )
    ends = [s.groups[0].state.get("qpos") for s in simulations.values()]
    if not np.array_equal(*ends):
        raise SystemExit(f"{robot}: the two end with different bits")
    rows = simulations["predicted"].groups[0].state.get("nefc")
    return {
        "env": robot,
        "num_envs": worlds,
        "rows_mean": float(rows.mean()),
        "rows_most": int(rows.max()),
        **{f"microseconds_{name.replace('-', '_')}": round(micros, 1) for name, micros in medians.items()},
        "times_as_fast": round(medians["catch-all"] / medians["predicted"], 3),
    }


def main(options: Options) -> None:
    device, robots, sizes = choices(options)
    rows = [measure(robot, n, device, options.steps, options.repeats) for robot in robots for n in sizes]
    about = machine(device)
    print_table(f"solver variants, {about['machine']}", rows)
    if options.json:
        write_json(options.json, [row | about for row in rows])


if __name__ == "__main__":
    main(tyro.cli(Options))
