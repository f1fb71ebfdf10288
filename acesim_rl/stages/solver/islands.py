"""Islands: trees joined by constraints, which PGS solves each by itself (MuJoCo's computation chapter, 'Islands')."""

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.state import StateData

__all__ = ["islands"]


@wp.func
def join(m: ModelData, d: StateData, island: int, k: int, w: int) -> int:
    """Make one island of `island` (-1: none yet) and that of dof k (-1: none); returns its number."""
    if k < 0:
        return island
    other = d.dof_island[k, w]
    if island < 0 or island == other:
        return other
    low = wp.min(island, other)
    for i in range(m.nv):
        if d.dof_island[i, w] == island or d.dof_island[i, w] == other:
            d.dof_island[i, w] = low
    return low


@wp.func
def join_rows(m: ModelData, d: StateData, row: int, rows: int, w: int) -> int:
    """Make one island of all dofs that a constraint's rows act on; returns the row after them."""
    island = int(-1)
    for r in range(row, row + rows):
        for k in range(m.nv):
            if d.efc_J[r, k, w] != 0.0:
                island = join(m, d, island, k, w)
    for r in range(row, row + rows):
        d.efc_island[r, w] = island
    return row + rows


@stage("world", module="acesim_rl.solver.islands")
def islands(m: ModelData, d: StateData, w: int):
    """Number the islands by their first dof: those of all dofs, and of all rows."""
    for k in range(m.nv):
        parent = m.dof_parentid[k]
        d.dof_island[k, w] = k
        if parent >= 0:
            d.dof_island[k, w] = d.dof_island[parent, w]
    row = int(0)
    count = m.equality_id.shape[0]
    for i in range(count):
        after = m.nequality_row
        if i + 1 < count:
            after = m.equality_row[i + 1]
        row = join_rows(m, d, row, after - row, w)
    for _i in range(m.nfriction):
        row = join_rows(m, d, row, 1, w)
    for i in range(2 * m.nlimit):
        row = join_rows(m, d, row, d.row_need[i, w], w)
    for slot in range(m.nslot):
        p = m.slot_pair[slot]
        rows = wp.max(d.row_need[2 * m.nlimit + slot, w], 0)
        if rows > 0:  # also where the contact's rows do not act on one of the trees
            island = join(m, d, -1, m.body_lastdof[m.geom_bodyid[m.pair_geom1[p]]], w)
            island = join(m, d, island, m.body_lastdof[m.geom_bodyid[m.pair_geom2[p]]], w)
            for r in range(rows):
                d.efc_island[row + r, w] = island
        row += rows
    for r in range(row):
        if d.efc_island[r, w] >= 0:
            d.efc_island[r, w] = d.dof_island[d.efc_island[r, w], w]
