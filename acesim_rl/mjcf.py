"""Reading MJCF, and refusing with a clear word what the engine does not simulate."""

import os
from pathlib import Path

import mujoco
import numpy as np

__all__ = ["UnsupportedError", "check_supported", "load"]

_MAY_DISABLE = (
    "CONSTRAINT", "LIMIT", "CONTACT", "EQUALITY", "FRICTIONLOSS", "WARMSTART", "FILTERPARENT", "REFSAFE", "SENSOR",
    "MIDPHASE", "EULERDAMP", "NATIVECCD", "ISLAND", "MULTICCD",
)  # fmt: skip
_MAY_ENABLE = ("ENERGY", "FWDINV", "INVDISCRETE")  # these only compute more


class UnsupportedError(ValueError):
    """A model has an element that would change its dynamics and that the engine does not simulate."""


def load(source: str | Path) -> tuple[mujoco.MjModel, str]:
    """Compile a file or an XML string; returns the model and the name that messages use for it."""
    text = os.fspath(source)
    is_xml = text.lstrip().startswith("<")
    name = "XML string" if is_xml else text
    if not is_xml and not Path(text).is_file():
        raise FileNotFoundError(f"{text}: no such MJCF file")
    try:
        if is_xml:
            return mujoco.MjModel.from_xml_string(text), name
        return mujoco.MjModel.from_xml_path(text), name
    except ValueError as error:
        raise ValueError(f"{name}: not a valid MJCF model: {' '.join(str(error).split())}") from error


def check_supported(mj: mujoco.MjModel, name: str) -> None:
    """Raise UnsupportedError for the first element that changes the dynamics and is not simulated."""

    def refuse(kind: mujoco.mjtObj | str, index: int, what: str, supported: str) -> None:
        if isinstance(kind, str):
            element = kind
        else:
            element = f"{kind.name.removeprefix('mjOBJ_').lower()} '{mujoco.mj_id2name(mj, kind, index) or index}'"
        raise UnsupportedError(f"{name}: {element}: {what} is not supported; supported: {supported}")

    def first(mask) -> int | None:
        hits = np.flatnonzero(np.asarray(mask))
        return int(hits[0]) if len(hits) else None

    obj, opt = mujoco.mjtObj, mj.opt
    if mj.nv == 0:
        raise UnsupportedError(f"{name}: the model has no joints, so nothing can move; give a body a joint")

    integrators = {mujoco.mjtIntegrator.mjINT_EULER, mujoco.mjtIntegrator.mjINT_RK4}
    if opt.integrator not in integrators:
        refuse("option", 0, f"integrator '{_enum(mujoco.mjtIntegrator, opt.integrator)}'", "Euler, RK4")
    if opt.solver != mujoco.mjtSolver.mjSOL_NEWTON:
        refuse("option", 0, f"solver '{_enum(mujoco.mjtSolver, opt.solver)}'", "Newton")
    if opt.cone != mujoco.mjtCone.mjCONE_PYRAMIDAL:
        refuse("option", 0, "cone 'elliptic'", "pyramidal")
    for option in ("density", "viscosity", "noslip_iterations"):
        if getattr(opt, option) != 0:
            refuse("option", 0, f"{option} {getattr(opt, option):g}", f"{option} 0")
    if np.any(opt.wind != 0):
        refuse("option", 0, "wind", "no wind")
    for flags, kind, prefix, state in (
        (opt.disableflags & ~_bits(mujoco.mjtDisableBit, _MAY_DISABLE), mujoco.mjtDisableBit, "mjDSBL_", "disable"),
        (opt.enableflags & ~_bits(mujoco.mjtEnableBit, _MAY_ENABLE), mujoco.mjtEnableBit, "mjENBL_", "enable"),
    ):
        for flag, bit in kind.__members__.items():
            if flag.startswith(prefix) and flags & int(bit):
                may = _MAY_DISABLE if state == "disable" else _MAY_ENABLE
                what = f"flag {flag.removeprefix(prefix).lower()}='{state}'"
                refuse("option", 0, what, f"'{state}' of {', '.join(may).lower()}")

    for count, kind, what in (
        (mj.neq, obj.mjOBJ_EQUALITY, "an equality constraint"),
        (mj.ntendon, obj.mjOBJ_TENDON, "a tendon"),
        (mj.npair, obj.mjOBJ_PAIR, "an explicit contact pair"),
        (mj.nflex, obj.mjOBJ_FLEX, "a flex"),
        (mj.nplugin, obj.mjOBJ_PLUGIN, "a plugin"),
    ):
        if count:
            refuse(kind, 0, what, "bodies, joints, geoms, motors, contact excludes")
    joints = "stiffness, damping, armature, limits"
    for dofs, what in (
        (mj.dof_frictionloss > 0, "frictionloss"),
        (_nonzero(mj, "dof_dampingpoly"), "polynomial damping"),
    ):
        if (dof := first(dofs)) is not None:
            refuse(obj.mjOBJ_JOINT, int(mj.dof_jntid[dof]), what, joints)
    for mask, what in (
        (_nonzero(mj, "jnt_stiffnesspoly"), "polynomial stiffness"),
        (_nonzero(mj, "jnt_springyield"), "springyield"),
        (mj.jnt_actfrclimited, "actuatorfrcrange"),
        (mj.jnt_actgravcomp, "actuatorgravcomp"),
    ):
        if (joint := first(mask)) is not None:
            refuse(obj.mjOBJ_JOINT, joint, what, joints)
    for mask, what in ((mj.body_mocapid >= 0, "mocap"), (mj.body_gravcomp != 0, "gravcomp")):
        if (body := first(mask)) is not None:
            refuse(obj.mjOBJ_BODY, body, what, "bodies with joints, or fixed to their parent")
    _check_geoms(mj, refuse, first)
    _check_actuators(mj, refuse, first)


def _check_geoms(mj, refuse, first) -> None:
    obj, geom = mujoco.mjtObj, mujoco.mjtGeom
    touching = (mj.geom_contype != 0) | (mj.geom_conaffinity != 0)
    kinds = (geom.mjGEOM_PLANE, geom.mjGEOM_SPHERE, geom.mjGEOM_CAPSULE)
    if (g := first(touching & ~np.isin(mj.geom_type, kinds))) is not None:
        what = f"type '{_enum(geom, mj.geom_type[g])}' that can collide"
        refuse(obj.mjOBJ_GEOM, g, what, "plane, sphere, capsule; any type with contype and conaffinity 0")
    if (g := first(touching & ~np.isin(mj.geom_condim, (1, 3)))) is not None:
        refuse(obj.mjOBJ_GEOM, g, f"condim {mj.geom_condim[g]}", "condim 1, 3")
    for attribute in ("surfacevel", "adhesion"):
        if (g := first(_nonzero(mj, f"geom_{attribute}"))) is not None:
            refuse(obj.mjOBJ_GEOM, g, attribute, f"geoms without {attribute}")


def _check_actuators(mj, refuse, first) -> None:
    actuator, motors = mujoco.mjtObj.mjOBJ_ACTUATOR, "motors on joints: a fixed gain, no bias, no activation"
    for field, kind, only in (
        ("trntype", mujoco.mjtTrn, mujoco.mjtTrn.mjTRN_JOINT),
        ("dyntype", mujoco.mjtDyn, mujoco.mjtDyn.mjDYN_NONE),
        ("gaintype", mujoco.mjtGain, mujoco.mjtGain.mjGAIN_FIXED),
        ("biastype", mujoco.mjtBias, mujoco.mjtBias.mjBIAS_NONE),
    ):
        values = getattr(mj, f"actuator_{field}")
        if (u := first(values != only)) is not None:
            refuse(actuator, u, f"{field} '{_enum(kind, values[u])}'", motors)
    for mask, what in (
        (_in_disabled_group(mj), f"a group disabled by actuatorgroupdisable ({mj.opt.disableactuator:#b})"),
        (_nonzero(mj, "actuator_delay"), "a delay"),
        (_nonzero(mj, "actuator_damping"), "actuator damping"),
        (_nonzero(mj, "actuator_dampingpoly"), "actuator damping"),
        (_nonzero(mj, "actuator_armature"), "actuator armature"),
    ):
        if (u := first(mask)) is not None:
            refuse(actuator, u, what, motors)


def _in_disabled_group(mj: mujoco.MjModel) -> np.ndarray:
    group = mj.actuator_group
    return (group >= 0) & (group <= 30) & (mj.opt.disableactuator >> np.clip(group, 0, 30) & 1 == 1)


def _nonzero(mj: mujoco.MjModel, field: str) -> np.ndarray:
    """Rows of a field with anything in them; all False where this MuJoCo has no such field."""
    values = np.asarray(getattr(mj, field, np.zeros(0)))
    return np.any(values.reshape(len(values), -1) != 0, axis=1) if values.size else np.zeros(0, bool)


def _bits(kind, names: tuple[str, ...]) -> int:
    return sum(int(bit) for flag, bit in kind.__members__.items() if flag.split("_")[-1] in names)


def _enum(kind, value) -> str:
    return kind(int(value)).name.split("_", 1)[1].lower()
