"""The window: operations in program order, what each must wait for, and the hazards that say so."""

from collections import Counter, defaultdict
from collections.abc import Iterable

from acesim_rl.scheduler.operation import Operation, Segment, conflict

__all__ = ["Hazards", "Node", "Trace"]


class Node:
    """An operation with its place in the dependency graph.

    It is pending while `waiting` > 0, then ready, then executing, then done.
    """

    __slots__ = ("count", "dependencies", "done", "index", "invoke", "level", "operation", "successors", "waiting")

    def __init__(self, operation: Operation, index: int):
        self.operation = operation
        self.invoke = operation.invoke
        self.index = index
        self.dependencies: list[Node] = []
        self.successors: list[Node] = []
        self.count = self.waiting = 0
        self.level = 1
        self.done = False


class _Use:
    """Who used one segment: the last writer and the readers since."""

    __slots__ = ("readers", "segment", "writer")

    def __init__(self, segment: Segment):
        self.segment = segment
        self.writer: Node | None = None
        self.readers: list[Node] = []


class Hazards:
    """Read-after-write, write-after-read and write-after-write, against every operation entered so far.

    Uses are kept by extent (device, start, stop), because arrays nearly always coincide or are disjoint; which
    extents overlap is found once for each new one.
    """

    def __init__(self) -> None:
        self.uses: dict[tuple, list[_Use]] = {}
        self.neighbours: dict[tuple, list[tuple]] = {}
        self.kinds: Counter[str] = Counter()

    def enter(self, node: Node, reads: Iterable[Segment], writes: Iterable[Segment]) -> set[Node]:
        """Operations that must finish before `node`; notes its reads and writes for those after it."""
        found: dict[Node, str] = {}
        for segment in reads:
            for use in self._conflicts(segment):
                if use.writer is not None:
                    found.setdefault(use.writer, "read_after_write")
        for segment in writes:
            for use in self._conflicts(segment):
                if use.writer is not None:
                    found.setdefault(use.writer, "write_after_write")
                for reader in use.readers:
                    found.setdefault(reader, "write_after_read")
        for segment in reads:
            self._use(segment).readers.append(node)
        for segment in writes:
            self._write(segment, node)
        self.kinds.update(found.values())
        return set(found)

    def _key(self, segment: Segment) -> tuple:
        key = (segment.device, segment.start, segment.stop)
        if key not in self.uses:
            near = [k for k in self.uses if k[0] == key[0] and k[1] < key[2] and key[1] < k[2]]
            for other in near:
                self.neighbours[other].append(key)
            self.neighbours[key] = [key, *near]
            self.uses[key] = []
        return key

    def _conflicts(self, segment: Segment) -> Iterable[_Use]:
        for key in self.neighbours[self._key(segment)]:
            for use in self.uses[key]:
                if conflict(use.segment, segment):
                    yield use

    def _use(self, segment: Segment) -> _Use:
        uses = self.uses[self._key(segment)]
        for use in uses:
            if use.segment == segment:
                return use
        uses.append(_Use(segment))
        return uses[-1]

    def _write(self, segment: Segment, node: Node) -> None:
        """Make `node` the last writer; uses that its segment covers are ordered before it and need no more mention."""
        for key in self.neighbours[self._key(segment)]:
            self.uses[key] = [use for use in self.uses[key] if not _covers(segment, use.segment)]
        self._use(segment).writer = node


def _covers(a: Segment, b: Segment) -> bool:
    """Whether whatever conflicts with `b` also conflicts with `a`."""
    if a.part not in (None, b.part):
        return False
    if a.lanes is None:
        return a.start <= b.start and b.stop <= a.stop
    if b.lanes is None or a.start != b.start or a.stop != b.stop or a.stride != b.stride:
        return False
    return a.lanes[0] <= b.lanes[0] and b.lanes[1] <= a.lanes[1]


class Trace:
    """A recorded program: its operations in order and the exact dependencies between them, transitively reduced."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.hazards = Hazards()
        self.critical_path = 0
        """Operations on the longest chain of dependencies."""
        self.roots: list[Node] = []
        self._ancestors: list[int] = []  # of each node, as a set of bits

    def add(self, operation: Operation) -> Node:
        """Enter the next operation of the program and find what it depends on."""
        node = Node(operation, len(self.nodes))
        ancestors = 0
        for earlier in sorted(self.hazards.enter(node, operation.reads, operation.writes), key=_index, reverse=True):
            if not ancestors >> earlier.index & 1:  # else a later dependency already waits for it
                node.dependencies.append(earlier)
                ancestors |= self._ancestors[earlier.index] | 1 << earlier.index
                node.level = max(node.level, earlier.level + 1)
        self._ancestors.append(ancestors)
        self.nodes.append(node)
        self.critical_path = max(self.critical_path, node.level)
        return node

    def link(self, node: Node) -> int:
        """Hang a new node under its dependencies; returns how many of them are not done yet."""
        for earlier in node.dependencies:
            earlier.successors.append(node)
            node.waiting += not earlier.done
        node.count = node.waiting
        return node.waiting

    def is_ancestor(self, earlier: Node, node: Node) -> bool:
        return bool(self._ancestors[node.index] >> earlier.index & 1)

    def seal(self) -> "Trace":
        """Make the trace ready for replay by counting down: nothing is added any more."""
        height: dict[Node, int] = defaultdict(int)  # operations on the longest chain that starts at the node
        for node in reversed(self.nodes):
            node.successors.sort(key=lambda successor: (height[successor], -successor.index))  # most urgent last
            height[node] = 1 + max((height[successor] for successor in node.successors), default=0)
        self.roots = [node for node in self.nodes if not node.dependencies]
        self.hazards = Hazards()
        self._ancestors.clear()
        self.reset()
        return self

    def reset(self) -> None:
        """Set all counters back, before the first replay or after one that was broken off."""
        for node in self.nodes:
            node.count = node.waiting = len(node.dependencies)


def _index(node: Node) -> int:
    return node.index
