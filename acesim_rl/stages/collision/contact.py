"""What all pair types share: where a geom is, and how a contact is written down."""

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.stages.joints import rotate
from acesim_rl.state import StateData

__all__ = [
    "FAR", "apart", "capsule_axis", "capsule_bound", "cylinder_bound", "geom_pose", "no_contact", "no_contacts",
    "pair_margin", "pair_reach", "put_contact", "put_round_contact", "touch_spheres",
]  # fmt: skip

FAR = wp.constant(1.0e10)


@wp.func
def geom_pose(d: StateData, g: int, w: int) -> wp.transform:
    return wp.transform(d.geom_xpos[g, w], d.geom_xquat[g, w])


@wp.func
def apart(m: ModelData, d: StateData, p: int, w: int, bound1: float, bound2: float) -> bool:
    """Whether the geoms of pair p, in spheres of these radii about their centres, are too far away for a contact."""
    reach = bound1 + bound2 + pair_reach(m, p, w)
    return wp.length_sq(d.geom_xpos[m.pair_geom2[p], w] - d.geom_xpos[m.pair_geom1[p], w]) > 1.0001 * reach * reach


@wp.func
def capsule_axis(m: ModelData, pose: wp.transform, g: int, w: int) -> wp.vec3:
    """From the centre of capsule g to the centre of its upper cap."""
    return rotate(wp.transform_get_rotation(pose), wp.vec3(0.0, 0.0, m.geom_size[g, w][1]))


@wp.func
def capsule_bound(m: ModelData, g: int, w: int) -> float:
    return m.geom_size[g, w][0] + m.geom_size[g, w][1]


@wp.func
def cylinder_bound(m: ModelData, g: int, w: int) -> float:
    return wp.length(wp.vec2(m.geom_size[g, w][0], m.geom_size[g, w][1]))


@wp.func
def pair_margin(m: ModelData, p: int, w: int) -> float:
    """Distance below which the geoms of pair p push each other."""
    if m.pair_explicit[p] >= 0:
        return m.pair_margin[m.pair_explicit[p], w]
    return m.geom_margin[m.pair_geom1[p], w] + m.geom_margin[m.pair_geom2[p], w]


@wp.func
def pair_reach(m: ModelData, p: int, w: int) -> float:
    """Distance below which the geoms of pair p are in contact: the margin, and the gap where they do not push yet."""
    if m.pair_explicit[p] >= 0:
        return pair_margin(m, p, w) + m.pair_gap[m.pair_explicit[p], w]
    return pair_margin(m, p, w) + m.geom_gap[m.pair_geom1[p], w] + m.geom_gap[m.pair_geom2[p], w]


@wp.func
def put_contact(
    m: ModelData, d: StateData, p: int, k: int, w: int, dist: float, pos: wp.vec3, normal: wp.vec3, along: wp.vec3
):
    """Fill slot k of pair p, and say how many rows it needs; out of reach: its distance only.

    The contact frame's first tangent is `along`, made orthogonal to the normal (mju_makeFrame).
    """
    slot = m.pair_slot[p] + k
    d.contact_dist[slot, w] = dist
    if dist > pair_reach(m, p, w):
        d.row_need[2 * m.nlimit + slot, w] = 0
        return
    d.row_need[2 * m.nlimit + slot, w] = wp.where(dist < pair_margin(m, p, w), m.slot_rows[slot], -1)
    tangent = along - normal * wp.dot(normal, along)
    if wp.length_sq(tangent) <= 1.0e-12 * wp.length_sq(along):  # none given, or it is the normal itself
        axis = wp.vec3(0.0, 1.0, 0.0)
        if wp.abs(normal[1]) >= 0.5:
            axis = wp.vec3(0.0, 0.0, 1.0)
        tangent = axis - normal * wp.dot(normal, axis)
    tangent = wp.normalize(tangent)
    d.contact_pos[slot, w] = pos
    d.contact_frame[slot, w] = wp.matrix_from_rows(normal, tangent, wp.cross(normal, tangent))


@wp.func
def no_contact(m: ModelData, d: StateData, p: int, k: int, w: int):
    """Leave slot k of pair p empty."""
    d.contact_dist[m.pair_slot[p] + k, w] = FAR
    d.row_need[2 * m.nlimit + m.pair_slot[p] + k, w] = 0


@wp.func
def no_contacts(m: ModelData, d: StateData, p: int, count: int, w: int):
    """Leave all slots of pair p empty."""
    for k in range(count):
        no_contact(m, d, p, k, w)


@wp.func
def put_round_contact(
    m: ModelData, d: StateData, p: int, k: int, w: int, centre: wp.vec3, radius: float, normal: wp.vec3, dist: float
):
    """Contact of a sphere, whose centre is `dist` away from the second geom along the normal, in slot k of pair p."""
    gap = dist - radius
    pos = centre + normal * (radius + 0.5 * gap)
    put_contact(m, d, p, k, w, gap, pos, normal, wp.vec3(0.0, 0.0, 0.0))


@wp.func
def touch_spheres(m: ModelData, d: StateData, p: int, k: int, w: int, c1: wp.vec3, r1: float, c2: wp.vec3, r2: float):
    """Contact of two spheres, in slot k of pair p."""
    between = c2 - c1
    length = wp.length(between)
    normal = wp.vec3(1.0, 0.0, 0.0)
    if length > 1.0e-15:
        normal = between / length
    dist = length - r1 - r2
    put_contact(m, d, p, k, w, dist, c1 + normal * (r1 + 0.5 * dist), normal, wp.vec3(0.0, 0.0, 0.0))
