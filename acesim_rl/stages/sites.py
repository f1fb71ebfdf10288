"""Frames fixed to bodies: of sites, geoms, and of bodies themselves."""

import mujoco
import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.stages.joints import rotate
from acesim_rl.state import StateData

__all__ = ["object_acc", "object_body", "object_pose", "object_vel", "site_pose"]

BODY = wp.constant(int(mujoco.mjtObj.mjOBJ_BODY))
XBODY = wp.constant(int(mujoco.mjtObj.mjOBJ_XBODY))
GEOM = wp.constant(int(mujoco.mjtObj.mjOBJ_GEOM))


@wp.func
def site_pose(m: ModelData, d: StateData, s: int, w: int) -> wp.transform:
    """Pose of a site in the world."""
    b = m.site_bodyid[s]
    pos = d.xpos[b, w] + rotate(d.xquat[b, w], m.site_pos[s, w])
    return wp.transform(pos, d.xquat[b, w] * m.site_quat[s, w])


@wp.func
def object_body(m: ModelData, kind: int, i: int) -> int:
    """Body of an object: a body (at its centre of mass, or `xbody`, its origin), a geom or a site."""
    if kind == BODY or kind == XBODY:
        return i
    if kind == GEOM:
        return m.geom_bodyid[i]
    return m.site_bodyid[i]


@wp.func
def object_pose(m: ModelData, d: StateData, kind: int, i: int, w: int) -> wp.transform:
    """Pose of an object in the world."""
    if kind == BODY:
        return wp.transform(d.xipos[i, w], d.xquat[i, w] * m.body_iquat[i, w])
    if kind == XBODY:
        return wp.transform(d.xpos[i, w], d.xquat[i, w])
    if kind == GEOM:
        return wp.transform(d.geom_xpos[i, w], d.geom_xquat[i, w])
    return site_pose(m, d, i, w)


@wp.func
def object_vel(m: ModelData, d: StateData, b: int, pos: wp.vec3, w: int) -> wp.spatial_vector:
    """Angular velocity of a body, and velocity of its point pos, in world coordinates."""
    vel = d.cvel[b, w]
    turn = wp.spatial_top(vel)
    offset = pos - d.subtree_com[m.body_rootid[b], w]
    return wp.spatial_vector(turn, wp.spatial_bottom(vel) + wp.cross(turn, offset))


@wp.func
def object_acc(m: ModelData, d: StateData, b: int, pos: wp.vec3, w: int) -> wp.spatial_vector:
    """Angular acceleration of a body, and acceleration of its point pos with gravity as one upwards."""
    vel = object_vel(m, d, b, pos, w)
    acc = d.cacc[b, w]
    turn = wp.spatial_top(acc)
    offset = pos - d.subtree_com[m.body_rootid[b], w]
    linear = wp.spatial_bottom(acc) + wp.cross(turn, offset)
    return wp.spatial_vector(turn, linear + wp.cross(wp.spatial_top(vel), wp.spatial_bottom(vel)))
