"""ACE: out-of-order scheduling of kernels from the memory that they read and write. Knows nothing of physics."""

from typing import Any

import warp as wp

from acesim_rl.scheduler.access import Access, AccessError, access_of, accesses
from acesim_rl.scheduler.ace_cpu import AceThreads, usable_cores
from acesim_rl.scheduler.ace_cuda import AceStreams
from acesim_rl.scheduler.base import Scheduler
from acesim_rl.scheduler.check import AccessViolation, check
from acesim_rl.scheduler.graph import Graph
from acesim_rl.scheduler.operation import Operation, Packed, Segment, call, conflict, launch, segments_of
from acesim_rl.scheduler.serial import Serial

__all__ = [
    "Access",
    "AccessError",
    "AccessViolation",
    "Operation",
    "Packed",
    "Scheduler",
    "Segment",
    "access_of",
    "accesses",
    "call",
    "check",
    "conflict",
    "create",
    "launch",
    "names",
    "pick",
    "segments_of",
]

names = ("serial", "graph", "ace-sw")
"""Schedulers that `create` knows."""


def create(name: str, device: Any = None, *, window: int = 64, workers: int | None = None) -> Scheduler:
    """A scheduler by name: `serial`, `graph` (CUDA only) or `ace-sw`.

    `window` is how many unfinished operations `ace-sw` looks at; `workers` its threads (CPU, all usable cores unless
    given) or streams (CUDA, 16 unless given); both are whole numbers from 1 on, else ValueError. The name `ace` is
    resolved by `pick`.
    """
    for option, value in (("window", window), ("workers", 1 if workers is None else workers)):
        if value != int(value) or value < 1:
            raise ValueError(f"{option} is {value}; expected a whole number, at least 1, or leave {option} out")
    device = wp.get_device(device)
    if name == "serial":
        return Serial(device)
    if name == "graph":
        return Graph(device)
    if name == "ace-sw":
        kind = AceStreams if device.is_cuda else AceThreads
        return kind(device, window=window, workers=workers)
    hint = "; 'ace' is a choice: create(pick(device, worlds), device)" if name == "ace" else ""
    raise ValueError(f"unknown scheduler {name!r}; known: {', '.join(names)}{hint}")


def pick(device: Any, worlds: int) -> str:
    """The scheduler that `ace` stands for: a fixed rule, so that the same inputs always give the same answer.

    - CUDA: `ace-sw`: its graph has parallel branches where that of `graph` is one chain.
    - CPU with two usable cores or more, and 128 worlds or more: `ace-sw`.
    - otherwise `serial`: operations are too short to pay for handing them to another thread.
    """
    if wp.get_device(device).is_cuda:
        return "ace-sw"
    return "ace-sw" if usable_cores() >= 2 and worlds >= 128 else "serial"
