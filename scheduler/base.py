"""The interface that all schedulers share."""

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import warp as wp

from acesim_rl.scheduler.operation import Operation
from acesim_rl.scheduler.statistics import Statistics
from acesim_rl.scheduler.timeline import Timeline
from acesim_rl.scheduler.trace_cache import TraceCache

__all__ = ["Scheduler"]

Emit = Callable[[], Iterable[Operation]]

SHOWN = 8
"""Programs that `report` tells of."""


class Scheduler:
    """Runs operations, in program order or in any order that gives the same bits. For use from one thread.

    `run(key, emit, decisions)` runs a whole program; the first time that a key comes with these decisions `emit()` is
    asked for the operations, after that the recorded trace is replayed. Together they must name all that the
    operations depend on: the program and its buffers, and what was decided in it from the data. `submit` and `flush`
    schedule operations without a key.
    """

    name: str
    workers = 1
    """Threads (CPU) or streams (CUDA) that operations are shared out to."""

    def __init__(self, device: Any, *, traces: int = 64):
        self.device = wp.get_device(device)
        self.traces = TraceCache(traces)
        self.timeline = Timeline()
        self.counts = Statistics()

    def submit(self, operation: Operation) -> None:
        """Start an operation as soon as its dependencies allow."""
        raise NotImplementedError

    def flush(self) -> None:
        """End all that was submitted: done (CPU), or ordered before whatever is enqueued next on the device's current
        stream (CUDA)."""
        raise NotImplementedError

    def run(self, key: Hashable | None, emit: Emit, decisions: Hashable = ()) -> None:
        """Run a program, ended as by `flush`. With key None nothing is recorded."""
        self.flush()
        self.counts.runs += 1
        if key is None:
            try:
                for operation in emit():
                    self.submit(operation)
            finally:
                self.flush()
            return
        before, trace = self.counts.operations, self.traces.get((key, decisions))
        if trace is not None:
            self._replay(trace)
        else:
            self.traces.put((key, decisions), self._record(emit))
        self.counts.note(key, self.counts.operations - before, recorded=trace is None)

    def _record(self, emit: Emit) -> Any:
        """Run a program seen for the first time and return its trace."""
        raise NotImplementedError

    def _replay(self, trace: Any) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """Drop all traces and give back threads and streams."""
        self.flush()
        self.traces.clear()

    def statistics(self) -> dict:
        """Counters since the scheduler was made: operations, runs, launches, trace hits, parallelism, hazards."""
        counts = self.counts.as_dict(self.traces.hits, self.traces.misses)
        return {"scheduler": self.name, "device": self.device.alias, **counts}

    def report(self) -> str:
        """A few lines of text with the statistics."""
        s = self.statistics()
        rows = [
            ("operations", f"{s['operations']:,} in {s['runs']:,} runs, {s['launches']:,} launches"),
            ("trace cache", f"{s['trace_hits']:,} hits, {s['trace_misses']:,} misses"),
        ]
        by_runs = sorted(s["programs"].items(), key=lambda program: -program[1]["runs"])
        for name, p in by_runs[:SHOWN]:
            one = p["fewest"] == p["most"]
            each = f"{p['most']:,}" if one else f"{p['fewest']:,} to {p['most']:,} ({p['mean']:,.1f} on average)"
            variants = f", {p['variants']} variants" if p["variants"] > 1 else ""
            rows.append((name, f"{p['runs']:,} runs of {each} operations{variants}"))
        if len(by_runs) > SHOWN:
            rows.append(("others", f"{len(by_runs) - SHOWN} more programs, run less often"))
        if s["graphs"]:
            rows.append(("graphs", f"{s['graphs']:,} built"))
        if self.counts.chain:
            rows.append(("available", f"{s['average_parallelism']:.2f} operations side by side, by the longest chain"))
        if s["measured_parallelism"]:
            busy = f"{s['measured_parallelism']:.2f} of {self.workers}"
            rows.append(("measured", f"{busy} worker{'s' if self.workers > 1 else ''} busy on average"))
        if self.counts.entries:
            rows.append(("window", f"{s['window_occupancy']:.1f} operations on average"))
        if any(s["dependencies"].values()):
            kinds = ", ".join(f"{count:,} {kind.replace('_', '-')}" for kind, count in s["dependencies"].items())
            rows.append(("dependencies", kinds))
        return "\n".join([f"scheduler {self.name} on {self.device.alias}", *(f"  {k:<12} {v}" for k, v in rows)])
