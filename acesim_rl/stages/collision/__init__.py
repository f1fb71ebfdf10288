"""Contacts: one stage for each type of geom pair; a program has only those that its robot needs."""

from acesim_rl.stages.collision.box import capsule_box, sphere_box
from acesim_rl.stages.collision.box_box import box_box
from acesim_rl.stages.collision.capsule import capsule_capsule, sphere_capsule, sphere_sphere
from acesim_rl.stages.collision.convex import cylinder_box, cylinder_cylinder
from acesim_rl.stages.collision.cylinder import capsule_cylinder, sphere_cylinder
from acesim_rl.stages.collision.plane import plane_box, plane_capsule, plane_cylinder, plane_sphere

__all__ = ["COLLISION", "COMMON", "RARE_COLLISION"]

COMMON = (plane_sphere, plane_capsule, plane_cylinder, plane_box, sphere_sphere, sphere_capsule, capsule_capsule)
RARE_COLLISION = (
    (sphere_cylinder, capsule_cylinder), (sphere_box, capsule_box), (box_box,), (cylinder_cylinder, cylinder_box),
)  # fmt: skip
"""Pair types with modules of their own, which are loaded where a model has such pairs."""
COLLISION = (*COMMON, *(collide for together in RARE_COLLISION for collide in together))
