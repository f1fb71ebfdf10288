"""Forward kinematics: where bodies and joints are (mj_kinematics; MuJoCo's computation chapter, 'Kinematics')."""

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.stages.joints import BALL, FREE, HINGE, get_quat, rotate
from acesim_rl.state import StateData

__all__ = ["geom_poses", "kinematics"]


@stage("branch")
def kinematics(m: ModelData, d: StateData, b: int, w: int):
    """Pose of body b from its parent's and from its joints; anchor and axis of each joint, in world coordinates."""
    parent = m.body_parentid[b]
    first = m.body_jntadr[b]
    pos = d.xpos[parent, w]
    quat = d.xquat[parent, w]
    if m.body_jntnum[b] == 1 and m.jnt_type[first] == FREE:
        adr = m.jnt_qposadr[first]
        pos = wp.vec3(d.qpos[adr, w], d.qpos[adr + 1, w], d.qpos[adr + 2, w])
        quat = wp.normalize(get_quat(d.qpos, adr + 3, w))
        d.xanchor[first, w] = pos
        d.xaxis[first, w] = m.jnt_axis[first, w]
    elif m.body_mocapid[b] >= 0:
        pos = d.mocap_pos[m.body_mocapid[b], w]
        quat = d.mocap_quat[m.body_mocapid[b], w]
        if wp.length_sq(quat) < 1.0e-30:
            quat = wp.quat_identity()
    else:
        pos = pos + rotate(quat, m.body_pos[b, w])
        quat = quat * m.body_quat[b, w]
        for j in range(first, first + m.body_jntnum[b]):
            adr = m.jnt_qposadr[j]
            anchor = pos + rotate(quat, m.jnt_pos[j, w])
            axis = rotate(quat, m.jnt_axis[j, w])
            if m.jnt_type[j] == HINGE:
                quat = quat * wp.quat_from_axis_angle(m.jnt_axis[j, w], d.qpos[adr, w] - m.qpos0[adr, w])
                pos = anchor - rotate(quat, m.jnt_pos[j, w])
            elif m.jnt_type[j] == BALL:
                quat = quat * wp.normalize(get_quat(d.qpos, adr, w))
                pos = anchor - rotate(quat, m.jnt_pos[j, w])
            else:
                pos = pos + axis * (d.qpos[adr, w] - m.qpos0[adr, w])
            d.xanchor[j, w] = anchor
            d.xaxis[j, w] = axis
    quat = wp.normalize(quat)
    d.xpos[b, w] = pos
    d.xquat[b, w] = quat
    d.xipos[b, w] = pos + rotate(quat, m.body_ipos[b, w])


@stage("geom")
def geom_poses(m: ModelData, d: StateData, g: int, w: int):
    """Pose of geom g from its body's."""
    b = m.geom_bodyid[g]
    quat = d.xquat[b, w]
    d.geom_xpos[g, w] = d.xpos[b, w] + rotate(quat, m.geom_pos[g, w])
    d.geom_xquat[g, w] = quat * m.geom_quat[g, w]
