"""What all pair types share: where a geom is, and how a contact is written down."""

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.state import StateData

__all__ = [
    "FAR", "capsule_axis", "geom_pose", "no_contact", "pair_margin", "pair_reach", "put_contact", "touch_spheres",
]  # fmt: skip

FAR = wp.constant(1.0e10)


@wp.func
def geom_pose(m: ModelData, d: StateData, g: int, w: int) -> wp.transform:
    b = m.geom_bodyid[g]
    quat = d.xquat[b, w]
    return wp.transform(d.xpos[b, w] + wp.quat_rotate(quat, m.geom_pos[g, w]), quat * m.geom_quat[g, w])


@wp.func
def capsule_axis(m: ModelData, pose: wp.transform, g: int, w: int) -> wp.vec3:
    """From the centre of capsule g to the centre of its upper cap."""
    return wp.quat_rotate(wp.transform_get_rotation(pose), wp.vec3(0.0, 0.0, m.geom_size[g, w][1]))


@wp.func
def pair_margin(m: ModelData, p: int, w: int) -> float:
    """Distance below which the geoms of pair p push each other."""
    return m.geom_margin[m.pair_geom1[p], w] + m.geom_margin[m.pair_geom2[p], w]


@wp.func
def pair_reach(m: ModelData, p: int, w: int) -> float:
    """Distance below which the geoms of pair p are in contact: the margin, and the gap where they do not push yet."""
    return pair_margin(m, p, w) + m.geom_gap[m.pair_geom1[p], w] + m.geom_gap[m.pair_geom2[p], w]


@wp.func
def put_contact(
    d: StateData, slot: int, w: int, reach: float, dist: float, pos: wp.vec3, normal: wp.vec3, along: wp.vec3
):
    """Fill a slot; the first tangent is `along`, made orthogonal (mju_makeFrame). Out of reach: the distance only."""
    d.contact_dist[slot, w] = dist
    if dist >= reach:
        return
    tangent = along
    if wp.length_sq(along) < 1.0e-15:
        tangent = wp.vec3(0.0, 1.0, 0.0)
        if wp.abs(normal[1]) >= 0.5:
            tangent = wp.vec3(0.0, 0.0, 1.0)
    tangent = wp.normalize(tangent - normal * wp.dot(normal, tangent))
    d.contact_pos[slot, w] = pos
    d.contact_frame[slot, w] = wp.matrix_from_rows(normal, tangent, wp.cross(normal, tangent))


@wp.func
def no_contact(d: StateData, slot: int, w: int):
    d.contact_dist[slot, w] = FAR


@wp.func
def touch_spheres(d: StateData, slot: int, w: int, reach: float, c1: wp.vec3, r1: float, c2: wp.vec3, r2: float):
    """Contact of two spheres."""
    between = c2 - c1
    length = wp.length(between)
    normal = wp.vec3(1.0, 0.0, 0.0)
    if length > 1.0e-15:
        normal = between / length
    dist = length - r1 - r2
    put_contact(d, slot, w, reach, dist, c1 + normal * (r1 + 0.5 * dist), normal, wp.vec3(0.0, 0.0, 0.0))
