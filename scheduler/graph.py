"""`graph`: one serial CUDA graph of a program, the way other simulators do it. Also the base of `ace-sw` on CUDA.

The first time a key is seen its operations are enqueued one after another on the current stream, while they are
recorded: a program seen once is not worth a graph, all modules and libraries get loaded where loading is allowed, and
nothing runs twice. The second time the recorded operations are captured into a graph, which is launched then and ever
after. Where a capture is already active on the current stream (`torch.cuda.graph`, `wp.ScopedCapture`), operations are
enqueued into that capture instead.
"""

import itertools
import sys
from collections.abc import Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import warp as wp

from acesim_rl.scheduler.base import Emit, Scheduler
from acesim_rl.scheduler.operation import Operation

__all__ = ["Graph", "Recording"]


class Recording:
    """The operations of a program and, once it was seen twice, its graphs."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.parts: list[wp.Graph | Operation] | None = None
        """Graphs, and between them the operations that cannot be captured."""
        self.pool: Any = None
        """Where torch allocates inside the graphs."""

    @property
    def chain(self) -> int:
        """Operations on the longest chain."""
        return len(self.operations)


class Graph(Scheduler):
    """Runs a program as one CUDA graph, a single chain."""

    name = "graph"

    def __init__(self, device: Any, *, traces: int = 64):
        super().__init__(device, traces=traces)
        if not self.device.is_cuda:
            raise ValueError(
                f"scheduler '{self.name}' makes CUDA graphs, device '{self.device.alias}' has none; "
                "use serial or ace-sw there"
            )
        # Not the current stream: that may be the legacy default stream, which cannot be captured.
        self._capture_stream = wp.Stream(self.device)

    def submit(self, operation: Operation) -> None:
        operation.enqueue(self.device.stream)
        self._count(1, 1, 1)

    def flush(self) -> None:
        pass

    def _record(self, emit: Emit) -> Recording:
        recording = self._recording()
        stream = self.device.stream
        if stream.is_capturing:
            for operation in emit():
                self._note(recording, operation)
            self._enqueue_captured(recording, stream)
        else:
            for operation in emit():
                self._note(recording, operation)
                operation.enqueue(stream)
        count = len(recording.operations)
        self._count(count, count, count)
        return recording

    def _replay(self, recording: Recording) -> None:
        stream = self.device.stream
        count = len(recording.operations)
        if stream.is_capturing:
            self._enqueue_captured(recording, stream)
            self._count(count, count, recording.chain)
            return
        if self.timeline.enabled:  # inside a graph nothing can be timed
            self._enqueue(recording, range(count), stream)
            self._count(count, count, recording.chain)
            return
        if recording.parts is None:
            recording.parts = self._capture(recording)
        for part in recording.parts:
            if isinstance(part, Operation):
                part.enqueue(stream)
            else:
                wp.capture_launch(part, stream)
        self._count(count, len(recording.parts), recording.chain)

    def _capture(self, recording: Recording) -> list[wp.Graph | Operation]:
        """Graphs of all that can be captured, in order with the operations that cannot."""
        parts: list[wp.Graph | Operation] = []
        numbers = range(len(recording.operations))
        with self._torch_pool(recording):
            for capturable, group in itertools.groupby(numbers, lambda i: recording.operations[i].capturable):
                if not capturable:
                    parts.extend(recording.operations[i] for i in group)
                    continue
                stream = self._capture_stream
                # Every module was loaded when its launch was recorded.
                with wp.ScopedCapture(stream=stream, force_module_load=False) as capture:
                    self._enqueue(recording, list(group), stream)
                parts.append(capture.graph)
                self.counts.graphs += 1
        return parts

    def _enqueue_captured(self, recording: Recording, stream: wp.Stream) -> None:
        """Enqueue a whole program into the capture that is active on `stream`."""
        for operation in recording.operations:
            if not operation.capturable:
                raise RuntimeError(
                    f"operation '{operation.name}' cannot be captured (capturable=False), but the current stream is "
                    "being captured; run this program outside of the capture"
                )
        self._enqueue(recording, range(len(recording.operations)), stream)

    @contextmanager
    def _torch_pool(self, recording: Recording):
        """Keep what torch allocates inside a graph apart, and alive as long as the graph."""
        torch = sys.modules.get("torch")
        if torch is None or not torch.cuda.is_initialized():
            scope = nullcontext()
        else:
            recording.pool = torch.cuda.MemPool()
            scope = torch.cuda.use_mem_pool(recording.pool, device=self.device.ordinal)
        with scope:
            yield

    def _count(self, operations: int, launches: int, chain: int) -> None:
        self.counts.operations += operations
        self.counts.launches += launches
        self.counts.chain += chain

    # What `ace-sw` does differently

    def _recording(self) -> Recording:
        return Recording()

    def _note(self, recording: Recording, operation: Operation) -> None:
        recording.operations.append(operation)

    def _enqueue(self, recording: Recording, numbers: Sequence[int], stream: wp.Stream) -> None:
        """Enqueue these operations of a program, so that all that follows on `stream` is ordered after them."""
        for i in numbers:
            if self.timeline.enabled and not stream.is_capturing:
                self.timeline.enqueue(recording.operations[i], stream, 0)
            else:
                recording.operations[i].enqueue(stream)
