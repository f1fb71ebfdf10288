"""Forces of a fluid on bodies by their inertia (MuJoCo's fluid forces chapter, 'Inertia model')."""

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.stages.joints import rotate
from acesim_rl.state import StateData

__all__ = ["fluid_force", "fluid_passive", "half_sizes"]

MODULE = "acesim_rl.passive"


@wp.func
def half_sizes(mass: float, inertia: wp.vec3) -> wp.vec3:
    """Half sizes of the box that has this mass and inertia."""
    scale = 1.5 / mass
    return wp.vec3(
        wp.sqrt(scale * wp.max(inertia[1] + inertia[2] - inertia[0], 1.0e-15)),
        wp.sqrt(scale * wp.max(inertia[0] + inertia[2] - inertia[1], 1.0e-15)),
        wp.sqrt(scale * wp.max(inertia[0] + inertia[1] - inertia[2], 1.0e-15)),
    )


@stage("body", module=MODULE)
def fluid_force(m: ModelData, d: StateData, b: int, w: int):
    """Viscous resistance of a sphere and drag of a box, both as large as the body."""
    d.fluid_force[b, w] = wp.spatial_vector()
    mass = m.body_mass[b, w]
    if mass < 1.0e-15:
        return
    frame = d.xquat[b, w] * m.body_iquat[b, w]
    offset = d.xipos[b, w] - d.subtree_com[m.body_rootid[b], w]
    turn = wp.spatial_top(d.cvel[b, w])
    vel = rotate(wp.quat_inverse(frame), wp.spatial_bottom(d.cvel[b, w]) + wp.cross(turn, offset) - m.wind[0, w])
    turn = rotate(wp.quat_inverse(frame), turn)
    r = half_sizes(mass, m.body_inertia[b, w])
    mean = (r[0] + r[1] + r[2]) / 3.0
    viscosity = m.viscosity[0, w]
    density = m.density[0, w]
    force = -6.0 * wp.pi * viscosity * mean * vel
    torque = -8.0 * wp.pi * viscosity * mean * mean * mean * turn
    area = wp.vec3(r[1] * r[2], r[0] * r[2], r[0] * r[1])
    fourth = wp.vec3(r[0] * r[0] * r[0] * r[0], r[1] * r[1] * r[1] * r[1], r[2] * r[2] * r[2] * r[2])
    arm = wp.vec3(r[0] * (fourth[1] + fourth[2]), r[1] * (fourth[0] + fourth[2]), r[2] * (fourth[0] + fourth[1]))
    force -= 2.0 * density * wp.cw_mul(area, wp.cw_mul(wp.abs(vel), vel))
    torque -= 0.5 * density * wp.cw_mul(arm, wp.cw_mul(wp.abs(turn), turn))
    force = rotate(frame, force)
    torque = rotate(frame, torque)
    d.fluid_force[b, w] = wp.spatial_vector(torque + wp.cross(offset, force), force)


@stage("dof", module=MODULE)
def fluid_passive(m: ModelData, d: StateData, i: int, w: int):
    """The fluid's forces on the subtree beyond dof i, projected on it."""
    b = m.dof_bodyid[i]
    total = d.fluid_force[b, w]
    for k in range(b + 1, b + m.body_subtreenum[b]):
        total += d.fluid_force[k, w]
    d.qfrc_passive[i, w] = d.qfrc_passive[i, w] + wp.dot(d.cdof[i, w], total)
