"""Boxes against spheres and capsules."""

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.stages.collision.contact import (
    apart,
    capsule_axis,
    capsule_bound,
    geom_pose,
    no_contact,
    no_contacts,
    put_round_contact,
)  # fmt: skip
from acesim_rl.stages.joints import rotate
from acesim_rl.state import StateData

__all__ = ["capsule_box", "sphere_box"]

MODULE = "acesim_rl.stages.box"
NONE = wp.constant(4.0)
"""A step that leaves every segment: there is no second contact."""


@wp.func
def touch_box(
    m: ModelData, d: StateData, p: int, k: int, w: int, box: wp.transform, size: wp.vec3, x: wp.vec3, radius: float
):
    """Contact of a sphere at x, in the box's frame, and the box, in slot k of pair p."""
    inside = wp.max(wp.max(wp.abs(x[0]) - size[0], wp.abs(x[1]) - size[1]), wp.abs(x[2]) - size[2])
    normal = wp.vec3(0.0, 0.0, 0.0)
    dist = inside
    if inside > 0.0:
        towards = wp.max(wp.min(x, size), -size) - x
        dist = wp.length(towards)
        normal = towards / dist
    else:  # out through the closest face
        axis = int(0)
        for i in range(1, 3):
            if size[i] - wp.abs(x[i]) < size[axis] - wp.abs(x[axis]):
                axis = i
        normal[axis] = wp.where(x[axis] > 0.0, -1.0, 1.0)
    normal = rotate(wp.transform_get_rotation(box), normal)
    put_round_contact(m, d, p, k, w, wp.transform_point(box, x), radius, normal, dist)


@stage("pair:sphere_box", module=MODULE)
def sphere_box(m: ModelData, d: StateData, p: int, w: int):
    """One contact, at the box's point closest to the sphere's centre."""
    g1 = m.pair_geom1[p]
    g2 = m.pair_geom2[p]
    box = geom_pose(d, g2, w)
    centre = wp.transform_get_translation(geom_pose(d, g1, w))
    local = wp.transform_point(wp.transform_inverse(box), centre)
    touch_box(m, d, p, 0, w, box, m.geom_size[g2, w], local, m.geom_size[g1, w][0])


@wp.func
def over_face(centre: wp.vec3, axis: wp.vec3, size: wp.vec3, end: float) -> wp.vec2:
    """Squared distance of an end of the segment from the box, and the face that it is over: 0, 1, 2, or -1 inside.

    Far away where it is over an edge or a corner.
    """
    x = centre + end * axis
    beyond = int(0)
    face = int(-1)
    dist = float(0.0)
    for i in range(3):
        over = wp.abs(x[i]) - size[i]
        if over > 0.0:
            beyond += 1
            face = i
            dist = over * over
    return wp.vec2(wp.where(beyond > 1, 1.0e10, dist), float(face))


@wp.func
def closest_to_edge(centre: wp.vec3, axis: wp.vec3, middle: wp.vec3, along: int, half: float) -> wp.vec3:
    """Closest points of the segment and of a box edge in [-1, 1], and their squared distance."""
    between = middle - centre  # of the edge, from the segment's middle
    aa = half * half
    ab = half * axis[along]
    bb = wp.length_sq(axis)
    u = -half * between[along]
    v = wp.dot(axis, between)
    det = aa * bb - ab * ab
    x = float(0.0)  # along the edge
    t = float(0.0)  # along the segment
    if det > 1.0e-7 * aa * bb:
        x = wp.clamp((u * bb + ab * v) / det, -1.0, 1.0)
        t = (v + ab * x) / bb
        if wp.abs(t) > 1.0:
            t = wp.sign(t)
            x = wp.clamp((u + ab * t) / aa, -1.0, 1.0)
    else:
        t = -1.0
        x = (u - ab) / aa
        if wp.abs(x) > 1.0:
            x = wp.sign(x)
            t = wp.clamp((v + ab * x) / bb, -1.0, 1.0)
    gap = centre + t * axis - middle
    gap[along] = gap[along] - half * x
    return wp.vec3(t, x, wp.length_sq(gap))


@wp.func
def step_from_face(centre: wp.vec3, axis: wp.vec3, size: wp.vec3, end: float, face: int) -> float:
    """How far the segment goes from its end until it is no longer over the face that the end is over."""
    step = float(2.0)
    for i in range(3):
        if i != face and wp.abs(axis[i]) > 1.0e-12:
            start = centre[i] + end * axis[i]
            ahead = -end * axis[i]
            step = wp.min(step, (wp.where(ahead > 0.0, size[i], -size[i]) - start) / ahead)
    return -end * wp.max(step, 0.0)


@wp.func
def step_from_edge(axis: wp.vec3, size: wp.vec3, corner: wp.vec3, along: int, x: float, t: float) -> float:
    """From a point at an edge: how far the segment goes over one of the faces that meet there.

    It enters one of the two faces and leaves the other one; else it only touches the edge, and there is no step.
    """
    i = (along + 1) % 3
    j = (along + 2) % 3
    if (axis[i] * corner[i] > 0.0) == (axis[j] * corner[j] > 0.0):
        return NONE
    across = wp.where(wp.abs(axis[i]) > wp.abs(axis[j]), i, j)
    way = wp.where(axis[across] * corner[across] > 0.0, -1.0, 1.0)
    step = wp.min(1.0 - way * t, 2.0 * size[across] / wp.max(wp.abs(axis[across]), 1.0e-12))
    left = wp.where(way * axis[along] > 0.0, 1.0 - x, 1.0 + x)
    step = wp.min(step, left * size[along] / wp.max(wp.abs(axis[along]), 1.0e-12))
    return way * step


@wp.func
def step_from_corner(axis: wp.vec3, size: wp.vec3, corner: wp.vec3, t: float) -> float:
    """From a point at a corner: how far the segment goes along an edge, or over a face, that starts there.

    Of the three directions, one differs from the others in whether the segment enters or leaves the box.
    """
    inward = int(0)
    for i in range(3):
        if axis[i] * corner[i] <= 0.0:
            inward += 1
    if inward == 0 or inward == 3:
        return NONE
    odd = int(0)
    for i in range(3):
        enters = axis[i] * corner[i] <= 0.0
        if enters == (inward == 1):
            odd = i
    i = (odd + 1) % 3
    j = (odd + 2) % 3
    way = wp.where(inward == 1, 1.0, -1.0)  # where the odd one enters
    if axis[odd] * axis[odd] > 0.5 * wp.length_sq(axis):
        return way * wp.min(1.0 - way * t, 2.0 * size[odd] / wp.abs(axis[odd]))
    limit = wp.min(size[i] / wp.max(wp.abs(axis[i]), 1.0e-12), size[j] / wp.max(wp.abs(axis[j]), 1.0e-12))
    return -way * wp.min(1.0 + way * t, 2.0 * limit)


@stage("pair:capsule_box", module=MODULE)
def capsule_box(m: ModelData, d: StateData, p: int, w: int):
    """Spheres at the segment's point closest to the box, and where it has gone along the box from there."""
    g1 = m.pair_geom1[p]
    g2 = m.pair_geom2[p]
    if apart(m, d, p, w, capsule_bound(m, g1, w), wp.length(m.geom_size[g2, w])):
        no_contacts(m, d, p, 2, w)
        return
    capsule = geom_pose(d, g1, w)
    box = geom_pose(d, g2, w)
    size = m.geom_size[g2, w]
    radius = m.geom_size[g1, w][0]
    centre = wp.transform_point(wp.transform_inverse(box), wp.transform_get_translation(capsule))
    axis = rotate(wp.quat_inverse(wp.transform_get_rotation(box)), capsule_axis(m, capsule, g1, w))

    low = over_face(centre, axis, size, -1.0)
    high = over_face(centre, axis, size, 1.0)
    t = wp.where(high[0] < low[0], 1.0, -1.0)
    best = wp.min(low[0], high[0])
    face = int(wp.where(high[0] < low[0], high[1], low[1]))
    edge = int(-1)
    x = float(0.0)  # along the edge
    corner = wp.vec3(0.0, 0.0, 0.0)
    for along in range(3):
        for k in range(4):
            middle = wp.cw_mul(size, wp.vec3(1.0, 1.0, 1.0))
            middle[along] = 0.0
            i = (along + 1) % 3
            j = (along + 2) % 3
            middle[i] = wp.where(k % 2 == 0, -size[i], size[i])
            middle[j] = wp.where(k / 2 == 0, -size[j], size[j])
            found = closest_to_edge(centre, axis, middle, along, size[along])
            if found[2] < best - 1.0e-10:
                best = found[2]
                t = found[0]
                x = found[1]
                edge = along
                corner = middle
    step = float(NONE)
    if edge < 0:
        if face >= 0:
            step = step_from_face(centre, axis, size, t, face)
    elif wp.abs(x) < 1.0:
        step = step_from_edge(axis, size, corner, edge, x, t)
    else:
        corner[edge] = x * size[edge]
        step = step_from_corner(axis, size, corner, t)
    touch_box(m, d, p, 0, w, box, size, centre + axis * t, radius)
    if step < NONE:
        touch_box(m, d, p, 1, w, box, size, centre + axis * (t + step), radius)
    else:
        no_contact(m, d, p, 1, w)
