"""The constants of one group: laid out for the device, and changed there."""

import copy
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
import warp as wp

from acesim_rl.arrays import allocate, shared, struct_fields, write_worlds
from acesim_rl.mjcf import disabled_actuators
from acesim_rl.model import Model
from acesim_rl.model_data import (
    ACT_EARLY,
    ACT_LIMITED,
    CTRL_LIMITED,
    DERIVED,
    DERIVED_FROM,
    FORCE_LIMITED,
    NUMERIC_FIELDS,
    QUATERNIONS,
    ModelData,
)
from acesim_rl.visiting import visiting_orders

__all__ = ["Parameters"]


class Parameters:
    """The constants of one group on the device; those that differ between worlds are read and written at any time."""

    def __init__(self, model: Model, nworld: int, device: wp.Device):
        self.model, self.nworld = model, nworld
        self.values = {
            name: np.repeat(model.numbers(name)[None], nworld, axis=0) for name in model.per_world
        }  # host copies, [nworld, items, ...]
        self.data = self._on_device(device)

    def _on_device(self, device: wp.Device) -> ModelData:
        data, integers = ModelData(), structure(self.model)
        for name, var in struct_fields(ModelData).items():
            if name in self.values:
                setattr(data, name, allocate(self.values[name].shape[1], self.nworld, NUMERIC_FIELDS[name], device))
                write(data, name, self.values[name])
            elif name in NUMERIC_FIELDS:
                values = to_device(name, self.model.numbers(name))
                setattr(data, name, shared(values, self.nworld, NUMERIC_FIELDS[name], device))
            elif hasattr(var.type, "ndim"):
                values = integers[name] if name in integers else getattr(self.model.mj, name)
                setattr(data, name, wp.array(np.asarray(values, np.int32), dtype=int, device=device))
            else:
                setattr(data, name, integers[name])
        return data

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
        if name not in NUMERIC_FIELDS:
            known = ", ".join(NUMERIC_FIELDS)
            raise ValueError(f"{self.model.name}: '{name}' is not a numeric field; there are: {known}")
        if name not in self.values:
            raise ValueError(
                f"{self.model.name}: '{name}' is shared by all worlds; name it in per_world when the model is made "
                f"(per world now: {', '.join(self.values) or 'none'})"
            )
        chosen = write_worlds(self.values[name], values, worlds, f"{self.model.name}: '{name}'")
        write(self.data, name, self.values[name])
        if name in DERIVED_FROM:
            self._derive(chosen)

    def _derive(self, worlds: np.ndarray) -> None:
        mj = copy.copy(self.model.mj)
        scratch = mujoco.MjData(mj)
        varying = [name for name in self.model.per_world if name in DERIVED_FROM]
        for w in worlds:
            for name in varying:
                getattr(mj, name)[:] = self.values[name][w]
            mujoco.mj_setConst(mj, scratch)
            for name in DERIVED:
                self.values[name][w] = getattr(mj, name)
        for name in DERIVED:
            write(self.data, name, self.values[name])


def to_device(name: str, values: np.ndarray) -> np.ndarray:
    """Warp keeps quaternions as x, y, z, w."""
    return values[..., [1, 2, 3, 0]] if name in QUATERNIONS else values


def write(data: ModelData, name: str, values: np.ndarray) -> None:
    """Write one per-world field, values [nworld, items, ...] in MuJoCo's layout."""
    array = getattr(data, name)
    array.assign(np.ascontiguousarray(np.swapaxes(to_device(name, values), 0, 1), dtype=np.float32))


def structure(model: Model) -> dict[str, Any]:
    """The sizes, options and integers that are not as they stand in `mjModel`."""
    mj, pairs = model.mj, model.pairs
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
        "nlimit": model.nlimit,
        "nslot": model.nslot,
        "iterations": mj.opt.iterations,
        "ls_iterations": mj.opt.ls_iterations,
        "tolerance": float(mj.opt.tolerance),
        "use_warmstart": int(not mj.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_WARMSTART),
        "nequality_row": model.nequality_row,
        "nfriction": model.nfriction,
        "has_cones": int(model.has_cones),
        "equality_id": model.equalities,
        "equality_row": np.cumsum([0, *model.equality_rows])[:-1],
        "friction_dofid": model.friction_dofs,
        "pgs_orders": visiting_orders(model.nformed, max(0, mj.opt.iterations)),
        "impratio": float(mj.opt.impratio),
        "hardness": 0.0 if model.solver == "pgs" else 3e-5,  # PGS can do with any
        "refsafe": int(not mj.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_REFSAFE),
        "body_subtreenum": subtree,
        "body_lastdof": last,
        "branch_start": np.cumsum([0] + [len(path) for path in model.branches]),
        "branch_body": [b for path in model.branches for b in path],
        "tree_root": model.roots,
        "limit_jntid": model.limited,
        "pair_geom1": pairs.geom1,
        "pair_geom2": pairs.geom2,
        "pair_slot": pairs.slot,
        "pair_explicit": pairs.explicit,
        "slot_pair": pairs.slot_pair,
        "slot_condim": pairs.slot_condim,
        "slot_rows": model.slot_rows,
        "actuator_flags": (mj.actuator_ctrllimited & (not model.disabled("CLAMPCTRL"))) * CTRL_LIMITED
        + mj.actuator_forcelimited * FORCE_LIMITED
        + mj.actuator_actlimited * ACT_LIMITED
        + mj.actuator_actearly * ACT_EARLY,
        "dof_actuator_start": np.cumsum([0] + [len(dof) for dof in acting]),
        "dof_actuator": [u for u, _ in flat],
        "dof_actuator_gear": [k for _, k in flat],
        "ntendon": mj.ntendon,
        "dof_coriolis": model.dof_coriolis,
        "jnt_actgravcomp": mj.jnt_actgravcomp & model.has_gravcomp,
        "dof_tendon_start": np.cumsum([0] + [len(dof) for dof in pulling]),
        "dof_tendon": [t for t, _ in wraps],
        "dof_tendon_wrap": [k for _, k in wraps],
        "na": mj.na,
        "actuator_trnid": mj.actuator_trnid[:, 0],
        "actuator_refid": mj.actuator_trnid[:, 1],
        "actuator_disabled": disabled_actuators(mj),
    }
