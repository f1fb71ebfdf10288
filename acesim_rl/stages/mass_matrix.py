"""Joint-space inertia by the composite rigid body algorithm (mj_crb; Featherstone, section 6.2)."""

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.stages.spatial import inertia_times
from acesim_rl.state import StateData

__all__ = ["crb", "mass_matrix"]


@stage("body")
def crb(m: ModelData, d: StateData, b: int, w: int):
    """Inertia of the whole subtree of b, as one body. Bodies of a subtree have consecutive numbers."""
    total = d.cinert[b, w]
    for k in range(b + 1, b + m.body_subtreenum[b]):
        total += d.cinert[k, w]
    d.crb[b, w] = total


@stage("dof")
def mass_matrix(m: ModelData, d: StateData, i: int, w: int):
    """Row and column i, up to the diagonal; entries of dofs on different branches are zero and stay so."""
    momentum = inertia_times(d.crb[m.dof_bodyid[i], w], d.cdof[i, w])
    d.M[i, i, w] = m.dof_armature[i, w] + wp.dot(d.cdof[i, w], momentum)
    j = m.dof_parentid[i]
    while j >= 0:
        value = wp.dot(d.cdof[j, w], momentum)
        d.M[i, j, w] = value
        d.M[j, i, w] = value
        j = m.dof_parentid[j]
