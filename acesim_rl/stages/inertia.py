"""Centres of mass, spatial inertias and joint motions about them (mj_comPos)."""

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.stages.joints import BALL, FREE, HINGE
from acesim_rl.stages.spatial import spatial_inertia
from acesim_rl.state import StateData

__all__ = ["cdof", "cinert", "subtree_com"]


@stage("tree")
def subtree_com(m: ModelData, d: StateData, i: int, w: int):
    """Centre of mass of a tree: the point that its spatial vectors refer to."""
    root = m.tree_root[i]
    mass = float(0.0)
    moment = wp.vec3(0.0, 0.0, 0.0)
    for b in range(root, root + m.body_subtreenum[root]):
        mass += m.body_mass[b, w]
        moment += m.body_mass[b, w] * d.xipos[b, w]
    if mass > 1.0e-15:
        d.subtree_com[root, w] = moment / mass
    else:
        d.subtree_com[root, w] = d.xipos[root, w]


@stage("body")
def cinert(m: ModelData, d: StateData, b: int, w: int):
    """Spatial inertia of a body."""
    offset = d.xipos[b, w] - d.subtree_com[m.body_rootid[b], w]
    frame = d.xquat[b, w] * m.body_iquat[b, w]
    d.cinert[b, w] = spatial_inertia(m.body_mass[b, w], m.body_inertia[b, w], frame, offset)


@stage("joint")
def cdof(m: ModelData, d: StateData, j: int, w: int):
    """Motion that each degree of freedom of a joint makes."""
    b = m.jnt_bodyid[j]
    adr = m.jnt_dofadr[j]
    zero = wp.vec3(0.0, 0.0, 0.0)
    offset = d.subtree_com[m.body_rootid[b], w] - d.xanchor[j, w]
    kind = m.jnt_type[j]
    if kind == HINGE:
        d.cdof[adr, w] = wp.spatial_vector(d.xaxis[j, w], wp.cross(d.xaxis[j, w], offset))
    elif kind == FREE or kind == BALL:
        if kind == FREE:
            d.cdof[adr, w] = wp.spatial_vector(zero, wp.vec3(1.0, 0.0, 0.0))
            d.cdof[adr + 1, w] = wp.spatial_vector(zero, wp.vec3(0.0, 1.0, 0.0))
            d.cdof[adr + 2, w] = wp.spatial_vector(zero, wp.vec3(0.0, 0.0, 1.0))
            adr = adr + 3
        R = wp.quat_to_matrix(d.xquat[b, w])
        x = wp.vec3(R[0, 0], R[1, 0], R[2, 0])
        y = wp.vec3(R[0, 1], R[1, 1], R[2, 1])
        z = wp.vec3(R[0, 2], R[1, 2], R[2, 2])
        d.cdof[adr, w] = wp.spatial_vector(x, wp.cross(x, offset))
        d.cdof[adr + 1, w] = wp.spatial_vector(y, wp.cross(y, offset))
        d.cdof[adr + 2, w] = wp.spatial_vector(z, wp.cross(z, offset))
    else:
        d.cdof[adr, w] = wp.spatial_vector(zero, d.xaxis[j, w])
