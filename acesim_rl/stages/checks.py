"""Worlds whose state is not finite or too large start anew, and are counted (mj_checkPos, mj_checkVel, mj_checkAcc)."""

import warp as wp

from acesim_rl.model_data import CTRL_LIMITED, ModelData
from acesim_rl.stage import stage
from acesim_rl.state import StateData

__all__ = ["check_acc", "check_state"]

LARGEST = wp.constant(1.0e10)
"""mjMAXVAL"""


@wp.func
def zero_ctrl(m: ModelData, d: StateData, w: int):
    for i in range(m.nu):
        d.ctrl[i, w] = 0.0


@wp.func
def reset_world(m: ModelData, d: StateData, w: int):
    for i in range(m.nq):
        d.qpos[i, w] = m.qpos0[i, w]
    for i in range(m.nv):
        d.qvel[i, w] = 0.0
        d.qacc[i, w] = 0.0
        d.qacc_euler[i, w] = 0.0
    zero_ctrl(m, d, w)
    for i in range(m.na):
        d.act[i, w] = 0.0
        d.act_dot[i, w] = 0.0
    for b in range(m.nbody):
        if m.body_mocapid[b] >= 0:
            d.mocap_pos[m.body_mocapid[b], w] = m.body_pos[b, w]
            d.mocap_quat[m.body_mocapid[b], w] = m.body_quat[b, w]
    d.time[0, w] = 0.0
    d.was_reset[0, w] = 1


@stage("world")
def check_state(m: ModelData, d: StateData, w: int):
    """Before a step. Bad controls are all set to zero, and counted; the world goes on."""
    bad_pos = int(0)
    bad_vel = int(0)
    bad_ctrl = int(0)
    for i in range(m.nq):
        if not (wp.abs(d.qpos[i, w]) <= LARGEST):
            bad_pos = 1
    for i in range(m.nv):
        if not (wp.abs(d.qvel[i, w]) <= LARGEST):
            bad_vel = 1
        if not (wp.abs(d.qacc[i, w]) <= LARGEST):  # the warm start
            d.qacc[i, w] = 0.0
    for i in range(m.nu):
        ctrl = d.ctrl[i, w]
        if wp.isnan(ctrl) or ((m.actuator_flags[i] & CTRL_LIMITED) == 0 and wp.abs(ctrl) > LARGEST):
            bad_ctrl = 1
    if bad_ctrl > 0:
        d.warning[3, w] = d.warning[3, w] + 1
        zero_ctrl(m, d, w)
    if bad_pos + bad_vel > 0:
        d.warning[0, w] = d.warning[0, w] + bad_pos
        d.warning[1, w] = d.warning[1, w] + bad_vel * (1 - bad_pos)
        reset_world(m, d, w)


@stage("world")
def check_acc(m: ModelData, d: StateData, w: int):
    """After the first forward pass of a step; the rest of the step starts from the reset state, at rest."""
    bad = int(0)
    for i in range(m.nv):
        if not (wp.abs(d.qacc[i, w]) <= LARGEST):
            bad = 1
    if bad > 0:
        d.warning[2, w] = d.warning[2, w] + 1
        reset_world(m, d, w)
