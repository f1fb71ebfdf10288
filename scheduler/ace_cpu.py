"""`ace-sw` on the CPU: the window with worker threads."""

import os
import weakref
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from acesim_rl.scheduler.base import Emit, Scheduler
from acesim_rl.scheduler.operation import Operation
from acesim_rl.scheduler.window import Trace
from acesim_rl.scheduler.workers import Workers

__all__ = ["AceThreads", "usable_cores"]


def usable_cores() -> int:
    """Cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class AceThreads(Scheduler):
    """Out-of-order issue to `workers` threads, the calling thread among them.

    Operations enter the window in program order, at most `window` unfinished at a time, and are checked for hazards
    on entry. The dependencies found are recorded as a trace; a replay counts them down and checks nothing.
    """

    name = "ace-sw"

    def __init__(self, device: Any, *, window: int = 64, workers: int | None = None, traces: int = 64):
        super().__init__(device, traces=traces)
        self.window = window
        self.workers = workers or usable_cores()
        self._open = Trace()
        self._start_workers()

    def _start_workers(self) -> None:
        self._crew = Workers(self.workers, self.timeline)
        self._closing = weakref.finalize(self, self._crew.close)

    def submit(self, operation: Operation) -> None:
        if len(self._open.nodes) >= 4096:  # bounds what the hazard tables remember
            self.flush()
        with self._running():
            self._enter(operation)

    def flush(self) -> None:
        if self._open.nodes:
            with self._running():
                self._drain()

    def close(self) -> None:
        super().close()
        self._closing()

    def _record(self, emit: Emit) -> Trace:
        with self._running():
            for operation in emit():
                self._enter(operation)
                if self._crew.error is not None:
                    break
            return self._drain().seal()

    def _replay(self, trace: Trace) -> None:
        with self._running():
            with self._crew.lock:
                self._crew.enter(len(trace.nodes), trace.roots, wake=len(trace.roots) - 1)
            self._finish()
        self._count(trace)

    def _enter(self, operation: Operation) -> None:
        """Take the next operation into the window; where it is full, work until there is room."""
        crew = self._crew
        if crew.unfinished >= self.window:
            crew.work(self.window - 1)
        node = self._open.add(operation)
        with crew.lock:
            ready = self._open.link(node) == 0
            crew.enter(1, [node] if ready else [], wake=ready)
            occupancy = crew.unfinished
        self.counts.entries += 1
        self.counts.occupancy += occupancy

    def _drain(self) -> Trace:
        """Finish all operations in the window and return what was recorded."""
        trace, self._open = self._open, Trace()
        self._finish()
        self._count(trace)
        for kind, count in trace.hazards.kinds.items():
            self.counts.dependencies[kind] += count
        return trace

    def _finish(self) -> None:
        crew = self._crew
        crew.work()
        self.counts.busy += sum(crew.busy)
        crew.busy[:] = [0.0] * crew.count
        if crew.error is not None:
            error, crew.error = crew.error, None
            raise error

    def _count(self, trace: Trace) -> None:
        self.counts.operations += len(trace.nodes)
        self.counts.launches += len(trace.nodes)
        self.counts.chain += trace.critical_path

    @contextmanager
    def _running(self):
        """Measures a run, and after an interrupt in the middle of it leaves the scheduler usable."""
        begin = perf_counter()
        try:
            yield
        except BaseException:
            self._open = Trace()
            # Broken off by an interrupt or by emit(), not by an operation?
            if self._crew.unfinished or self._crew.lock.locked():
                self._closing()
                self.traces.clear()
                self._start_workers()
            raise
        finally:
            self.counts.wall += perf_counter() - begin
