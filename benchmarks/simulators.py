"""Our engine against MuJoCo on the CPU, and against mujoco_warp on CUDA; options as in schedulers.py.

All start from the same states with the same controls, integrator and solver; mujoco_warp is captured in a CUDA graph of
its own. On the CPU each of us runs on all cores, and on one core.
"""

import os

import mujoco
import numpy as np
import tyro
import warp as wp
from mujoco import rollout

from acesim_rl import Simulation
from report import machine, median_times, print_table, write_json, write_plot
from schedulers import Options, choices
from states import States, reached_states

__all__ = ["measure"]


class Ours:
    """This engine."""

    def __init__(self, robot: str, start: States, device: wp.Device, steps: int, **options):
        self.simulation = Simulation(robot, len(start), device=device, **options)
        self.group, self.start, self.steps = self.simulation.groups[0], start, steps

    def reset(self) -> None:
        for field in ("qpos", "qvel", "ctrl"):
            self.group.state.set(field, getattr(self.start, field))
        self.group.state.set("qacc", 0.0)
        wp.synchronize_device(self.simulation.device)

    def run(self) -> None:
        self.simulation.step(self.steps)
        wp.synchronize_device(self.simulation.device)

    def rows(self) -> float:
        return float(self.group.state.get("nefc").mean())


class MujocoC:
    """MuJoCo's own rollout over a pool of threads."""

    def __init__(self, mj: mujoco.MjModel, start: States, steps: int, threads: int):
        self.mj, self.steps = mj, steps
        self.pool = rollout.Rollout(nthread=threads)
        self.data = [mujoco.MjData(mj) for _ in range(threads)]
        time = np.zeros((len(start), 1))
        self.initial = np.concatenate([time, start.qpos, start.qvel], axis=1, dtype=np.float64)
        self.control = np.repeat(start.ctrl[:, None].astype(np.float64), steps, axis=1)
        self.state = np.empty((len(start), steps, self.initial.shape[1]))

    def reset(self) -> None:
        pass

    def run(self) -> None:
        self.pool.rollout(
            [self.mj] * len(self.initial),
            self.data,
            self.initial,
            self.control,
            state=self.state,
            sensordata=np.empty((len(self.initial), self.steps, self.mj.nsensordata)),
        )

    def rows(self) -> float:
        data = self.data[0]
        counts = []
        for state, ctrl in zip(self.state[:256, -1], self.control[:256, -1], strict=True):
            mujoco.mj_setState(self.mj, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
            data.ctrl[:] = ctrl
            mujoco.mj_forward(self.mj, data)
            counts.append(data.nefc)
        return float(np.mean(counts))


class MujocoWarp:
    """mujoco_warp, its steps captured in a CUDA graph."""

    def __init__(self, mj: mujoco.MjModel, start: States, steps: int):
        import mujoco_warp

        worlds = len(start)
        self.start, self.steps = start, steps
        self.model = mujoco_warp.put_model(mj)
        self.data = mujoco_warp.make_data(mj, nworld=worlds, nconmax=32, njmax=128)
        self.reset()
        mujoco_warp.step(self.model, self.data)  # compiles
        with wp.ScopedCapture() as capture:
            for _ in range(steps):
                mujoco_warp.step(self.model, self.data)
        self.graph = capture.graph

    def reset(self) -> None:
        self.data.qpos.assign(self.start.qpos)
        self.data.qvel.assign(self.start.qvel)
        self.data.ctrl.assign(self.start.ctrl)
        self.data.qacc_warmstart.zero_()
        wp.synchronize()

    def run(self) -> None:
        wp.capture_launch(self.graph)
        wp.synchronize()

    def rows(self) -> float:
        return float(self.data.nefc.numpy().mean())


def measure(robot: str, worlds: int, device: wp.Device, steps: int, repeats: int) -> list[dict]:
    """Rows of the table for one robot and one number of worlds."""
    cores = len(os.sched_getaffinity(0))
    probe = Simulation(robot, 1, device="cpu" if device.is_cpu else device, scheduler="serial")
    mj = probe.groups[0].model.mj
    start = reached_states(mj, 256).tiled(worlds)
    if device.is_cuda:
        contestants = {
            "acesim_rl": (Ours(robot, start, device, steps), "mujoco_warp"),
            "mujoco_warp": (MujocoWarp(mj, start, steps), "mujoco_warp"),
        }
    else:
        all_cores, one_core = f"mujoco, {cores} threads", "mujoco, 1 thread"
        contestants = {
            f"acesim_rl, {cores} threads": (Ours(robot, start, device, steps), all_cores),
            all_cores: (MujocoC(mj, start, steps, cores), all_cores),
            "acesim_rl, 1 thread": (Ours(robot, start, device, steps, scheduler="serial"), one_core),
            one_core: (MujocoC(mj, start, steps, 1), one_core),
        }
    medians = median_times(
        {name: contestant.run for name, (contestant, _) in contestants.items()},
        {name: contestant.reset for name, (contestant, _) in contestants.items()},
        steps,
        repeats,
    )
    return [
        {
            "env": robot,
            "num_envs": worlds,
            "device": "cuda" if device.is_cuda else "cpu",
            "simulator": name,
            "microseconds_per_step": round(medians[name], 1),
            "steps_per_second": round(worlds / medians[name] * 1e6),
            "speedup": round(medians[baseline] / medians[name], 3),
            "baseline": baseline,
            "mean_rows": round(contestant.rows(), 2),
        }
        for name, (contestant, baseline) in contestants.items()
    ]


def main(options: Options) -> None:
    device, robots, sizes = choices(options)
    rows: list[dict] = []
    for robot in robots:
        for worlds in sizes:
            rows += measure(robot, worlds, device, options.steps, options.repeats)
    about = machine(device)
    print_table(f"simulators, {about['machine']}", rows)
    if options.json:
        write_json(options.json, [row | about for row in rows])
    if options.plot:
        write_plot(options.plot, f"{options.env} on {about['machine']}", rows, "simulator")


if __name__ == "__main__":
    main(tyro.cli(Options))
