"""Advancing the state: semi-implicit Euler and fourth-order Runge-Kutta (mj_Euler, mj_RungeKutta)."""

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.stages.joints import BALL, FREE, get_quat, rotation_vector, set_quat
from acesim_rl.state import StateData

__all__ = ["euler", "runge_kutta"]


@wp.func
def joint_dofs(m: ModelData, j: int) -> int:
    return wp.where(m.jnt_type[j] == FREE, 6, wp.where(m.jnt_type[j] == BALL, 3, 1))


@wp.func
def integrate_pos(
    m: ModelData, qpos: wp.array2d[float], start: wp.array2d[float], vel: wp.array2d[float], j: int, h: float, w: int
):
    """qpos = start advanced by h seconds at velocity vel, for joint j (mj_integratePos)."""
    adr = m.jnt_qposadr[j]
    dof = m.jnt_dofadr[j]
    kind = m.jnt_type[j]
    if kind == FREE or kind == BALL:
        if kind == FREE:
            for k in range(wp.static(3)):
                qpos[adr + k, w] = start[adr + k, w] + h * vel[dof + k, w]
            adr = adr + 3
            dof = dof + 3
        quat = get_quat(start, adr, w)
        turn = wp.vec3(vel[dof, w], vel[dof + 1, w], vel[dof + 2, w])
        speed = wp.length(turn)
        if speed > 1.0e-15:
            quat = quat * wp.quat_from_axis_angle(turn / speed, speed * h)
        set_quat(qpos, adr, w, wp.normalize(quat))
    else:
        qpos[adr, w] = start[adr, w] + h * vel[dof, w]


@stage("joint")
def euler(m: ModelData, d: StateData, implicit: int, j: int, w: int):
    """One step: first the velocity, then the position with the new velocity."""
    h = m.timestep[0, w]
    dof = m.jnt_dofadr[j]
    for k in range(dof, dof + joint_dofs(m, j)):
        acc = d.qacc[k, w]
        if implicit != 0:
            acc = d.qacc_euler[k, w]
        d.qvel[k, w] = d.qvel[k, w] + h * acc
    integrate_pos(m, d.qpos, d.qpos, d.qvel, j, h, w)
    if j == 0:
        d.time[0, w] = d.time[0, w] + h


@wp.func
def lie_velocity(m: ModelData, d: StateData, j: int, w: int):
    """Replace an angular velocity omega by the rate of the rotation vector u since the start of the step:
    omega + u x omega / 2 + u x (u x omega) / 12 (Munthe-Kaas 1998; MuJoCo's Runge-Kutta sums these)."""
    kind = m.jnt_type[j]
    if kind == FREE or kind == BALL:
        adr = m.jnt_qposadr[j] + wp.where(kind == FREE, 3, 0)
        dof = m.jnt_dofadr[j] + wp.where(kind == FREE, 3, 0)
        u = rotation_vector(wp.quat_inverse(get_quat(d.qpos_start, adr, w)) * get_quat(d.qpos, adr, w))
        omega = wp.vec3(d.qvel[dof, w], d.qvel[dof + 1, w], d.qvel[dof + 2, w])
        turn = wp.cross(u, omega)
        rate = omega + 0.5 * turn + wp.cross(u, turn) / 12.0
        for k in range(wp.static(3)):
            d.qvel[dof + k, w] = rate[k]


@stage("joint")
def runge_kutta(m: ModelData, d: StateData, phase: int, j: int, w: int):
    """After the forward pass of a phase (0 to 3): take its share of the sums, and set the state of the next phase."""
    h = m.timestep[0, w]
    dof = m.jnt_dofadr[j]
    stop = dof + joint_dofs(m, j)
    share = wp.where(phase == 1 or phase == 2, 1.0 / 3.0, 1.0 / 6.0)
    if phase == 0:
        for k in range(m.jnt_qposadr[j], m.jnt_qposadr[j] + stop - dof + wp.where(stop - dof > 1, 1, 0)):
            d.qpos_start[k, w] = d.qpos[k, w]
        for k in range(dof, stop):
            d.qvel_start[k, w] = d.qvel[k, w]
            d.qvel_sum[k, w] = 0.0
            d.qacc_sum[k, w] = 0.0
    else:
        lie_velocity(m, d, j, w)
    for k in range(dof, stop):
        d.qvel_sum[k, w] = d.qvel_sum[k, w] + share * d.qvel[k, w]
        d.qacc_sum[k, w] = d.qacc_sum[k, w] + share * d.qacc[k, w]
    ahead = wp.where(phase >= 2, h, 0.5 * h)
    if phase == 3:
        for k in range(dof, stop):
            d.qvel[k, w] = d.qvel_sum[k, w]
    integrate_pos(m, d.qpos, d.qpos_start, d.qvel, j, ahead, w)
    for k in range(dof, stop):
        acc = wp.where(phase == 3, d.qacc_sum[k, w], d.qacc[k, w])
        d.qvel[k, w] = d.qvel_start[k, w] + ahead * acc
    if phase == 3 and j == 0:
        d.time[0, w] = d.time[0, w] + h
