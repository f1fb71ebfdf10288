"""For those who ask: accelerations of bodies, forces between them, momenta of subtrees, energy."""

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.stages.joints import BALL, FREE, get_quat, rotate, rotation_vector
from acesim_rl.stages.polynomial import higher_energy
from acesim_rl.stages.sites import object_vel
from acesim_rl.stages.spatial import cross_force, inertia_times
from acesim_rl.state import StateData

__all__ = ["cacc", "cfrc_int", "energy", "subtree_vel"]

MODULE = "acesim_rl.sensor"


@stage("subtree", module=MODULE)
def cacc(m: ModelData, d: StateData, b: int, w: int):
    """Acceleration of body b, joint accelerations included (mj_rnePostConstraint)."""
    if b == 0:
        d.cacc[0, w] = wp.spatial_vector(wp.vec3(0.0, 0.0, 0.0), -m.gravity[0, w])
        return
    total = d.cacc_bias[b, w]
    k = m.body_lastdof[b]
    while k >= 0:
        total += d.cdof[k, w] * d.qacc[k, w]
        k = m.dof_parentid[k]
    d.cacc[b, w] = total


@stage("body", module=MODULE)
def cfrc_int(m: ModelData, d: StateData, b: int, w: int):
    """Force of the parent on body b: what moves the subtree, but for the contacts' part."""
    total = wp.spatial_vector()
    for k in range(b, b + m.body_subtreenum[b]):
        I = d.cinert[k, w]
        total += inertia_times(I, d.cacc[k, w]) + cross_force(d.cvel[k, w], inertia_times(I, d.cvel[k, w]))
        total -= d.cfrc_ext[k, w]
    d.cfrc_int[b, w] = total


@wp.func
def subtree_centre(m: ModelData, d: StateData, b: int, w: int) -> wp.vec3:
    """Centre of mass of body b and all beyond it."""
    mass = float(0.0)
    moment = wp.vec3(0.0, 0.0, 0.0)
    for k in range(b, b + m.body_subtreenum[b]):
        mass += m.body_mass[k, w]
        moment += m.body_mass[k, w] * d.xipos[k, w]
    if mass < 1.0e-15:
        return d.xipos[b, w]
    return moment / mass


@stage("subtree", module=MODULE)
def subtree_vel(m: ModelData, d: StateData, b: int, w: int):
    """Velocity of a subtree's centre of mass, and its angular momentum about it (mj_subtreeVel)."""
    mass = float(0.0)
    momentum = wp.vec3(0.0, 0.0, 0.0)
    for k in range(b, b + m.body_subtreenum[b]):
        mass += m.body_mass[k, w]
        momentum += m.body_mass[k, w] * wp.spatial_bottom(object_vel(m, d, k, d.xipos[k, w], w))
    mean = momentum / wp.max(mass, 1.0e-15)
    centre = subtree_centre(m, d, b, w)
    angular = wp.vec3(0.0, 0.0, 0.0)
    for k in range(b, b + m.body_subtreenum[b]):
        vel = object_vel(m, d, k, d.xipos[k, w], w)
        frame = d.xquat[k, w] * m.body_iquat[k, w]
        turn = rotate(wp.quat_inverse(frame), wp.spatial_top(vel))
        angular += rotate(frame, wp.cw_mul(m.body_inertia[k, w], turn))
        angular += m.body_mass[k, w] * wp.cross(d.xipos[k, w] - centre, wp.spatial_bottom(vel) - mean)
    d.subtree_linvel[b, w] = mean
    d.subtree_angmom[b, w] = angular


@wp.func
def spring_energy(stiffness: float, poly: wp.vec2, stretch: float) -> float:
    return 0.5 * stiffness * stretch * stretch + higher_energy(poly, stretch)


@stage("world", module=MODULE)
def energy(m: ModelData, d: StateData, w: int):
    """Potential energy, of gravity and springs; kinetic energy (mj_energyPos, mj_energyVel)."""
    potential = float(0.0)
    for b in range(1, m.nbody):
        potential -= m.body_mass[b, w] * wp.dot(m.gravity[0, w], d.xipos[b, w])
    for j in range(m.njnt):
        stiffness = m.jnt_stiffness[j, w]
        poly = m.jnt_stiffnesspoly[j, w]
        adr = m.jnt_qposadr[j]
        kind = m.jnt_type[j]
        if kind == FREE:
            shift = wp.vec3(0.0, 0.0, 0.0)
            for k in range(wp.static(3)):
                shift[k] = d.qpos[adr + k, w] - m.qpos_spring[adr + k, w]
            potential += spring_energy(stiffness, poly, wp.length(shift))
            adr = adr + 3
        if kind == FREE or kind == BALL:
            rest = get_quat(m.qpos_spring, adr, w)
            turn = rotation_vector(wp.quat_inverse(rest) * wp.normalize(get_quat(d.qpos, adr, w)))
            potential += spring_energy(stiffness, poly, wp.length(turn))
        else:
            potential += spring_energy(stiffness, poly, d.qpos[adr, w] - m.qpos_spring[adr, w])
    for t in range(m.ntendon):
        slack = m.tendon_lengthspring[t, w]
        length = float(0.0)
        for k in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]):
            length += m.wrap_prm[k, w] * d.qpos[m.jnt_qposadr[m.wrap_objid[k]], w]
        stretch = wp.max(length - slack[1], 0.0) + wp.min(length - slack[0], 0.0)
        potential += spring_energy(m.tendon_stiffness[t, w], m.tendon_stiffnesspoly[t, w], stretch)
    kinetic = float(0.0)
    for i in range(m.nv):
        for j in range(m.nv):
            kinetic += 0.5 * d.M[i, j, w] * d.qvel[i, w] * d.qvel[j, w]
    d.energy[0, w] = potential
    d.energy[1, w] = kinetic
