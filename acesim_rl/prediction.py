"""What a step will need, guessed from what steps before it needed."""

import warp as wp

from acesim_rl.scheduler import Operation, call
from acesim_rl.stages.solver.bins import BINS, BinCounts

__all__ = ["Prediction"]

REMEMBERED = 100
"""Runs for which a bin that was seen is expected again: what changes often would be recorded often."""


class Prediction:
    """Which bins a group's worlds will fall into (see `stages.solver.bins`).

    On the GPU each run leaves the number of worlds in each bin in the host's memory, and nobody waits for it: a guess
    may be some runs old, or wrong. On the CPU one lane does all rows, variants would gain nothing, and nothing is
    predicted.
    """

    def __init__(self, device: wp.Device):
        self.device = device
        self.counts = BinCounts()
        self.counts.worlds = wp.zeros(BINS + 1, dtype=int, device=device)
        self.fixed: tuple[int, ...] | None = () if device.is_cpu else None
        """Bins to emit variants for, whatever was seen; None: those that are predicted."""
        self._host: wp.array = wp.zeros(BINS + 1, dtype=int, device="cpu", pinned=device.is_cuda)
        self._seen = self._host.numpy()
        self._left = [0] * BINS

    def bins(self) -> tuple[int, ...]:
        """Numbers of the bins that the next run gets solver variants for."""
        if self.fixed is not None:
            return self.fixed
        self._left = [REMEMBERED if self._seen[k] else max(0, self._left[k] - 1) for k in range(BINS)]
        return tuple(k for k in range(BINS) if self._left[k])

    def read_back(self) -> Operation:
        """Takes the counts to the host, and begins them anew."""
        worlds = self.counts.worlds

        def enqueue():
            wp.copy(self._host, worlds)
            worlds.zero_()

        return call(enqueue, reads=[worlds], writes=[worlds, self._host], device=self.device, name="read_back")
