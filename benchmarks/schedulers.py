"""Every scheduler on the same programs: `python benchmarks/schedulers.py --env ant --num-envs 256,1024`.

One line of `--env` names is one mix: num-envs worlds of each robot, stepped together. Times are medians; the
schedulers take turns in one process, from the same states, and must end with the same bits.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro
import warp as wp

from acesim_rl import Scene, Simulation
from acesim_rl.scene import asset_path
from report import machine, median_times, print_table, write_json, write_plot
from states import reached_states

__all__ = ["Options", "choices", "measure"]


@dataclass
class Options:
    """Compare the schedulers."""

    env: str = "ant"
    """Robots of the mix, separated by commas."""
    num_envs: str = "256,1024"
    """Worlds of each robot; several numbers are measured one after another."""
    device: str | None = None
    """cpu or cuda; by default the GPU where there is one."""
    steps: int = 10
    """Steps a measurement."""
    repeats: int = 9
    """Measurements of each scheduler; the median counts."""
    json: Path | None = None
    """Write the results to this file."""
    plot: Path | None = None
    """Draw the results to this PNG."""


def choices(options: Options) -> tuple[wp.Device, list[str], list[int]]:
    """Device, robots and numbers of worlds; a mistake ends the program with one line."""
    try:
        if options.device == "cuda" and not wp.is_cuda_available():
            raise ValueError("--device cuda: no CUDA GPU here; use --device cpu")
        robots = options.env.split(",")
        for robot in robots:
            asset_path(robot)
        sizes = [int(size) for size in options.num_envs.split(",")]
        if min(sizes) < 1:
            raise ValueError(f"--num-envs {options.num_envs}: expected positive numbers")
        return wp.get_device(options.device), robots, sizes
    except ValueError as error:
        raise SystemExit(f"error: {error}") from None


def measure(robots: list[str], worlds: int, device: wp.Device, steps: int, repeats: int) -> list[dict]:
    """Rows of the table for one mix and one number of worlds."""
    names = ["serial", "graph", "ace-sw", "ace"] if device.is_cuda else ["serial", "ace-sw", "ace"]
    simulations = {}
    for name in names:
        simulation = Simulation(Scene([(robot, worlds) for robot in robots]), device=device, scheduler=name)
        if simulation.scheduler.name != name:
            continue  # ace: one of those above, which the report names
        simulations[name] = simulation
    chosen = simulation.scheduler.name
    starts = [reached_states(group.model.mj, 256).tiled(worlds) for group in simulation.groups]

    def reset(simulation: Simulation):
        for group, start in zip(simulation.groups, starts, strict=True):
            for field in ("qpos", "qvel", "ctrl"):
                group.state.set(field, getattr(start, field))
            group.state.set("qacc", 0.0)
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
    ends = {name: [g.state.get("qpos") for g in s.groups] for name, s in simulations.items()}
    for name, end in ends.items():
        if not all(np.array_equal(a, b) for a, b in zip(end, ends["serial"], strict=True)):
            raise SystemExit(f"{name} and serial end with different bits")
    rows = []
    for name in [*simulations, "ace"]:
        micros = medians[chosen if name == "ace" else name]
        rows.append(
            {
                "env": ",".join(robots),
                "num_envs": worlds,
                "device": "cuda" if device.is_cuda else "cpu",
                "scheduler": name,
                "microseconds_per_step": round(micros, 1),
                "steps_per_second": round(worlds * len(robots) / micros * 1e6),
                "speedup": round(medians["serial"] / micros, 3),
                "baseline": "serial",
            }
        )
    rows[-1]["picked"] = chosen  # its row repeats that scheduler's median
    return rows


def main(options: Options) -> None:
    device, robots, sizes = choices(options)
    rows: list[dict] = []
    for worlds in sizes:
        rows += measure(robots, worlds, device, options.steps, options.repeats)
    shown = [{name: value for name, value in row.items() if name != "picked"} for row in rows]
    about = machine(device)
    print_table(f"schedulers, {about['machine']}", shown)
    print(f"ace picked {rows[-1]['picked']}; all schedulers end with the same bits")
    if options.json:
        write_json(options.json, [row | about for row in rows])
    if options.plot:
        write_plot(options.plot, f"{options.env} on {about['machine']}", rows, "scheduler")


if __name__ == "__main__":
    main(tyro.cli(Options))
