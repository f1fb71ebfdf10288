"""Spheres and capsules against each other: spheres at the closest points of their axes."""

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
    touch_spheres,
)  # fmt: skip
from acesim_rl.state import StateData

__all__ = ["capsule_capsule", "sphere_capsule", "sphere_sphere"]


@stage("pair:sphere_sphere")
def sphere_sphere(m: ModelData, d: StateData, p: int, w: int):
    g1 = m.pair_geom1[p]
    g2 = m.pair_geom2[p]
    c1 = wp.transform_get_translation(geom_pose(d, g1, w))
    c2 = wp.transform_get_translation(geom_pose(d, g2, w))
    touch_spheres(m, d, p, 0, w, c1, m.geom_size[g1, w][0], c2, m.geom_size[g2, w][0])


@stage("pair:sphere_capsule")
def sphere_capsule(m: ModelData, d: StateData, p: int, w: int):
    g1 = m.pair_geom1[p]
    g2 = m.pair_geom2[p]
    if apart(m, d, p, w, m.geom_size[g1, w][0], capsule_bound(m, g2, w)):
        no_contact(m, d, p, 0, w)
        return
    capsule = geom_pose(d, g2, w)
    axis = capsule_axis(m, capsule, g2, w)
    c1 = wp.transform_get_translation(geom_pose(d, g1, w))
    c2 = wp.transform_get_translation(capsule)
    x = wp.clamp(wp.dot(axis, c1 - c2) / wp.max(wp.length_sq(axis), 1.0e-15), -1.0, 1.0)
    touch_spheres(m, d, p, 0, w, c1, m.geom_size[g1, w][0], c2 + axis * x, m.geom_size[g2, w][0])


@stage("pair:capsule_capsule")
def capsule_capsule(m: ModelData, d: StateData, p: int, w: int):
    """Closest points of two segments; parallel capsules (within 1e-4 rad) touch at two points."""
    g1 = m.pair_geom1[p]
    g2 = m.pair_geom2[p]
    if apart(m, d, p, w, capsule_bound(m, g1, w), capsule_bound(m, g2, w)):
        no_contacts(m, d, p, 2, w)
        return
    pose1 = geom_pose(d, g1, w)
    pose2 = geom_pose(d, g2, w)
    c1 = wp.transform_get_translation(pose1)
    c2 = wp.transform_get_translation(pose2)
    r1 = m.geom_size[g1, w][0]
    r2 = m.geom_size[g2, w][0]
    a1 = capsule_axis(m, pose1, g1, w)
    a2 = capsule_axis(m, pose2, g2, w)
    between = c1 - c2
    across = wp.cross(a1, a2)
    aa = wp.length_sq(a1)
    ab = -wp.dot(a1, a2)
    bb = wp.length_sq(a2)
    u = -wp.dot(a1, between)
    v = wp.dot(a2, between)
    det = wp.length_sq(across)
    if det > 1.0e-8 * aa * bb:
        x1 = wp.dot(wp.cross(a2, between), across) / det
        x2 = wp.dot(wp.cross(a1, between), across) / det
        if wp.abs(x1) > 1.0:
            x1 = wp.sign(x1)
            x2 = (v - ab * x1) / bb
        if wp.abs(x2) > 1.0:
            x2 = wp.sign(x2)
            x1 = wp.clamp((u - ab * x2) / aa, -1.0, 1.0)
        touch_spheres(m, d, p, 0, w, c1 + a1 * x1, r1, c2 + a2 * x2, r2)
        no_contact(m, d, p, 1, w)
    else:
        # the ends of the second segment as seen from the first one: where they overlap, the ends of the overlap
        middle = u / aa
        half = wp.sqrt(bb / aa)
        low = wp.clamp(middle - half, -1.0, 1.0)
        high = wp.clamp(middle + half, -1.0, 1.0)
        x2 = wp.clamp((v - ab * high) / bb, -1.0, 1.0)
        touch_spheres(m, d, p, 0, w, c1 + a1 * high, r1, c2 + a2 * x2, r2)
        x2 = wp.clamp((v - ab * low) / bb, -1.0, 1.0)
        touch_spheres(m, d, p, 1, w, c1 + a1 * low, r1, c2 + a2 * x2, r2)
