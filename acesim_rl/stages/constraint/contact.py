"""Rows of contacts: frictionless, or a pyramid of two tangents."""

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.stages.collision.contact import pair_margin
from acesim_rl.stages.constraint.impedance import impedance, spring_damper
from acesim_rl.stages.constraint.rows import first_row
from acesim_rl.state import StateData

__all__ = ["contact_friction", "contact_rows", "pyramid_stiffness"]


@wp.func
def mix_weight(m: ModelData, g1: int, g2: int, w: int) -> float:
    """Weight of the first geom's solref and solimp: by priority, else by solmix."""
    if m.geom_priority[g1] != m.geom_priority[g2]:
        return wp.where(m.geom_priority[g1] > m.geom_priority[g2], 1.0, 0.0)
    first = m.geom_solmix[g1, w]
    second = m.geom_solmix[g2, w]
    if first >= 1.0e-15 and second >= 1.0e-15:
        return first / (first + second)
    if first < 1.0e-15 and second < 1.0e-15:
        return 0.5
    return wp.where(first < 1.0e-15, 0.0, 1.0)


@wp.func
def contact_friction(m: ModelData, g1: int, g2: int, w: int) -> float:
    """Sliding friction: the larger one, or that of the geom with priority."""
    if m.geom_priority[g1] > m.geom_priority[g2]:
        return wp.max(m.geom_friction[g1, w][0], 1.0e-5)
    if m.geom_priority[g1] < m.geom_priority[g2]:
        return wp.max(m.geom_friction[g2, w][0], 1.0e-5)
    return wp.max(wp.max(m.geom_friction[g1, w][0], m.geom_friction[g2, w][0]), 1.0e-5)


@wp.func
def contact_solref(m: ModelData, g1: int, g2: int, mix: float, w: int) -> wp.vec2:
    first = m.geom_solref[g1, w]
    second = m.geom_solref[g2, w]
    if first[0] > 0.0 and second[0] > 0.0:
        return mix * first + (1.0 - mix) * second
    if mix == 1.0 or mix == 0.0:
        return wp.where(mix == 1.0, first, second)
    return wp.min(first, second)


@wp.func
def pyramid_stiffness(m: ModelData, mu: float, imp: float, weight: float, moves: bool) -> float:
    """`efc_D` of the sides of a pyramid.

    Almost without friction they are almost parallel, and the stiffer for it; where bodies can move along the normal,
    float32 cannot solve that without a limit.
    """
    R = (1.0 - imp) * weight * (1.0 + mu * mu) / imp
    least = wp.where(moves, m.hardness * weight, 0.0)
    return 1.0 / wp.max(wp.max(2.0 * mu * mu / m.impratio * R, least), 1.0e-15)


@wp.func
def point_motion(m: ModelData, d: StateData, b: int, k: int, pos: wp.vec3, w: int) -> wp.vec3:
    """Velocity of the point pos of body b when dof k moves at unit speed (one column of mj_jac)."""
    offset = pos - d.subtree_com[m.body_rootid[b], w]
    return wp.spatial_bottom(d.cdof[k, w]) + wp.cross(wp.spatial_top(d.cdof[k, w]), offset)


@stage("slot")
def contact_rows(m: ModelData, d: StateData, slot: int, w: int):
    """Jacobian, regularisation and reference acceleration of a contact's rows."""
    nrow = d.row_need[2 * m.nlimit + slot, w]
    if nrow <= 0:
        d.contact_row[slot, w] = -1
        return
    row = first_row(m, d, 2 * m.nlimit + slot, w)
    d.contact_row[slot, w] = row
    p = m.slot_pair[slot]
    g1 = m.pair_geom1[p]
    g2 = m.pair_geom2[p]
    b1 = m.geom_bodyid[g1]
    b2 = m.geom_bodyid[g2]
    mu = contact_friction(m, g1, g2, w)
    pos = d.contact_pos[slot, w]
    frame = d.contact_frame[slot, w]
    vel = wp.vec3(0.0, 0.0, 0.0)  # of the second geom against the first, in the contact's frame
    moves = bool(False)  # whether any dof moves them along the normal
    next1 = m.body_lastdof[b1]
    next2 = m.body_lastdof[b2]
    for r in range(m.nv):
        k = m.nv - 1 - r
        motion = wp.vec3(0.0, 0.0, 0.0)
        if k == next2:
            motion += point_motion(m, d, b2, k, pos, w)
            next2 = m.dof_parentid[k]
        if k == next1:
            motion -= point_motion(m, d, b1, k, pos, w)
            next1 = m.dof_parentid[k]
        motion = frame * motion
        moves = moves or wp.abs(motion[0]) > 1.0e-6
        vel += motion * d.qvel[k, w]
        if nrow == 1:
            d.efc_J[row, k, w] = motion[0]
        else:
            d.efc_J[row, k, w] = motion[0] + mu * motion[1]
            d.efc_J[row + 1, k, w] = motion[0] - mu * motion[1]
            d.efc_J[row + 2, k, w] = motion[0] + mu * motion[2]
            d.efc_J[row + 3, k, w] = motion[0] - mu * motion[2]

    mix = mix_weight(m, g1, g2, w)
    solref = contact_solref(m, g1, g2, mix, w)
    solimp = mix * m.geom_solimp[g1, w] + (1.0 - mix) * m.geom_solimp[g2, w]
    depth = d.contact_dist[slot, w] - pair_margin(m, p, w)
    imp = impedance(solimp, depth)
    weight = m.body_invweight0[b1, w][0] + m.body_invweight0[b2, w][0]
    kb = spring_damper(m, solref, solimp, w)
    pull = kb[0] * imp * depth
    if nrow == 1:
        d.efc_D[row, w] = imp / wp.max((1.0 - imp) * weight, 1.0e-15)
        d.efc_aref[row, w] = -kb[1] * vel[0] - pull
        return
    D = pyramid_stiffness(m, mu, imp, weight, moves)
    for k in range(wp.static(4)):
        d.efc_D[row + k, w] = D
    d.efc_aref[row, w] = -kb[1] * (vel[0] + mu * vel[1]) - pull
    d.efc_aref[row + 1, w] = -kb[1] * (vel[0] - mu * vel[1]) - pull
    d.efc_aref[row + 2, w] = -kb[1] * (vel[0] + mu * vel[2]) - pull
    d.efc_aref[row + 3, w] = -kb[1] * (vel[0] - mu * vel[2]) - pull
