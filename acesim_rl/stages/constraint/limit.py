"""Rows of joint limits."""

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.stages.constraint.impedance import impedance, spring_damper
from acesim_rl.stages.constraint.rows import first_row
from acesim_rl.stages.joints import BALL, get_quat, rotation_vector
from acesim_rl.state import StateData

__all__ = ["limit_need", "limit_rows"]


@wp.func
def limit_distance(m: ModelData, d: StateData, j: int, side: int, w: int) -> float:
    """How far joint j is from its lower (side 0) or upper limit; a ball joint has one limit, on its angle."""
    adr = m.jnt_qposadr[j]
    if m.jnt_type[j] == BALL:
        if side == 0:
            return 1.0e10
        angle = wp.length(rotation_vector(wp.normalize(get_quat(d.qpos, adr, w))))
        return wp.max(m.jnt_range[j, w][0], m.jnt_range[j, w][1]) - angle
    if side == 0:
        return d.qpos[adr, w] - m.jnt_range[j, w][0]
    return m.jnt_range[j, w][1] - d.qpos[adr, w]


@stage("limit")
def limit_need(m: ModelData, d: StateData, i: int, w: int):
    """Whether a side of a limit is active."""
    j = m.limit_jntid[i / 2]
    d.row_need[i, w] = wp.where(limit_distance(m, d, j, i % 2, w) < m.jnt_margin[j, w], 1, 0)


@stage("limit")
def limit_rows(m: ModelData, d: StateData, i: int, w: int):
    """Row of one side of a limit, where active."""
    if d.row_need[i, w] == 0:
        return
    row = first_row(d, i, w)
    j = m.limit_jntid[i / 2]
    side = i % 2
    dof = m.jnt_dofadr[j]
    for k in range(m.nv):
        d.efc_J[row, k, w] = 0.0
    vel = float(0.0)
    if m.jnt_type[j] == BALL:
        turn = wp.normalize(rotation_vector(wp.normalize(get_quat(d.qpos, m.jnt_qposadr[j], w))))
        for k in range(wp.static(3)):
            d.efc_J[row, dof + k, w] = -turn[k]
            vel -= turn[k] * d.qvel[dof + k, w]
    else:
        sign = 1.0 - 2.0 * float(side)
        d.efc_J[row, dof, w] = sign
        vel = sign * d.qvel[dof, w]
    pos = limit_distance(m, d, j, side, w) - m.jnt_margin[j, w]
    imp = impedance(m.jnt_solimp[j, w], pos)
    kb = spring_damper(m, m.jnt_solref[j, w], m.jnt_solimp[j, w], w)
    d.efc_D[row, w] = imp / wp.max((1.0 - imp) * m.dof_invweight0[dof, w], 1.0e-15)
    d.efc_aref[row, w] = -kb[1] * vel - kb[0] * imp * pos
