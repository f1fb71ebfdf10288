"""Worker threads that run ready operations on the CPU. Warp and torch release the GIL inside an operation."""

import threading
from collections import deque
from collections.abc import Sequence
from time import perf_counter

from acesim_rl.scheduler.timeline import Timeline
from acesim_rl.scheduler.window import Node

__all__ = ["Workers"]


class Workers:
    """`count` workers; worker 0 is the calling thread, inside `work`.

    A worker goes on with the most urgent operation that it just made ready: the worlds' data are then still in its
    cache. Others that it made ready go on its own stack, from which idle workers take the oldest. One lock guards
    everything; it is held for about a microsecond an operation.
    """

    def __init__(self, count: int, timeline: Timeline):
        self.count = count
        self.lock = threading.Lock()
        self.ready: deque[Node] = deque()
        """Operations that were ready at once, in program order."""
        self.stacks: list[deque[Node]] = [deque() for _ in range(count)]
        self.unfinished = 0
        """Operations entered and not done."""
        self.target = 0
        """The caller leaves `work` when no more than this many are unfinished."""
        self.error: BaseException | None = None
        self.busy = [0.0] * count
        self.timeline = timeline
        self._idle: list[int] = []
        self._gates = [threading.Lock() for _ in range(count)]
        for gate in self._gates:
            gate.acquire()
        self._closed = False
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Start the threads, once."""
        for worker in range(len(self._threads) + 1, self.count):
            thread = threading.Thread(target=self._loop, args=(worker,), name=f"acesim-worker-{worker}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def close(self) -> None:
        """End the threads after the operations that they are in. Works also when the caller was interrupted."""
        self.lock.acquire(timeout=1.0)  # an interrupted caller may have left it locked
        self._closed = True
        self.ready.clear()
        for stack in self.stacks:
            stack.clear()
        self._wake(self.count)
        self.lock.release()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join()

    def _wake(self, number: int) -> None:
        """Wake up to `number` idle workers; the lock is held."""
        while number > 0 and self._idle:
            self._gates[self._idle.pop()].release()
            number -= 1

    def enter(self, number: int, ready: Sequence[Node], wake: int) -> None:
        """Enter `number` operations, those in `ready` ready at once, and wake `wake` workers; the lock is held."""
        self.unfinished += number
        self.ready.extend(ready)
        self._wake(wake)

    def work(self, target: int = 0) -> None:
        """Run operations in the calling thread until no more than `target` are unfinished."""
        self.start()
        self.target = target
        self._loop(0)

    def _take(self, worker: int) -> Node | None:
        stack = self.stacks[worker]
        if stack:
            return stack.pop()
        if self.ready:
            return self.ready.popleft()
        for other in self.stacks:
            if other:
                return other.popleft()
        return None

    def _loop(self, worker: int) -> None:
        lock, stack, gate, idle = self.lock, self.stacks[worker], self._gates[worker], self._idle
        node = None
        lock.acquire()
        while True:
            if worker == 0 and self.unfinished <= self.target:
                if node is not None:
                    stack.append(node)
                    self._wake(1)
                break
            if node is None and (node := self._take(worker)) is None:
                if self._closed:
                    break
                idle.append(worker)
                lock.release()
                gate.acquire()
                lock.acquire()
                continue
            lock.release()

            begin = perf_counter()
            if self.error is None:  # after an error the rest is only counted down
                try:
                    node.invoke()
                except BaseException as error:
                    self.error = error
            end = perf_counter()
            self.busy[worker] += end - begin
            if self.timeline.enabled:
                self.timeline.add(node.operation.name, worker, begin, end)

            lock.acquire()
            node.done = True
            self.unfinished -= 1
            following = None
            surplus = 0
            for successor in node.successors:  # the most urgent comes last
                successor.waiting -= 1
                if not successor.waiting:
                    successor.waiting = successor.count
                    if following is not None:
                        stack.append(following)
                        surplus += 1
                    following = successor
            node = following
            if idle:
                if self.unfinished <= self.target and 0 in idle:
                    idle.remove(0)
                    self._gates[0].release()
                if surplus:
                    self._wake(surplus)
        lock.release()
