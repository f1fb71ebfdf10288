"""`ace-sw` on CUDA: streams where operations come one by one, graphs with parallel branches where a key is known.

Streams driven from Python gain little, the host is the bottleneck; a graph with parallel branches does. So a program
seen before becomes a graph, whose branches are found by issuing its operations to the same streams under capture.
While capturing nothing finishes: dependencies are exact against all earlier operations, whatever the window's size.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any

import warp as wp

from acesim_rl.scheduler.base import Emit
from acesim_rl.scheduler.graph import Graph, Recording
from acesim_rl.scheduler.operation import Operation
from acesim_rl.scheduler.timeline import Timeline
from acesim_rl.scheduler.window import Hazards, Node, Trace

__all__ = ["AceStreams", "Streams"]


class Streams:
    """A set of streams that fork from an origin stream and join it again; events where a dependency crosses."""

    def __init__(self, device: wp.Device, count: int, timeline: Timeline):
        self.streams = [wp.Stream(device) for _ in range(count)]
        self.origin: Any = None
        self.timeline = timeline
        self._device = device
        self._tails: list[Any] = [None] * count  # the last operation on each stream
        self._marks: dict[Node, tuple[int, wp.Event]] = {}
        self._spare: list[wp.Event] = []

    def fork(self, origin: wp.Stream) -> None:
        self.origin = origin
        self._fork = self._event()
        origin.record_event(self._fork)

    def issue(self, node: Node, trace: Trace) -> wp.Event:
        """Enqueue an operation behind what it depends on; returns the event of its end."""
        number = self._choose(node, trace)
        stream = self.streams[number]
        if self._tails[number] is None:
            stream.wait_event(self._fork)
        for earlier in node.dependencies:
            mark = self._marks.get(earlier)  # None: it was ended before the fork
            if mark is not None and mark[0] != number and not earlier.done:
                stream.wait_event(mark[1])
        if self.timeline.enabled and not stream.is_capturing:
            self.timeline.enqueue(node.operation, stream, number)
        else:
            node.operation.enqueue(stream)
        event = self._event()
        stream.record_event(event)
        self._marks[node] = (number, event)
        self._tails[number] = node
        return event

    def join(self) -> None:
        """Order all that was issued before whatever comes next on the origin stream."""
        for tail in self._tails:
            if tail is not None:
                self.origin.wait_event(self._marks[tail][1])
        self.forget()

    def forget(self) -> None:
        # An event can be recorded again once its waits are enqueued: a wait holds the state at its time.
        self._spare.extend(event for _, event in self._marks.values())
        if self.origin is not None:
            self._spare.append(self._fork)
        self._marks.clear()
        self._tails = [None] * len(self.streams)
        self.origin = None

    def _choose(self, node: Node, trace: Trace) -> int:
        """The stream where `node` waits for the least that it does not depend on."""
        tails = self._tails
        direct = [m[0] for d in node.dependencies if (m := self._marks.get(d)) is not None and tails[m[0]] is d]
        if direct:  # the tail of a stream: no event needed; the one that is ready last
            return max(direct, key=lambda i: tails[i].level)
        behind = [i for i, tail in enumerate(tails) if tail is not None and trace.is_ancestor(tail, node)]
        if behind:
            return max(behind, key=lambda i: tails[i].level)
        free = next((i for i, tail in enumerate(tails) if tail is None), None)
        if free is None and self.origin.is_capturing:
            # While capturing nothing finishes and a stream costs nothing: rather one more than a false dependency.
            free = len(tails)
            self.streams.append(wp.Stream(self._device))
            tails.append(None)
        return min(range(len(tails)), key=lambda i: tails[i].level) if free is None else free

    def _event(self) -> wp.Event:
        return self._spare.pop() if self._spare else wp.Event(self._device)


class TracedRecording(Recording):
    """A recording with the dependencies between its operations."""

    def __init__(self):
        super().__init__()
        self.trace = Trace()

    @property
    def chain(self) -> int:
        return self.trace.critical_path


class AceStreams(Graph):
    """Out-of-order issue to `workers` streams, and graphs with parallel branches for programs seen before."""

    name = "ace-sw"

    def __init__(self, device: Any, *, window: int = 64, workers: int | None = None, traces: int = 64):
        super().__init__(device, traces=traces)
        self.window = window
        self.workers = workers or 16
        self._streams = Streams(self.device, self.workers, self.timeline)
        self._open = Trace()
        self._executing: deque[tuple[Node, wp.Event]] = deque()

    def submit(self, operation: Operation) -> None:
        """Issue an operation to a stream. Where the window is full, waits for the oldest in it to finish."""
        if len(self._open.nodes) >= 4096:  # bounds what the hazard tables remember
            self.flush()
        if not self._open.nodes:
            self._streams.fork(self.device.stream)
        if not self._streams.origin.is_capturing:
            self._retire()
        node = self._open.add(operation)
        self._executing.append((node, self._streams.issue(node, self._open)))
        self.counts.entries += 1
        self.counts.occupancy += len(self._executing)

    def _retire(self) -> None:
        """Let finished operations leave the window; they leave in order."""
        while self._executing:
            node, event = self._executing[0]
            if not event.is_complete:
                if len(self._executing) < self.window:
                    return
                wp.synchronize_event(event)
            node.done = True
            self._executing.popleft()

    def flush(self) -> None:
        if not self._open.nodes:
            return
        self._streams.join()
        self._executing.clear()
        self._count(len(self._open.nodes), len(self._open.nodes), self._open.critical_path)
        self._note_hazards(self._open)
        self._open = Trace()

    def _note_hazards(self, trace: Trace) -> None:
        for kind, count in trace.hazards.kinds.items():
            self.counts.dependencies[kind] += count

    def _recording(self) -> TracedRecording:
        return TracedRecording()

    def _record(self, emit: Emit) -> TracedRecording:
        recording = super()._record(emit)
        self._note_hazards(recording.trace)
        recording.trace.hazards = Hazards()
        return recording

    def _note(self, recording: TracedRecording, operation: Operation) -> None:
        super()._note(recording, operation)
        recording.trace.add(operation)

    def _enqueue(self, recording: TracedRecording, numbers: Sequence[int], stream: wp.Stream) -> None:
        self._streams.fork(stream)
        try:
            for i in numbers:
                self._streams.issue(recording.trace.nodes[i], recording.trace)
            self._streams.join()
        finally:
            self._streams.forget()
