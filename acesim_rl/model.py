"""The constants of one robot: read from a compiled MuJoCo model, laid out for the device."""

import copy
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import mujoco
import numpy as np
import warp as wp

from acesim_rl.arrays import allocate, shared, struct_fields, vec10, write_worlds
from acesim_rl.mjcf import check_supported, disabled_actuators, load
from acesim_rl.pairs import PAIR_TYPES, CandidatePairs, candidate_pairs

__all__ = ["Model", "ModelData"]


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


def _numeric_fields() -> dict[str, type]:
    return {n: v.type.dtype for n, v in struct_fields(ModelData).items() if getattr(v.type, "ndim", 0) == 2}


NUMERIC_FIELDS = tuple(_numeric_fields())
"""The fields that may differ between worlds."""

_EQUALITY_ROWS = np.array([3, 6, 1, 1])
"""Rows of a connect, a weld, a joint or tendon constraint."""

_TURNED_OFF = {
    "GRAVITY": ("gravity",),
    "SPRING": ("jnt_stiffness", "jnt_stiffnesspoly", "tendon_stiffness", "tendon_stiffnesspoly"),
    "DAMPER": ("dof_damping", "dof_dampingpoly", "tendon_damping", "tendon_dampingpoly"),
}
"""Fields that are zero where a flag of the options disables them."""

_DERIVED = ("body_invweight0", "dof_invweight0", "tendon_invweight0", "tendon_length0")
_DERIVED_FROM = {
    "body_mass", "body_inertia", "body_pos", "body_quat", "body_ipos", "body_iquat",
    "jnt_pos", "jnt_axis", "dof_armature", "qpos0", "wrap_prm",
}  # fmt: skip
_QUATERNIONS = ("body_quat", "body_iquat", "geom_quat", "site_quat")


class Model:
    """One robot or scene, from MJCF or a compiled `mujoco.MjModel`.

    Args of the constructors:
        per_world: names of numeric fields (`NUMERIC_FIELDS`, MuJoCo's names) that each world has its own values of.
    """

    def __init__(self, mj: mujoco.MjModel, *, name: str = "model", per_world: Sequence[str] = ()):
        check_supported(mj, name)
        for field in per_world:
            if field not in NUMERIC_FIELDS:
                raise ValueError(
                    f"{name}: per_world field '{field}' is not a numeric field; there are: {', '.join(NUMERIC_FIELDS)}"
                )
        self.mj, self.name = mj, name
        derived = _DERIVED if _DERIVED_FROM & set(per_world) else ()
        self.per_world = tuple(dict.fromkeys((*per_world, *derived)))
        self.nq, self.nv, self.nu, self.nbody, self.njnt = mj.nq, mj.nv, mj.nu, mj.nbody, mj.njnt
        self.qpos0 = mj.qpos0.astype(np.float32)

    @classmethod
    def from_mjcf(cls, source: str | Path, *, per_world: Sequence[str] = ()) -> "Model":
        """From a file's path or an XML string; ValueError names the file and the element that is wrong."""
        mj, name = load(source)
        return cls(mj, name=name, per_world=per_world)

    @classmethod
    def from_mujoco(cls, mj: mujoco.MjModel, *, name: str = "model", per_world: Sequence[str] = ()) -> "Model":
        """From a model that MuJoCo has compiled."""
        return cls(mj, name=name, per_world=per_world)

    @cached_property
    def pairs(self) -> CandidatePairs:
        """The geom pairs that can touch, sorted by type."""
        return candidate_pairs(self.mj)

    @cached_property
    def limited(self) -> np.ndarray:
        """Indices of the joints with limits; then of the tendons t with limits, as -1 - t."""
        off = self.mj.opt.disableflags & (mujoco.mjtDisableBit.mjDSBL_LIMIT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        tendons = np.flatnonzero(self.mj.tendon_limited & (not off))
        return np.concatenate([np.flatnonzero(self.mj.jnt_limited & (not off)), -1 - tendons])

    @property
    def nlimit(self) -> int:
        """Joints and tendons with limits."""
        return len(self.limited)

    @property
    def nslot(self) -> int:
        """Contact slots: the most contacts that one world can have."""
        return len(self.pairs.slot_pair)

    @property
    def nrow(self) -> int:
        """Constraint rows: the most that one world can have."""
        return self.nequality_row + self.nfriction + 2 * self.nlimit + int(self.slot_rows.sum())

    @cached_property
    def slot_rows(self) -> np.ndarray:
        """Rows of a contact in each slot."""
        condim = self.pairs.slot_condim
        return condim if self.has_cones else np.where(condim == 1, 1, 2 * (condim - 1))

    def _enabled(self, part: str) -> bool:
        flags = mujoco.mjtDisableBit
        return not self.mj.opt.disableflags & (getattr(flags, f"mjDSBL_{part}") | flags.mjDSBL_CONSTRAINT)

    def _disabled(self, flag: str) -> bool:
        """Whether the options disable a part of the physics, by the name of MuJoCo's flag."""
        return bool(self.mj.opt.disableflags & getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}"))

    @property
    def has_actuation(self) -> bool:
        """Whether actuators do anything."""
        return not self._disabled("ACTUATION")

    @cached_property
    def equalities(self) -> np.ndarray:
        """Indices of the active equality constraints."""
        return np.flatnonzero(self.mj.eq_active0 & self._enabled("EQUALITY"))

    @property
    def nequality_row(self) -> int:
        """Rows of equality constraints."""
        return int(_EQUALITY_ROWS[self.mj.eq_type[self.equalities]].sum())

    @cached_property
    def friction_dofs(self) -> np.ndarray:
        """Degrees of freedom with friction loss; then tendons t, as -1 - t."""
        on = self._enabled("FRICTIONLOSS")
        tendons = np.flatnonzero((self.mj.tendon_frictionloss > 0) & on)
        return np.concatenate([np.flatnonzero((self.mj.dof_frictionloss > 0) & on), -1 - tendons])

    @property
    def nfriction(self) -> int:
        """Rows of friction loss."""
        return len(self.friction_dofs)

    @property
    def has_cones(self) -> bool:
        """Whether contacts have elliptic cones."""
        return self.mj.opt.cone == mujoco.mjtCone.mjCONE_ELLIPTIC

    @property
    def general_contacts(self) -> bool:
        """Whether contacts have a condim above 3, elliptic cones, or pairs with parameters of their own."""
        return bool(self.has_cones or np.any(self.pairs.slot_condim > 3) or np.any(self.pairs.explicit >= 0))

    @property
    def plain_newton(self) -> bool:
        """Whether the solver is Newton's method, and all rows are limits or sides of pyramids."""
        return self.solver == "newton" and not self.has_cones and self.nequality_row + self.nfriction == 0

    @property
    def has_islands(self) -> bool:
        """Whether the solver takes each island by itself: several trees, which not all constraints may join."""
        return self.solver == "pgs" and self.mj.ntree > 1 and not self._disabled("ISLAND")

    @property
    def solver(self) -> str:
        """Name of the constraint solver: newton, cg or pgs."""
        return mujoco.mjtSolver(self.mj.opt.solver).name.removeprefix("mjSOL_").lower()

    @property
    def integrator(self) -> str:
        """Name of the integrator, as in MJCF but in lower case."""
        return mujoco.mjtIntegrator(self.mj.opt.integrator).name.removeprefix("mjINT_").lower()

    @property
    def is_rk4(self) -> bool:
        """Whether the integrator is the fourth-order Runge-Kutta one (else semi-implicit Euler)."""
        return self.mj.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4

    @property
    def is_implicit(self) -> bool:
        """Whether the integrator takes forces' derivatives by velocities implicitly."""
        return self.integrator in ("implicit", "implicitfast")

    @cached_property
    def dof_coriolis(self) -> np.ndarray:
        """Dofs whose Coriolis force is taken implicitly: by `implicit` all, by `implicitfast` those of free bodies."""
        mj = self.mj
        if self.integrator != "implicitfast":
            return np.full(mj.nv, self.integrator == "implicit")
        alone = np.bincount(mj.dof_treeid)[mj.dof_treeid] == 6
        return alone & (mj.jnt_type[mj.dof_jntid] == mujoco.mjtJoint.mjJNT_FREE)

    @property
    def euler_damping(self) -> bool:
        """Whether Euler takes joint damping implicitly."""
        if self.integrator != "euler":
            return False
        disabled = self.mj.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_EULERDAMP
        return not disabled and self._has("dof_damping", "dof_dampingpoly")

    @property
    def has_polynomials(self) -> bool:
        """Whether the stiffness or damping of a joint is a polynomial."""
        return self._has("jnt_stiffnesspoly", "dof_dampingpoly")

    def _has(self, *fields: str) -> bool:
        """Whether one of the numeric fields is not zero, or may become so."""
        return any(field in self.per_world or bool(np.any(self.numbers(field))) for field in fields)

    @cached_property
    def only_motors(self) -> bool:
        """Whether all actuators are motors on joints: a fixed gain, no bias, no activation, no limit on the joint."""
        mj, trn, gain, bias = self.mj, mujoco.mjtTrn, mujoco.mjtGain, mujoco.mjtBias
        return bool(
            np.all(mj.actuator_trntype == trn.mjTRN_JOINT)
            and np.all(mj.actuator_dyntype == mujoco.mjtDyn.mjDYN_NONE)
            and np.all(mj.actuator_gaintype == gain.mjGAIN_FIXED)
            and np.all(mj.actuator_biastype == bias.mjBIAS_NONE)
            and not np.any(mj.jnt_actfrclimited)
            and not (np.any(mj.jnt_actgravcomp) and self.has_gravcomp)
            and not np.any(disabled_actuators(mj))
        )

    @property
    def has_fluid(self) -> bool:
        """Whether bodies feel a fluid."""
        return self._has("density", "viscosity")

    @property
    def has_tendon_forces(self) -> bool:
        """Whether a tendon has a spring or a damper."""
        fields = ("tendon_stiffness", "tendon_damping", "tendon_stiffnesspoly", "tendon_dampingpoly")
        return self.mj.ntendon > 0 and self._has(*fields)

    @property
    def uses_tendons(self) -> bool:
        """Whether there are tendons: their lengths and velocities are computed even where no force depends on them."""
        return self.mj.ntendon > 0

    @property
    def has_gravcomp(self) -> bool:
        """Whether a body's weight is compensated."""
        return self._has("body_gravcomp")

    def items(self, over: str) -> tuple[int, int]:
        """First item and number of items of a grid, as stages name it."""
        if over.startswith("pair:"):
            return self.pairs.ranges[over.removeprefix("pair:")]
        first = {"body": 1}.get(over, 0)
        counts = {
            "world": 1,
            "body": self.nbody,
            "branch": len(self._branches),
            "tree": len(self._roots),
            "joint": self.njnt,
            "actuator": self.nu,
            "tendon": self.mj.ntendon,
            "sensor": self.mj.nsensor,
            "subtree": self.nbody,
            "dof": self.nv,
            "limit": 2 * self.nlimit,
            "slot": self.nslot,
            "equality": len(self.equalities),
            "friction": self.nfriction,
        }
        if over not in counts:
            raise KeyError(
                f"no grid '{over}'; there are: {', '.join(counts)}, and pair:TYPE for {', '.join(PAIR_TYPES)}"
            )
        return first, counts[over] - first

    @cached_property
    def _roots(self) -> np.ndarray:
        return np.flatnonzero(self.mj.body_parentid == 0)[1:]

    @cached_property
    def _branches(self) -> list[list[int]]:
        parents = set(self.mj.body_parentid[1:].tolist())
        paths = []
        for leaf in (b for b in range(1, self.nbody) if b not in parents):
            path = [leaf]
            while self.mj.body_parentid[path[-1]] > 0:
                path.append(int(self.mj.body_parentid[path[-1]]))
            paths.append(path[::-1])
        return paths

    def numbers(self, field: str, mj: mujoco.MjModel | None = None) -> np.ndarray:
        """A numeric field of this model (or of a copy of it), float32 [items, ...] in MuJoCo's layout."""
        mj = self.mj if mj is None else mj
        match field:
            case "gravity" | "wind" | "magnetic":
                values = getattr(mj.opt, field)[None]
            case "timestep" | "density" | "viscosity":
                values = np.array([getattr(mj.opt, field)])
            case _:
                values = getattr(mj, field)
        off = any(field in fields and self._disabled(flag) for flag, fields in _TURNED_OFF.items())
        return np.asarray(values, dtype=np.float32) * (0.0 if off else 1.0)

    def on_device(self, nworld: int, device: wp.Device) -> ModelData:
        """The constants of `nworld` worlds."""
        mj, data = self.mj, ModelData()
        structure = self._structure()
        dtypes = _numeric_fields()
        for name, var in struct_fields(ModelData).items():
            if name in dtypes:
                values = self.numbers(name)
                if name in self.per_world:
                    array = allocate(len(values), nworld, dtypes[name], device)
                    setattr(data, name, array)
                    self.write(data, name, np.broadcast_to(values, (nworld, *values.shape)))
                else:
                    setattr(data, name, shared(_to_device(name, values), nworld, dtypes[name], device))
            elif name in structure:
                if hasattr(var.type, "ndim"):
                    setattr(data, name, wp.array(np.asarray(structure[name], np.int32), dtype=int, device=device))
                else:
                    setattr(data, name, structure[name])
            else:
                setattr(data, name, wp.array(np.asarray(getattr(mj, name), np.int32), dtype=int, device=device))
        return data

    def write(self, data: ModelData, name: str, values: np.ndarray) -> None:
        """Write one per-world field, values [nworld, items, ...] in MuJoCo's layout."""
        array = getattr(data, name)
        array.assign(np.ascontiguousarray(np.swapaxes(_to_device(name, values), 0, 1), dtype=np.float32))

    def _structure(self) -> dict:
        mj, pairs = self.mj, self.pairs
        last = np.full(mj.nbody, -1)
        subtree = np.ones(mj.nbody, int)
        for b in range(1, mj.nbody):
            last[b] = mj.body_dofadr[b] + mj.body_dofnum[b] - 1 if mj.body_dofnum[b] else last[mj.body_parentid[b]]
        for b in range(mj.nbody - 1, 0, -1):
            subtree[mj.body_parentid[b]] += subtree[b]
        acting: list[list[tuple[int, int]]] = [[] for _ in range(mj.nv)]
        for u in range(mj.nu):
            if mj.actuator_trntype[u] != mujoco.mjtTrn.mjTRN_JOINT:
                continue
            joint = mj.actuator_trnid[u, 0]
            width = {0: 6, 1: 3}.get(int(mj.jnt_type[joint]), 1)
            for k in range(width):
                acting[mj.jnt_dofadr[joint] + k].append((u, k))
        flat = [pair for dof in acting for pair in dof]
        pulling: list[list[tuple[int, int]]] = [[] for _ in range(mj.nv)]
        for t in range(mj.ntendon):
            for k in range(mj.tendon_adr[t], mj.tendon_adr[t] + mj.tendon_num[t]):
                pulling[mj.jnt_dofadr[mj.wrap_objid[k]]].append((t, k))
        wraps = [pair for dof in pulling for pair in dof]
        return {
            "nq": mj.nq,
            "nv": mj.nv,
            "nu": mj.nu,
            "nbody": mj.nbody,
            "njnt": mj.njnt,
            "nlimit": self.nlimit,
            "nslot": self.nslot,
            "iterations": mj.opt.iterations,
            "ls_iterations": mj.opt.ls_iterations,
            "tolerance": float(mj.opt.tolerance),
            "use_warmstart": int(not mj.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_WARMSTART),
            "nequality_row": self.nequality_row,
            "nfriction": self.nfriction,
            "has_cones": int(self.has_cones),
            "equality_id": self.equalities,
            "equality_row": np.cumsum([0, *_EQUALITY_ROWS[mj.eq_type[self.equalities]]])[:-1],
            "friction_dofid": self.friction_dofs,
            "impratio": float(mj.opt.impratio),
            "hardness": 0.0 if self.solver == "pgs" else 3e-5,  # PGS can do with any
            "refsafe": int(not mj.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_REFSAFE),
            "body_subtreenum": subtree,
            "body_lastdof": last,
            "branch_start": np.cumsum([0] + [len(path) for path in self._branches]),
            "branch_body": [b for path in self._branches for b in path],
            "tree_root": self._roots,
            "limit_jntid": self.limited,
            "pair_geom1": pairs.geom1,
            "pair_geom2": pairs.geom2,
            "pair_slot": pairs.slot,
            "pair_explicit": pairs.explicit,
            "slot_pair": pairs.slot_pair,
            "slot_condim": pairs.slot_condim,
            "slot_rows": self.slot_rows,
            "actuator_flags": (mj.actuator_ctrllimited & (not self._disabled("CLAMPCTRL"))) * CTRL_LIMITED
            + mj.actuator_forcelimited * FORCE_LIMITED
            + mj.actuator_actlimited * ACT_LIMITED
            + mj.actuator_actearly * ACT_EARLY,
            "dof_actuator_start": np.cumsum([0] + [len(dof) for dof in acting]),
            "dof_actuator": [u for u, _ in flat],
            "dof_actuator_gear": [k for _, k in flat],
            "ntendon": mj.ntendon,
            "dof_coriolis": self.dof_coriolis,
            "jnt_actgravcomp": mj.jnt_actgravcomp & self.has_gravcomp,
            "dof_tendon_start": np.cumsum([0] + [len(dof) for dof in pulling]),
            "dof_tendon": [t for t, _ in wraps],
            "dof_tendon_wrap": [k for _, k in wraps],
            "na": mj.na,
            "actuator_trnid": mj.actuator_trnid[:, 0],
            "actuator_refid": mj.actuator_trnid[:, 1],
            "actuator_disabled": disabled_actuators(mj),
        }


def _to_device(name: str, values: np.ndarray) -> np.ndarray:
    """Warp keeps quaternions as x, y, z, w."""
    return values[..., [1, 2, 3, 0]] if name in _QUATERNIONS else values


class Parameters:
    """The numeric fields of one group that differ between worlds; reading and writing them at any time."""

    def __init__(self, model: Model, data: ModelData, nworld: int):
        self.model, self.data, self.nworld = model, data, nworld
        self.values = {
            name: np.repeat(model.numbers(name)[None], nworld, axis=0) for name in model.per_world
        }  # host copies, [nworld, items, ...]

    def get(self, name: str) -> np.ndarray:
        """Values of a field, shape [nworld, items, ...]."""
        if name in self.values:
            return self.values[name].copy()
        return np.repeat(self.model.numbers(name)[None], self.nworld, axis=0)

    def set(self, name: str, values, worlds: Sequence[int] | None = None) -> None:
        """Give all worlds, or the chosen ones, new values (broadcast to [worlds, items, ...]).

        What MuJoCo derives from them (`mj_setConst`) is derived again, on the host. Nothing is recompiled or recorded
        anew: the buffers stay.
        """
        if name not in self.values:
            raise ValueError(
                f"{self.model.name}: '{name}' is shared by all worlds; name it in per_world when the model is made "
                f"(per world now: {', '.join(self.values) or 'none'})"
            )
        chosen = write_worlds(self.values[name], values, worlds, f"{self.model.name}: '{name}'")
        self.model.write(self.data, name, self.values[name])
        if name in _DERIVED_FROM:
            self._derive(chosen)

    def _derive(self, worlds: np.ndarray) -> None:
        mj = copy.copy(self.model.mj)
        scratch = mujoco.MjData(mj)
        varying = [name for name in self.model.per_world if name in _DERIVED_FROM]
        for w in worlds:
            for name in varying:
                getattr(mj, name)[:] = self.values[name][w]
            mujoco.mj_setConst(mj, scratch)
            for name in _DERIVED:
                self.values[name][w] = getattr(mj, name)
        for name in _DERIVED:
            self.model.write(self.data, name, self.values[name])
