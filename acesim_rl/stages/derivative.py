"""Derivatives of the smooth forces by velocities, for the implicit integrators (mjd_smooth_vel).

As in MuJoCo, the matrix has the sparsity of the inertia: entries of dofs on different branches are left out, though a
tendon or an actuator may couple them.
"""

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.stages.actuator import JOINT_IN_PARENT
from acesim_rl.stages.fluid import half_sizes
from acesim_rl.stages.joints import BALL, FREE, rotate
from acesim_rl.stages.polynomial import higher_slope
from acesim_rl.stages.spatial import cross_force, cross_motion, inertia_times
from acesim_rl.state import StateData

__all__ = ["actuator_derivative", "bias_derivative", "coriolis_derivative", "fluid_derivative", "passive_derivative"]

MODULE = "acesim_rl.derivative"


@wp.func
def on_one_path(m: ModelData, i: int, j: int) -> bool:
    """Whether one of two dofs lies between the root and the other."""
    low = wp.min(i, j)
    k = wp.max(i, j)
    while k > low:
        k = m.dof_parentid[k]
    return k == low


@stage("dof", module=MODULE)
def passive_derivative(m: ModelData, d: StateData, with_tendons: int, i: int, w: int):
    """Row i of the derivative: damping of joints and, unless 0, tendons. The other stages add to it."""
    for j in range(m.nv):
        d.qderiv[i, j, w] = 0.0
    d.qderiv[i, i, w] = -m.dof_damping[i, w] - higher_slope(m.dof_dampingpoly[i, w], wp.abs(d.qvel[i, w]))
    if with_tendons == 0:
        return
    for k in range(m.dof_tendon_start[i], m.dof_tendon_start[i + 1]):
        t = m.dof_tendon[k]
        damping = m.tendon_damping[t, w] + higher_slope(m.tendon_dampingpoly[t, w], wp.abs(d.ten_velocity[t, w]))
        pull = -damping * m.wrap_prm[m.dof_tendon_wrap[k], w]
        for n in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]):
            j = m.jnt_dofadr[m.wrap_objid[n]]
            if on_one_path(m, i, j):
                d.qderiv[i, j, w] += pull * m.wrap_prm[n, w]


@stage("dof", module=MODULE)
def actuator_derivative(m: ModelData, d: StateData, i: int, w: int):
    """Actuators whose force depends on their velocity; not those of a joint that has reached its range of forces."""
    for u in range(m.nu):
        slope = d.actuator_moment[u, i, w] * d.actuator_slope[u, w]
        j = m.actuator_trnid[u]
        if m.actuator_trntype[u] <= JOINT_IN_PARENT and m.jnt_actfrclimited[j] != 0:
            force = d.qfrc_actuator[m.jnt_dofadr[j], w]
            if force <= m.jnt_actfrcrange[j, w][0] or force >= m.jnt_actfrcrange[j, w][1]:
                slope = 0.0
        if slope != 0.0:
            for j in range(m.nv):
                moment = d.actuator_moment[u, j, w]
                if moment != 0.0 and on_one_path(m, i, j):
                    d.qderiv[i, j, w] += slope * moment


@wp.func
def local_motion(m: ModelData, d: StateData, i: int, frame: wp.quat, offset: wp.vec3, w: int) -> wp.spatial_vector:
    """Motion of a body's centre of mass, in its frame, when dof i moves at unit speed."""
    axis = wp.spatial_top(d.cdof[i, w])
    vel = wp.spatial_bottom(d.cdof[i, w]) + wp.cross(axis, offset)
    return wp.spatial_vector(rotate(wp.quat_inverse(frame), axis), rotate(wp.quat_inverse(frame), vel))


@stage("dof", module=MODULE)
def fluid_derivative(m: ModelData, d: StateData, i: int, w: int):
    """The fluid's forces on the bodies beyond dof i."""
    first = m.dof_bodyid[i]
    viscosity = m.viscosity[0, w]
    density = m.density[0, w]
    for b in range(first, first + m.body_subtreenum[first]):
        mass = m.body_mass[b, w]
        if mass >= 1.0e-15:
            frame = d.xquat[b, w] * m.body_iquat[b, w]
            offset = d.xipos[b, w] - d.subtree_com[m.body_rootid[b], w]
            turn = wp.spatial_top(d.cvel[b, w])
            vel = rotate(
                wp.quat_inverse(frame), wp.spatial_bottom(d.cvel[b, w]) + wp.cross(turn, offset) - m.wind[0, w]
            )
            turn = rotate(wp.quat_inverse(frame), turn)
            r = half_sizes(mass, m.body_inertia[b, w])
            mean = (r[0] + r[1] + r[2]) / 3.0
            slope = local_motion(m, d, i, frame, offset, w)
            for k in range(wp.static(3)):
                r1 = r[(k + 1) % 3]
                r2 = r[(k + 2) % 3]
                drag = density * r[k] * (r1 * r1 * r1 * r1 + r2 * r2 * r2 * r2) * wp.abs(turn[k])
                slope[k] = -slope[k] * (8.0 * wp.pi * viscosity * mean * mean * mean + drag)
                drag = 4.0 * density * r1 * r2 * wp.abs(vel[k])
                slope[k + 3] = -slope[k + 3] * (6.0 * wp.pi * viscosity * mean + drag)
            j = m.body_lastdof[b]
            while j >= 0:
                d.qderiv[i, j, w] += wp.dot(slope, local_motion(m, d, j, frame, offset, w))
                j = m.dof_parentid[j]


@stage("dof", module=MODULE)
def coriolis_derivative(m: ModelData, d: StateData, i: int, w: int):
    """What a change of velocity i does to velocities, accelerations and forces of the bodies beyond it."""
    if m.dof_coriolis[i] == 0:
        return
    first = m.dof_bodyid[i]
    for b in range(first, first + m.body_subtreenum[first]):
        parent = m.body_parentid[b]
        vel = d.cvel[parent, w]
        dvel = wp.spatial_vector()
        dacc = wp.spatial_vector()
        if b != first:
            dvel = d.dcvel[parent, i, w]
            dacc = d.dcacc[parent, i, w]
        for j in range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b]):
            adr = m.jnt_dofadr[j]
            kind = m.jnt_type[j]
            stop = adr + 1
            if kind == FREE or kind == BALL:
                if kind == FREE:
                    for k in range(adr, adr + 3):
                        vel += d.cdof[k, w] * d.qvel[k, w]
                        if k == i:
                            dvel += d.cdof[k, w]
                    adr = adr + 3
                stop = adr + 3
            carried = vel
            dcarried = dvel
            for k in range(adr, stop):
                dacc += cross_motion(dcarried, d.cdof[k, w]) * d.qvel[k, w]
                vel += d.cdof[k, w] * d.qvel[k, w]
                if k == i:
                    dacc += cross_motion(carried, d.cdof[k, w])
                    dvel += d.cdof[k, w]
        d.dcvel[b, i, w] = dvel
        d.dcacc[b, i, w] = dacc
        I = d.cinert[b, w]
        change = inertia_times(I, dacc) + cross_force(dvel, inertia_times(I, vel))
        d.dcfrc[b, i, w] = change + cross_force(vel, inertia_times(I, dvel))


@stage("dof", module=MODULE)
def bias_derivative(m: ModelData, d: StateData, i: int, w: int):
    """Row i of the derivative of the bias force: `coriolis_derivative` of all columns, projected on dof i."""
    if m.dof_coriolis[i] == 0:
        return
    b = m.dof_bodyid[i]
    for j in range(m.nv):
        other = m.dof_bodyid[j]
        total = wp.spatial_vector()
        stop = wp.min(b + m.body_subtreenum[b], other + m.body_subtreenum[other])
        for k in range(wp.max(b, other), stop):
            total += d.dcfrc[k, j, w]
        d.qderiv[i, j, w] -= wp.dot(d.cdof[i, w], total)
