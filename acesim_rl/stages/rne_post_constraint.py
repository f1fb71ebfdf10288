"""Contact forces on bodies (the cfrc_ext part of mj_rnePostConstraint)."""

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.stages.constraint.contact_general import friction_of
from acesim_rl.state import StateData

__all__ = ["cfrc_ext", "contact_force", "contact_wrench"]

vec6 = wp.types.vector(length=6, dtype=float)


@wp.func
def contact_wrench(m: ModelData, d: StateData, slot: int, w: int) -> wp.spatial_vector:
    """Torque and force at the contact on the second geom's body, in world coordinates (mj_contactForce)."""
    row = d.contact_row[slot, w]
    zero = wp.vec3(0.0, 0.0, 0.0)
    if row < 0:
        return wp.spatial_vector(zero, zero)
    frame = wp.transpose(d.contact_frame[slot, w])
    first = d.efc_force[row, w]
    dim = m.slot_condim[slot]
    if dim == 1:
        return wp.spatial_vector(zero, frame * wp.vec3(first, 0.0, 0.0))
    p = m.slot_pair[slot]
    parts = vec6()
    if m.has_cones != 0:
        for j in range(dim):
            parts[j] = d.efc_force[row + j, w]
    else:
        for j in range(1, dim):
            plus = d.efc_force[row + 2 * j - 2, w]
            minus = d.efc_force[row + 2 * j - 1, w]
            parts[0] += plus + minus
            parts[j] = friction_of(m, p, j, w) * (plus - minus)
    return wp.spatial_vector(
        frame * wp.vec3(parts[3], parts[4], parts[5]), frame * wp.vec3(parts[0], parts[1], parts[2])
    )


@wp.func
def contact_force(m: ModelData, d: StateData, slot: int, w: int) -> wp.vec3:
    """Force on the second geom's body in world coordinates."""
    return wp.spatial_bottom(contact_wrench(m, d, slot, w))


@stage("body")
def cfrc_ext(m: ModelData, d: StateData, b: int, w: int):
    """Sum of the contact forces on body b: torque about its tree's centre of mass, force."""
    total = wp.spatial_vector(wp.vec3(0.0, 0.0, 0.0), wp.vec3(0.0, 0.0, 0.0))
    for slot in range(m.nslot):
        if d.contact_row[slot, w] >= 0:
            p = m.slot_pair[slot]
            second = m.geom_bodyid[m.pair_geom2[p]] == b
            if second or m.geom_bodyid[m.pair_geom1[p]] == b:
                wrench = contact_wrench(m, d, slot, w)
                if not second:
                    wrench = -wrench
                force = wp.spatial_bottom(wrench)
                offset = d.contact_pos[slot, w] - d.subtree_com[m.body_rootid[b], w]
                total += wp.spatial_vector(wp.cross(offset, force) + wp.spatial_top(wrench), force)
    d.cfrc_ext[b, w] = total
