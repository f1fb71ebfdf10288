"""Cylinders against spheres and capsules: the closest point of a solid cylinder is known in closed form."""

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.stages.collision.contact import (
    apart,
    capsule_axis,
    capsule_bound,
    cylinder_bound,
    geom_pose,
    no_contact,
    no_contacts,
    put_round_contact,
)  # fmt: skip
from acesim_rl.stages.joints import rotate
from acesim_rl.state import StateData

__all__ = ["capsule_cylinder", "sphere_cylinder"]

MODULE = "acesim_rl.stages.cylinder"
LYING = wp.constant(0.0888)
"""Sine of the angle to a cap up to which a capsule touches the cap at two points, as measured in MuJoCo 4.0."""
CORE = wp.constant(1.0e-6)
"""Distance of a segment from a cylinder below which it counts as penetrating [m]."""


@wp.func
def cylinder_distance(x: wp.vec3, radius: float, half: float) -> wp.vec4:
    """Outward direction and signed distance of the point x from a cylinder along z around the origin."""
    rho = wp.sqrt(x[0] * x[0] + x[1] * x[1])
    out = wp.vec3(1.0, 0.0, 0.0)
    if rho > 1.0e-12:
        out = wp.vec3(x[0] / rho, x[1] / rho, 0.0)
    up = wp.where(x[2] < 0.0, -1.0, 1.0)
    beside = rho - radius
    above = wp.abs(x[2]) - half
    if beside > 0.0 and above > 0.0:
        dist = wp.sqrt(beside * beside + above * above)
        return wp.vec4(out[0] * beside / dist, out[1] * beside / dist, up * above / dist, dist)
    if beside > above:
        return wp.vec4(out[0], out[1], 0.0, beside)
    return wp.vec4(0.0, 0.0, up, above)


@stage("pair:sphere_cylinder", module=MODULE)
def sphere_cylinder(m: ModelData, d: StateData, p: int, w: int):
    """One contact, at the cylinder's point closest to the sphere's centre."""
    g1 = m.pair_geom1[p]
    g2 = m.pair_geom2[p]
    cylinder = geom_pose(d, g2, w)
    centre = wp.transform_get_translation(geom_pose(d, g1, w))
    local = wp.transform_point(wp.transform_inverse(cylinder), centre)
    away = cylinder_distance(local, m.geom_size[g2, w][0], m.geom_size[g2, w][1])
    normal = -rotate(wp.transform_get_rotation(cylinder), wp.vec3(away[0], away[1], away[2]))
    put_round_contact(m, d, p, 0, w, centre, m.geom_size[g1, w][0], normal, away[3])


@wp.func
def slope(start: wp.vec3, axis: wp.vec3, t: float, radius: float, half: float) -> float:
    """How fast the distance to the cylinder grows along the segment."""
    away = cylinder_distance(start + axis * t, radius, half)
    return away[0] * axis[0] + away[1] * axis[1] + away[2] * axis[2]


@wp.func
def closest_on_segment(start: wp.vec3, axis: wp.vec3, radius: float, half: float) -> float:
    """Parameter in [-1, 1] of the segment's point closest to the cylinder; the middle where there are many.

    The distance is convex along the segment, so its slope changes sign once.
    """
    flat = 1.0e-6 * wp.length(axis)
    low = float(-1.0)  # the first point where the slope is not negative
    high = float(1.0)
    if slope(start, axis, low, radius, half) < -flat:
        for _ in range(26):
            t = 0.5 * (low + high)
            if slope(start, axis, t, radius, half) < -flat:
                low = t
            else:
                high = t
        low = high
    first = low
    high = float(1.0)
    low = float(first)
    if slope(start, axis, high, radius, half) > flat:
        for _ in range(26):
            t = 0.5 * (low + high)
            if slope(start, axis, t, radius, half) > flat:
                high = t
            else:
                low = t
        high = low
    return 0.5 * (first + high)


@wp.func
def depth_along(n: wp.vec3, a: wp.vec3, b: wp.vec3, radius: float, half: float) -> float:
    """How far the segment from a to b must move along n until it leaves the cylinder."""
    support = radius * wp.sqrt(n[0] * n[0] + n[1] * n[1]) + half * wp.abs(n[2])
    return support - wp.min(wp.dot(a, n), wp.dot(b, n))


@wp.func
def way_out(start: wp.vec3, axis: wp.vec3, radius: float, half: float) -> wp.vec4:
    """Direction and length of the shortest way of a segment out of a cylinder.

    Either one end of the segment leaves last, over a cap or through the side, or the way is at right angles to the
    segment; those directions are a circle, which is sampled and then refined.
    """
    a = start - axis
    b = start + axis
    best = wp.vec4(0.0, 0.0, 1.0, depth_along(wp.vec3(0.0, 0.0, 1.0), a, b, radius, half))
    for k in range(3):
        n = wp.vec3(0.0, 0.0, -1.0)
        if k == 1:
            n = wp.vec3(a[0], a[1], 0.0)
        elif k == 2:
            n = wp.vec3(b[0], b[1], 0.0)
        length = wp.length(n)
        if length > 1.0e-9:
            n = n / length
            depth = depth_along(n, a, b, radius, half)
            if depth < best[3]:
                best = wp.vec4(n[0], n[1], n[2], depth)
    unit = wp.normalize(axis)
    side = wp.vec3(1.0, 0.0, 0.0)
    if wp.abs(unit[0]) > 0.7:
        side = wp.vec3(0.0, 1.0, 0.0)
    side = wp.normalize(wp.cross(unit, side))
    other = wp.cross(unit, side)
    angle = float(0.0)
    lowest = float(1.0e10)
    for k in range(32):
        turn = float(k) * (wp.pi / 16.0)
        depth = depth_along(wp.cos(turn) * side + wp.sin(turn) * other, start, start, radius, half)
        if depth < lowest:
            lowest = depth
            angle = turn
    step = float(wp.pi / 32.0)
    for _ in range(18):
        for way in range(2):
            turn = angle + step * (2.0 * float(way) - 1.0)
            depth = depth_along(wp.cos(turn) * side + wp.sin(turn) * other, start, start, radius, half)
            if depth < lowest:
                lowest = depth
                angle = turn
        step *= 0.5
    if lowest < best[3]:
        n = wp.cos(angle) * side + wp.sin(angle) * other
        return wp.vec4(n[0], n[1], n[2], lowest)
    return best


@wp.func
def last_to_leave(start: wp.vec3, axis: wp.vec3, n: wp.vec3, radius: float, half: float) -> float:
    """Parameter of the segment's point that leaves the cylinder last along n; n from `way_out`."""
    tilt = wp.dot(n, axis)
    if wp.abs(tilt) > 1.0e-4 * wp.length(axis):
        return -wp.sign(tilt)
    # the whole segment leaves at once, where the cylinder reaches farthest along n: on the rim, or a line on the side
    across = wp.sqrt(n[0] * n[0] + n[1] * n[1])
    to = wp.vec3(radius * n[0] / across, radius * n[1] / across, wp.where(n[2] > 0.0, half, -half)) - start
    along = axis
    if wp.abs(n[2]) < 1.0e-4:
        to[2] = 0.0
        along[2] = 0.0
    return wp.clamp(wp.dot(to, along) / wp.max(wp.length_sq(along), 1.0e-15), -1.0, 1.0)


@stage("pair:capsule_cylinder", module=MODULE)
def capsule_cylinder(m: ModelData, d: StateData, p: int, w: int):
    """One contact at the closest points of the capsule's segment and the cylinder; two where it lies on a cap.

    MuJoCo iterates (GJK) up to a tolerance of 1e-6 m; these points are exact. MuJoCo finds two points on the cap also
    where a capsule touches the rim from outside, in parallel to the cap; here that is one point.
    """
    g1 = m.pair_geom1[p]
    g2 = m.pair_geom2[p]
    if apart(m, d, p, w, capsule_bound(m, g1, w), cylinder_bound(m, g2, w)):
        no_contacts(m, d, p, 2, w)
        return
    capsule = geom_pose(d, g1, w)
    cylinder = geom_pose(d, g2, w)
    quat = wp.transform_get_rotation(cylinder)
    centre = wp.transform_get_translation(capsule)
    world_axis = capsule_axis(m, capsule, g1, w)
    start = wp.transform_point(wp.transform_inverse(cylinder), centre)
    axis = rotate(wp.quat_inverse(quat), world_axis)
    radius = m.geom_size[g2, w][0]
    half = m.geom_size[g2, w][1]
    thick = m.geom_size[g1, w][0]
    t = closest_on_segment(start, axis, radius, half)
    away = cylinder_distance(start + axis * t, radius, half)
    if away[3] < CORE:
        away = way_out(start, axis, radius, half)
        t = last_to_leave(start, axis, wp.vec3(away[0], away[1], away[2]), radius, half)
        away[3] = -away[3]
    n = wp.vec3(away[0], away[1], away[2])

    if wp.abs(axis[2]) < LYING * wp.length(axis) and wp.abs(n[2]) > 0.99:
        # the part of the segment that lies over the cap
        aa = axis[0] * axis[0] + axis[1] * axis[1]
        ab = axis[0] * start[0] + axis[1] * start[1]
        bb = start[0] * start[0] + start[1] * start[1] - radius * radius
        root = ab * ab - aa * bb
        if root > 0.0 and aa > 0.0:
            root = wp.sqrt(root)
            first = wp.max((-ab - root) / aa, -1.0)
            last = wp.min((-ab + root) / aa, 1.0)
            if last - first > 1.0e-6:
                up = wp.sign(n[2])
                normal = rotate(quat, wp.vec3(0.0, 0.0, -up))
                dist = up * (start[2] + axis[2] * first) - half
                put_round_contact(m, d, p, 0, w, centre + world_axis * first, thick, normal, dist)
                dist = up * (start[2] + axis[2] * last) - half
                put_round_contact(m, d, p, 1, w, centre + world_axis * last, thick, normal, dist)
                return
    put_round_contact(m, d, p, 0, w, centre + world_axis * t, thick, rotate(quat, -n), away[3])
    no_contact(m, d, p, 1, w)
