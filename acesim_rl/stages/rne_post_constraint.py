"""Contact forces on bodies (the cfrc_ext part of mj_rnePostConstraint)."""

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.stages.constraint.contact import contact_friction
from acesim_rl.state import StateData

__all__ = ["cfrc_ext", "contact_force"]


@wp.func
def contact_force(m: ModelData, d: StateData, slot: int, w: int) -> wp.vec3:
    """Force on the second geom's body in world coordinates (mj_contactForce)."""
    row = d.contact_row[slot, w]
    if row < 0:
        return wp.vec3(0.0, 0.0, 0.0)
    frame = wp.transpose(d.contact_frame[slot, w])
    first = d.efc_force[row, w]
    if m.slot_condim[slot] == 1:
        return frame * wp.vec3(first, 0.0, 0.0)
    p = m.slot_pair[slot]
    mu = contact_friction(m, m.pair_geom1[p], m.pair_geom2[p], w)
    second = d.efc_force[row + 1, w]
    third = d.efc_force[row + 2, w]
    fourth = d.efc_force[row + 3, w]
    return frame * wp.vec3(first + second + third + fourth, mu * (first - second), mu * (third - fourth))


@stage("body")
def cfrc_ext(m: ModelData, d: StateData, b: int, w: int):
    """Sum of the contact forces on body b: torque about its tree's centre of mass, force."""
    total = wp.spatial_vector(wp.vec3(0.0, 0.0, 0.0), wp.vec3(0.0, 0.0, 0.0))
    for slot in range(m.nslot):
        if d.contact_row[slot, w] >= 0:
            p = m.slot_pair[slot]
            second = m.geom_bodyid[m.pair_geom2[p]] == b
            if second or m.geom_bodyid[m.pair_geom1[p]] == b:
                force = contact_force(m, d, slot, w)
                if not second:
                    force = -force
                offset = d.contact_pos[slot, w] - d.subtree_com[m.body_rootid[b], w]
                total += wp.spatial_vector(wp.cross(offset, force), force)
    d.cfrc_ext[b, w] = total
