"""Rows of limits of joints and tendons."""

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.stages.constraint.impedance import impedance, spring_damper, vec5
from acesim_rl.stages.constraint.rows import first_row
from acesim_rl.stages.joints import BALL, get_quat, rotation_vector
from acesim_rl.state import StateData

__all__ = ["limit_need", "limit_rows"]


@wp.func
def limit_distance(m: ModelData, d: StateData, j: int, side: int, w: int) -> float:
    """How far joint j (or tendon -1 - j) is from its lower (side 0) or upper limit; a ball has one, on its angle."""
    if j < 0:
        t = -1 - j
        length = float(0.0)
        for k in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]):
            length += m.wrap_prm[k, w] * d.qpos[m.jnt_qposadr[m.wrap_objid[k]], w]
        return wp.where(side == 0, length - m.tendon_range[t, w][0], m.tendon_range[t, w][1] - length)
    adr = m.jnt_qposadr[j]
    if m.jnt_type[j] == BALL:
        if side == 0:
            return 1.0e10
        angle = wp.length(rotation_vector(wp.normalize(get_quat(d.qpos, adr, w))))
        return wp.max(m.jnt_range[j, w][0], m.jnt_range[j, w][1]) - angle
    if side == 0:
        return d.qpos[adr, w] - m.jnt_range[j, w][0]
    return m.jnt_range[j, w][1] - d.qpos[adr, w]


@wp.func
def limit_margin(m: ModelData, j: int, w: int) -> float:
    if j < 0:
        return m.tendon_margin[-1 - j, w]
    return m.jnt_margin[j, w]


@stage("limit")
def limit_need(m: ModelData, d: StateData, i: int, w: int):
    """Whether a side of a limit is active."""
    j = m.limit_jntid[i / 2]
    d.row_need[i, w] = wp.where(limit_distance(m, d, j, i % 2, w) < limit_margin(m, j, w), 1, 0)


@wp.func
def put_limit(
    m: ModelData, d: StateData, row: int, pos: float, vel: float, weight: float, solref: wp.vec2, solimp: vec5, w: int
):
    """Regularisation and reference acceleration of a row."""
    imp = impedance(solimp, pos)
    kb = spring_damper(m, solref, solimp, w)
    d.efc_D[row, w] = imp / wp.max((1.0 - imp) * weight, 1.0e-15)
    d.efc_aref[row, w] = -kb[1] * vel - kb[0] * imp * pos


@stage("limit")
def limit_rows(m: ModelData, d: StateData, i: int, w: int):
    """Row of one side of a limit, where active."""
    if d.row_need[i, w] == 0:
        return
    row = first_row(m, d, i, w)
    if m.has_cones != 0:
        d.efc_cone[row, w] = 0
    j = m.limit_jntid[i / 2]
    side = i % 2
    sign = 1.0 - 2.0 * float(side)
    for k in range(m.nv):
        d.efc_J[row, k, w] = 0.0
    vel = float(0.0)
    pos = limit_distance(m, d, j, side, w) - limit_margin(m, j, w)
    if j < 0:
        t = -1 - j
        for n in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]):
            k = m.jnt_dofadr[m.wrap_objid[n]]
            d.efc_J[row, k, w] += sign * m.wrap_prm[n, w]
            vel += sign * m.wrap_prm[n, w] * d.qvel[k, w]
        weight = m.tendon_invweight0[t, w]
        put_limit(m, d, row, pos, vel, weight, m.tendon_solref_lim[t, w], m.tendon_solimp_lim[t, w], w)
        return
    dof = m.jnt_dofadr[j]
    if m.jnt_type[j] == BALL:
        turn = wp.normalize(rotation_vector(wp.normalize(get_quat(d.qpos, m.jnt_qposadr[j], w))))
        for k in range(wp.static(3)):
            d.efc_J[row, dof + k, w] = -turn[k]
            vel -= turn[k] * d.qvel[dof + k, w]
    else:
        d.efc_J[row, dof, w] = sign
        vel = sign * d.qvel[dof, w]
    put_limit(m, d, row, pos, vel, m.dof_invweight0[dof, w], m.jnt_solref[j, w], m.jnt_solimp[j, w], w)
