"""Rows of equality constraints: connect, weld, joint, tendon."""

import mujoco
import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.stages.constraint.contact import point_motion
from acesim_rl.stages.constraint.impedance import impedance, spring_damper
from acesim_rl.stages.joints import rotate
from acesim_rl.state import StateData

__all__ = ["cfrc_ext_equality", "equality_rows"]

CONNECT = wp.constant(int(mujoco.mjtEq.mjEQ_CONNECT))
JOINT = wp.constant(int(mujoco.mjtEq.mjEQ_JOINT))
TENDON = wp.constant(int(mujoco.mjtEq.mjEQ_TENDON))
SITE = wp.constant(int(mujoco.mjtObj.mjOBJ_SITE))


@wp.func
def finish_row(
    m: ModelData, d: StateData, e: int, row: int, pos: float, size: float, bias: float, weight: float, w: int
):
    """Regularisation and reference acceleration: impedance is that of the whole constraint's violation, `size`; `bias`
    is the row's acceleration while joint accelerations are zero."""
    vel = float(0.0)
    for k in range(m.nv):
        vel += d.efc_J[row, k, w] * d.qvel[k, w]
    imp = impedance(m.eq_solimp[e, w], size)
    kb = spring_damper(m, m.eq_solref[e, w], m.eq_solimp[e, w], w)
    d.efc_D[row, w] = imp / wp.max((1.0 - imp) * weight, 1.0e-15)
    d.efc_aref[row, w] = -kb[1] * vel - kb[0] * imp * pos - bias
    if m.has_cones != 0:
        d.efc_cone[row, w] = 0


@wp.func
def eq_body(m: ModelData, e: int, side: int) -> int:
    """First (side 0) or second body of a connect or weld."""
    obj = wp.where(side == 0, m.eq_obj1id[e], m.eq_obj2id[e])
    if m.eq_objtype[e] == SITE:
        return m.site_bodyid[obj]
    return obj


@wp.func
def eq_anchor(m: ModelData, d: StateData, e: int, side: int, w: int) -> wp.vec3:
    """Where a connect or weld holds its first (side 0) or second body."""
    b = eq_body(m, e, side)
    data = m.eq_data[e, w]
    first = wp.vec3(data[0], data[1], data[2])
    second = wp.vec3(data[3], data[4], data[5])
    pos = first
    if (side == 1) == (m.eq_type[e] == CONNECT):  # a weld's data have the second body's anchor first
        pos = second
    if m.eq_objtype[e] == SITE:
        pos = m.site_pos[wp.where(side == 0, m.eq_obj1id[e], m.eq_obj2id[e]), w]
    return d.xpos[b, w] + rotate(d.xquat[b, w], pos)


@wp.func
def eq_quat(m: ModelData, d: StateData, e: int, side: int, w: int) -> wp.quat:
    """The orientation of the first (side 0) or second body that a weld makes equal."""
    data = m.eq_data[e, w]
    quat = d.xquat[eq_body(m, e, side), w]
    if m.eq_objtype[e] == SITE:
        return quat * m.site_quat[wp.where(side == 0, m.eq_obj1id[e], m.eq_obj2id[e]), w]
    if side == 0:
        return quat * wp.quat(data[7], data[8], data[9], data[6])
    return quat


@wp.func
def pure(v: wp.vec3) -> wp.quat:
    return wp.quat(v[0], v[1], v[2], 0.0)


@wp.func
def bias_acceleration(m: ModelData, d: StateData, b: int, w: int) -> wp.spatial_vector:
    """Acceleration of body b while joint accelerations are zero, with gravity as one upwards."""
    if b == 0:
        return wp.spatial_vector(wp.vec3(0.0, 0.0, 0.0), -m.gravity[0, w])
    return d.cacc_bias[b, w]


@wp.func
def point_acceleration(m: ModelData, d: StateData, b: int, pos: wp.vec3, w: int) -> wp.vec3:
    """Of the point pos of body b, while joint accelerations are zero."""
    acc = bias_acceleration(m, d, b, w)
    offset = pos - d.subtree_com[m.body_rootid[b], w]
    turn = wp.spatial_top(d.cvel[b, w])
    speed = wp.spatial_bottom(d.cvel[b, w]) + wp.cross(turn, offset)
    return wp.spatial_bottom(acc) + wp.cross(wp.spatial_top(acc), offset) + wp.cross(turn, speed)


@wp.func
def joint_row(m: ModelData, d: StateData, e: int, row: int, w: int):
    """The first joint's position is a polynomial of the second's, both counted from the initial state."""
    data = m.eq_data[e, w]
    first = m.eq_obj1id[e]
    second = m.eq_obj2id[e]
    adr = m.jnt_qposadr[first]
    pos = d.qpos[adr, w] - m.qpos0[adr, w] - data[0]
    for k in range(m.nv):
        d.efc_J[row, k, w] = 0.0
    weight = m.dof_invweight0[m.jnt_dofadr[first], w]
    if second >= 0:
        adr = m.jnt_qposadr[second]
        x = d.qpos[adr, w] - m.qpos0[adr, w]
        pos -= x * (data[1] + x * (data[2] + x * (data[3] + x * data[4])))
        slope = data[1] + x * (2.0 * data[2] + x * (3.0 * data[3] + x * 4.0 * data[4]))
        d.efc_J[row, m.jnt_dofadr[second], w] = -slope
        weight += m.dof_invweight0[m.jnt_dofadr[second], w]
    d.efc_J[row, m.jnt_dofadr[first], w] = 1.0
    finish_row(m, d, e, row, pos, pos, 0.0, weight, w)


@wp.func
def add_tendon(m: ModelData, d: StateData, t: int, row: int, factor: float, w: int):
    """Add a tendon's derivative to a row, times a factor."""
    for n in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]):
        d.efc_J[row, m.jnt_dofadr[m.wrap_objid[n]], w] += factor * m.wrap_prm[n, w]


@wp.func
def tendon_stretch(m: ModelData, d: StateData, t: int, w: int) -> float:
    """Length, counted from the initial state."""
    length = -m.tendon_length0[t, w]
    for n in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]):
        length += m.wrap_prm[n, w] * d.qpos[m.jnt_qposadr[m.wrap_objid[n]], w]
    return length


@wp.func
def tendon_row(m: ModelData, d: StateData, e: int, row: int, w: int):
    """The first tendon's length is a polynomial of the second's, both counted from the initial state."""
    data = m.eq_data[e, w]
    first = m.eq_obj1id[e]
    second = m.eq_obj2id[e]
    pos = tendon_stretch(m, d, first, w) - data[0]
    for k in range(m.nv):
        d.efc_J[row, k, w] = 0.0
    add_tendon(m, d, first, row, 1.0, w)
    weight = m.tendon_invweight0[first, w]
    if second >= 0:
        x = tendon_stretch(m, d, second, w)
        pos -= x * (data[1] + x * (data[2] + x * (data[3] + x * data[4])))
        slope = data[1] + x * (2.0 * data[2] + x * (3.0 * data[3] + x * 4.0 * data[4]))
        add_tendon(m, d, second, row, -slope, w)
        weight += m.tendon_invweight0[second, w]
    finish_row(m, d, e, row, pos, pos, 0.0, weight, w)


@stage("equality", module="acesim_rl.constraint")
def equality_rows(m: ModelData, d: StateData, i: int, w: int):
    e = m.equality_id[i]
    row = m.equality_row[i]
    kind = m.eq_type[e]
    if kind == JOINT:
        joint_row(m, d, e, row, w)
        return
    if kind == TENDON:
        tendon_row(m, d, e, row, w)
        return
    data = m.eq_data[e, w]
    b1 = eq_body(m, e, 0)
    b2 = eq_body(m, e, 1)
    pos1 = eq_anchor(m, d, e, 0, w)
    pos2 = eq_anchor(m, d, e, 1, w)
    quat1 = eq_quat(m, d, e, 0, w)
    inverse2 = wp.quat_inverse(eq_quat(m, d, e, 1, w))
    scale = data[10]
    next1 = m.body_lastdof[b1]
    next2 = m.body_lastdof[b2]
    for r in range(m.nv):
        k = m.nv - 1 - r
        move = wp.vec3(0.0, 0.0, 0.0)
        turn = wp.vec3(0.0, 0.0, 0.0)
        if k == next1:
            move += point_motion(m, d, b1, k, pos1, w)
            turn += wp.spatial_top(d.cdof[k, w])
            next1 = m.dof_parentid[k]
        if k == next2:
            move -= point_motion(m, d, b2, k, pos2, w)
            turn -= wp.spatial_top(d.cdof[k, w])
            next2 = m.dof_parentid[k]
        for j in range(wp.static(3)):
            d.efc_J[row + j, k, w] = move[j]
        if kind != CONNECT:  # rate of the vector part of the quaternion between the two
            rate = inverse2 * (pure(turn) * quat1)
            for j in range(wp.static(3)):
                d.efc_J[row + 3 + j, k, w] = 0.5 * scale * rate[j]
    error = pos1 - pos2
    size = wp.length_sq(error)
    between = inverse2 * quat1
    twist = scale * wp.vec3(between[0], between[1], between[2])
    if kind != CONNECT:
        size += wp.length_sq(twist)
    size = wp.sqrt(size)
    weight = m.body_invweight0[b1, w] + m.body_invweight0[b2, w]
    pull = point_acceleration(m, d, b1, pos1, w) - point_acceleration(m, d, b2, pos2, w)
    vel1 = wp.spatial_top(d.cvel[b1, w])
    vel2 = wp.spatial_top(d.cvel[b2, w])
    vel = pure(vel1 - vel2)
    acc = pure(wp.spatial_top(bias_acceleration(m, d, b1, w)) - wp.spatial_top(bias_acceleration(m, d, b2, w)))
    spin = inverse2 * ((acc + 0.5 * (vel * pure(vel1) - pure(vel2) * vel)) * quat1)
    for j in range(wp.static(3)):
        finish_row(m, d, e, row + j, error[j], size, pull[j], weight[0], w)
    if kind != CONNECT:
        for j in range(wp.static(3)):
            finish_row(m, d, e, row + 3 + j, twist[j], size, 0.5 * scale * spin[j], weight[1], w)


@stage("body", module="acesim_rl.constraint")
def cfrc_ext_equality(m: ModelData, d: StateData, b: int, w: int):
    """Add the forces of connects and welds to `cfrc_ext`."""
    total = d.cfrc_ext[b, w]
    for i in range(m.equality_id.shape[0]):
        e = m.equality_id[i]
        if m.eq_type[e] < JOINT:
            row = m.equality_row[i]
            force = wp.vec3(d.efc_force[row, w], d.efc_force[row + 1, w], d.efc_force[row + 2, w])
            torque = wp.vec3(0.0, 0.0, 0.0)
            if m.eq_type[e] != CONNECT:
                twist = pure(wp.vec3(d.efc_force[row + 3, w], d.efc_force[row + 4, w], d.efc_force[row + 5, w]))
                turned = eq_quat(m, d, e, 1, w) * twist * wp.quat_inverse(eq_quat(m, d, e, 0, w))
                torque = 0.5 * m.eq_data[e, w][10] * wp.vec3(turned[0], turned[1], turned[2])
            for side in range(wp.static(2)):
                if eq_body(m, e, side) == b:
                    sign = 1.0 - 2.0 * float(side)
                    offset = eq_anchor(m, d, e, side, w) - d.subtree_com[m.body_rootid[b], w]
                    total += sign * wp.spatial_vector(torque + wp.cross(offset, force), force)
    d.cfrc_ext[b, w] = total
