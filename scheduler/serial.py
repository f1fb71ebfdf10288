"""`serial`: recorded launches, one after another. The baseline, and the reference of every test."""

from time import perf_counter

from acesim_rl.scheduler.base import Emit, Scheduler
from acesim_rl.scheduler.operation import Operation

__all__ = ["Serial"]


class Serial(Scheduler):
    """Runs operations in program order on the device's current stream.

    On a key seen before it goes through the recorded list, so neither emission nor argument packing is in the way:
    the baseline is a fair one.
    """

    name = "serial"

    def submit(self, operation: Operation) -> None:
        begin = perf_counter()
        if not self.timeline.enabled:
            operation.start()
        elif self.device.is_cpu:
            operation.start()
            self.timeline.add(operation.name, 0, begin, perf_counter())
        else:
            self.timeline.enqueue(operation, self.device.stream, 0)
        self._count([operation], begin)

    def flush(self) -> None:
        pass

    def _record(self, emit: Emit) -> list[Operation]:
        trace = []
        for operation in emit():
            self.submit(operation)
            trace.append(operation)
        return trace

    def _replay(self, trace: list[Operation]) -> None:
        if self.timeline.enabled:
            for operation in trace:
                self.submit(operation)
            return
        begin = perf_counter()
        if self.device.is_cpu:
            for operation in trace:
                operation.invoke()
        else:
            stream = self.device.stream
            for operation in trace:
                operation.enqueue(stream)
        self._count(trace, begin)

    def _count(self, operations: list[Operation], begin: float) -> None:
        self.counts.operations += len(operations)
        self.counts.launches += len(operations)
        self.counts.chain += len(operations)
        if self.device.is_cpu:
            elapsed = perf_counter() - begin
            self.counts.busy += elapsed
            self.counts.wall += elapsed
