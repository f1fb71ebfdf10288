"""Rows of friction loss in joints and tendons."""

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.stages.constraint.impedance import impedance, spring_damper, vec5
from acesim_rl.state import StateData

__all__ = ["friction_rows"]


@wp.func
def put_friction(
    m: ModelData, d: StateData, row: int, vel: float, loss: float, weight: float, solref: wp.vec2, solimp: vec5, w: int
):
    imp = impedance(solimp, 0.0)
    kb = spring_damper(m, solref, solimp, w)
    d.efc_D[row, w] = imp / wp.max((1.0 - imp) * weight, 1.0e-15)
    d.efc_aref[row, w] = -kb[1] * vel
    d.efc_friction[row, w] = loss


@stage("friction", module="acesim_rl.constraint")
def friction_rows(m: ModelData, d: StateData, i: int, w: int):
    """The velocity of a dof or tendon is to be zero, as far as a force up to `frictionloss` can make it so."""
    row = m.nequality_row + i
    dof = m.friction_dofid[i]
    for k in range(m.nv):
        d.efc_J[row, k, w] = 0.0
    if dof >= 0:
        d.efc_J[row, dof, w] = 1.0
        loss = m.dof_frictionloss[dof, w]
        solimp = m.dof_solimp[dof, w]
        put_friction(m, d, row, d.qvel[dof, w], loss, m.dof_invweight0[dof, w], m.dof_solref[dof, w], solimp, w)
    else:
        t = -1 - dof
        vel = float(0.0)
        for n in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]):
            k = m.jnt_dofadr[m.wrap_objid[n]]
            d.efc_J[row, k, w] += m.wrap_prm[n, w]
            vel += m.wrap_prm[n, w] * d.qvel[k, w]
        loss = m.tendon_frictionloss[t, w]
        solimp = m.tendon_solimp_fri[t, w]
        put_friction(m, d, row, vel, loss, m.tendon_invweight0[t, w], m.tendon_solref_fri[t, w], solimp, w)
    if m.has_cones != 0:
        d.efc_cone[row, w] = 0
