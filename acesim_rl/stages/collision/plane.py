"""Planes against the other shapes: the points of a shape that lie deepest below the plane."""

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.stages.collision.contact import (
    capsule_axis,
    geom_pose,
    no_contact,
    pair_reach,
    put_contact,
)  # fmt: skip
from acesim_rl.stages.joints import rotate
from acesim_rl.state import StateData

__all__ = ["plane_box", "plane_capsule", "plane_cylinder", "plane_sphere"]


@wp.func
def plane_normal(plane: wp.transform) -> wp.vec3:
    return rotate(wp.transform_get_rotation(plane), wp.vec3(0.0, 0.0, 1.0))


@wp.func
def plane_point(
    m: ModelData, d: StateData, p: int, k: int, w: int, plane: wp.transform, c: wp.vec3, radius: float, along: wp.vec3
):
    """Contact of a plane and a sphere at c, in slot k of pair p."""
    normal = plane_normal(plane)
    dist = wp.dot(c - wp.transform_get_translation(plane), normal) - radius
    put_contact(m, d, p, k, w, dist, c - normal * (radius + 0.5 * dist), normal, along)


@stage("pair:plane_sphere")
def plane_sphere(m: ModelData, d: StateData, p: int, w: int):
    """One contact, below the sphere's centre."""
    g = m.pair_geom2[p]
    plane = geom_pose(d, m.pair_geom1[p], w)
    centre = wp.transform_get_translation(geom_pose(d, g, w))
    plane_point(m, d, p, 0, w, plane, centre, m.geom_size[g, w][0], wp.vec3(0.0, 0.0, 0.0))


@stage("pair:plane_capsule")
def plane_capsule(m: ModelData, d: StateData, p: int, w: int):
    """One contact for each end; the first tangent lies along the capsule."""
    g = m.pair_geom2[p]
    plane = geom_pose(d, m.pair_geom1[p], w)
    capsule = geom_pose(d, g, w)
    centre = wp.transform_get_translation(capsule)
    axis = capsule_axis(m, capsule, g, w)
    plane_point(m, d, p, 0, w, plane, centre + axis, m.geom_size[g, w][0], axis)
    plane_point(m, d, p, 1, w, plane, centre - axis, m.geom_size[g, w][0], axis)


@stage("pair:plane_cylinder")
def plane_cylinder(m: ModelData, d: StateData, p: int, w: int):
    """The lowest points of both discs, and two more that make a regular triangle with the lower one."""
    g = m.pair_geom2[p]
    plane = geom_pose(d, m.pair_geom1[p], w)
    cylinder = geom_pose(d, g, w)
    centre = wp.transform_get_translation(cylinder)
    normal = plane_normal(plane)
    quat = wp.transform_get_rotation(cylinder)
    up = rotate(wp.quat_inverse(quat), normal)  # in the cylinder's frame, where the discs are exactly flat
    axis = capsule_axis(m, cylinder, g, w)  # to the lower disc
    if up[2] > 0.0:
        axis = -axis
    radius = m.geom_size[g, w][0]
    x = float(1.0)  # steepest way down in the discs
    y = float(0.0)
    slope = wp.sqrt(up[0] * up[0] + up[1] * up[1])
    if slope > 1.0e-6:
        x = -up[0] / slope
        y = -up[1] / slope
    down = rotate(quat, wp.vec3(radius * x, radius * y, 0.0))
    across = rotate(quat, wp.sqrt(0.75) * wp.vec3(-radius * y, radius * x, 0.0))
    zero = wp.vec3(0.0, 0.0, 0.0)
    plane_point(m, d, p, 0, w, plane, centre + axis + down, 0.0, zero)
    plane_point(m, d, p, 1, w, plane, centre - axis + down, 0.0, zero)
    plane_point(m, d, p, 2, w, plane, centre + axis - 0.5 * down + across, 0.0, zero)
    plane_point(m, d, p, 3, w, plane, centre + axis - 0.5 * down - across, 0.0, zero)


@stage("pair:plane_box")
def plane_box(m: ModelData, d: StateData, p: int, w: int):
    """The first four corners that touch, of those in the lower half of the box."""
    g = m.pair_geom2[p]
    plane = geom_pose(d, m.pair_geom1[p], w)
    box = geom_pose(d, g, w)
    centre = wp.transform_get_translation(box)
    normal = plane_normal(plane)
    size = m.geom_size[g, w]
    height = wp.dot(centre - wp.transform_get_translation(plane), normal)
    reach = pair_reach(m, p, w)
    found = int(0)
    corners = int(8)  # a variable, so that the loop is not unrolled
    for corner in range(corners):
        sign = wp.vec3(
            wp.where(corner & 1, 1.0, -1.0), wp.where(corner & 2, 1.0, -1.0), wp.where(corner & 4, 1.0, -1.0)
        )
        offset = rotate(wp.transform_get_rotation(box), wp.cw_mul(sign, size))
        below = wp.dot(normal, offset)
        if found < 4 and below <= 0.0 and height + below <= reach:
            plane_point(m, d, p, found, w, plane, centre + offset, 0.0, wp.vec3(0.0, 0.0, 0.0))
            found += 1
    for k in range(found, 4):
        no_contact(m, d, p, k, w)
