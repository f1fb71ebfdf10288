"""Coriolis, centrifugal and gravity forces by the recursive Newton-Euler algorithm (mj_comVel, mj_rne)."""

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.stages.joints import BALL, FREE
from acesim_rl.stages.spatial import cross_force, cross_motion, inertia_times
from acesim_rl.state import StateData

__all__ = ["com_vel", "qfrc_smooth"]


@stage("branch")
def com_vel(m: ModelData, d: StateData, b: int, w: int):
    """Velocity of body b, its acceleration while joint accelerations are zero, and the force that this takes."""
    parent = m.body_parentid[b]
    vel = d.cvel[parent, w]
    acc = d.cacc_bias[parent, w]
    if parent == 0:
        acc = wp.spatial_vector(wp.vec3(0.0, 0.0, 0.0), -m.gravity[0, w])
    for j in range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b]):
        adr = m.jnt_dofadr[j]
        kind = m.jnt_type[j]
        if kind == FREE or kind == BALL:
            if kind == FREE:  # translations first: their axes do not turn
                for k in range(adr, adr + 3):
                    vel += d.cdof[k, w] * d.qvel[k, w]
                adr = adr + 3
            carried = vel
            for k in range(adr, adr + 3):
                acc += cross_motion(carried, d.cdof[k, w]) * d.qvel[k, w]
                vel += d.cdof[k, w] * d.qvel[k, w]
        else:
            acc += cross_motion(vel, d.cdof[adr, w]) * d.qvel[adr, w]
            vel += d.cdof[adr, w] * d.qvel[adr, w]
    d.cvel[b, w] = vel
    d.cacc_bias[b, w] = acc
    I = d.cinert[b, w]
    d.cfrc[b, w] = inertia_times(I, acc) + cross_force(vel, inertia_times(I, vel))


@stage("dof")
def qfrc_smooth(m: ModelData, d: StateData, i: int, w: int):
    """Bias force: what the subtree beyond dof i needs, projected on it; then the sum of all smooth forces."""
    b = m.dof_bodyid[i]
    total = d.cfrc[b, w]
    for k in range(b + 1, b + m.body_subtreenum[b]):
        total += d.cfrc[k, w]
    bias = wp.dot(d.cdof[i, w], total)
    d.qfrc_bias[i, w] = bias
    d.qfrc_smooth[i, w] = d.qfrc_passive[i, w] + d.qfrc_actuator[i, w] - bias
