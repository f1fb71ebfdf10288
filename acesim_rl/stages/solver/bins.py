"""Worlds by their number of rows: a solver variant for each of the small sizes, and one for all that is left.

Rows go through a solver in chunks, one row for each lane. A world's bin is how many chunks it has; a variant for few
chunks keeps their rows in registers. Which variants a step emits is a guess, from the rows that worlds had before
(`acesim_rl/prediction.py`). Whatever the guess, the rest takes the worlds that no emitted variant takes, and all give
the same bits.
"""

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.stage import Stage, stage
from acesim_rl.state import StateData

__all__ = ["BINS", "BinCounts", "count_bins", "solver_stage"]

BINS = 2
"""Variants: for one chunk of rows, and for two."""


@wp.struct
class BinCounts:
    """What the last step found."""

    worlds: wp.array[int]  # [BINS + 1] worlds in each bin, and those with more rows


@wp.func
def bin_of(nefc: int, chunk: int) -> int:
    """Number of the bin of a world with so many rows, chunk rows a chunk; BINS: too many for a variant."""
    return wp.min(wp.max(nefc - 1, 0) / chunk, wp.static(BINS))


@stage("world", module="acesim_rl.bins")
def count_bins(m: ModelData, d: StateData, counts: BinCounts, chunk: int, w: int):
    """Worlds in each bin; a sum of ones is the same in any order."""
    wp.atomic_add(counts.worlds, bin_of(d.nefc[0, w], chunk), 1)


def solver_stage(solve_world: wp.Function, name: str, module: str, lanes: int, chunks: int | None) -> Stage:
    """The stage of a variant for so many chunks, which takes its bin and a chunk's rows, or of the rest (`chunks` is
    None), which takes the emitted bins, as bits, and a chunk's rows.

    Args:
        solve_world: (m, d, w, lane), solves one world.
    """

    def variant(m: ModelData, d: StateData, bin: int, chunk: int, w: int, lane: int):
        if bin_of(d.nefc[0, w], chunk) == bin:
            solve_world(m, d, w, lane)

    def rest(m: ModelData, d: StateData, emitted: int, chunk: int, w: int, lane: int):
        if (emitted >> bin_of(d.nefc[0, w], chunk)) % 2 == 0:
            solve_world(m, d, w, lane)

    function = rest if chunks is None else variant
    function.__name__ = function.__qualname__ = name if chunks is None else f"{name}_{chunks * lanes}_rows"
    module = module if chunks is None else f"{module}.rows{chunks * lanes}"
    part = ("rows", BINS if chunks is None else chunks - 1)
    return stage("world", module=module, lanes=lanes, part=part)(function)
