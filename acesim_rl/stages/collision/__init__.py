"""Contacts: one stage for each type of geom pair; a program has only those that its robot needs."""

from acesim_rl.stages.collision.capsule import capsule_capsule, sphere_capsule, sphere_sphere
from acesim_rl.stages.collision.plane import plane_capsule, plane_sphere

__all__ = ["COLLISION"]

COLLISION = (plane_sphere, plane_capsule, sphere_sphere, sphere_capsule, capsule_capsule)
