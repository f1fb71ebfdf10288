"""Solvers, cones and kinds of constraints, one small model each, against MuJoCo in the same states."""

from pathlib import Path

import gymnasium
import mujoco
import numpy as np
import pytest
import warp as wp
from compare import Reference, assert_matches

from acesim_rl import Model, Simulation
from acesim_rl.parameters import Parameters
from acesim_rl.scheduler import check
from acesim_rl.state import StateData

FLOOR = "<geom type='plane' size='5 5 .1'/>"
SLIDES = "".join(f"<joint type='slide' axis='{axis}'/>" for axis in ("1 0 0", "0 1 0", "0 0 1"))


def scene(world: str, option: str = "", extra: str = "") -> str:
    return f"<mujoco><option {option}/><worldbody>{world}</worldbody>{extra}</mujoco>"


def arm(geom: str = "", joint: str = "") -> str:
    """A slide and two hinges with narrow limits; capsules on a floor (nv 3)."""
    return FLOOR + (
        f"<body pos='0 0 .05'><joint type='slide' axis='0 0 1'/><joint axis='0 1 0' range='-2 3' {joint}/>"
        f"<geom type='capsule' fromto='0 0 0 .3 0 0' size='.04' {geom}/>"
        "<body pos='.35 0 0'><joint axis='0 .8 .6' range='-3 2'/>"
        f"<geom type='capsule' fromto='0 0 0 .25 0 0' size='.04' {geom}/></body></body>"
    )


def lander(geom: str = "", option: str = "") -> str:
    """A free body with three balls as feet (nv 6): contacts that share all degrees of freedom."""
    feet = "".join(f"<geom size='.05' pos='{x} {y} -.1' {geom}/>" for x, y in ((0.2, 0.0), (-0.1, 0.17), (-0.1, -0.17)))
    return scene(FLOOR + f"<body pos='0 0 .145'><freejoint/><geom size='.1'/>{feet}</body>", option)


def hedgehog() -> str:
    """A free body with eleven balls as feet: more rows than PGS forms a matrix for (nv 6: 32)."""
    feet = "".join(
        f"<geom size='.05' pos='{0.2 * np.cos(k):.3f} {0.2 * np.sin(k):.3f} -.1' mass='.1'/>" for k in range(11)
    )
    return scene(FLOOR + f"<body pos='0 0 .14'><freejoint/><geom size='.1'/>{feet}</body>")


SCENES = {
    "many rows": (hedgehog(), 0.01),
    "limits and contacts": (scene(arm()), 0.1),
    "frictionless": (scene(arm("condim='1'")), 0.1),
    "feet": (lander(), 0.03),
    "feet of several kinds": (lander("condim='1' friction='.4' solref='.03 1.2'"), 0.03),
}  # fmt: skip


def with_option(model: str, option: str) -> str:
    return model.replace("<option ", f"<option {option} ")


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
@pytest.mark.parametrize("iterations", [1, 3, 50])
@pytest.mark.parametrize("name", SCENES)
def test_pgs(name, iterations, integrator):
    """Not converged, so rows must be visited in MuJoCo's order, from the same start."""
    model, spread = SCENES[name]
    model = with_option(model, f"solver='PGS' iterations='{iterations}' integrator='{integrator}'")
    assert_matches(model, runs=4, spread=spread, rows=True, constrained=1e-4)


@pytest.mark.parametrize("flag", ["warmstart", "island"])
def test_pgs_flags(flag):
    model = lander().replace("/><worldbody>", f"><flag {flag}='disable'/></option><worldbody>", 1)
    assert_matches(with_option(model, "solver='PGS' iterations='4'"), spread=0.03, rows=True, constrained=1e-4)


EXACT = "iterations='1000' tolerance='1e-14'"
"""So that MuJoCo converges."""


@pytest.mark.parametrize("name", SCENES)
def test_cg(name):
    model, spread = SCENES[name]
    assert_matches(with_option(model, f"solver='CG' {EXACT}"), runs=4, spread=spread, rows=True)


FRICTION = {
    "hinge": (arm("", "frictionloss='.4'"), 0.1),
    "large and small": (
        "<body><joint type='slide' frictionloss='5'/><joint axis='0 1 0' frictionloss='.01'/>"
        "<joint type='slide' axis='1 0 0'/><geom size='.1' pos='.1 0 0'/></body>",
        0.4,
    ),
    "ball": (
        "<body><joint type='ball' frictionloss='.02' solreffriction='.05 1'/><geom size='.1' pos='.1 0 0'/></body>", 1.0
    ),
    "solver parameters": (
        arm("", "frictionloss='.3' solreffriction='-10 -5' solimpfriction='.5 .9 .01' solreflimit='.03 1'"),
        0.1,
    ),
}  # fmt: skip

PAIR = (
    "<body name='a' pos='0 0 1'>{}<geom size='.1' pos='.1 0 0' contype='0' conaffinity='0'/>"
    "<site name='s' pos='.1 .02 .03' euler='10 20 30'/></body>"
    "<body name='b' pos='.3 .1 1' euler='10 20 30'>{}<geom size='.1' pos='0 .1 0' contype='0' conaffinity='0'/>"
    "<site name='t' pos='-.1 .02 .03' euler='40 20 30'/></body>"
)
HINGES = (
    "<joint name='{0}' axis='0 1 0'/><joint name='{0}2' axis='1 0 .3' range='-20 20'/>"
    "<joint name='{0}3' type='slide' axis='1 0 0'/>"
)
BODIES = PAIR.format(HINGES.format("p"), HINGES.format("q"))
EQUALITY = {
    "connect": "<connect body1='a' body2='b' anchor='.1 .05 0'/>",
    "connect to the world": "<connect body1='b' anchor='.1 .05 0' solref='.05 .7'/>",
    "connect by sites": "<connect site1='s' site2='t'/>",
    "weld": "<weld body1='a' body2='b'/>",
    "weld to the world": "<weld body1='a' torquescale='.3' anchor='.1 .2 .3'/>",
    "weld with a pose": "<weld body1='a' body2='b' relpose='.2 .1 0 .7 .1 .2 .3' solimp='.8 .95 .1 .3 3'/>",
    "weld by sites": "<weld site1='s' site2='t' torquescale='2'/>",
    "joint": "<joint joint1='p' joint2='q' polycoef='.1 .5 .3 -.2 .1'/>",
    "slide and hinge": "<joint joint1='p3' joint2='q' polycoef='0 .1 .1 0 0' solref='.01 1'/>",
    "joint alone": "<joint joint1='p' polycoef='.2 0 0 0 0'/>",
    "several": (
        "<joint joint1='p2' joint2='q2'/><connect body1='a' body2='b' anchor='0 0 .1'/>"
        "<joint joint1='q' active='false'/>"
    ),
}  # fmt: skip
METHODS = {"newton": "", "cg": f"solver='CG' {EXACT}", "pgs": "solver='PGS' iterations='5'"}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", FRICTION)
def test_friction_loss(name, method):
    world, spread = FRICTION[name]
    assert_matches(scene(world, METHODS[method]), runs=4, spread=spread, rows=True, constrained=1e-4)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", EQUALITY)
def test_equality(name, method):
    model = scene(BODIES, METHODS[method], f"<equality>{EQUALITY[name]}</equality>")
    assert_matches(model, runs=4, spread=0.3, rows=True, constrained=1e-4)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("option", ["", "impratio='5'"])
@pytest.mark.parametrize("geom", ["condim='1'", "condim='3'", "condim='4'", "condim='6'", "condim='6' {slippery}"])
def test_cones(geom, option, cone, method):
    geom = geom.format(slippery="friction='.3 .05 .02' priority='1'")
    model = lander(geom, f"cone='{cone}' {METHODS[method]} {option}")
    theirs = assert_matches(model, runs=6, spread=0.03, speed=1.0, rows=True, contacts=True, constrained=5e-5)
    if cone == "elliptic" and geom != "condim='1'" and method != "pgs":
        assert "middle" in parts_of_cones(model, theirs)


def parts_of_cones(model: str, states: Reference) -> set[str]:
    """Where MuJoCo's cones are in these states."""
    mj = Model.from_mjcf(model).mj
    data = mujoco.MjData(mj)
    found: set[int] = set()
    for k in range(len(states.qpos)):
        for key in ("qpos", "qvel", "qacc_warmstart"):
            getattr(data, key)[:] = getattr(states, key)[k]
        mujoco.mj_forward(mj, data)
        found |= {int(data.efc_state[contact.efc_address]) for contact in data.contact if contact.efc_address >= 0}
    names = {"SATISFIED": "top", "QUADRATIC": "bottom", "CONE": "middle"}
    return {names[mujoco.mjtConstraintState(state).name.removeprefix("mjCNSTRSTATE_")] for state in found}


@pytest.mark.parametrize("method", ["newton", "pgs"])
@pytest.mark.parametrize("friction", [0, 1e-3, 1e-2])
def test_little_friction(friction, method):
    """MuJoCo's pyramids get the stiffer, the less friction there is, far beyond float32."""
    model = lander(f"friction='{friction}' priority='1'", METHODS[method])
    assert_matches(model, runs=6, spread=0.03, speed=1.0, contacts=True, constrained=1e-3)


@pytest.mark.parametrize("friction", [0, 1e-2])
def test_little_friction_of_what_cannot_leave(friction):
    """On a rail along the floor: nothing moves along the normal, so the force is stiffness times depth."""
    rail = (
        f"<body pos='0 0 .0999'><joint type='slide' axis='1 0 0'/><geom size='.1' friction='{friction}' priority='1'/>"
    )
    assert_matches(scene(FLOOR + rail + "</body>"), runs=6, contacts=True, constrained=3e-4)


PILE = (
    "<geom type='plane' size='5 5 .1' condim='{0}'/>"
    "<body pos='0 0 .095'><freejoint/><geom size='.1' condim='{0}'/></body>"
    "<body pos='.15 0 .17'><joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/>"
    "<joint axis='0 1 0' frictionloss='.02' range='-1 1'/><geom type='capsule' size='.08 .1' condim='{0}'/></body>"
)


@pytest.mark.parametrize("method", ["newton", "cg"])
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("condim", [3, 6])
def test_everything_at_once(condim, cone, method):
    """Two trees that touch each other and the floor, friction loss, a limit, a connect (nv 9)."""
    model = everything(method, cone) if condim == 6 else scene(PILE.format(3), f"cone='{cone}' {METHODS[method]}")
    theirs = assert_matches(model, runs=6, spread=0.03, contacts=True, constrained=5e-5)
    assert theirs.counts[:, 0].max() >= 3


@pytest.mark.parametrize("iterations", [3, 50])
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("extra", ["", "<equality><connect body1='b' anchor='.1 0 0'/></equality>"])
def test_islands(extra, cone, iterations):
    """Two trees, sometimes in contact with each other: PGS takes each island by itself."""
    world = PILE.format(3).replace("<body pos='.15", "<body name='b' pos='.18")
    model = scene(world, f"cone='{cone}' solver='PGS' iterations='{iterations}'", extra)
    theirs = assert_matches(model, runs=8, spread=0.03, rows=True, constrained=3e-4)
    assert islands(model, theirs) == {1, 2}


def islands(model: str, states: Reference) -> set[int]:
    """Numbers of MuJoCo's islands in these states."""
    mj = Model.from_mjcf(model).mj
    data = mujoco.MjData(mj)
    found = set()
    for k in range(len(states.qpos)):
        data.qpos[:], data.qvel[:] = states.qpos[k], states.qvel[k]
        mujoco.mj_forward(mj, data)
        found.add(data.nisland)
    return found


def everything(method: str, cone: str) -> str:
    """Friction loss, a limit, a connect and contacts of condim 6."""
    world = PILE.format(6).replace("<body ", "<body name='a' ", 1).replace("<body pos='.15", "<body name='b' pos='.15")
    hold = "<equality><connect body1='a' body2='b' anchor='.1 0 0'/></equality>"
    return scene(world, f"cone='{cone}' {METHODS[method]}", hold)


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("method", METHODS)
def test_what_solvers_access(method, cone):
    """The scheduler knows all that the native functions read and write, and schedules give the same bits."""
    group = Simulation(everything(method, cone), 3, device="cpu", scheduler="serial").groups[0]
    group.state.set("qvel", np.random.default_rng(0).normal(size=(3, 9)))
    operations = [*group.emit_step(), *group.emit_forward(), *group.emit_rne_post_constraint()]
    assert check(operations) == len(operations)
    found = []
    for scheduler in ("serial", "ace-sw"):
        simulation = Simulation(everything(method, cone), 130, device="cpu", scheduler=scheduler)
        state = simulation.groups[0].state
        state.set("qvel", np.random.default_rng(0).normal(size=(130, 9)))
        simulation.step(10)
        assert state.get("nefc").max() > 10
        found.append(b"".join(state.get(name).tobytes() for name in StateData.vars))
    assert found[0] == found[1]


@pytest.mark.parametrize(("balls", "nrow", "nformed"), [(0, 0, 0), (1, 4, 8), (3, 12, 16), (9, 36, 32)])
def test_room_of_the_formed_matrix(balls, nrow, nformed):
    """PGS forms the matrix of as many rows as a model can have, in whole chunks, of four chunks at most."""
    geoms = "<geom size='.1'/>" * balls + "<geom size='.1' contype='0' conaffinity='0'/>"
    model = Model.from_mjcf(scene(f"{FLOOR}<body><joint/>{geoms}</body>", "solver='PGS' iterations='3'"))
    assert (model.nrow, model.nformed) == (nrow, nformed)
    orders = Parameters(model, 2, wp.get_device("cpu")).data.pgs_orders
    assert orders.shape[0] == 3 * nformed * (nformed + 1) // 2
    model.mj.opt.iterations = -1  # as in MuJoCo that is none
    assert Parameters(model, 2, wp.get_device("cpu")).data.pgs_orders.shape[0] == 0


@pytest.mark.parametrize("name", ["humanoid", "humanoidstandup"])
def test_humanoid(name):
    """Gymnasium's files, which ask for PGS, as they are."""
    file = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / f"{name}.xml"
    theirs = assert_matches(Model.from_mjcf(file), runs=5, steps=30, spread=0.1, rows=True, contacts=True, smooth=1e-5)
    assert theirs.counts[:, 1].max() > 8
