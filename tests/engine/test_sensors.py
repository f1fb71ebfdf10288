"""Sensors, energy, and what lies between bodies, against MuJoCo in the same states."""

import mujoco
import numpy as np
import pytest
from compare import STATE, reference
from test_features import FLOOR, scene

from acesim_rl import Model, Simulation
from acesim_rl.mjcf import UnsupportedError

ARM = (
    FLOOR + "<site name='fixed' pos='1 2 3' euler='10 20 30'/>"
    "<body name='hand' pos='0 0 .08' euler='5 10 15'><freejoint/><geom name='ball' size='.1' pos='.01 .02 .03'/>"
    "<site name='palm' pos='.05 .02 .01' euler='40 0 20' size='.05'/>"
    "<body name='thumb' pos='.2 .1 .1' euler='0 20 10'>"
    "<joint name='hinge' axis='0 1 .3' stiffness='2 3 4' damping='.1'/>"
    "<geom name='bone' type='capsule' size='.05 .1' pos='.05 0 0' euler='0 80 0'/><site name='tip' pos='.1 0 .1'/>"
    "<body name='nail' pos='.1 0 .2'><joint name='slide' type='slide' axis='1 0 1'/>"
    "<geom name='end' size='.04' pos='.02 0 .01'/></body></body></body>"
    "<body name='other' pos='0 .5 .09'><joint name='socket' type='ball' stiffness='1 2 1'/>"
    "<geom size='.1' pos='.1 0 0'/></body>"
)
MORE = (
    "<tendon><fixed name='t' stiffness='3 2 1' springlength='.1'><joint joint='hinge' coef='2'/>"
    "<joint joint='slide' coef='-1'/></fixed></tendon>"
    "<actuator><motor name='m' joint='hinge' gear='3'/><motor name='s' joint='slide'/></actuator>"
)
OBJECTS = ("body' objname='thumb", "xbody' objname='thumb", "geom' objname='bone", "site' objname='tip")
REFERENCES = ("site' refname='fixed", "xbody' refname='other", "body' refname='nail", "geom' refname='ball")
FRAMES = ("framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis", "framelinvel", "frameangvel")
SENSORS = {
    **{
        f"{kind} {thing.split(chr(39))[0]}": f"<{kind} objtype='{thing}'/>"
        for kind in (*FRAMES, "framelinacc", "frameangacc") for thing in OBJECTS
    },
    **{
        f"{kind} {thing.split(chr(39))[0]} in {ref.split(chr(39))[0]}": f"<{kind} objtype='{thing}' reftype='{ref}'/>"
        for kind in FRAMES for thing, ref in zip(OBJECTS, REFERENCES, strict=True)
    },
    **{
        f"{kind} {site}": f"<{kind} site='{site}'/>"
        for kind in ("accelerometer", "velocimeter", "gyro", "force", "torque", "magnetometer")
        for site in ("palm", "tip", "fixed") if site == "tip" or kind not in ("force", "torque")
    },
    **{
        f"{kind} {name}": f"<{kind} body='{name}'/>"
        for kind in ("subtreecom", "subtreelinvel", "subtreeangmom") for name in ("hand", "thumb", "nail", "world")
    },
    "jointpos": "<jointpos joint='hinge'/><jointpos joint='slide' cutoff='.05'/>",
    "jointvel": "<jointvel joint='hinge'/><jointvel joint='slide' cutoff='.5'/>",
    "jointactuatorfrc": "<jointactuatorfrc joint='hinge'/><jointactuatorfrc joint='slide'/>",
    "tendonpos": "<tendonpos tendon='t'/>",
    "tendonvel": "<tendonvel tendon='t'/>",
    "actuatorpos": "<actuatorpos actuator='m'/><actuatorpos actuator='s'/>",
    "actuatorvel": "<actuatorvel actuator='m'/>",
    "actuatorfrc": "<actuatorfrc actuator='m'/>",
    "ballquat": "<ballquat joint='socket'/>",
    "ballangvel": "<ballangvel joint='socket' cutoff='2'/>",
    "clock": "<clock/>",
    "energy": "<e_potential/><e_kinetic/>",
    "cutoffs": "<accelerometer site='tip' cutoff='5'/><touch site='palm' cutoff='1'/>",
}  # fmt: skip


def compare(model: Model, fields: tuple[str, ...], emit: str, speed: float = 2.0, spread: float = 0.2) -> dict:
    """Our fields and MuJoCo's [states, ...] in the same states."""
    mj = model.mj
    states = reference(mj, runs=8, steps=5, spread=spread, speed=speed)
    simulation = Simulation(model, len(states.qpos), device="cpu", scheduler="serial")
    group = simulation.groups[0]
    for key in STATE:
        group.state.set(key.removesuffix("_warmstart"), getattr(states, key))
    simulation.forward()
    simulation.run(emit, getattr(group, f"emit_{emit}"))
    data = mujoco.MjData(mj)
    theirs: dict[str, list] = {field: [] for field in fields}
    for k in range(len(states.qpos)):
        mujoco.mj_resetData(mj, data)
        for key in STATE:
            getattr(data, key)[:] = getattr(states, key)[k]
        mujoco.mj_forward(mj, data)
        mujoco.mj_rnePostConstraint(mj, data)
        mujoco.mj_energyPos(mj, data)
        mujoco.mj_energyVel(mj, data)
        for field in fields:
            theirs[field].append(getattr(data, field).copy())
    return {field: (group.state.get(field), np.array(theirs[field])) for field in fields}


def close(ours: np.ndarray, theirs: np.ndarray, tolerance: float) -> None:
    assert np.abs(ours - theirs).max() <= tolerance * max(np.abs(theirs).max(), 1e-6)


def test_sensors():
    sensors = "".join(SENSORS.values())
    model = Model.from_mjcf(scene(ARM, "<option magnetic='1 2 3'/>", f"{MORE}<sensor>{sensors}</sensor>"))
    ours, theirs = compare(model, ("sensordata",), "sensors")["sensordata"]
    cuts = np.cumsum([text.count("<") for text in SENSORS.values()])[:-1]
    places = np.split(np.arange(model.mj.nsensor), cuts)
    for name, sensors in zip(SENSORS, places, strict=True):
        at = np.concatenate([model.mj.sensor_adr[k] + np.arange(model.mj.sensor_dim[k]) for k in sensors])
        error = np.abs(ours[:, at] - theirs[:, at]).max() / max(np.abs(theirs[:, at]).max(), 1e-6)
        allowed = 5e-5 if name == "cutoffs" else 2e-5  # what is left of far larger accelerations
        assert error < allowed, f"{name}: {error:.1e}"


ZONES = ("sphere' size='.06", "box' size='.05 .02 .04", "ellipsoid' size='.06 .02 .03", "capsule' size='.02 .05",
         "cylinder' size='.03 .04")  # fmt: skip


@pytest.mark.parametrize("condim", [1, 3])
@pytest.mark.parametrize("zone", ZONES)
def test_touch(zone, condim):
    """Two spheres side by side over a floor, with zones around and beside their lowest points."""
    option = f"<default><geom condim='{condim}'/></default>"
    site = f"<site name='{{}}' type='{zone}' pos='{{}}' euler='20 30 40'/>"
    under = site.format("a", "0 0 -.1") + site.format("b", ".03 .02 -.1") + site.format("c", "0 0 .02")
    world = FLOOR + f"<body pos='0 0 .095'><freejoint/><geom size='.1'/>{under}</body>"
    world += f"<body pos='.19 0 .1'><freejoint/><geom size='.1'/>{site.format('d', '-.1 0 .02')}</body>"
    sensors = "".join(f"<touch site='{name}'/>" for name in "abcd")
    model = Model.from_mjcf(scene(world, option, f"<sensor>{sensors}</sensor>"))
    ours, theirs = compare(model, ("sensordata",), "sensors", spread=0.02, speed=0.2)["sensordata"]
    close(ours, theirs, 2e-4)
    assert (theirs[:, 0] > 0).any() and (theirs[:, 1:] > 0).any()


def test_internal_forces_and_energy():
    model = Model.from_mjcf(scene(ARM, "", MORE))
    found = compare(model, ("cacc", "cfrc_int", "cfrc_ext"), "internal_forces")
    for ours, theirs in found.values():
        close(ours[:, 1:], theirs[:, 1:], 1e-4)
    close(*compare(model, ("energy",), "energy")["energy"], 1e-5)


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
def test_sensors_of_a_step(integrator):
    """A step leaves the sensors of the state that it began with."""
    sensors = "<jointpos joint='hinge'/><accelerometer site='tip'/><clock/>"
    model = scene(ARM, f"<option integrator='{integrator}'/>", f"{MORE}<sensor>{sensors}</sensor>")
    simulation = Simulation(model, 1, device="cpu", sensors=True)
    mj = simulation.groups[0].model.mj
    data = mujoco.MjData(mj)
    for _ in range(3):
        mujoco.mj_step(mj, data)
        simulation.step()
    close(simulation.groups[0].state.get("sensordata")[0], data.sensordata, 1e-4)
    simulation.forward()
    mujoco.mj_forward(mj, data)
    close(simulation.groups[0].state.get("sensordata")[0], data.sensordata, 1e-4)


def test_sensors_without_a_value():
    """They do no harm to those who do not ask; which ones: test_feature_models.py."""
    model = scene(ARM, "", f"{MORE}<sensor><rangefinder name='far' site='palm'/></sensor>")
    group = Simulation(model, 1, device="cpu").groups[0]
    with pytest.raises(UnsupportedError, match="sensor 'far': type 'rangefinder' is not supported; supported: "):
        group.emit_sensors()
