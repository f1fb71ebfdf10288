"""The state of one group: arrays indexed [item, world], and reading and writing them in MuJoCo's layout."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import warp as wp

from acesim_rl.arrays import allocate, struct_fields, vec10, write_worlds
from acesim_rl.model import Model, ModelData

__all__ = ["State", "StateData"]


@wp.struct
class StateData:
    """Arrays of one group; names, units and meaning as in MuJoCo's `mjData` unless said otherwise.

    Contacts have fixed slots, a few for each geom pair that can touch; a slot is in contact where its distance is
    within margin and gap. Constraint rows are packed: limits first, then contacts, in the order of their slots.
    """

    # state
    qpos: wp.array2d[float]  # [nq]
    qvel: wp.array2d[float]  # [nv]
    qacc: wp.array2d[float]  # [nv] also the solver's warm start
    ctrl: wp.array2d[float]  # [nu]
    time: wp.array2d[float]  # [1] s
    # positions
    xpos: wp.array2d[wp.vec3]  # [nbody]
    xquat: wp.array2d[wp.quat]  # [nbody] xyzw
    xipos: wp.array2d[wp.vec3]  # [nbody]
    xanchor: wp.array2d[wp.vec3]  # [njnt]
    xaxis: wp.array2d[wp.vec3]  # [njnt]
    subtree_com: wp.array2d[wp.vec3]  # [nbody], filled at the roots of trees only
    cinert: wp.array2d[vec10]  # [nbody]
    crb: wp.array2d[vec10]  # [nbody]
    cdof: wp.array2d[wp.spatial_vector]  # [nv]
    M: wp.array3d[float]  # [nv, nv], dense and symmetric
    # velocities and smooth forces
    cvel: wp.array2d[wp.spatial_vector]  # [nbody]
    cacc: wp.array2d[wp.spatial_vector]  # [nbody] with zero joint accelerations
    cfrc: wp.array2d[wp.spatial_vector]  # [nbody] force that moves the body alone along cacc
    qfrc_bias: wp.array2d[float]  # [nv]
    qfrc_passive: wp.array2d[float]  # [nv]
    actuator_force: wp.array2d[float]  # [nu]
    qfrc_actuator: wp.array2d[float]  # [nv]
    qfrc_smooth: wp.array2d[float]  # [nv]
    # contacts and constraint rows
    contact_dist: wp.array2d[float]  # [nslot]
    contact_pos: wp.array2d[wp.vec3]  # [nslot]
    contact_frame: wp.array2d[wp.mat33]  # [nslot] rows: normal, two tangents
    contact_row: wp.array2d[int]  # [nslot] first row, -1 where there is none
    row_need: wp.array2d[int]  # [2 nlimit + nslot] rows that each side of a limit and each slot needs; -1: in the gap
    ncon: wp.array2d[int]  # [1] contacts
    nefc: wp.array2d[int]  # [1] rows
    efc_J: wp.array3d[float]  # [nrow, nv]
    efc_D: wp.array2d[float]  # [nrow]
    efc_aref: wp.array2d[float]  # [nrow]
    efc_force: wp.array2d[float]  # [nrow]
    efc_jar: wp.array2d[float]  # [nrow] J qacc - aref
    efc_jv: wp.array2d[float]  # [nrow] J times the search direction
    qfrc_constraint: wp.array2d[float]  # [nv]
    solver_niter: wp.array2d[int]  # [1]
    cfrc_ext: wp.array2d[wp.spatial_vector]  # [nbody] torque, force about the tree's centre of mass
    # integration
    qpos_start: wp.array2d[float]  # [nq] at the start of the step
    qvel_start: wp.array2d[float]  # [nv]
    qvel_sum: wp.array2d[float]  # [nv] weighted sums of the Runge-Kutta phases
    qacc_sum: wp.array2d[float]  # [nv]
    qacc_euler: wp.array2d[float]  # [nv] acceleration with damping taken implicitly
    warning: wp.array2d[int]  # [4] resets for a bad qpos, qvel, qacc; steps with bad controls


FIELDS: dict[str, Any] = struct_fields(StateData)
"""All fields, by name."""
QUATERNIONS = ("xquat",)


class State:
    """Reads and writes the arrays of one group as numpy arrays, world first; some worlds by their numbers or a mask."""

    def __init__(self, model: Model, constants: ModelData, nworld: int, device: wp.Device):
        self.model, self.nworld, self.device = model, nworld, device
        self.constants: Any = constants
        self.data: Any = StateData()
        rows = model.nrow
        sizes = {
            "qpos": model.nq,
            "qpos_start": model.nq,
            "time": 1,
            "ncon": 1,
            "nefc": 1,
            "solver_niter": 1,
            "warning": 4,
            "ctrl": model.nu,
            "actuator_force": model.nu,
            "M": (model.nv, model.nv),
            "efc_J": (rows, model.nv),
            "row_need": 2 * model.nlimit + model.nslot,
            "xanchor": model.njnt,
            "xaxis": model.njnt,
        }
        body = ("xpos", "xquat", "xipos", "subtree_com", "cinert", "crb", "cvel", "cacc", "cfrc", "cfrc_ext")
        sizes |= dict.fromkeys(body, model.nbody)
        sizes |= dict.fromkeys((n for n in FIELDS if n.startswith("efc_") and n != "efc_J"), rows)
        sizes |= dict.fromkeys((n for n in FIELDS if n.startswith("contact_")), model.nslot)
        for name, var in FIELDS.items():
            size = sizes.get(name, model.nv)
            by_world = name == "M" or name.startswith("efc_")
            setattr(self.data, name, allocate(size, nworld, var.type.dtype, device, by_world=by_world))
        self.reset()

    def get(self, name: str) -> np.ndarray:
        """A copy of a field, shape [nworld, items...]; quaternions as w, x, y, z."""
        array = self._array(name)
        values = np.moveaxis(array.numpy(), array.ndim - 1, 0)
        if name in QUATERNIONS:
            values = values[..., [3, 0, 1, 2]]
        return np.array(values)

    def set(self, name: str, values, worlds: Sequence[int] | None = None) -> None:
        """Write a field: values broadcast to [nworld, items...], or to the chosen worlds only.

        Derived fields follow at the next `forward` or `step`.
        """
        array = self._array(name)
        whole = self.get(name)
        write_worlds(whole, values, worlds, f"state field '{name}'")
        if name in QUATERNIONS:
            whole = whole[..., [1, 2, 3, 0]]
        array.assign(np.ascontiguousarray(np.moveaxis(whole, 0, array.ndim - 1)))

    def reset(self, worlds: Sequence[int] | None = None) -> None:
        """Put worlds into the model's initial state, as mj_resetData does."""
        for name in ("qvel", "qacc", "ctrl", "time", "warning"):
            self.set(name, 0, worlds)
        qpos0 = self.constants.qpos0.numpy().T
        self.set("qpos", qpos0 if worlds is None else qpos0[np.asarray(worlds)], worlds)
        if worlds is None:
            self.set("xquat", (1.0, 0.0, 0.0, 0.0))

    def _array(self, name: str) -> Any:
        if name not in FIELDS:
            raise KeyError(f"no state field '{name}'; there are: {', '.join(FIELDS)}")
        return getattr(self.data, name)
