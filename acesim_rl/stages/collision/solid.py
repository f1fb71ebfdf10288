"""Two convex solids, a cylinder and a cylinder or a box: the direction that separates them best.

Along a direction n the second solid is `separation` away from the first one. Where the solids are apart, the largest
separation is their distance; where they overlap, its negative is the way out. The best direction is a normal of a face
or cap, or at right angles to an edge or an axis (a circle of directions, searched for where the slope changes sign), or
between two points of rims and corners (found by going uphill).
"""

import warp as wp

__all__ = ["Solid", "best_direction", "separation", "support"]

TIE = wp.constant(1.0e-6)
"""Difference of separations below which the earlier kind of direction counts, relative to the solids."""
SIDE = wp.constant(1.0e-4)
"""Cosine below which a direction is taken to be at right angles to an edge or axis."""


@wp.struct
class Solid:
    """A cylinder (radius, half length along z) or a box (half sizes)."""

    c: wp.vec3
    r: wp.mat33  # columns: its axes
    size: wp.vec3
    box: int


@wp.func
def axis_of(s: Solid, k: int) -> wp.vec3:
    return wp.vec3(s.r[0, k], s.r[1, k], s.r[2, k])


@wp.func
def extent(s: Solid, n: wp.vec3) -> float:
    """How far the solid reaches along n from its centre."""
    u = wp.transpose(s.r) * n
    if s.box == 1:
        return wp.dot(wp.abs(u), s.size)
    return s.size[0] * wp.sqrt(u[0] * u[0] + u[1] * u[1]) + s.size[1] * wp.abs(u[2])


@wp.func
def sign_or_zero(x: float) -> float:
    return wp.where(wp.abs(x) < SIDE, 0.0, wp.sign(x))


@wp.func
def support(s: Solid, n: wp.vec3) -> wp.vec3:
    """The point farthest along n; the middle of an edge, a side or a face where it is not one point."""
    u = wp.transpose(s.r) * n
    if s.box == 1:
        corner = wp.vec3(sign_or_zero(u[0]), sign_or_zero(u[1]), sign_or_zero(u[2]))
        return s.c + s.r * wp.cw_mul(corner, s.size)
    across = wp.sqrt(u[0] * u[0] + u[1] * u[1])
    out = wp.vec3(0.0, 0.0, s.size[1] * sign_or_zero(u[2]))
    if across > SIDE:
        out[0] = s.size[0] * u[0] / across
        out[1] = s.size[0] * u[1] / across
    return s.c + s.r * out


@wp.func
def separation(a: Solid, b: Solid, n: wp.vec3) -> float:
    return wp.dot(n, b.c - a.c) - extent(a, n) - extent(b, n)


@wp.func
def try_direction(a: Solid, b: Solid, n: wp.vec3, best: wp.vec4) -> wp.vec4:
    """The better one of a direction, turned from a to b, and the best one so far."""
    length = wp.length(n)
    if length < 1.0e-6:
        return best
    unit = n * (wp.where(wp.dot(n, b.c - a.c) < 0.0, -1.0, 1.0) / length)
    s = separation(a, b, unit)
    if s > best[3] + TIE * (wp.length(a.size) + wp.length(b.size)):
        return wp.vec4(unit[0], unit[1], unit[2], s)
    return best


@wp.func
def try_circle(a: Solid, b: Solid, u: wp.vec3, best: wp.vec4) -> wp.vec4:
    """The best direction at right angles to u."""
    p = b.c - a.c - u * wp.dot(u, b.c - a.c)
    if wp.length_sq(p) < 1.0e-12:
        p = wp.cross(u, wp.vec3(1.0, 0.0, 0.0))
        if wp.abs(u[0]) > 0.7:
            p = wp.cross(u, wp.vec3(0.0, 1.0, 0.0))
    p = wp.normalize(p)
    q = wp.cross(u, p)
    angle = float(0.0)
    highest = float(-1.0e10)
    for k in range(17):
        turn = (float(k) - 8.0) * (wp.pi / 16.0)
        s = separation(a, b, wp.cos(turn) * p + wp.sin(turn) * q)
        if s > highest:
            highest = s
            angle = turn
    low = angle - wp.pi / 16.0
    high = angle + wp.pi / 16.0
    for _ in range(22):
        angle = 0.5 * (low + high)
        n = wp.cos(angle) * p + wp.sin(angle) * q
        slope = wp.dot(support(b, -n) - support(a, n), wp.cos(angle) * q - wp.sin(angle) * p)
        if slope > 0.0:
            low = angle
        else:
            high = angle
    return try_direction(a, b, wp.cos(angle) * p + wp.sin(angle) * q, best)


@wp.func
def best_direction(a: Solid, b: Solid) -> wp.vec4:
    """Unit direction from a to b of the largest separation, and the separation."""
    best = wp.vec4(0.0, 0.0, 1.0, -1.0e10)
    z = axis_of(a, 2)
    first = wp.where(b.box == 1, 0, 2)  # axes that count; a variable also keeps the loops from being unrolled
    for q in range(2 + 0 * first, 9):
        k = q % 3
        n = z
        if q >= 3:
            n = axis_of(b, k)
        if q >= 6:
            n = wp.cross(z, n)
        if q < 3 or k >= first:
            best = try_direction(a, b, n, best)
    for q in range(0 * first, 4):
        if q == 0 or q - 1 >= first:
            best = try_circle(a, b, wp.where(q == 0, z, axis_of(b, wp.max(q - 1, 0))), best)
    # uphill, for rims and corners
    n = wp.vec3(best[0], best[1], best[2])
    s = best[3]
    step = float(0.1)
    for _ in range(40):
        v = support(b, -n) - support(a, n)
        v = v - n * wp.dot(n, v)
        length = wp.length(v)
        if length > 1.0e-9:
            trial = wp.normalize(n + v * (step / length))
            higher = separation(a, b, trial)
            if higher > s:
                n = trial
                s = higher
            else:
                step *= 0.5
    return try_direction(a, b, n, best)
