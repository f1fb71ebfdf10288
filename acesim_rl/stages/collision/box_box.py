"""Boxes against each other: the separating axis of largest distance, then the overlap of two faces, or two edges."""

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.stages.collision.contact import (
    apart,
    geom_pose,
    no_contact,
    no_contacts,
    pair_reach,
    put_contact,
)  # fmt: skip
from acesim_rl.stages.joints import rotate
from acesim_rl.state import WARNINGS, StateData

__all__ = ["box_box"]

TIE = wp.constant(1.0e-6)
"""Difference below which two axes separate the boxes equally well, relative to the distance: the first one counts."""
SAME = wp.constant(1.0e-6)
"""Distance below which corners and borders coincide, relative to the face."""
CONTACTS = 8
CONTACT_FULL = list(WARNINGS).index("contact_full")


@wp.func
def column(r: wp.mat33, j: int) -> wp.vec3:
    return wp.vec3(r[0, j], r[1, j], r[2, j])


@wp.func
def row(r: wp.mat33, i: int) -> wp.vec3:
    return wp.vec3(r[i, 0], r[i, 1], r[i, 2])


@wp.func
def best_axis(a: wp.vec3, b: wp.vec3, c: wp.vec3, r: wp.mat33) -> wp.vec2:
    """Number and distance of the axis along which the boxes are farthest apart.

    0 to 2: normals of the first box; 3 to 5: of the second one; 6 + 3 i + j: across an edge i and an edge j. As in
    MuJoCo, faces go first where two edges cross almost in the faces' direction and win by less than 5%.

    Args:
        a, b: half sizes; c: centre of the second box in the first one's frame; r: its rotation there.
    """
    best = float(-1.0e10)
    code = int(0)
    normal = wp.vec3(0.0, 0.0, 0.0)
    for i in range(3):
        dist = wp.abs(c[i]) - a[i] - wp.dot(wp.abs(row(r, i)), b)
        if dist > best + TIE * wp.abs(best):
            best = dist
            code = i
            normal = wp.vec3(0.0, 0.0, 0.0)
            normal[i] = 1.0
    for j in range(3):
        dist = wp.abs(wp.dot(c, column(r, j))) - b[j] - wp.dot(wp.abs(column(r, j)), a)
        if dist > best + TIE * wp.abs(best):
            best = dist
            code = 3 + j
            normal = column(r, j)
    edge = float(-1.0e10)
    edge_code = int(0)
    edge_normal = wp.vec3(0.0, 0.0, 0.0)
    edges = int(9)  # a variable, so that the loop is not unrolled
    for k in range(edges):
        i = k / 3
        j = k % 3
        unit = wp.vec3(0.0, 0.0, 0.0)
        unit[i] = 1.0
        axis = wp.cross(unit, column(r, j))
        length = wp.length(axis)
        if length > 1.0e-5:
            axis = axis / length
            dist = wp.abs(wp.dot(c, axis)) - wp.dot(wp.abs(axis), a) - wp.dot(wp.abs(wp.transpose(r) * axis), b)
            if dist > edge + TIE * wp.abs(edge):
                edge = dist
                edge_code = 6 + k
                edge_normal = axis
    almost = wp.where(best < 0.0, 0.95, 1.05) * best
    if edge > best + TIE * wp.abs(best) and (edge > almost or wp.abs(wp.dot(normal, edge_normal)) < 0.99):
        return wp.vec2(float(edge_code), edge)
    return wp.vec2(float(code), best)


@wp.func
def cut(start: float, along: float, half: float, near: float, part: wp.vec2) -> wp.vec2:
    """The part of a line that is also within half of zero, in one coordinate."""
    if wp.abs(along) > near:
        t1 = (-half - start) / along
        t2 = (half - start) / along
        return wp.vec2(wp.max(part[0], wp.min(t1, t2)), wp.min(part[1], wp.max(t1, t2)))
    if wp.abs(start) > half + near:
        return wp.vec2(0.0, -1.0)
    return part


@wp.func
def overlap_of_faces(
    m: ModelData, d: StateData, p: int, w: int, frame: wp.transform, a: wp.vec3, b: wp.vec3, c: wp.vec3, r: wp.mat33,
    axis: int, flip: float,
) -> int:  # fmt: skip
    """Corners of the overlap of a face of a box in its own frame, and of the other box's face that looks at it.

    Args:
        a, b, c, r: as for `best_axis`; axis: of the face's normal; flip: -1 where the box is the second geom.
    """
    i = (axis + 1) % 3
    j = (axis + 2) % 3
    side = wp.where(c[axis] < 0.0, -1.0, 1.0)
    facing = int(0)  # axis of the other face's normal
    for k in range(1, 3):
        if wp.abs(r[axis, k]) > wp.abs(r[axis, facing]):
            facing = k
    e = column(r, (facing + 1) % 3) * b[(facing + 1) % 3]
    f = column(r, (facing + 2) % 3) * b[(facing + 2) % 3]
    centre = c - column(r, facing) * (wp.sign(r[axis, facing]) * side * b[facing])
    outward = wp.vec3(0.0, 0.0, 0.0)
    outward[axis] = side
    normal = flip * rotate(wp.transform_get_rotation(frame), outward)
    det = e[i] * f[j] - e[j] * f[i]
    near = SAME * wp.max(a[i], a[j])
    count = int(0)
    edges = int(4)  # a variable, so that the loop is not unrolled
    for k in range(2 * edges + 4):
        x = wp.vec3(0.0, 0.0, 0.0)
        touches = bool(False)
        if k < 2 * edges:  # the other face's edges, cut at this face's borders: their starts, then their ends
            n = k / 2
            se = wp.where(n == 0 or n == 3, 1.0, -1.0)
            sf = wp.where(n < 2, 1.0, -1.0)
            start = centre + se * e + sf * f
            along = -2.0 * wp.where(n % 2 == 1, sf, se) * wp.where(n % 2 == 1, f, e)  # to the next corner
            part = wp.vec2(0.0, 1.0)
            part = cut(start[i], along[i], a[i], near, part)
            part = cut(start[j], along[j], a[j], near, part)
            tight = near / wp.max(wp.length(along), near)
            if k % 2 == 0:
                if wp.abs(start[i]) <= a[i] + near and wp.abs(start[j]) <= a[j] + near:
                    x = start
                    touches = True
                elif part[0] > tight and part[0] < 1.0 - tight and part[1] > part[0] + tight:
                    x = start + part[0] * along
                    touches = True
            elif part[1] > part[0] + tight and part[1] < 1.0 - tight:
                x = start + part[1] * along
                touches = True
        elif wp.abs(det) > 1.0e-9 * a[i] * a[j]:  # this face's corners that lie over the other face
            u = wp.where(k % 2 == 0, -a[i], a[i]) - centre[i]
            v = wp.where(k % 4 < 2, -a[j], a[j]) - centre[j]
            s = (u * f[j] - v * f[i]) / det
            t = (v * e[i] - u * e[j]) / det
            x = centre + s * e + t * f
            touches = wp.abs(s) < 1.0 - SAME and wp.abs(t) < 1.0 - SAME
        lift = side * x[axis] - a[axis]
        if touches and lift <= pair_reach(m, p, w):
            if count < wp.static(CONTACTS):
                pos = wp.transform_point(frame, x - 0.5 * lift * outward)
                put_contact(m, d, p, count, w, lift, pos, normal, wp.vec3(0.0, 0.0, 0.0))
                count += 1
            else:  # two quadrilaterals have no more corners in common, but for rounding
                wp.atomic_add(d.warning, wp.static(CONTACT_FULL), w, 1)
    return count


@wp.func
def cross_edges(
    m: ModelData, d: StateData, p: int, w: int, frame: wp.transform, a: wp.vec3, b: wp.vec3, c: wp.vec3, r: wp.mat33,
    i: int, j: int, dist: float,
) -> int:  # fmt: skip
    """One contact, between the closest points of an edge of each box."""
    unit = wp.vec3(0.0, 0.0, 0.0)
    unit[i] = 1.0
    other = column(r, j)
    normal = wp.normalize(wp.cross(unit, other))
    if wp.dot(normal, c) < 0.0:
        normal = -normal
    x = wp.vec3(0.0, 0.0, 0.0)  # middles of the edges
    y = c
    for k in range(3):
        if k != i:
            x[k] = wp.where(normal[k] > 0.0, a[k], -a[k])
        if k != j:
            y -= column(r, k) * wp.where(wp.dot(column(r, k), normal) > 0.0, b[k], -b[k])
    # along the edges, from their middles
    between = y - x
    cosine = other[i]
    det = 1.0 - cosine * cosine
    s = wp.clamp((between[i] - cosine * wp.dot(other, between)) / det, -a[i], a[i])
    t = wp.clamp(cosine * s - wp.dot(other, between), -b[j], b[j])
    s = wp.clamp(between[i] + cosine * t, -a[i], a[i])
    x[i] = s
    middle = 0.5 * (x + y + other * t)
    world = rotate(wp.transform_get_rotation(frame), normal)
    put_contact(m, d, p, 0, w, dist, wp.transform_point(frame, middle), world, wp.vec3(0.0, 0.0, 0.0))
    return 1


@stage("pair:box_box", module="acesim_rl.stages.box_box")
def box_box(m: ModelData, d: StateData, p: int, w: int):
    """The overlap of two faces, up to eight contacts; or one contact of two edges."""
    g1 = m.pair_geom1[p]
    g2 = m.pair_geom2[p]
    if apart(m, d, p, w, wp.length(m.geom_size[g1, w]), wp.length(m.geom_size[g2, w])):
        no_contacts(m, d, p, CONTACTS, w)
        return
    first = geom_pose(d, g1, w)
    second = geom_pose(d, g2, w)
    a = m.geom_size[g1, w]
    b = m.geom_size[g2, w]
    relative = wp.transform_multiply(wp.transform_inverse(first), second)
    c = wp.transform_get_translation(relative)
    r = wp.quat_to_matrix(wp.transform_get_rotation(relative))
    axis = best_axis(a, b, c, r)
    code = int(axis[0])
    count = int(0)
    if axis[1] <= pair_reach(m, p, w):
        if code < 6:
            if code < 3:
                count = overlap_of_faces(m, d, p, w, first, a, b, c, r, code, 1.0)
            else:  # the second box's frame takes the first one's part
                back = -(wp.transpose(r) * c)
                count = overlap_of_faces(m, d, p, w, second, b, a, back, wp.transpose(r), code - 3, -1.0)
        else:
            count = cross_edges(m, d, p, w, first, a, b, c, r, (code - 6) / 3, (code - 6) % 3, axis[1])
    for k in range(count, wp.static(CONTACTS)):
        no_contact(m, d, p, k, w)
