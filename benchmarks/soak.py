"""Many steps under random actions: `python benchmarks/soak.py --device cuda --log benchmarks/results/soak_h200.log`.

Looks for what a long run must not have: a number that is not finite where somebody could see it, more rows than there
is room for, memory that grows; and tells what the engine warned of. Ends with exit code 1 where it finds something.
"""

import os
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
import tyro
import warp as wp
from rich.console import Console

from acesim_rl.envs import BatchEnv
from acesim_rl.robots import asset_path
from report import machine

__all__ = ["Options", "soak"]


@dataclass
class Options:
    """Step robots under random actions and look for trouble."""

    env: str = "ant,humanoid"
    """Robots, separated by commas; one after another."""
    steps: str = "240_000_000,60_000_000"
    """Environment steps of each, all its worlds together."""
    num_envs: int = 32768
    """Worlds of a robot."""
    device: str | None = None
    """cpu or cuda; by default the GPU where there is one."""
    seed: int = 0
    every: float = 10.0
    """Seconds between two lines."""
    log: Path | None = None
    """Write the lines to this file, too."""


def soak(robot: str, total: int, options: Options, say: Callable[[str], None]) -> list[str]:
    """Step one robot; returns what was found."""
    env = BatchEnv(robot, options.num_envs, device=options.device, seed=options.seed)
    model = env.group.model
    generator = torch.Generator(env.device).manual_seed(options.seed)
    low, high = env.action_low, env.action_high
    watched = [env.obs, env.final_obs, env.reward, *(wp.to_torch(getattr(env.group.d, n)) for n in ("qpos", "qvel"))]
    finite = torch.ones((), dtype=torch.bool, device=env.device)
    rows = wp.to_torch(env.group.d.nefc)
    most_rows = torch.zeros((), dtype=torch.int32, device=env.device)
    episodes = torch.zeros((), dtype=torch.int64, device=env.device)
    env.reset()
    begin, told, steps, memory = time.perf_counter(), 0.0, 0, []
    while steps < total:
        for _ in range(100):
            noise = torch.rand(env.action.shape, generator=generator, device=env.device)
            _, _, terminated, truncated, _ = env.step(low + (high - low) * noise)
            for tensor in watched:
                finite &= torch.isfinite(tensor).all()
            torch.maximum(most_rows, rows.max(), out=most_rows)
            episodes += (terminated | truncated).sum()
        steps += 100 * options.num_envs
        found = [] if finite else ["a number that is not finite"]
        if most_rows > model.nrow:
            found.append(f"{int(most_rows)} rows where there is room for {model.nrow}")
        seconds = time.perf_counter() - begin
        if found or seconds - told >= options.every or steps >= total:
            told = seconds
            memory.append(used_memory(env.device))
            counted = ", ".join(f"{name} {count:,}" for name, count in env.warnings.items())
            say(
                f"{robot}  {steps:,} of {total:,} steps  {steps / seconds:,.0f} steps/s  {int(episodes):,} episodes  "
                f"most rows {int(most_rows)} of {model.nrow}  memory {memory[-1] / 2**20:,.0f} MiB  warnings: {counted}"
            )
        if found:
            return found
    if memory[-1] > memory[len(memory) // 2] + 2**20 * 8:
        found.append(f"memory that grew from {memory[len(memory) // 2]:,} to {memory[-1]:,} bytes in the second half")
    return found


def plan(options: Options) -> list[tuple[str, int]]:
    """Robots and their steps; a mistake ends the program with one line, before hours have passed."""
    try:
        if options.device == "cuda" and not torch.cuda.is_available():
            raise ValueError("--device cuda: no CUDA GPU here; use --device cpu")
        robots, steps = options.env.split(","), [int(total) for total in options.steps.split(",")]
        for robot in robots:
            asset_path(robot)
        if len(robots) != len(steps) or min(steps) < 1:
            raise ValueError(f"--steps {options.steps}: expected a positive number for each of {len(robots)} robots")
        return list(zip(robots, steps, strict=True))
    except ValueError as error:
        raise SystemExit(f"error: {error}") from None


def used_memory(device: torch.device) -> int:
    """Bytes in use: the GPU's, or the largest that this process had."""
    if device.type == "cuda":
        free, total = torch.cuda.mem_get_info(device)
        return total - free
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main(options: Options) -> None:
    lines: list[str] = []
    console = Console(highlight=False, soft_wrap=True)

    def say(line: str) -> None:
        lines.append(line)
        console.print(line)
        if options.log:
            options.log.parent.mkdir(parents=True, exist_ok=True)
            scratch = options.log.with_suffix(".tmp")
            scratch.write_text("\n".join(lines) + "\n")
            os.replace(scratch, options.log)

    robots = plan(options)
    about = machine(wp.get_device(options.device))
    say(f"soak on {', '.join(about.values())}: {options.num_envs:,} worlds of each robot, seed {options.seed}")
    for robot, total in robots:
        found = soak(robot, total, options, say)
        if found:
            say(f"{robot}: FOUND {'; '.join(found)}")
            raise SystemExit(1)
        say(f"{robot}: done, nothing found")


if __name__ == "__main__":
    main(tyro.cli(Options))
