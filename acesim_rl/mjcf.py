"""Reading MJCF, and refusing with a clear word what the engine does not simulate."""

import os
from pathlib import Path

import mujoco
import numpy as np

from acesim_rl.pairs import PAIR_TYPES, touching_geoms
from acesim_rl.robots import asset_path

__all__ = ["UnsupportedError", "check_sensors", "check_supported", "disabled_actuators", "load"]

_MAY_DISABLE = (
    "CONSTRAINT", "LIMIT", "CONTACT", "EQUALITY", "FRICTIONLOSS", "WARMSTART", "FILTERPARENT", "REFSAFE", "SENSOR",
    "MIDPHASE", "EULERDAMP", "NATIVECCD", "ISLAND", "MULTICCD", "GRAVITY", "SPRING", "DAMPER", "CLAMPCTRL", "ACTUATION",
)  # fmt: skip
_MAY_ENABLE = ("ENERGY", "FWDINV", "INVDISCRETE")  # these only compute more


SENSOR_TYPES = (
    "touch", "accelerometer", "velocimeter", "gyro", "force", "torque", "magnetometer", "jointpos", "jointvel",
    "tendonpos", "tendonvel", "actuatorpos", "actuatorvel", "actuatorfrc", "jointactfrc", "ballquat", "ballangvel",
    "framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis", "framelinvel", "frameangvel", "framelinacc",
    "frameangacc", "subtreecom", "subtreelinvel", "subtreeangmom", "e_potential", "e_kinetic", "clock",
)  # fmt: skip
"""The sensors that have a value here."""


class UnsupportedError(ValueError):
    """A model has an element that would change its dynamics and that the engine does not simulate."""


def load(source: str | Path) -> tuple[mujoco.MjModel, str]:
    """Compile a file, an XML string or a robot's file; returns the model and the name that messages use for it."""
    text = os.fspath(source)
    is_xml = text.lstrip().startswith("<")
    if not is_xml and not text.endswith(".xml") and not Path(text).is_file():
        try:
            text = str(asset_path(text))
        except ValueError as error:
            raise ValueError(f"{error}, or give the path of an MJCF file") from None
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

    if opt.integrator == mujoco.mjtIntegrator.mjINT_DISCRETE:
        refuse("option", 0, "integrator 'discrete'", "Euler, RK4, implicit, implicitfast")
    if opt.noslip_iterations != 0:
        refuse("option", 0, f"noslip_iterations {opt.noslip_iterations:g}", "noslip_iterations 0")
    fluid = opt.density > 0 or opt.viscosity > 0
    if fluid and (g := first(mj.geom_fluid[:, 0] != 0)) is not None:
        refuse(obj.mjOBJ_GEOM, g, "fluidshape 'ellipsoid' in a fluid", "fluidshape 'none'")
    for flags, kind, prefix, state in (
        (opt.disableflags & ~_bits(mujoco.mjtDisableBit, _MAY_DISABLE), mujoco.mjtDisableBit, "mjDSBL_", "disable"),
        (opt.enableflags & ~_bits(mujoco.mjtEnableBit, _MAY_ENABLE), mujoco.mjtEnableBit, "mjENBL_", "enable"),
    ):
        for flag, bit in kind.__members__.items():
            if flag.startswith(prefix) and flags & int(bit):
                may = _MAY_DISABLE if state == "disable" else _MAY_ENABLE
                what = f"flag {flag.removeprefix(prefix).lower()}='{state}'"
                refuse("option", 0, what, f"'{state}' of {', '.join(may).lower()}")

    if mj.nflex:
        refuse(obj.mjOBJ_FLEX, 0, "a flex", "rigid bodies")
    if mj.nplugin:
        refuse(obj.mjOBJ_PLUGIN, 0, "a plugin", "MuJoCo's own elements")
    kinds = (mujoco.mjtEq.mjEQ_CONNECT, mujoco.mjtEq.mjEQ_WELD, mujoco.mjtEq.mjEQ_JOINT, mujoco.mjtEq.mjEQ_TENDON)
    if (e := first(~np.isin(mj.eq_type, kinds))) is not None:
        what = f"an equality constraint of type '{_enum(mujoco.mjtEq, mj.eq_type[e])}'"
        refuse(obj.mjOBJ_EQUALITY, e, what, "connect, weld, joint, tendon")
    joints = "stiffness, damping, armature, frictionloss, limits"
    if (joint := first(_nonzero(mj, "jnt_springyield"))) is not None:
        refuse(obj.mjOBJ_JOINT, joint, "springyield", joints)
    _check_geoms(mj, refuse, first)
    _check_tendons(mj, refuse, first)
    _check_actuators(mj, refuse, first)


def _check_geoms(mj, refuse, first) -> None:
    obj, geom = mujoco.mjtObj, mujoco.mjtGeom
    touching = (mj.geom_contype != 0) | (mj.geom_conaffinity != 0)
    kinds = (geom.mjGEOM_PLANE, geom.mjGEOM_SPHERE, geom.mjGEOM_CAPSULE, geom.mjGEOM_CYLINDER, geom.mjGEOM_BOX)
    if (g := first(touching & ~np.isin(mj.geom_type, kinds))) is not None:
        what = f"type '{_enum(geom, mj.geom_type[g])}' that can collide"
        supported = "plane, sphere, capsule, cylinder, box; any type with contype and conaffinity 0"
        refuse(obj.mjOBJ_GEOM, g, what, supported)
    have = {types[:2] for types in PAIR_TYPES.values()}
    for g1, g2 in touching_geoms(mj):
        types = int(mj.geom_type[g1]), int(mj.geom_type[g2])
        if types not in have:
            what = f"a collision of types '{_enum(geom, types[0])}' and '{_enum(geom, types[1])}'"
            refuse(obj.mjOBJ_GEOM, g2, what, ", ".join(name.replace("_", "-") for name in PAIR_TYPES))
    if (g := first(touching & ~np.isin(mj.geom_condim, (1, 3, 4, 6)))) is not None:
        refuse(obj.mjOBJ_GEOM, g, f"condim {mj.geom_condim[g]}", "condim 1, 3, 4, 6")
    for attribute in ("solreffriction", "adhesion"):
        if (p := first(_nonzero(mj, f"pair_{attribute}"))) is not None:
            refuse(obj.mjOBJ_PAIR, p, attribute, "condim, friction, solref, solimp, margin, gap")
    both = np.sort(np.stack([mj.pair_geom1, mj.pair_geom2], axis=1), axis=1).tolist()
    if (p := first([pair in both[:k] for k, pair in enumerate(both)])) is not None:
        refuse(obj.mjOBJ_PAIR, p, "a second contact pair of the same geoms", "one for two geoms")
    for attribute in ("surfacevel", "adhesion"):
        if (g := first(_nonzero(mj, f"geom_{attribute}"))) is not None:
            refuse(obj.mjOBJ_GEOM, g, attribute, f"geoms without {attribute}")


def _check_tendons(mj, refuse, first) -> None:
    tendon, fixed = mujoco.mjtObj.mjOBJ_TENDON, "fixed tendons with stiffness, damping, frictionloss, limits"
    wraps = mj.wrap_type[mj.tendon_adr] if mj.ntendon else np.zeros(0)
    for mask, what in (
        (wraps != mujoco.mjtWrap.mjWRAP_JOINT, "a spatial tendon"),
        (mj.tendon_armature != 0, "armature"),
        (mj.tendon_actfrclimited, "actuatorfrcrange"),
        (_nonzero(mj, "tendon_springyield"), "springyield"),
    ):
        if (t := first(mask)) is not None:
            refuse(tendon, t, what, fixed)


def _check_actuators(mj, refuse, first) -> None:
    trn, dyn, gain, bias = mujoco.mjtTrn, mujoco.mjtDyn, mujoco.mjtGain, mujoco.mjtBias
    actuator = mujoco.mjtObj.mjOBJ_ACTUATOR
    for field, kind, have in (
        ("trntype", trn, (trn.mjTRN_JOINT, trn.mjTRN_JOINTINPARENT, trn.mjTRN_TENDON, trn.mjTRN_SITE)),
        ("dyntype", dyn, (dyn.mjDYN_NONE, dyn.mjDYN_INTEGRATOR, dyn.mjDYN_FILTER, dyn.mjDYN_FILTEREXACT)),
        ("gaintype", gain, (gain.mjGAIN_FIXED, gain.mjGAIN_AFFINE)),
        ("biastype", bias, (bias.mjBIAS_NONE, bias.mjBIAS_AFFINE)),
    ):
        values = getattr(mj, f"actuator_{field}")
        if (u := first(~np.isin(values, have))) is not None:
            refuse(actuator, u, f"{field} '{_enum(kind, values[u])}'", ", ".join(_enum(kind, value) for value in have))
    for mask, what in (
        (_nonzero(mj, "actuator_delay"), "a delay"),
        (_nonzero(mj, "actuator_damping"), "actuator damping"),
        (_nonzero(mj, "actuator_dampingpoly"), "actuator damping"),
        (_nonzero(mj, "actuator_armature"), "actuator armature"),
    ):
        if (u := first(mask)) is not None:
            refuse(actuator, u, what, f"actuators without {what.removeprefix('a ').removeprefix('actuator ')}")


def check_sensors(mj: mujoco.MjModel, name: str) -> None:
    """Raise UnsupportedError for the first sensor that has no value here; sensors that nobody reads do no harm."""
    kinds, obj = mujoco.mjtSensor, mujoco.mjtObj
    frames = [int(kind) for kind in (obj.mjOBJ_BODY, obj.mjOBJ_XBODY, obj.mjOBJ_GEOM, obj.mjOBJ_SITE)]
    for s in range(mj.nsensor):
        kind = _enum(kinds, mj.sensor_type[s])
        what = None
        if kind not in SENSOR_TYPES:
            what, supported = f"type '{kind}'", ", ".join(SENSOR_TYPES)
        elif kind.startswith("frame") and mj.sensor_objtype[s] not in frames:
            what, supported = f"objtype '{_enum(obj, mj.sensor_objtype[s])}'", "body, xbody, geom, site"
        elif mj.sensor_refid[s] >= 0 and mj.sensor_reftype[s] not in frames:
            what, supported = f"reftype '{_enum(obj, mj.sensor_reftype[s])}'", "body, xbody, geom, site"
        elif mj.sensor_history[s].any() or mj.sensor_delay[s] or mj.sensor_interval[s].any():
            what, supported = "a delay or an interval", "sensors without"
        if what:
            element = mujoco.mj_id2name(mj, obj.mjOBJ_SENSOR, s) or s
            raise UnsupportedError(f"{name}: sensor '{element}': {what} is not supported; supported: {supported}")


def disabled_actuators(mj: mujoco.MjModel) -> np.ndarray:
    """Which actuators are in a group that the option `actuatorgroupdisable` turns off."""
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
