"""Fixed tendons: sums of joint positions, with springs and dampers (mj_tendon, mj_passive)."""

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.stages.polynomial import higher
from acesim_rl.state import StateData

__all__ = ["tendon", "tendon_passive"]


@stage("tendon", module="acesim_rl.passive")
def tendon(m: ModelData, d: StateData, t: int, w: int):
    """Length and velocity."""
    length = float(0.0)
    velocity = float(0.0)
    for k in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]):
        j = m.wrap_objid[k]
        length += m.wrap_prm[k, w] * d.qpos[m.jnt_qposadr[j], w]
        velocity += m.wrap_prm[k, w] * d.qvel[m.jnt_dofadr[j], w]
    d.ten_length[t, w] = length
    d.ten_velocity[t, w] = velocity


@stage("dof", module="acesim_rl.passive")
def tendon_passive(m: ModelData, d: StateData, i: int, w: int):
    """Forces of the tendons that pull at dof i; springs are slack between their two rest lengths."""
    total = float(0.0)
    for k in range(m.dof_tendon_start[i], m.dof_tendon_start[i + 1]):
        t = m.dof_tendon[k]
        rest = m.tendon_lengthspring[t, w]
        length = d.ten_length[t, w]
        stretch = wp.max(length - rest[1], 0.0) + wp.min(length - rest[0], 0.0)
        speed = d.ten_velocity[t, w]
        force = -(m.tendon_stiffness[t, w] + higher(m.tendon_stiffnesspoly[t, w], stretch)) * stretch
        force -= (m.tendon_damping[t, w] + higher(m.tendon_dampingpoly[t, w], wp.abs(speed))) * speed
        total += m.wrap_prm[m.dof_tendon_wrap[k], w] * force
    d.qfrc_passive[i, w] = d.qfrc_passive[i, w] + total
