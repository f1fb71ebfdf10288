"""Planes against spheres and capsules."""

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.stages.collision.contact import capsule_axis, geom_pose, put_contact
from acesim_rl.state import StateData

__all__ = ["plane_capsule", "plane_sphere"]


@wp.func
def plane_point(
    m: ModelData, d: StateData, p: int, k: int, w: int, plane: wp.transform, c: wp.vec3, radius: float, along: wp.vec3
):
    """Contact of a plane and a sphere at c, in slot k of pair p."""
    normal = wp.quat_rotate(wp.transform_get_rotation(plane), wp.vec3(0.0, 0.0, 1.0))
    dist = wp.dot(c - wp.transform_get_translation(plane), normal) - radius
    put_contact(m, d, p, k, w, dist, c - normal * (radius + 0.5 * dist), normal, along)


@stage("pair:plane_sphere")
def plane_sphere(m: ModelData, d: StateData, p: int, w: int):
    """One contact, below the sphere's centre."""
    g = m.pair_geom2[p]
    plane = geom_pose(m, d, m.pair_geom1[p], w)
    centre = wp.transform_get_translation(geom_pose(m, d, g, w))
    plane_point(m, d, p, 0, w, plane, centre, m.geom_size[g, w][0], wp.vec3(0.0, 0.0, 0.0))


@stage("pair:plane_capsule")
def plane_capsule(m: ModelData, d: StateData, p: int, w: int):
    """One contact for each end; the first tangent lies along the capsule."""
    g = m.pair_geom2[p]
    plane = geom_pose(m, d, m.pair_geom1[p], w)
    capsule = geom_pose(m, d, g, w)
    centre = wp.transform_get_translation(capsule)
    axis = capsule_axis(m, capsule, g, w)
    plane_point(m, d, p, 0, w, plane, centre + axis, m.geom_size[g, w][0], axis)
    plane_point(m, d, p, 1, w, plane, centre - axis, m.geom_size[g, w][0], axis)
