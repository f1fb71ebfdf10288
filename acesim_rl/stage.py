"""Stages: physics functions written once for one item of one world, and the kernels made from them."""

import inspect
import linecache
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import warp as wp

__all__ = ["BLOCK_DIM", "Stage", "load", "stage"]

BLOCK_DIM = 64
"""Threads a block. One value for every kernel: each further one would compile every module again."""

wp.config.enable_backward = False
wp.config.log_level = wp.LOG_WARNING  # `load` says what is compiled


@dataclass(eq=False)
class Stage:
    """A function over a grid of (item, world), and its kernels, one for each order of the grid.

    On the GPU neighbouring threads take neighbouring worlds. On the CPU a launch is a loop: it takes all items of one
    world, in order, before the next world. `branch` grids rely on that: on the CPU they are a sweep over all bodies,
    parents first; on the GPU a thread walks one path from the root to a leaf, so bodies shared by several paths are
    computed by several threads, which all write the same bits.
    """

    function: wp.Function
    over: str
    """What the items are: `world` (none), `body`, `branch`, `joint`, `dof`, `pair`, `slot`, ..."""
    module: str
    """The Warp module that the kernels are compiled in; stages of one module are compiled together."""
    lanes: int | None = None
    """Threads that share one world (world stages only); the function gets the lane as its last argument."""
    part: tuple[str, int] | None = None
    """Of the worlds only a part, which the data decide; stages of other parts touch other worlds."""
    kernels: dict[bool, wp.Kernel] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.function.key.rsplit("__", 1)[-1].rsplit(".", 1)[-1]

    def kernel(self, device: wp.Device) -> wp.Kernel:
        """The kernel for a device; its arguments: `arguments()`, then first item, items, first world, worlds."""
        return self.kernel_for(device.is_cpu)

    def kernel_for(self, cpu: bool) -> wp.Kernel:
        """The kernel in the order of the CPU (world by world) or of the GPU (worlds side by side)."""
        if cpu not in self.kernels:
            self.kernels[cpu] = self._make_kernel(cpu)
        return self.kernels[cpu]

    def arguments(self) -> dict[str, type]:
        """Name and type of the arguments that the caller passes: structs, then scalars."""
        tail = 1 if self.over == "world" else 2
        if self.lanes:
            tail += 1
        names = list(self.function.input_types)
        return {name: self.function.input_types[name] for name in names[: len(names) - tail]}

    def _make_kernel(self, cpu: bool) -> wp.Kernel:
        # Structs come packed, as arrays of one: see scheduler.Packed.
        arguments = self.arguments()
        structs = [name for name, kind in arguments.items() if wp.types.type_is_struct(kind)]
        unpack = "".join(f"    {name}_ = {name}[0]\n" for name in structs)
        passed = ", ".join(f"{name}_" if name in structs else name for name in arguments)
        item = "" if self.over == "world" else "item0 + i, "
        lane = ", 0" if self.lanes else ""
        call = f"function({passed}, {item}world0 + w{lane})\n"
        if cpu:  # one task, so that structs are unpacked once a launch
            inner = "" if self.over == "world" else "        for i in range(items):\n    "
            body = f"    for w in range(worlds):\n{inner}        {call}"
        elif self.lanes:
            body = f"    t = wp.tid()\n    function({passed}, world0 + t / {self.lanes}, t % {self.lanes})\n"
        elif self.over == "world":
            body = f"    w = wp.tid()\n    {call}"
        elif self.over == "branch":
            body = (
                "    i, w = wp.tid()\n"
                "    for k in range(m_.branch_start[item0 + i], m_.branch_start[item0 + i + 1]):\n"
                f"        function({passed}, m_.branch_body[k], world0 + w)\n"
            )
        else:
            body = f"    i, w = wp.tid()\n    {call}"
        types: dict[str, Any] = {
            f"type_{n}": wp.array(dtype=kind) if n in structs else kind for n, kind in arguments.items()
        }
        signature = "".join(f"{name}: type_{name}, " for name in arguments)
        source = f"def {self.name}({signature}item0: int, items: int, world0: int, worlds: int):\n{unpack}{body}"
        module = f"{self.module}.{'cpu' if cpu else 'cuda'}"
        file = f"<{module}.{self.name}>"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        namespace: dict[str, Any] = {"wp": wp, "function": self.function, **types}
        exec(compile(source, file, "exec"), namespace)
        return wp.kernel(namespace[self.name], name=self.name, module=wp.get_module(module), enable_backward=False)

    def grid(self, items: int, worlds: int, cpu: bool) -> tuple[int, ...]:
        """Size of the launch that covers so many items and worlds."""
        if cpu:
            return (1,)
        if self.over == "world":
            return (worlds * (self.lanes or 1),)
        return (items, worlds)


def load(stages: Iterable[Stage], device: wp.Device) -> None:
    """Load the stages' kernels; says so where a module has to be compiled first (later it comes from Warp's cache)."""
    block_dim = 1 if device.is_cpu else BLOCK_DIM
    kernels = [stage.kernel(device) for stage in stages]  # all of them exist before a module is compiled
    for module in dict.fromkeys(kernel.module for kernel in kernels):
        start = time.perf_counter()
        cached = (Path(str(wp.config.kernel_cache_dir)) / module.get_module_identifier(block_dim)).exists()
        if not cached:
            print(f"compiling {module.name} for {device} ...", end=" ", flush=True, file=sys.stderr)
        module.load(device, block_dim)
        if not cached:
            print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)


def stage(
    over: str, *, module: str | None = None, lanes: int | None = None, part: tuple[str, int] | None = None
) -> Callable[[Callable], Stage]:
    """Decorator that makes a stage of a function `(structs..., scalars..., [item,] world[, lane])`.

    Args:
        over: the grid's items, see `Stage.over`.
        module: Warp module of the kernels; the physics stages share one, others get their Python module's.
        lanes: threads that share a world on the GPU.
        part: see `Stage.part`.
    """

    def decorate(function: Callable) -> Stage:
        home = module or function.__module__
        if home.startswith("acesim_rl.stages"):
            home = "acesim_rl.stages"
        made: Any = function if isinstance(function, wp.Function) else wp.func(function)
        made.__doc__ = inspect.getdoc(function)
        return Stage(made, over, module or home, lanes, part)

    return decorate
