"""Simulation: groups of worlds, their programs, and the scheduler that runs them."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import chain, pairwise, zip_longest
from pathlib import Path

import warp as wp

from acesim_rl import program, stages
from acesim_rl.mjcf import check_sensors
from acesim_rl.model import Model
from acesim_rl.parameters import Parameters
from acesim_rl.prediction import Prediction
from acesim_rl.scene import Scene
from acesim_rl.scheduler import Operation, Packed, create, launch, names, pick
from acesim_rl.stage import BLOCK_DIM, Stage, load
from acesim_rl.state import WARNINGS, State

__all__ = ["Group", "Simulation", "StrictError", "interleave"]

CPU_TILES = 8
"""Tiles that a group is cut into on the CPU, at most."""
CPU_TILE_WORLDS = 64
"""Worlds of a tile, at least: smaller operations do not pay for handing them to another thread."""


class StrictError(RuntimeError):
    """A strict simulation has had a warning."""


class Group:
    """Worlds that share a model."""

    def __init__(self, name: str, model: Model, nworld: int, device: wp.Device):
        self.name, self.model, self.nworld, self.device = name, model, nworld, device
        self.parameters = Parameters(model, nworld, device)
        self.m = self.parameters.data
        self.state = State(model, self.m, nworld, device)
        self.d = self.state.data
        # A robot's program keeps all cores busy by its tiles; on the GPU one launch fills the machine by itself.
        count = max(1, min(CPU_TILES, nworld // CPU_TILE_WORLDS)) if device.is_cpu else 1
        edges = [nworld * k // count for k in range(count + 1)]
        self.tiles = list(pairwise(edges))
        self.with_sensors = False
        self.prediction = Prediction(device)
        self.bins: tuple[int, ...] = ()
        """Bins of worlds that the program being emitted has solver variants for."""
        self._operations: dict[tuple, list[Operation]] = {}
        self._structs: dict[int, Packed] = {}

    def operations(self, stage: Stage, *arguments) -> list[Operation]:
        """The launches of a stage over its grid, one for each tile of worlds; empty where the grid is.

        Args:
            arguments: what the stage takes after Model and State: further structs, then scalars.
        """
        key = (stage, *(a if isinstance(a, int | float) else id(a) for a in arguments))
        if key not in self._operations:
            self._operations[key] = list(self._launches(stage, arguments))
        return self._operations[key]

    def _launches(self, stage: Stage, arguments: tuple) -> Iterator[Operation]:
        cpu = self.device.is_cpu
        inputs = [self._packed(a) for a in (self.m, self.d, *arguments)]
        first, count = self.model.items("body" if stage.over == "branch" and cpu else stage.over)
        for start, stop in self.tiles if count else ():
            yield launch(
                stage.kernel(self.device),
                stage.grid(count, stop - start, cpu),
                inputs=[*inputs, first, count, start, stop - start],
                device=self.device,
                name=f"{self.name}.{stage.name}",
                lanes=(start, stop),
                worlds=self.nworld,
                part=stage.part,
                block_dim=BLOCK_DIM,
            )

    def _packed(self, argument):
        if isinstance(argument, int | float):
            return argument
        if id(argument) not in self._structs:
            self._structs[id(argument)] = Packed(argument, self.device)
        return self._structs[id(argument)]

    def emit(self, calls: Iterable[program.Call]) -> Iterator[Operation]:
        """The operations of a program's calls, in order."""
        for stage, arguments in calls:
            yield from self.operations(stage, *arguments)

    def emit_step(self) -> Iterator[Operation]:
        """One physics step."""
        return self.emit(program.step(self.model, self.with_sensors, self.bins))

    def emit_forward(self) -> Iterator[Operation]:
        """A forward pass, which leaves positions and velocities as they are."""
        sensors = program.sensors(self.model) if self.with_sensors else ()
        return self.emit(chain(program.forward(self.model, self.bins), sensors))

    def predict(self) -> tuple[int, ...]:
        """Decide which bins the next program has solver variants for."""
        self.bins = self.prediction.bins() if self.model.has_bins else ()
        return self.bins

    @property
    def counting(self) -> bool:
        """Whether programs end by counting what the next predictions are made from."""
        return self.model.has_bins and self.prediction.fixed is None

    def emit_counts(self) -> Iterator[Operation]:
        """What the next predictions are made from."""
        if self.counting:
            chunk = stages.lanes_for(self.model.nv)
            yield from self.operations(stages.count_bins, self.prediction.counts, chunk)
            yield self.prediction.read_back()

    def emit_rne_post_constraint(self) -> Iterator[Operation]:
        """Contact forces on bodies, into `cfrc_ext`."""
        return self.emit(program.rne_post_constraint(self.model))

    def emit_internal_forces(self) -> Iterator[Operation]:
        """Accelerations of bodies and forces between them, into `cfrc_ext`, `cacc` and `cfrc_int`."""
        return self.emit_loaded(program.internal_forces(self.model))

    def emit_energy(self) -> Iterator[Operation]:
        """Potential and kinetic energy, into `energy`."""
        return self.emit_loaded([(stages.energy, ())])

    def emit_sensors(self) -> Iterator[Operation]:
        """Values of the model's sensors after a forward pass, into `sensordata`."""
        check_sensors(self.model.mj, self.model.name)
        return self.emit_loaded(program.sensors(self.model))

    def emit_loaded(self, calls: Iterable[program.Call]) -> Iterator[Operation]:
        """As `emit`, of stages that may not have been compiled yet."""
        calls = list(calls)
        load(with_kin(stage for stage, _ in calls), self.device)
        return self.emit(calls)


class Simulation:
    """One or several groups of worlds on one device, stepped in one schedule.

    Args:
        scene: a `Scene`, or one robot (name, MJCF path, XML string or `Model`).
        nworld: number of worlds, where `scene` is one robot; 1 unless given.
        device: Warp device; by default the GPU where there is one, else the CPU.
        scheduler: `ace` (picks by a fixed rule), `ace-sw`, `serial` or `graph`.
        sensors: whether each step and forward pass also computes the sensors, into `sensordata`.
        strict: raise StrictError at the end of the first run in which a world has a warning (see `warnings`), instead
            of counting it; waits for the device after each run.
        options: further arguments of the scheduler (see `scheduler.create`): window, workers.
    """

    def __init__(
        self,
        scene: Scene | str | Path | Model,
        nworld: int | None = None,
        *,
        device: str | wp.Device | None = None,
        scheduler: str = "ace",
        sensors: bool = False,
        strict: bool = False,
        **options,
    ):
        if not isinstance(scene, Scene):
            scene = Scene([(scene, 1 if nworld is None else nworld)])
        elif nworld is not None:
            raise ValueError(f"nworld is {nworld}, but a Scene says itself how many worlds it has; leave nworld out")
        if scheduler not in ("ace", *names):
            raise ValueError(f"unknown scheduler {scheduler!r}; known: {', '.join(('ace', *names))}")
        self.device = wp.get_device(device)
        self.groups = [Group(name, model, worlds, self.device) for name, model, worlds in scene.groups]
        for group in self.groups if sensors else ():
            check_sensors(group.model.mj, group.model.name)
            group.with_sensors = True
        newton = [group.model.nv for group in self.groups if group.model.plain_newton]
        solvers = [solver(nv) for nv in newton for solver in (stages.newton, stages.euler_damping)]
        load([*stages.GENERIC, *solvers, *self._optional()], self.device)
        if scheduler == "ace":
            scheduler = pick(self.device, sum(group.nworld for group in self.groups))
        self.scheduler = create(scheduler, self.device, **options)
        self.strict = strict

    def _optional(self) -> list[Stage]:
        """The further stages that the groups' programs have, each with those that are compiled together with it."""
        bins = () if self.device.is_cpu else tuple(range(stages.BINS))
        calls = (program.step(group.model, group.with_sensors, bins) for group in self.groups)
        counting = [] if self.device.is_cpu else [stages.count_bins]
        return with_kin([*counting, *(stage for stage, _ in chain.from_iterable(calls))])

    def step(self, n: int = 1) -> None:
        """Advance all worlds by n time steps; ValueError where n is negative."""
        if n < 0:
            raise ValueError(f"n is {n}; expected a number of time steps, 0 or more")
        for _ in range(n):
            self.run("step", lambda: interleave(group.emit_step() for group in self.groups))

    def forward(self) -> None:
        """Compute all derived values from positions, velocities and controls."""
        self.run("forward", lambda: interleave(group.emit_forward() for group in self.groups))

    def run(self, key: Hashable, emit: Callable[[], Iterable[Operation]]) -> None:
        """Run a program; with key and decisions seen before, the recorded schedule is used and nothing is emitted."""
        if self.strict and self.device.is_cuda and self.device.stream.is_capturing:
            raise RuntimeError(
                "a strict simulation reads warnings from the device after each run, which cannot be captured, but the "
                "current stream is being captured; run it outside of the capture, or make it with strict=False"
            )
        decisions = tuple((group.predict(), group.counting) for group in self.groups)
        counts = (group.emit_counts() for group in self.groups)
        self.scheduler.run(key, lambda: chain(emit(), interleave(counts)), decisions=decisions)
        if self.strict:
            self._raise_warnings()

    @property
    def warnings(self) -> dict[str, int]:
        """How often worlds had each of `state.WARNINGS` since they were reset; waits for the device.

        `groups[i].state.warnings` has the counts of each world.
        """
        counts = [group.state.warnings for group in self.groups]
        return {name: sum(int(of_group[name].sum()) for of_group in counts) for name in WARNINGS}

    def _raise_warnings(self) -> None:
        """Raise the first warning there is, and forget all."""
        for group in self.groups:
            for name, counts in group.state.warnings.items():
                if counts.any():
                    first, *others = counts.nonzero()[0]
                    for each in self.groups:
                        each.state.set("warning", 0)
                    more = f" (and {len(others)} more)" if others else ""
                    raise StrictError(f"{group.name}, world {first}{more}: {name}: {WARNINGS[name]}")


def with_kin(used: Iterable[Stage]) -> list[Stage]:
    """These stages, and the optional ones that are compiled together with them."""
    found = dict.fromkeys(used)
    kin = [stage for together in stages.OPTIONAL if found.keys() & set(together) for stage in together]
    return list(dict.fromkeys([*kin, *found]))


def interleave(programs: Iterable[Iterator[Operation]]) -> Iterator[Operation]:
    """One operation of each program in turn, so that a window sees all groups."""
    return (op for op in chain.from_iterable(zip_longest(*programs)) if op is not None)
