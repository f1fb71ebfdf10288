"""Actuators of any kind (mj_transmission, mj_fwdActuation): what moves them, what drives them, the force they make.

Models that have nothing but motors on joints do with one stage, `actuation`, and never come here.
"""

import mujoco
import warp as wp

from acesim_rl.model_data import ACT_EARLY, ACT_LIMITED, CTRL_LIMITED, FORCE_LIMITED, ModelData
from acesim_rl.stage import stage
from acesim_rl.stages.joints import BALL, FREE, get_quat, rotate, rotation_vector
from acesim_rl.stages.sites import site_pose
from acesim_rl.state import StateData

__all__ = ["JOINT_IN_PARENT", "activation", "actuator_force", "qfrc_actuator", "transmission"]

MODULE = "acesim_rl.actuator"
JOINT_IN_PARENT = wp.constant(int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
TENDON = wp.constant(int(mujoco.mjtTrn.mjTRN_TENDON))
SITE = wp.constant(int(mujoco.mjtTrn.mjTRN_SITE))
INTEGRATOR = wp.constant(int(mujoco.mjtDyn.mjDYN_INTEGRATOR))
FILTER_EXACT = wp.constant(int(mujoco.mjtDyn.mjDYN_FILTEREXACT))
AFFINE_GAIN = wp.constant(int(mujoco.mjtGain.mjGAIN_AFFINE))
AFFINE_BIAS = wp.constant(int(mujoco.mjtBias.mjBIAS_AFFINE))


@wp.func
def joint_transmission(m: ModelData, d: StateData, u: int, w: int) -> float:
    """Moment of an actuator on a joint; returns its length."""
    j = m.actuator_trnid[u]
    dof = m.jnt_dofadr[j]
    kind = m.jnt_type[j]
    gear = m.actuator_gear[u, w]
    if kind != FREE and kind != BALL:
        d.actuator_moment[u, dof, w] = gear[0]
        return gear[0] * d.qpos[m.jnt_qposadr[j], w]
    adr = m.jnt_qposadr[j]
    turn = wp.spatial_top(gear)
    if kind == FREE:
        for k in range(wp.static(3)):
            d.actuator_moment[u, dof + k, w] = gear[k]
        adr = adr + 3
        dof = dof + 3
        turn = wp.spatial_bottom(gear)
    quat = wp.normalize(get_quat(d.qpos, adr, w))
    length = wp.dot(rotation_vector(quat), turn)
    if m.actuator_trntype[u] == JOINT_IN_PARENT:
        turn = rotate(wp.quat_inverse(quat), turn)
    for k in range(wp.static(3)):
        d.actuator_moment[u, dof + k, w] = turn[k]
    return wp.where(kind == FREE, 0.0, length)


@wp.func
def site_moment(m: ModelData, d: StateData, b: int, k: int, pos: wp.vec3, f: wp.vec3, t: wp.vec3, w: int) -> float:
    """Force on dof k of force f and torque t at the point pos of body b."""
    motion = d.cdof[k, w]
    axis = wp.spatial_top(motion)
    offset = pos - d.subtree_com[m.body_rootid[b], w]
    return wp.dot(wp.spatial_bottom(motion) + wp.cross(axis, offset), f) + wp.dot(axis, t)


@wp.func
def site_transmission(m: ModelData, d: StateData, u: int, w: int) -> float:
    """Moment of an actuator at a site, in the frame of the site or of a reference site; returns its length."""
    site = m.actuator_trnid[u]
    ref = m.actuator_refid[u]
    gear = m.actuator_gear[u, w]
    pose = site_pose(m, d, site, w)
    frame = pose
    b = m.site_bodyid[site]
    k = m.body_lastdof[b]
    b_ref = int(0)
    k_ref = int(-1)
    length = float(0.0)
    if ref >= 0:
        frame = site_pose(m, d, ref, w)
        b_ref = m.site_bodyid[ref]
        k_ref = m.body_lastdof[b_ref]
        apart = wp.transform_multiply(wp.transform_inverse(frame), pose)
        turn = rotation_vector(wp.normalize(wp.transform_get_rotation(apart)))
        length = wp.dot(wp.spatial_top(gear), wp.transform_get_translation(apart))
        length += wp.dot(wp.spatial_bottom(gear), turn)
    f = rotate(wp.transform_get_rotation(frame), wp.spatial_top(gear))
    t = rotate(wp.transform_get_rotation(frame), wp.spatial_bottom(gear))
    while k != k_ref:  # dofs that move both sites have no part
        if k > k_ref:
            d.actuator_moment[u, k, w] = site_moment(m, d, b, k, wp.transform_get_translation(pose), f, t, w)
            k = m.dof_parentid[k]
        else:
            pos = wp.transform_get_translation(frame)
            d.actuator_moment[u, k_ref, w] = -site_moment(m, d, b_ref, k_ref, pos, f, t, w)
            k_ref = m.dof_parentid[k_ref]
    return length


@stage("actuator", module=MODULE)
def transmission(m: ModelData, d: StateData, u: int, w: int):
    """Length, moment (what a unit of force does to each dof) and velocity of an actuator."""
    for i in range(m.nv):
        d.actuator_moment[u, i, w] = 0.0
    kind = m.actuator_trntype[u]
    if kind == SITE:
        d.actuator_length[u, w] = site_transmission(m, d, u, w)
    elif kind == TENDON:
        t = m.actuator_trnid[u]
        gear = m.actuator_gear[u, w][0]
        d.actuator_length[u, w] = gear * d.ten_length[t, w]
        for k in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]):
            d.actuator_moment[u, m.jnt_dofadr[m.wrap_objid[k]], w] += gear * m.wrap_prm[k, w]
    else:
        d.actuator_length[u, w] = joint_transmission(m, d, u, w)
    velocity = float(0.0)
    for i in range(m.nv):
        velocity += d.actuator_moment[u, i, w] * d.qvel[i, w]
    d.actuator_velocity[u, w] = velocity


@wp.func
def next_activation(m: ModelData, u: int, act: float, act_dot: float, w: int) -> float:
    """The activation a time step later."""
    h = m.timestep[0, w]
    if m.actuator_dyntype[u] == FILTER_EXACT:
        tau = wp.max(m.actuator_dynprm[u, w][0], 1.0e-15)
        act = act + act_dot * tau * (1.0 - wp.exp(-h / tau))
    else:
        act = act + h * act_dot
    if (m.actuator_flags[u] & ACT_LIMITED) != 0:
        act = wp.clamp(act, m.actuator_actrange[u, w][0], m.actuator_actrange[u, w][1])
    return act


@stage("actuator", module=MODULE)
def actuator_force(m: ModelData, d: StateData, u: int, w: int):
    """Rate of the activation; force = gain * (control or activation) + bias, clamped; its slope over the velocity."""
    drive = d.ctrl[u, w]
    if (m.actuator_flags[u] & CTRL_LIMITED) != 0:
        drive = wp.clamp(drive, m.actuator_ctrlrange[u, w][0], m.actuator_ctrlrange[u, w][1])
    adr = m.actuator_actadr[u]
    if adr >= 0:
        act = d.act[adr, w]
        rate = drive
        if m.actuator_dyntype[u] != INTEGRATOR:
            rate = (drive - act) / wp.max(m.actuator_dynprm[u, w][0], 1.0e-15)
        d.act_dot[adr, w] = rate
        drive = act
        if (m.actuator_flags[u] & ACT_EARLY) != 0:
            drive = next_activation(m, u, act, rate, w)
    gain = m.actuator_gainprm[u, w][0]
    bias = float(0.0)
    slope = float(0.0)
    length = d.actuator_length[u, w]
    velocity = d.actuator_velocity[u, w]
    if m.actuator_gaintype[u] == AFFINE_GAIN:
        gain += m.actuator_gainprm[u, w][1] * length + m.actuator_gainprm[u, w][2] * velocity
        slope = m.actuator_gainprm[u, w][2] * drive
    if m.actuator_biastype[u] == AFFINE_BIAS:
        prm = m.actuator_biasprm[u, w]
        bias = prm[0] + prm[1] * length + prm[2] * velocity
        slope += prm[2]
    force = gain * drive + bias
    if (m.actuator_flags[u] & FORCE_LIMITED) != 0:
        low = m.actuator_forcerange[u, w][0]
        high = m.actuator_forcerange[u, w][1]
        if force <= low or force >= high:
            slope = 0.0
        force = wp.clamp(force, low, high)
    if m.actuator_disabled[u] != 0:
        force = 0.0
        slope = 0.0
    d.actuator_force[u, w] = force
    d.actuator_slope[u, w] = slope


@stage("dof", module=MODULE)
def qfrc_actuator(m: ModelData, d: StateData, i: int, w: int):
    """Force of all actuators on dof i, with the gravity compensation that is theirs, within the joint's range."""
    total = float(0.0)
    for u in range(m.nu):
        total += d.actuator_moment[u, i, w] * d.actuator_force[u, w]
    j = m.dof_jntid[i]
    if m.jnt_actgravcomp[j] != 0:
        total += d.qfrc_gravcomp[i, w]
    if m.jnt_actfrclimited[j] != 0:
        total = wp.clamp(total, m.jnt_actfrcrange[j, w][0], m.jnt_actfrcrange[j, w][1])
    d.qfrc_actuator[i, w] = total


@stage("actuator", module=MODULE)
def activation(m: ModelData, d: StateData, phase: int, u: int, w: int):
    """Advance the activation: after Runge-Kutta's phase 0 to 3, or by the whole step (phase -1)."""
    a = m.actuator_actadr[u]
    if a < 0:
        return
    h = m.timestep[0, w]
    rate = wp.where(m.actuator_disabled[u] != 0, 0.0, d.act_dot[a, w])
    if phase < 0:
        d.act[a, w] = next_activation(m, u, d.act[a, w], rate, w)
        return
    share = wp.where(phase == 1 or phase == 2, 1.0 / 3.0, 1.0 / 6.0)
    if phase == 0:
        d.act_start[a, w] = d.act[a, w]
        d.act_sum[a, w] = 0.0
    total = d.act_sum[a, w] + share * rate
    d.act_sum[a, w] = total
    if phase == 3:
        d.act[a, w] = next_activation(m, u, d.act_start[a, w], total, w)
    else:
        d.act[a, w] = d.act_start[a, w] + wp.where(phase == 2, h, 0.5 * h) * rate
