"""Cylinders against cylinders and boxes: contacts where their closest faces, sides, edges or points meet."""

import math

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.stages.collision.contact import (
    apart,
    cylinder_bound,
    geom_pose,
    no_contact,
    no_contacts,
    pair_reach,
    put_contact,
)  # fmt: skip
from acesim_rl.stages.collision.solid import SIDE, Solid, axis_of, best_direction, extent, support
from acesim_rl.state import StateData

__all__ = ["cylinder_box", "cylinder_cylinder"]

MODULE = "acesim_rl.stages.convex"
FACES = wp.constant(0.996)
"""Cosine of the angle between two faces up to which they meet as faces, as measured in MuJoCo 4.0."""
LYING = wp.constant(0.0888)
"""Sine of the angle up to which an edge lies on a face."""
NEAR = wp.constant(0.55)
"""Cosine of the angle to the separating direction up to which a face counts; one of a box's faces always does."""
EDGES = wp.constant(0.99208)
"""Cosine of the angle between two edges up to which they meet along a line."""


@wp.func
def face_axis(s: Solid, n: wp.vec3) -> int:
    """Axis of the face or cap that looks most along n."""
    best = int(2)
    if s.box == 1:
        for k in range(2):
            if wp.abs(wp.dot(axis_of(s, k), n)) > wp.abs(wp.dot(axis_of(s, best), n)):
                best = k
    return best


@wp.func
def clip(s: Solid, axis: int, x: wp.vec3, h: wp.vec3) -> wp.vec2:
    """The part of the line from x - h to x + h that lies over the solid's face; first > last where none does."""
    start = wp.transpose(s.r) * (x - s.c)
    along = wp.transpose(s.r) * h
    first = float(-1.0)
    last = float(1.0)
    if s.box == 1:
        for k in range(3):
            if k != axis:
                if wp.abs(along[k]) > 1.0e-9:
                    t1 = (-s.size[k] - start[k]) / along[k]
                    t2 = (s.size[k] - start[k]) / along[k]
                    first = wp.max(first, wp.min(t1, t2))
                    last = wp.min(last, wp.max(t1, t2))
                elif wp.abs(start[k]) > s.size[k]:
                    last = -2.0
    # MuJoCo's caps have 16 corners
    for k in range(wp.where(s.box == 1, 0, 16)):
        turn = (float(k) + 0.5) * (wp.pi / 8.0)
        out = wp.vec3(wp.cos(turn), wp.sin(turn), 0.0)
        above = wp.dot(start, out) - s.size[0] * wp.static(math.cos(math.pi / 16.0))
        speed = wp.dot(along, out)
        if speed < -1.0e-9:
            first = wp.max(first, -above / speed)
        elif speed > 1.0e-9:
            last = wp.min(last, -above / speed)
        elif above > 0.0:
            last = -2.0
    return wp.vec2(first, last)


@wp.func
def lines(first: wp.vec3, half1: wp.vec3, second: wp.vec3, half2: wp.vec3, count: float) -> wp.mat44:
    """Up to two lines, each from x - h to x + h: rows x, h, x, h; and how many there are."""
    return wp.matrix_from_rows(
        wp.vec4(first[0], first[1], first[2], count), wp.vec4(half1[0], half1[1], half1[2], 0.0),
        wp.vec4(second[0], second[1], second[2], 0.0), wp.vec4(half2[0], half2[1], half2[2], 0.0),
    )  # fmt: skip


@wp.func
def row3(rows: wp.mat44, k: int) -> wp.vec3:
    return wp.vec3(rows[k, 0], rows[k, 1], rows[k, 2])


@wp.func
def lines_across(face: Solid, f: wp.vec3, other: Solid) -> wp.mat44:
    """Two lines across the other solid's face that looks at a face with normal f: diagonals, or chords of a disc."""
    axis = face_axis(other, f)
    normal = axis_of(other, axis)
    normal = normal * wp.where(wp.dot(normal, f) > 0.0, -1.0, 1.0)
    x = other.c + normal * other.size[wp.where(other.box == 1, axis, 1)]
    towards = face.c - x
    towards = towards - normal * wp.dot(normal, towards)
    if wp.length_sq(towards) < 1.0e-12:
        towards = axis_of(other, (axis + 1) % 3)
    i = (axis + 1) % 3
    j = (axis + 2) % 3
    u = axis_of(other, i)
    v = axis_of(other, j)
    radius = other.size[0]
    first = u * other.size[i] + v * other.size[j]
    if other.box == 0:
        # through the deepest point, or where MuJoCo's polygon has a corner
        steep = normal * wp.dot(normal, f) - f
        first = radius * (v * wp.sin(0.875 * wp.pi) + u * wp.cos(0.875 * wp.pi))
        if wp.length_sq(steep) > 1.0e-6:
            first = radius * wp.normalize(steep)
    over = face_axis(face, f)
    part = clip(face, over, x, first)
    if part[0] >= part[1]:  # it misses the face: towards the face
        scale = wp.length(towards) / radius
        if other.box == 1:
            scale = wp.max(wp.abs(wp.dot(towards, u)) / other.size[i], wp.abs(wp.dot(towards, v)) / other.size[j])
        first = towards / scale
        part = clip(face, over, x, first)
    if other.box == 1:
        return lines(x, first, x, u * other.size[i] - v * other.size[j], 2.0)
    middle = wp.clamp(0.5 * (part[0] + part[1]), -1.0, 1.0)
    return lines(x, first, x + middle * first, wp.sqrt(1.0 - middle * middle) * wp.cross(normal, first), 2.0)


@wp.func
def closest_on_lines(x: wp.vec3, h: wp.vec3, y: wp.vec3, g: wp.vec3) -> wp.vec2:
    """Parameters in [-1, 1] of the closest points of two lines x + s h, y + t g; the middle where they are parallel."""
    hh = wp.length_sq(h)
    gg = wp.length_sq(g)
    hg = wp.dot(h, g)
    between = y - x
    det = hh * gg - hg * hg
    if det < 1.0e-8 * hh * gg:
        middle = wp.dot(between, h) / hh
        reach = wp.abs(hg) / hh
        s = 0.5 * (wp.clamp(middle - reach, -1.0, 1.0) + wp.clamp(middle + reach, -1.0, 1.0))
        return wp.vec2(s, wp.clamp((hg * s - wp.dot(between, g)) / gg, -1.0, 1.0))
    s = wp.clamp((wp.dot(between, h) * gg - wp.dot(between, g) * hg) / det, -1.0, 1.0)
    return wp.vec2(s, wp.clamp((hg * s - wp.dot(between, g)) / gg, -1.0, 1.0))


@wp.func
def edge_axis(s: Solid, n: wp.vec3) -> int:
    """Axis of the edge, or of the cylinder's side, that is at right angles to n; -1 where there is none, or a face."""
    found = int(-1)
    count = int(0)
    for k in range(wp.where(s.box == 1, 0, 2), 3):
        if wp.abs(wp.dot(axis_of(s, k), n)) < SIDE:
            found = k
            count += 1
    return wp.where(count == 1, found, -1)


@wp.func
def half_length(s: Solid, axis: int) -> wp.vec3:
    return axis_of(s, axis) * s.size[wp.where(s.box == 1, axis, 1)]


@wp.func
def is_point(s: Solid, n: wp.vec3) -> bool:
    """Whether one point is farthest along n: a corner, or a point of a rim."""
    for k in range(wp.where(s.box == 1, 0, 2), 3):
        if wp.abs(wp.dot(axis_of(s, k), n)) < SIDE:
            return False
    return s.box == 1 or wp.abs(wp.dot(axis_of(s, 2), n)) < 1.0 - 1.0e-6


@wp.func
def single_point(a: Solid, b: Solid, n: wp.vec3, dist: float) -> wp.vec3:
    """Halfway between the solids' points that are farthest along n."""
    x = support(a, n)
    y = support(b, -n)
    if is_point(b, n):
        return y - n * (0.5 * dist)
    if is_point(a, n):
        return x + n * (0.5 * dist)
    edge1 = edge_axis(a, n)
    edge2 = edge_axis(b, n)
    if edge1 >= 0 and edge2 >= 0:
        t = closest_on_lines(x, half_length(a, edge1), y, half_length(b, edge2))
        y += half_length(b, edge2) * t[1]
    elif edge2 >= 0:  # on a cap
        part = clip(a, 2, y, half_length(b, edge2))
        y += half_length(b, edge2) * (0.5 * (part[0] + part[1]))
    return y - n * (0.5 * dist)


@wp.func
def along_side(a: Solid, b: Solid, n: wp.vec3) -> int:
    """Axis of the box's edge that lies along the side of the cylinder; -1 where none does."""
    z = axis_of(a, 2)
    found = int(-1)
    if b.box == 1 and wp.abs(wp.dot(z, n)) < LYING:
        for k in range(3):
            if wp.abs(wp.dot(axis_of(b, k), z)) > EDGES and wp.abs(wp.dot(axis_of(b, k), n)) < LYING:
                found = k
    return found


@wp.func
def points_on_side(a: Solid, b: Solid, n: wp.vec3, k: int) -> wp.mat44:
    """Two points between the side of the cylinder and the edge k of the box, and how far they are apart."""
    z = axis_of(a, 2)
    edge = axis_of(b, k)
    x = support(a, wp.normalize(n - z * wp.dot(z, n)))
    y = support(b, -wp.normalize(n - edge * wp.dot(edge, n)))
    t = wp.dot(x - y, edge) / wp.dot(z, edge)
    reach = b.size[k] / wp.abs(wp.dot(z, edge))
    low = wp.max(-reach - t, -a.size[1])
    high = wp.min(reach - t, a.size[1])
    if low >= high:
        return lines(x, x, x, x, 0.0)
    x1 = x + z * low
    x2 = x + z * high
    y1 = y + edge * wp.dot(x1 - y, edge)
    y2 = y + edge * wp.dot(x2 - y, edge)
    away = wp.vec3(wp.dot(y1 - x1, n), wp.dot(y2 - x2, n), 0.0)
    return lines(0.5 * (x1 + y1), away, 0.5 * (x2 + y2), away, 2.0)


@wp.func
def put_contacts(m: ModelData, d: StateData, p: int, w: int, origin: wp.vec3, a: Solid, b: Solid):
    """Contacts of a cylinder and another solid; `origin`: where the cylinder's centre is.

    As in MuJoCo, the faces that the closest points are part of count, even where they do not quite look that way.
    """
    best = best_direction(a, b)
    n = wp.vec3(best[0], best[1], best[2])
    count = int(0)
    zero = wp.vec3(0.0, 0.0, 0.0)
    if best[3] <= pair_reach(m, p, w):
        z = axis_of(a, 2)
        up = z * wp.where(wp.dot(z, n) < 0.0, -1.0, 1.0)
        k = face_axis(b, n)
        down = axis_of(b, k) * wp.where(wp.dot(axis_of(b, k), n) < 0.0, 1.0, -1.0)
        on_a = wp.dot(up, n) > NEAR
        on_b = wp.dot(down, n) < -NEAR
        normal = -down
        face = b
        f = down
        cross = lines(zero, zero, zero, zero, 0.0)
        if on_a and on_b and wp.dot(up, down) < -FACES:
            span = b.size[0]
            if b.box == 1:
                span = wp.min(b.size[(k + 1) % 3], b.size[(k + 2) % 3])
            other = a
            if a.size[0] > span:
                face = a
                f = up
                other = b
            cross = lines_across(face, f, other)
        elif on_b and wp.abs(wp.dot(z, down)) < LYING:
            x = support(a, wp.normalize(-down + z * wp.dot(z, down)))
            cross = lines(x, half_length(a, 2), zero, zero, 1.0)
        elif on_a and b.box == 0 and wp.abs(wp.dot(z, axis_of(b, 2))) < LYING:
            zb = axis_of(b, 2)
            x = support(b, wp.normalize(-up + zb * wp.dot(zb, up)))
            face = a
            f = up
            normal = up
            cross = lines(x, half_length(b, 2), zero, zero, 1.0)
        ends = wp.mat44()  # rows: position, distance
        axis = face_axis(face, f)
        tilt = wp.dot(f, normal)
        for t in range(int(cross[0, 3])):
            x = row3(cross, 2 * t)
            h = row3(cross, 2 * t + 1)
            part = clip(face, axis, x, h)
            for end in range(wp.where(part[0] < part[1], 2, 0)):
                y = x + h * part[end]
                away = (wp.dot(y - face.c, f) - extent(face, f)) / tilt  # of y along the normal
                dist = away * wp.sign(tilt)
                if dist <= pair_reach(m, p, w):
                    y -= normal * (0.5 * away)
                    ends[count] = wp.vec4(y[0], y[1], y[2], dist)
                    count += 1
        if count == 0:
            normal = n
            k = along_side(a, b, n)
            if k >= 0 and best[3] < 0.0:  # only where they overlap, as in MuJoCo
                touch = points_on_side(a, b, n, k)
                for t in range(int(touch[0, 3])):
                    y = row3(touch, 2 * t)
                    if touch[1, t] <= pair_reach(m, p, w):
                        ends[count] = wp.vec4(y[0], y[1], y[2], touch[1, t])
                        count += 1
        if count == 0:
            y = single_point(a, b, n, best[3])
            ends[0] = wp.vec4(y[0], y[1], y[2], best[3])
            count = 1
        for t in range(count):
            put_contact(m, d, p, t, w, ends[t, 3], origin + row3(ends, t), normal, zero)
    for t in range(count, 4):
        no_contact(m, d, p, t, w)


@wp.func
def solid(m: ModelData, g: int, w: int, pose: wp.transform, origin: wp.vec3, box: int) -> Solid:
    s = Solid()
    s.c = wp.transform_get_translation(pose) - origin
    s.r = wp.quat_to_matrix(wp.transform_get_rotation(pose))
    s.size = m.geom_size[g, w]
    s.box = box
    return s


@stage("pair:cylinder_cylinder", module=MODULE)
def cylinder_cylinder(m: ModelData, d: StateData, p: int, w: int):
    """Four contacts of two caps, two of a side on a cap, else one."""
    if apart(m, d, p, w, cylinder_bound(m, m.pair_geom1[p], w), cylinder_bound(m, m.pair_geom2[p], w)):
        no_contacts(m, d, p, 4, w)
        return
    pose = geom_pose(d, m.pair_geom1[p], w)
    origin = wp.transform_get_translation(pose)
    a = solid(m, m.pair_geom1[p], w, pose, origin, 0)
    b = solid(m, m.pair_geom2[p], w, geom_pose(d, m.pair_geom2[p], w), origin, 0)
    put_contacts(m, d, p, w, origin, a, b)


@stage("pair:cylinder_box", module=MODULE)
def cylinder_box(m: ModelData, d: StateData, p: int, w: int):
    """Four contacts of a cap and a face, two of a side on a face, else one."""
    if apart(m, d, p, w, cylinder_bound(m, m.pair_geom1[p], w), wp.length(m.geom_size[m.pair_geom2[p], w])):
        no_contacts(m, d, p, 4, w)
        return
    pose = geom_pose(d, m.pair_geom1[p], w)
    origin = wp.transform_get_translation(pose)
    a = solid(m, m.pair_geom1[p], w, pose, origin, 0)
    b = solid(m, m.pair_geom2[p], w, geom_pose(d, m.pair_geom2[p], w), origin, 1)
    put_contacts(m, d, p, w, origin, a, b)
