"""The constants of one robot: read from a compiled MuJoCo model, laid out for the device."""

import copy
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import mujoco
import numpy as np
import warp as wp

from acesim_rl.arrays import allocate, shared, struct_fields, write_worlds
from acesim_rl.mjcf import check_supported, load
from acesim_rl.pairs import PAIR_TYPES, CandidatePairs, candidate_pairs

__all__ = ["Model", "ModelData"]


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
    impratio: float
    refsafe: int
    gravity: wp.array2d[wp.vec3]
    timestep: wp.array2d[float]
    # bodies
    body_parentid: wp.array[int]
    body_rootid: wp.array[int]
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
    body_inertia: wp.array2d[wp.vec3]
    body_invweight0: wp.array2d[wp.vec2]
    # joints
    jnt_type: wp.array[int]
    jnt_bodyid: wp.array[int]
    jnt_qposadr: wp.array[int]
    jnt_dofadr: wp.array[int]
    limit_jntid: wp.array[int]  # joints with limits
    jnt_pos: wp.array2d[wp.vec3]
    jnt_axis: wp.array2d[wp.vec3]
    jnt_range: wp.array2d[wp.vec2]
    jnt_margin: wp.array2d[float]
    jnt_stiffness: wp.array2d[float]
    jnt_solref: wp.array2d[wp.vec2]
    jnt_solimp: wp.array2d[wp.types.vector(length=5, dtype=float)]
    qpos0: wp.array2d[float]
    qpos_spring: wp.array2d[float]
    # degrees of freedom
    dof_bodyid: wp.array[int]
    dof_jntid: wp.array[int]
    dof_parentid: wp.array[int]
    dof_damping: wp.array2d[float]
    dof_armature: wp.array2d[float]
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
    slot_pair: wp.array[int]
    slot_condim: wp.array[int]
    # actuators: the ones that act on each dof
    dof_actuator_start: wp.array[int]
    dof_actuator: wp.array[int]
    dof_actuator_gear: wp.array[int]  # which of the six gear numbers
    actuator_ctrllimited: wp.array[int]
    actuator_forcelimited: wp.array[int]
    actuator_gear: wp.array2d[wp.spatial_vector]
    actuator_gain: wp.array2d[float]
    actuator_ctrlrange: wp.array2d[wp.vec2]
    actuator_forcerange: wp.array2d[wp.vec2]


def _numeric_fields() -> dict[str, type]:
    return {n: v.type.dtype for n, v in struct_fields(ModelData).items() if getattr(v.type, "ndim", 0) == 2}


NUMERIC_FIELDS = tuple(_numeric_fields())
"""The fields that may differ between worlds."""

_DERIVED = ("body_invweight0", "dof_invweight0")
_DERIVED_FROM = {
    "body_mass", "body_inertia", "body_pos", "body_quat", "body_ipos", "body_iquat",
    "jnt_pos", "jnt_axis", "dof_armature", "qpos0",
}  # fmt: skip
_QUATERNIONS = ("body_quat", "body_iquat", "geom_quat")


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
        """Indices of the joints with limits."""
        off = self.mj.opt.disableflags & (mujoco.mjtDisableBit.mjDSBL_LIMIT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        return np.flatnonzero(self.mj.jnt_limited & (not off))

    @property
    def nlimit(self) -> int:
        """Joints with limits."""
        return len(self.limited)

    @property
    def nslot(self) -> int:
        """Contact slots: the most contacts that one world can have."""
        return len(self.pairs.slot_pair)

    @property
    def nrow(self) -> int:
        """Constraint rows: the most that one world can have."""
        rows = np.where(self.pairs.slot_condim == 1, 1, 2 * (self.pairs.slot_condim - 1))
        return 2 * self.nlimit + int(rows.sum())

    @property
    def is_rk4(self) -> bool:
        """Whether the integrator is the fourth-order Runge-Kutta one (else semi-implicit Euler)."""
        return self.mj.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4

    @property
    def euler_damping(self) -> bool:
        """Whether Euler takes joint damping implicitly."""
        disabled = self.mj.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_EULERDAMP
        return not disabled and (bool(np.any(self.mj.dof_damping > 0)) or "dof_damping" in self.per_world)

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
            "dof": self.nv,
            "limit": 2 * self.nlimit,
            "slot": self.nslot,
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
            case "gravity":
                values = mj.opt.gravity[None]
            case "timestep":
                values = np.array([mj.opt.timestep])
            case "actuator_gain":
                values = mj.actuator_gainprm[:, 0]
            case _:
                values = getattr(mj, field)
        return np.asarray(values, dtype=np.float32)

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
            joint = mj.actuator_trnid[u, 0]
            width = {0: 6, 1: 3}.get(int(mj.jnt_type[joint]), 1)
            for k in range(width):
                acting[mj.jnt_dofadr[joint] + k].append((u, k))
        flat = [pair for dof in acting for pair in dof]
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
            "impratio": float(mj.opt.impratio),
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
            "slot_pair": pairs.slot_pair,
            "slot_condim": pairs.slot_condim,
            "dof_actuator_start": np.cumsum([0] + [len(dof) for dof in acting]),
            "dof_actuator": [u for u, _ in flat],
            "dof_actuator_gear": [k for _, k in flat],
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
