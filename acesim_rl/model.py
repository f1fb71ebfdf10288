"""One robot, from a compiled MuJoCo model: its sizes, and what its step needs."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import mujoco
import numpy as np

from acesim_rl.arrays import lanes_for
from acesim_rl.mjcf import check_supported, disabled_actuators, load
from acesim_rl.model_data import DERIVED, DERIVED_FROM, NUMERIC_FIELDS, ModelData
from acesim_rl.pairs import PAIR_TYPES, CandidatePairs, candidate_pairs

__all__ = ["FORMED", "Model", "ModelData"]

FORMED = 4
"""Chunks of rows (see `lanes_for`) up to which PGS forms the matrix of all pairs of rows."""

_TURNED_OFF = {
    "GRAVITY": ("gravity",),
    "SPRING": ("jnt_stiffness", "jnt_stiffnesspoly", "tendon_stiffness", "tendon_stiffnesspoly"),
    "DAMPER": ("dof_damping", "dof_dampingpoly", "tendon_damping", "tendon_dampingpoly"),
}
"""Fields that are zero where a flag of the options disables them."""


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
        derived = DERIVED if DERIVED_FROM & set(per_world) else ()
        self.per_world = tuple(dict.fromkeys((*per_world, *derived)))
        self.nq, self.nv, self.nu, self.nbody, self.njnt = mj.nq, mj.nv, mj.nu, mj.nbody, mj.njnt
        self.qpos0 = mj.qpos0.astype(np.float32)

    @classmethod
    def from_mjcf(cls, source: str | Path, *, per_world: Sequence[str] = ()) -> "Model":
        """From a file's path, an XML string or the name of a robot (see `robots`); ValueError names the file and the
        element that is wrong."""
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

    def disabled(self, flag: str) -> bool:
        """Whether the options disable a part of the physics, by the name of MuJoCo's flag."""
        return bool(self.mj.opt.disableflags & getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}"))

    @property
    def has_actuation(self) -> bool:
        """Whether actuators do anything."""
        return not self.disabled("ACTUATION")

    @cached_property
    def equalities(self) -> np.ndarray:
        """Indices of the active equality constraints."""
        return np.flatnonzero(self.mj.eq_active0 & self._enabled("EQUALITY"))

    @property
    def equality_rows(self) -> np.ndarray:
        """Rows of each active equality constraint: a connect has 3, a weld 6, one of joints or tendons 1."""
        return np.array([3, 6, 1, 1])[self.mj.eq_type[self.equalities]]

    @property
    def nequality_row(self) -> int:
        """Rows of equality constraints."""
        return int(self.equality_rows.sum())

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
    def plain_pgs(self) -> bool:
        """Whether the solver is PGS, and all rows belong to one island and to no elliptic cone."""
        return self.solver == "pgs" and not self.has_cones and not self.has_islands

    @property
    def has_bins(self) -> bool:
        """Whether the solver has variants for few rows (see `stages.solver.bins`)."""
        return self.plain_newton or self.plain_pgs

    @property
    def nformed(self) -> int:
        """Rows, in whole chunks, up to which PGS forms the matrix of all their pairs; 0 where it never does."""
        lanes = lanes_for(self.nv)
        return min(FORMED, -(-self.nrow // lanes)) * lanes if self.plain_pgs else 0

    @property
    def has_islands(self) -> bool:
        """Whether the solver takes each island by itself: several trees, which not all constraints may join."""
        return self.solver == "pgs" and self.mj.ntree > 1 and not self.disabled("ISLAND")

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
            "branch": len(self.branches),
            "tree": len(self.roots),
            "joint": self.njnt,
            "geom": self.mj.ngeom,
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
    def roots(self) -> np.ndarray:
        """The bodies that trees begin with."""
        return np.flatnonzero(self.mj.body_parentid == 0)[1:]

    @cached_property
    def branches(self) -> list[list[int]]:
        """Paths of bodies, from a root to each leaf."""
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
        off = any(field in fields and self.disabled(flag) for flag, fields in _TURNED_OFF.items())
        return np.asarray(values, dtype=np.float32) * (0.0 if off else 1.0)
