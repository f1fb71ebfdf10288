"""The state of one group: arrays indexed [item, world], and reading and writing them in MuJoCo's layout."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import warp as wp

from acesim_rl.arrays import allocate, struct_fields, vec10, write_worlds
from acesim_rl.model import Model, ModelData

__all__ = ["SCRATCH", "WARNINGS", "State", "StateData"]

WARNINGS = {
    "bad_qpos": "a position was not finite or beyond 1e10; the world was reset",
    "bad_qvel": "a velocity was not finite or beyond 1e10; the world was reset",
    "bad_qacc": "an acceleration was not finite or beyond 1e10; the world was reset",
    "bad_ctrl": "a control was NaN, or beyond 1e10 without a ctrlrange; all controls of the world were set to zero",
    "contact_full": "two boxes had more contacts than slots; those above were left out",
}
"""What is counted for each world, and what it means; in the order of `StateData.warning`."""

SCRATCH = ("efc_jar", "efc_jv", "efc_AR", "efc_JM", "efc_block", "efc_diagonal", "efc_order")
"""Fields that a solver variant may or may not use: after a step they mean nothing. Of all others each bit is the same
in every run."""


@wp.struct
class StateData:
    """Arrays of one group; names, units and meaning as in MuJoCo's `mjData` unless said otherwise.

    Contacts have fixed slots, a few for each geom pair that can touch; a slot is in contact where its distance is
    within margin and gap. Constraint rows are packed: first those that are always there, of equality constraints and
    friction loss, then limits, then contacts in the order of their slots.
    """

    # state
    qpos: wp.array2d[float]  # [nq]
    qvel: wp.array2d[float]  # [nv]
    qacc: wp.array2d[float]  # [nv] also the solver's warm start
    ctrl: wp.array2d[float]  # [nu]
    act: wp.array2d[float]  # [na] activations
    mocap_pos: wp.array2d[wp.vec3]  # [nmocap]
    mocap_quat: wp.array2d[wp.quat]  # [nmocap] xyzw
    time: wp.array2d[float]  # [1] s
    # positions
    xpos: wp.array2d[wp.vec3]  # [nbody]
    xquat: wp.array2d[wp.quat]  # [nbody] xyzw
    xipos: wp.array2d[wp.vec3]  # [nbody]
    xanchor: wp.array2d[wp.vec3]  # [njnt]
    xaxis: wp.array2d[wp.vec3]  # [njnt]
    geom_xpos: wp.array2d[wp.vec3]  # [ngeom]
    geom_xquat: wp.array2d[wp.quat]  # [ngeom] xyzw; MuJoCo keeps the matrix, geom_xmat
    subtree_com: wp.array2d[wp.vec3]  # [nbody], filled at the roots of trees only
    cinert: wp.array2d[vec10]  # [nbody]
    crb: wp.array2d[vec10]  # [nbody]
    cdof: wp.array2d[wp.spatial_vector]  # [nv]
    M: wp.array3d[float]  # [nv, nv], dense and symmetric
    # velocities and smooth forces
    cvel: wp.array2d[wp.spatial_vector]  # [nbody]
    cacc_bias: wp.array2d[wp.spatial_vector]  # [nbody] acceleration while joint accelerations are zero
    cfrc: wp.array2d[wp.spatial_vector]  # [nbody] force that moves the body alone along cacc_bias
    qfrc_bias: wp.array2d[float]  # [nv]
    fluid_force: wp.array2d[wp.spatial_vector]  # [nbody] torque, force of the fluid about the tree's centre of mass
    ten_length: wp.array2d[float]  # [ntendon]
    ten_velocity: wp.array2d[float]  # [ntendon]
    qfrc_passive: wp.array2d[float]  # [nv]
    qfrc_gravcomp: wp.array2d[float]  # [nv]
    actuator_length: wp.array2d[float]  # [nu]; the next five only where there is more than motors on joints
    actuator_velocity: wp.array2d[float]  # [nu]
    actuator_moment: wp.array3d[float]  # [nu, nv]
    actuator_slope: wp.array2d[float]  # [nu] derivative of the force by the velocity
    act_dot: wp.array2d[float]  # [na]
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
    efc_friction: wp.array2d[float]  # [nrow] bound of friction loss; in cones: mu at the normal, coefficients after it
    efc_cone: wp.array2d[int]  # [nrow] rows of a cone: their number at the first, then -1, -2, ...; 0: not in a cone
    efc_AR: wp.array3d[float]  # [rows, rows] J M^-1 J^T + R of few rows; this and the next four for PGS only
    efc_JM: wp.array3d[float]  # [nrow, nv] J M^-1
    efc_block: wp.array3d[float]  # [nrow, 6] diagonal blocks of J M^-1 J^T + R, of elliptic cones
    efc_diagonal: wp.array2d[float]  # [nrow] of J M^-1 J^T + R
    efc_order: wp.array2d[int]  # [nrow] in which PGS visits the rows
    efc_island: wp.array2d[int]  # [nrow] each row's island, by its first dof; this and the next where there are several
    dof_island: wp.array2d[int]  # [nv]
    qacc_warmstart: wp.array2d[float]  # [nv] where all phases of the step begin their iterations
    qfrc_constraint: wp.array2d[float]  # [nv]
    solver_niter: wp.array2d[int]  # [1]
    cfrc_ext: wp.array2d[wp.spatial_vector]  # [nbody] torque, force about the tree's centre of mass
    # for those who ask: sensors, and what they need
    cacc: wp.array2d[wp.spatial_vector]  # [nbody] acceleration of bodies, with gravity as one upwards
    cfrc_int: wp.array2d[wp.spatial_vector]  # [nbody] torque, force from the parent, about the tree's centre of mass
    subtree_linvel: wp.array2d[wp.vec3]  # [nbody]
    subtree_angmom: wp.array2d[wp.vec3]  # [nbody]
    sensordata: wp.array2d[float]  # [nsensordata]
    energy: wp.array2d[float]  # [2] potential, kinetic
    # integration
    qpos_start: wp.array2d[float]  # [nq] at the start of the step
    qvel_start: wp.array2d[float]  # [nv]
    qvel_sum: wp.array2d[float]  # [nv] weighted sums of the Runge-Kutta phases
    qacc_sum: wp.array2d[float]  # [nv]
    qacc_euler: wp.array2d[float]  # [nv] acceleration with damping taken implicitly
    act_start: wp.array2d[float]  # [na]
    act_sum: wp.array2d[float]  # [na]
    qderiv: wp.array3d[float]  # [nv, nv] derivative of the smooth forces by velocities, for implicit integrators
    dcvel: wp.array3d[wp.spatial_vector]  # [nbody, nv] derivatives of cvel, cacc_bias and cfrc by velocities
    dcacc: wp.array3d[wp.spatial_vector]  # [nbody, nv]
    dcfrc: wp.array3d[wp.spatial_vector]  # [nbody, nv]
    warning: wp.array2d[int]  # [5] counts of WARNINGS
    was_reset: wp.array2d[int]  # [1] 1 once the engine has reset the world; whoever acts on it sets it to 0


FIELDS: dict[str, Any] = struct_fields(StateData)
"""All fields, by name."""
QUATERNIONS = ("xquat", "geom_xquat", "mocap_quat")


def optional_sizes(model: Model) -> dict[str, int | tuple[int, ...]]:
    """Sizes of the arrays that only some models need."""
    mj, nv, nbody = model.mj, model.nv, model.nbody
    general = 0 if model.only_motors and not mj.nsensor else model.nu
    linear = model.is_implicit or (model.euler_damping and model.has_polynomials)
    coriolis = (nbody, nv) if model.dof_coriolis.any() else (0, 0)
    sizes: dict[str, int | tuple[int, ...]] = {
        "fluid_force": nbody if model.has_fluid else 0,
        "qfrc_gravcomp": nv if model.has_gravcomp else 0,
        "actuator_moment": (general, nv),
        "sensordata": mj.nsensordata,
        "energy": 2,
        "qderiv": (nv, nv) if linear else (0, 0),
    }
    pgs = model.solver == "pgs"
    fixed = model.nequality_row + model.nfriction
    sizes |= {
        "efc_cone": model.nrow if model.has_cones else 0,
        "efc_friction": model.nrow if model.has_cones else fixed,
    }
    sizes |= dict.fromkeys(("efc_diagonal", "efc_order"), model.nrow if pgs else 0)
    sizes["efc_block"] = (model.nrow, 6) if pgs and model.has_cones else (0, 6)
    sizes |= {"efc_AR": (model.nformed, model.nformed), "efc_JM": (model.nrow if pgs else 0, nv)}
    sizes["qacc_warmstart"] = nv if pgs else 0
    sizes |= {"efc_island": model.nrow if model.has_islands else 0, "dof_island": nv if model.has_islands else 0}
    sizes |= dict.fromkeys(("mocap_pos", "mocap_quat"), mj.nmocap)
    sizes |= dict.fromkeys(("ten_length", "ten_velocity"), mj.ntendon)
    sizes |= dict.fromkeys(("actuator_length", "actuator_velocity", "actuator_slope"), general)
    sizes |= dict.fromkeys(("act", "act_dot", "act_start", "act_sum"), mj.na)
    sizes |= dict.fromkeys(("cacc", "cfrc_int", "subtree_linvel", "subtree_angmom"), nbody)
    sizes |= dict.fromkeys(("dcvel", "dcacc", "dcfrc"), coriolis)
    return sizes


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
            "was_reset": 1,
            "warning": len(WARNINGS),
            "ctrl": model.nu,
            "actuator_force": model.nu,
            "M": (model.nv, model.nv),
            "efc_J": (rows, model.nv),
            "row_need": 2 * model.nlimit + model.nslot,
            "geom_xpos": model.mj.ngeom,
            "geom_xquat": model.mj.ngeom,
            "xanchor": model.njnt,
            "xaxis": model.njnt,
        }
        body = ("xpos", "xquat", "xipos", "subtree_com", "cinert", "crb", "cvel", "cacc_bias", "cfrc", "cfrc_ext")
        sizes |= dict.fromkeys(body, model.nbody)
        sizes |= dict.fromkeys((n for n in FIELDS if n.startswith("efc_") and n != "efc_J"), rows)
        sizes |= dict.fromkeys((n for n in FIELDS if n.startswith("contact_")), model.nslot)
        sizes |= optional_sizes(model)
        for name, var in FIELDS.items():
            size = sizes.get(name, model.nv)
            by_world = name in ("M", "qderiv") or name.startswith("efc_")
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

    def reset(self, worlds: Sequence[int] | None = None, *, keyframe: str | int | None = None) -> None:
        """Put worlds into the model's initial state, as mj_resetData does, or into that of a keyframe."""
        for name in ("qvel", "qacc", "ctrl", "time", "warning", "was_reset", "act"):
            self.set(name, 0, worlds)
        qpos0 = self.constants.qpos0.numpy().T
        self.set("qpos", qpos0 if worlds is None else qpos0[np.asarray(worlds)], worlds)
        mj = self.model.mj
        mocap = np.flatnonzero(mj.body_mocapid >= 0)[np.argsort(mj.body_mocapid[mj.body_mocapid >= 0])]
        self.set("mocap_pos", mj.body_pos[mocap], worlds)
        self.set("mocap_quat", mj.body_quat[mocap], worlds)
        if keyframe is not None:
            key = self._keyframe(keyframe)
            for name in ("qpos", "qvel", "ctrl", "act", "time"):
                self.set(name, np.atleast_1d(getattr(mj, f"key_{name}")[key]), worlds)
            self.set("mocap_pos", mj.key_mpos[key].reshape(-1, 3), worlds)
            self.set("mocap_quat", mj.key_mquat[key].reshape(-1, 4), worlds)
        if worlds is None:
            self.set("xquat", (1.0, 0.0, 0.0, 0.0))

    @property
    def warnings(self) -> dict[str, np.ndarray]:
        """How often each world had each of WARNINGS since it was reset, [nworld] each; waits for the device."""
        return dict(zip(WARNINGS, self.get("warning").T, strict=True))

    def _keyframe(self, keyframe: str | int) -> int:
        mj = self.model.mj
        names = [mj.key(k).name for k in range(mj.nkey)]
        if isinstance(keyframe, str) and keyframe in names:
            return names.index(keyframe)
        if not isinstance(keyframe, str) and 0 <= keyframe < mj.nkey:
            return int(keyframe)
        there = ", ".join(name or str(k) for k, name in enumerate(names)) or "none"
        raise ValueError(f"{self.model.name}: no keyframe {keyframe!r}; there are: {there}")

    def _array(self, name: str) -> Any:
        if name not in FIELDS:
            raise KeyError(f"no state field '{name}'; there are: {', '.join(FIELDS)}")
        return getattr(self.data, name)
