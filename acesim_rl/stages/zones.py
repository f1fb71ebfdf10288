"""Volumes of sites, and the rays that meet them."""

import mujoco
import warp as wp

__all__ = ["ray_meets_zone"]

SPHERE = wp.constant(int(mujoco.mjtGeom.mjGEOM_SPHERE))
CAPSULE = wp.constant(int(mujoco.mjtGeom.mjGEOM_CAPSULE))
ELLIPSOID = wp.constant(int(mujoco.mjtGeom.mjGEOM_ELLIPSOID))
CYLINDER = wp.constant(int(mujoco.mjtGeom.mjGEOM_CYLINDER))


@wp.func
def within_slab(start: float, along: float, half: float) -> wp.vec2:
    """Times at which start + time * along lies within [-half, half]."""
    if along == 0.0:
        if wp.abs(start) <= half:
            return wp.vec2(-1.0e20, 1.0e20)
        return wp.vec2(1.0, -1.0)
    first = (-half - start) / along
    second = (half - start) / along
    return wp.vec2(wp.min(first, second), wp.max(first, second))


@wp.func
def within_ball(a: float, b: float, c: float) -> wp.vec2:
    """Times at which a time^2 + 2 b time + c is not positive; a is not negative."""
    if a <= 1.0e-30:
        if c <= 0.0:
            return wp.vec2(-1.0e20, 1.0e20)
        return wp.vec2(1.0, -1.0)
    root = b * b - a * c
    if root < 0.0:
        return wp.vec2(1.0, -1.0)
    root = wp.sqrt(root)
    return wp.vec2((-b - root) / a, (-b + root) / a)


@wp.func
def not_over(times: wp.vec2) -> int:
    """Whether an interval is not empty and ends after time zero."""
    return wp.where(times[0] <= times[1] and times[1] >= 0.0, 1, 0)


@wp.func
def both(a: wp.vec2, b: wp.vec2) -> wp.vec2:
    return wp.vec2(wp.max(a[0], b[0]), wp.min(a[1], b[1]))


@wp.func
def ray_meets_zone(kind: int, size: wp.vec3, start: wp.vec3, along: wp.vec3) -> int:
    """Whether a ray, in the frame of a volume, begins in the volume or runs into it."""
    if kind == SPHERE or kind == ELLIPSOID:
        scale = wp.where(kind == SPHERE, wp.vec3(size[0], size[0], size[0]), size)
        p = wp.cw_div(start, scale)
        u = wp.cw_div(along, scale)
        return not_over(within_ball(wp.dot(u, u), wp.dot(p, u), wp.dot(p, p) - 1.0))
    if kind == CAPSULE or kind == CYLINDER:
        a = along[0] * along[0] + along[1] * along[1]
        b = start[0] * along[0] + start[1] * along[1]
        c = start[0] * start[0] + start[1] * start[1] - size[0] * size[0]
        side = not_over(both(within_ball(a, b, c), within_slab(start[2], along[2], size[1])))
        if kind == CYLINDER or side != 0:
            return side
        end = wp.vec3(0.0, 0.0, size[1])
        above = start - end
        below = start + end
        r = size[0] * size[0]
        top = not_over(within_ball(1.0, wp.dot(above, along), wp.dot(above, above) - r))
        return wp.max(top, not_over(within_ball(1.0, wp.dot(below, along), wp.dot(below, below) - r)))
    x = within_slab(start[0], along[0], size[0])
    y = within_slab(start[1], along[1], size[1])
    return not_over(both(both(x, y), within_slab(start[2], along[2], size[2])))
