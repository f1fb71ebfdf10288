"""The constants of one group of worlds, as they lie on the device."""

from typing import Any

import warp as wp

from acesim_rl.arrays import struct_fields, vec10

__all__ = [
    "ACT_EARLY",
    "ACT_LIMITED",
    "CTRL_LIMITED",
    "DERIVED",
    "DERIVED_FROM",
    "FORCE_LIMITED",
    "NUMERIC_FIELDS",
    "QUATERNIONS",
    "ModelData",
]

CTRL_LIMITED, FORCE_LIMITED, ACT_LIMITED, ACT_EARLY = (wp.constant(1 << k) for k in range(4))
"""Bits of `actuator_flags`."""


@wp.struct
class ModelData:
    """Constants on the device; names and units as in `mjModel`.

    Numbers are indexed [item, world], with stride 0 on the world axis where all worlds share them; structure (integers)
    is one-dimensional.
    """

    # sizes and options
    nq: int
    nv: int
    nu: int
    nbody: int
    njnt: int
    nlimit: int
    nslot: int
    iterations: int
    ls_iterations: int
    tolerance: float
    use_warmstart: int
    nequality_row: int  # rows of equality constraints, and of friction loss: the first rows, always there
    nfriction: int
    has_cones: int  # whether contacts have elliptic cones
    equality_id: wp.array[int]  # the equality constraints that are active
    equality_row: wp.array[int]  # their first rows
    pgs_orders: wp.array[int]  # in which PGS visits rows: see visiting.py
    friction_dofid: wp.array[int]  # dofs with friction loss; then tendons t with it, as -1 - t
    eq_type: wp.array[int]
    eq_objtype: wp.array[int]
    eq_obj1id: wp.array[int]
    eq_obj2id: wp.array[int]
    eq_data: wp.array2d[wp.types.vector(length=12, dtype=float)]
    eq_solref: wp.array2d[wp.vec2]
    eq_solimp: wp.array2d[wp.types.vector(length=5, dtype=float)]
    impratio: float
    refsafe: int
    hardness: float  # softness below which a contact counts as hard, relative to the bodies' inverse weight
    gravity: wp.array2d[wp.vec3]
    timestep: wp.array2d[float]
    density: wp.array2d[float]
    viscosity: wp.array2d[float]
    wind: wp.array2d[wp.vec3]
    magnetic: wp.array2d[wp.vec3]
    # bodies
    body_parentid: wp.array[int]
    body_rootid: wp.array[int]
    body_mocapid: wp.array[int]  # -1: not moved by mocap
    body_jntadr: wp.array[int]
    body_jntnum: wp.array[int]
    body_dofadr: wp.array[int]
    body_dofnum: wp.array[int]
    body_subtreenum: wp.array[int]  # bodies of the subtree, which are body, body + 1, ...
    body_lastdof: wp.array[int]  # last dof on the path from the root, -1 if the body cannot move
    branch_start: wp.array[int]  # paths from a root to each leaf
    branch_body: wp.array[int]
    tree_root: wp.array[int]
    body_pos: wp.array2d[wp.vec3]
    body_quat: wp.array2d[wp.quat]
    body_ipos: wp.array2d[wp.vec3]
    body_iquat: wp.array2d[wp.quat]
    body_mass: wp.array2d[float]
    body_gravcomp: wp.array2d[float]
    body_inertia: wp.array2d[wp.vec3]
    body_invweight0: wp.array2d[wp.vec2]
    # joints
    jnt_type: wp.array[int]
    jnt_bodyid: wp.array[int]
    jnt_qposadr: wp.array[int]
    jnt_dofadr: wp.array[int]
    limit_jntid: wp.array[int]  # joints with limits; then tendons t with limits, as -1 - t
    jnt_pos: wp.array2d[wp.vec3]
    jnt_axis: wp.array2d[wp.vec3]
    jnt_range: wp.array2d[wp.vec2]
    jnt_actfrclimited: wp.array[int]
    jnt_actgravcomp: wp.array[int]
    jnt_actfrcrange: wp.array2d[wp.vec2]
    jnt_margin: wp.array2d[float]
    jnt_stiffness: wp.array2d[float]
    jnt_stiffnesspoly: wp.array2d[wp.vec2]
    jnt_solref: wp.array2d[wp.vec2]
    jnt_solimp: wp.array2d[wp.types.vector(length=5, dtype=float)]
    qpos0: wp.array2d[float]
    qpos_spring: wp.array2d[float]
    # degrees of freedom
    dof_bodyid: wp.array[int]
    dof_jntid: wp.array[int]
    dof_parentid: wp.array[int]
    dof_coriolis: wp.array[int]  # whether the integrator takes its Coriolis force implicitly
    dof_damping: wp.array2d[float]
    dof_dampingpoly: wp.array2d[wp.vec2]
    dof_armature: wp.array2d[float]
    dof_frictionloss: wp.array2d[float]
    dof_solref: wp.array2d[wp.vec2]
    dof_solimp: wp.array2d[wp.types.vector(length=5, dtype=float)]
    dof_invweight0: wp.array2d[float]
    # geoms, and the pairs of them that can touch
    geom_bodyid: wp.array[int]
    geom_condim: wp.array[int]
    geom_priority: wp.array[int]
    geom_pos: wp.array2d[wp.vec3]
    geom_quat: wp.array2d[wp.quat]
    geom_size: wp.array2d[wp.vec3]
    geom_friction: wp.array2d[wp.vec3]
    geom_margin: wp.array2d[float]
    geom_gap: wp.array2d[float]
    geom_solmix: wp.array2d[float]
    geom_solref: wp.array2d[wp.vec2]
    geom_solimp: wp.array2d[wp.types.vector(length=5, dtype=float)]
    pair_geom1: wp.array[int]
    pair_geom2: wp.array[int]
    pair_slot: wp.array[int]  # first contact slot
    pair_explicit: wp.array[int]  # contact pair of the model, -1: the geoms' parameters count
    slot_pair: wp.array[int]
    slot_condim: wp.array[int]
    slot_rows: wp.array[int]  # rows of its contact
    # contact pairs of the model
    pair_margin: wp.array2d[float]
    pair_gap: wp.array2d[float]
    pair_friction: wp.array2d[wp.types.vector(length=5, dtype=float)]
    pair_solref: wp.array2d[wp.vec2]
    pair_solimp: wp.array2d[wp.types.vector(length=5, dtype=float)]
    # sites
    site_bodyid: wp.array[int]
    site_type: wp.array[int]
    site_pos: wp.array2d[wp.vec3]
    site_quat: wp.array2d[wp.quat]
    site_size: wp.array2d[wp.vec3]
    # tendons, all fixed: sums of joint positions; and the ones that act on each dof
    ntendon: int
    tendon_adr: wp.array[int]
    tendon_num: wp.array[int]
    wrap_objid: wp.array[int]  # joints
    wrap_prm: wp.array2d[float]  # their coefficients
    tendon_stiffness: wp.array2d[float]
    tendon_damping: wp.array2d[float]
    tendon_stiffnesspoly: wp.array2d[wp.vec2]
    tendon_dampingpoly: wp.array2d[wp.vec2]
    tendon_lengthspring: wp.array2d[wp.vec2]
    tendon_length0: wp.array2d[float]
    tendon_frictionloss: wp.array2d[float]
    tendon_solref_fri: wp.array2d[wp.vec2]
    tendon_solimp_fri: wp.array2d[wp.types.vector(length=5, dtype=float)]
    tendon_range: wp.array2d[wp.vec2]
    tendon_margin: wp.array2d[float]
    tendon_invweight0: wp.array2d[float]
    tendon_solref_lim: wp.array2d[wp.vec2]
    tendon_solimp_lim: wp.array2d[wp.types.vector(length=5, dtype=float)]
    dof_tendon_start: wp.array[int]
    dof_tendon: wp.array[int]
    dof_tendon_wrap: wp.array[int]
    # actuators of any kind
    na: int
    actuator_trntype: wp.array[int]
    actuator_trnid: wp.array[int]
    actuator_refid: wp.array[int]  # reference site, -1: none
    actuator_disabled: wp.array[int]
    actuator_dyntype: wp.array[int]
    actuator_gaintype: wp.array[int]
    actuator_biastype: wp.array[int]
    actuator_flags: wp.array[int]  # CTRL_LIMITED, FORCE_LIMITED, ACT_LIMITED, ACT_EARLY
    actuator_actadr: wp.array[int]  # -1: no activation
    actuator_actrange: wp.array2d[wp.vec2]
    actuator_dynprm: wp.array2d[vec10]
    actuator_gainprm: wp.array2d[vec10]
    actuator_biasprm: wp.array2d[vec10]
    # sensors
    sensor_type: wp.array[int]
    sensor_datatype: wp.array[int]
    sensor_objtype: wp.array[int]
    sensor_objid: wp.array[int]
    sensor_reftype: wp.array[int]
    sensor_refid: wp.array[int]  # -1: none
    sensor_adr: wp.array[int]
    sensor_dim: wp.array[int]
    sensor_cutoff: wp.array2d[float]
    # motors on joints: the ones that act on each dof
    dof_actuator_start: wp.array[int]
    dof_actuator: wp.array[int]
    dof_actuator_gear: wp.array[int]  # which of the six gear numbers
    actuator_gear: wp.array2d[wp.spatial_vector]
    actuator_ctrlrange: wp.array2d[wp.vec2]
    actuator_forcerange: wp.array2d[wp.vec2]


NUMERIC_FIELDS: dict[str, Any] = {
    name: var.type.dtype for name, var in struct_fields(ModelData).items() if getattr(var.type, "ndim", 0) == 2
}
"""The fields that may differ between worlds, and their types."""

DERIVED = ("body_invweight0", "dof_invweight0", "tendon_invweight0", "tendon_length0")
"""Fields that MuJoCo derives from others (mj_setConst)."""
DERIVED_FROM = {
    "body_mass", "body_inertia", "body_pos", "body_quat", "body_ipos", "body_iquat",
    "jnt_pos", "jnt_axis", "dof_armature", "qpos0", "wrap_prm",
}  # fmt: skip
QUATERNIONS = ("body_quat", "body_iquat", "geom_quat", "site_quat")
