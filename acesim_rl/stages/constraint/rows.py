"""Numbers of constraint rows, in the order equality, friction loss, limits, contacts: from counting, never from who
arrives first."""

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.state import StateData

__all__ = ["count_rows", "first_row"]


@wp.func
def first_row(m: ModelData, d: StateData, source: int, w: int) -> int:
    """First row of a source (a side of a limit, or a contact slot): the rows that those before it need."""
    row = m.nequality_row + m.nfriction
    for k in range(source):
        row += wp.max(d.row_need[k, w], 0)
    return row


@stage("world")
def count_rows(m: ModelData, d: StateData, w: int):
    """Number of rows, and of contacts."""
    row = m.nequality_row + m.nfriction
    for k in range(2 * m.nlimit):
        row += d.row_need[k, w]
    ncon = int(0)
    for k in range(2 * m.nlimit, 2 * m.nlimit + m.nslot):
        need = d.row_need[k, w]
        row += wp.max(need, 0)
        ncon += wp.where(need != 0, 1, 0)
    d.ncon[0, w] = ncon
    d.nefc[0, w] = row
