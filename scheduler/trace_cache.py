"""The trace cache: recorded programs by key, the least recently used dropped first."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Any

__all__ = ["TraceCache"]


class TraceCache:
    """Maps a program's key to its recorded trace. Traces hold their operations, so the buffers stay alive."""

    def __init__(self, capacity: int = 64):
        self.capacity = capacity
        self.hits = 0
        self.misses = 0
        self._traces: OrderedDict[Hashable, Any] = OrderedDict()

    def get(self, key: Hashable) -> Any:
        """The trace of `key`, or None."""
        trace = self._traces.get(key)
        if trace is None:
            self.misses += 1
        else:
            self.hits += 1
            self._traces.move_to_end(key)
        return trace

    def put(self, key: Hashable, trace: Any) -> None:
        self._traces[key] = trace
        if len(self._traces) > self.capacity:
            self._traces.popitem(last=False)

    def clear(self) -> None:
        self._traces.clear()

    def __len__(self) -> int:
        return len(self._traces)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._traces
