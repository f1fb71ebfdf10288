"""Which constraints are active, and the rows that they get."""

from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.stages.collision.contact import pair_margin, pair_reach
from acesim_rl.stages.constraint.limit import limit_distance
from acesim_rl.state import StateData

__all__ = ["number_rows"]


@stage("world")
def number_rows(m: ModelData, d: StateData, w: int):
    """Number the rows of active limits, then of contacts: by counting, so the order is always the same."""
    row = int(0)
    for i in range(2 * m.nlimit):
        d.limit_row[i, w] = -1
        j = m.limit_jntid[i / 2]
        if limit_distance(m, d, j, i % 2, w) < m.jnt_margin[j, w]:
            d.limit_row[i, w] = row
            row += 1
    ncon = int(0)
    for slot in range(m.nslot):
        d.contact_row[slot, w] = -1
        dist = d.contact_dist[slot, w]
        p = m.slot_pair[slot]
        if dist < pair_reach(m, p, w):
            ncon += 1
            if dist < pair_margin(m, p, w):
                d.contact_row[slot, w] = row
                if m.slot_condim[slot] == 1:
                    row += 1
                else:
                    row += 2 * (m.slot_condim[slot] - 1)
    d.ncon[0, w] = ncon
    d.nefc[0, w] = row
