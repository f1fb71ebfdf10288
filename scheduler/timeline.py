"""A timeline of operations in Chrome's trace format (open it in chrome://tracing or ui.perfetto.dev)."""

import json
from pathlib import Path
from typing import Any

import warp as wp

from acesim_rl.scheduler.operation import Operation

__all__ = ["Timeline"]


class Timeline:
    """Records when each operation ran and where, between `start()` and `stop()`.

    On CUDA, operations are timed by events on their streams, one by one: while the timeline is on, schedulers that
    launch graphs enqueue the same operations on streams instead.
    """

    def __init__(self) -> None:
        self.enabled = False
        self._spans: list[tuple[str, int, float, float]] = []
        self._events: list[tuple[str, int, wp.Event, wp.Event]] = []
        self._origin: Any = None

    def start(self) -> None:
        """Begin anew."""
        self._spans, self._events, self._origin = [], [], None
        self.enabled = True

    def stop(self) -> None:
        self.enabled = False

    def add(self, name: str, worker: int, begin: float, end: float) -> None:
        """Note an operation that ran from `begin` to `end`, in seconds."""
        self._spans.append((name, worker, begin, end))

    def enqueue(self, operation: Operation, stream: wp.Stream, worker: int) -> None:
        """Enqueue an operation between two events that time it (CUDA)."""

        def mark():
            return stream.record_event(wp.Event(stream.device, enable_timing=True))

        if self._origin is None:
            self._origin = mark()
        begin = mark()
        operation.enqueue(stream)
        self._events.append((operation.name, worker, begin, mark()))

    @property
    def spans(self) -> list[tuple[str, int, float, float]]:
        """Operation, worker (thread or stream), begin and end in seconds, of all operations so far."""
        for name, worker, begin, end in self._events:
            wp.synchronize_event(end)
            begun, ended = (wp.get_event_elapsed_time(self._origin, event) * 1e-3 for event in (begin, end))
            self._spans.append((name, worker, begun, ended))
        self._events.clear()
        return self._spans

    def save(self, path: "str | Path") -> Path:
        """Write the spans as a Chrome trace and return the path."""
        spans = self.spans
        origin = min((begin for _, _, begin, _ in spans), default=0.0)
        events = [
            {
                "name": name,
                "ph": "X",
                "pid": 0,
                "tid": worker,
                "ts": (begin - origin) * 1e6,
                "dur": (end - begin) * 1e6,
            }
            for name, worker, begin, end in spans
        ]
        path = Path(path)
        path.write_text(json.dumps({"traceEvents": events, "displayTimeUnit": "ms"}))
        return path
