"""What the benchmarks share: timing, and results as a table, JSON and a plot."""

import json
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path

import matplotlib
import numpy as np
import warp as wp
from rich.console import Console
from rich.table import Table

matplotlib.use("Agg")
from matplotlib import pyplot as plt

__all__ = ["machine", "median_times", "print_table", "write_json", "write_plot"]

Row = dict[str, object]


def median_times(
    runs: dict[str, Callable[[], None]], reset: dict[str, Callable[[], None]], steps: int, repeats: int
) -> dict[str, float]:
    """Median microseconds a step of each contestant; they take turns, each from its `reset` state.

    Args:
        runs: advances by `steps` steps and waits for the result.
        reset: puts the start states back; not timed.
    """
    times = {name: [] for name in runs}
    for repeat in range(repeats + 2):
        for name, run in runs.items():
            reset[name]()
            start = time.perf_counter()
            run()
            if repeat >= 2:  # the first two warm up
                times[name].append((time.perf_counter() - start) / steps * 1e6)
    return {name: float(np.median(values)) for name, values in times.items()}


def machine(device: wp.Device) -> dict[str, str]:
    """What the figures were measured on."""
    versions = {name: __import__(name).__version__ for name in ("mujoco", "torch", "warp")}
    processor = next(
        (line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line),
        platform.processor(),
    )
    cores = f"{len(os.sched_getaffinity(0))} cores of {processor}"
    return {"machine": device.name if device.is_cuda else cores, "python": platform.python_version(), **versions}


def print_table(title: str, rows: list[Row]) -> None:
    """Rows as a table; numbers to four digits."""
    table = Table(title=title)
    for name in rows[0]:
        text = isinstance(rows[0][name], str)
        table.add_column(name, justify="left" if text else "right", no_wrap=text)
    for row in rows:
        table.add_row(*(f"{value:.4g}" if isinstance(value, float) else str(value) for value in row.values()))
    Console(width=140).print(table)


def write_json(path: Path, rows: list[Row]) -> None:
    """A list of objects, written whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(".tmp")
    scratch.write_text(json.dumps(rows, indent=1) + "\n")
    os.replace(scratch, path)
    print(f"wrote {path}")


def write_plot(path: Path, title: str, rows: list[Row], kind: str) -> None:
    """Steps per second over the number of worlds, one line for each contestant."""
    figure, axes = plt.subplots(figsize=(7, 4.5))
    for name in dict.fromkeys(row[kind] for row in rows):
        points = [(row["num_envs"], row["steps_per_second"]) for row in rows if row[kind] == name]
        axes.plot(*zip(*points, strict=True), marker="o", label=name)
    axes.set(xscale="log", yscale="log", xlabel="worlds of each robot", ylabel="world steps per second", title=title)
    axes.grid(alpha=0.3, which="both")
    axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)
    print(f"wrote {path}")
