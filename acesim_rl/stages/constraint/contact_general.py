"""Rows of contacts of any condim, in pyramids and in elliptic cones."""

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.stages.collision.contact import pair_margin
from acesim_rl.stages.constraint.contact import (
    contact_friction,
    contact_solref,
    mix_weight,
    point_motion,
    pyramid_stiffness,
)  # fmt: skip
from acesim_rl.stages.constraint.impedance import impedance, spring_damper
from acesim_rl.stages.constraint.rows import first_row
from acesim_rl.state import StateData

__all__ = ["contact_rows_general", "friction_of"]

vec6 = wp.types.vector(length=6, dtype=float)


@wp.func
def friction_of(m: ModelData, p: int, j: int, w: int) -> float:
    """Coefficient of direction j of a contact of pair p: 1, 2 sliding, 3 torsional, 4, 5 rolling."""
    if m.pair_explicit[p] >= 0:
        return wp.max(m.pair_friction[m.pair_explicit[p], w][j - 1], 1.0e-5)
    g1 = m.pair_geom1[p]
    g2 = m.pair_geom2[p]
    if j < 3:
        return contact_friction(m, g1, g2, w)
    kind = wp.where(j == 3, 1, 2)
    first = m.geom_friction[g1, w][kind]
    second = m.geom_friction[g2, w][kind]
    if m.geom_priority[g1] > m.geom_priority[g2]:
        return wp.max(first, 1.0e-5)
    if m.geom_priority[g1] < m.geom_priority[g2]:
        return wp.max(second, 1.0e-5)
    return wp.max(wp.max(first, second), 1.0e-5)


@stage("slot", module="acesim_rl.constraint")
def contact_rows_general(m: ModelData, d: StateData, slot: int, w: int):
    """As `contact_rows`, for models with condim above 3, elliptic cones, or explicit contact pairs."""
    nrow = d.row_need[2 * m.nlimit + slot, w]
    if nrow <= 0:
        d.contact_row[slot, w] = -1
        return
    row = first_row(m, d, 2 * m.nlimit + slot, w)
    d.contact_row[slot, w] = row
    p = m.slot_pair[slot]
    dim = m.slot_condim[slot]
    g1 = m.pair_geom1[p]
    g2 = m.pair_geom2[p]
    b1 = m.geom_bodyid[g1]
    b2 = m.geom_bodyid[g2]
    friction = vec6()
    for j in range(1, dim):
        friction[j] = friction_of(m, p, j, w)
    pos = d.contact_pos[slot, w]
    frame = d.contact_frame[slot, w]
    vel = vec6()  # of the second geom against the first, in the contact's frame
    moves = bool(False)  # whether any dof moves them along the normal
    next1 = m.body_lastdof[b1]
    next2 = m.body_lastdof[b2]
    for r in range(m.nv):
        k = m.nv - 1 - r
        move = wp.vec3(0.0, 0.0, 0.0)
        turn = wp.vec3(0.0, 0.0, 0.0)
        if k == next2:
            move += point_motion(m, d, b2, k, pos, w)
            turn += wp.spatial_top(d.cdof[k, w])
            next2 = m.dof_parentid[k]
        if k == next1:
            move -= point_motion(m, d, b1, k, pos, w)
            turn -= wp.spatial_top(d.cdof[k, w])
            next1 = m.dof_parentid[k]
        move = frame * move
        moves = moves or wp.abs(move[0]) > 1.0e-6
        turn = frame * turn
        motion = vec6(move[0], move[1], move[2], turn[0], turn[1], turn[2])
        vel += motion * d.qvel[k, w]
        if dim == 1 or m.has_cones != 0:
            for j in range(dim):
                d.efc_J[row + j, k, w] = motion[j]
        else:
            for j in range(1, dim):
                d.efc_J[row + 2 * j - 2, k, w] = motion[0] + friction[j] * motion[j]
                d.efc_J[row + 2 * j - 1, k, w] = motion[0] - friction[j] * motion[j]

    mix = mix_weight(m, g1, g2, w)
    solref = contact_solref(m, g1, g2, mix, w)
    solimp = mix * m.geom_solimp[g1, w] + (1.0 - mix) * m.geom_solimp[g2, w]
    if m.pair_explicit[p] >= 0:
        solref = m.pair_solref[m.pair_explicit[p], w]
        solimp = m.pair_solimp[m.pair_explicit[p], w]
    depth = d.contact_dist[slot, w] - pair_margin(m, p, w)
    imp = impedance(solimp, depth)
    weight = m.body_invweight0[b1, w][0] + m.body_invweight0[b2, w][0]
    kb = spring_damper(m, solref, solimp, w)
    pull = kb[0] * imp * depth
    mu = friction[1]
    if dim == 1:
        d.efc_D[row, w] = imp / wp.max((1.0 - imp) * weight, 1.0e-15)
        d.efc_aref[row, w] = -kb[1] * vel[0] - pull
        if m.has_cones != 0:
            d.efc_cone[row, w] = 0
    elif m.has_cones != 0:
        D = imp / wp.max((1.0 - imp) * weight, 1.0e-15)
        d.efc_D[row, w] = D
        d.efc_aref[row, w] = -kb[1] * vel[0] - pull
        d.efc_friction[row, w] = mu / wp.sqrt(m.impratio)
        d.efc_cone[row, w] = dim
        for j in range(1, dim):
            ratio = friction[j] / mu
            d.efc_D[row + j, w] = D * m.impratio * ratio * ratio
            d.efc_aref[row + j, w] = -kb[1] * vel[j]
            d.efc_friction[row + j, w] = friction[j]
            d.efc_cone[row + j, w] = -j
    else:
        D = pyramid_stiffness(m, mu, imp, weight, moves)
        for j in range(1, dim):
            for side in range(wp.static(2)):
                sign = 1.0 - 2.0 * float(side)
                d.efc_D[row + 2 * j - 2 + side, w] = D
                d.efc_aref[row + 2 * j - 2 + side, w] = -kb[1] * (vel[0] + sign * friction[j] * vel[j]) - pull
