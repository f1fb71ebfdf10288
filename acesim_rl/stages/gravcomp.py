"""Compensation of bodies' weights (mj_passive, 'gravcomp')."""

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.state import StateData

__all__ = ["gravcomp"]


@stage("dof", module="acesim_rl.passive")
def gravcomp(m: ModelData, d: StateData, i: int, w: int):
    """Forces against gravity at the centres of mass beyond dof i; a passive force, or else the actuators'."""
    first = m.dof_bodyid[i]
    axis = wp.spatial_top(d.cdof[i, w])
    total = float(0.0)
    for b in range(first, first + m.body_subtreenum[first]):
        offset = d.xipos[b, w] - d.subtree_com[m.body_rootid[b], w]
        motion = wp.spatial_bottom(d.cdof[i, w]) + wp.cross(axis, offset)
        total -= m.body_mass[b, w] * m.body_gravcomp[b, w] * wp.dot(m.gravity[0, w], motion)
    d.qfrc_gravcomp[i, w] = total
    if m.jnt_actgravcomp[m.dof_jntid[i]] == 0:
        d.qfrc_passive[i, w] = d.qfrc_passive[i, w] + total
