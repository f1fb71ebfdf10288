"""Forces that depend on nothing but positions and velocities, beside those of joints: fluids, tendons, weights."""

import numpy as np
import pytest
from compare import assert_matches
from test_features import ROD, SLIDES, body, scene

from acesim_rl import Simulation

INTEGRATORS = ("Euler", "RK4", "implicitfast", "implicit")
FLUIDS = {
    "dense": "density='1000'",
    "viscous": "viscosity='.5'",
    "both": "density='4000' viscosity='.1'",
    "wind": "density='100' viscosity='.2' wind='1 -2 .5'",
}
CHAIN = body("<joint axis='0 1 0'/>", ROD + body("<joint type='slide' axis='1 1 0'/>", ROD))


@pytest.mark.parametrize("fluid", FLUIDS)
def test_fluids(fluid):
    option = f"<option {FLUIDS[fluid]}/>"
    assert_matches(scene(body("<freejoint/>"), option), spread=1.0, speed=3.0, smooth=1e-5)
    branches = body("<joint axis='1 0 0'/>", ROD + CHAIN)
    assert_matches(scene(branches, option), spread=1.0, speed=3.0, smooth=1e-5)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_fluids_and_integrators(integrator):
    option = f"<option density='4000' viscosity='2' wind='1 0 0' integrator='{integrator}'/>"
    assert_matches(scene(CHAIN, option), spread=1.0, speed=3.0, smooth=1e-5)
    assert_matches(scene(body("<freejoint/>"), option), spread=1.0, speed=3.0, smooth=1e-5)


def pulled(tendon: str, joints: str = "<joint joint='a' coef='1.5'/><joint joint='b' coef='-.7'/>") -> str:
    inside = ROD + body("<joint name='b' axis='1 0 0' range='-10 10' damping='.1'/>")
    two = body("<joint name='a' axis='0 1 0' ref='10'/>", inside)
    return two, f"<tendon><fixed {tendon}>{joints}</fixed><fixed><joint joint='b' coef='2'/></fixed></tendon>"


TENDONS = {
    "slack": "",
    "spring": "stiffness='5'",
    "spring with a rest length": "stiffness='5' springlength='.2'",
    "spring with a dead band": "stiffness='5' springlength='-.1 .1'",
    "damper": "damping='2'",
    "polynomials": "stiffness='5 3 8' damping='1 .2 .3' springlength='-.1 .1'",
    "both": "stiffness='8' damping='1'",
    "limit": "range='-.2 .3'",
    "limit with everything": "range='-.2 .3' margin='.02' solreflimit='.03 .8' solimplimit='.8 .9 .01' stiffness='3'",
}


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("tendon", TENDONS)
def test_tendons(tendon, integrator):
    two, extra = pulled(TENDONS[tendon])
    assert_matches(scene(two, f"<option integrator='{integrator}'/>", extra), spread=0.5, speed=2.0)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("model", ["chain", "free", "ball on ball"])
def test_integrators(model, integrator):
    """Fast motion, so that the derivative of Coriolis forces counts."""
    made = {
        "chain": body(
            "<joint axis='0 1 0' damping='.5'/>", ROD + body("<joint axis='1 0 0' pos='.1 0 0'/>", ROD + CHAIN)
        ),
        "free": body("<freejoint/>", "<inertial pos='.1 .02 .03' mass='2' diaginertia='.1 .15 .2'/>"),
        "ball on ball": body("<joint type='ball' damping='.02'/>", ROD + body("<joint type='ball' pos='.1 .1 .1'/>")),
    }[model]
    option = f"<option integrator='{integrator}' timestep='.01'/>"
    assert_matches(scene(made, option), spread=1.0, speed=4.0, smooth=1e-5)


@pytest.mark.parametrize("solver", ("Newton", "CG", "PGS"))
@pytest.mark.parametrize("poly", ("", "polycoef='.1 .5 .3 .2 .1'"))
def test_tendon_equality_and_friction(poly, solver):
    joints = "<joint joint='b' coef='1.5'/><joint joint='a' coef='-.7'/>"
    two, extra = pulled("name='t' frictionloss='.3' solreffriction='.03 .9' solimpfriction='.8 .9 .01 .5 2'")
    extra = extra.replace("</tendon>", f"<fixed name='s' frictionloss='.1'>{joints}</fixed></tendon>")
    option = f"<option solver='{solver}' tolerance='1e-10' iterations='300'/>"
    assert_matches(scene(two, option, extra), spread=0.5, speed=2.0, rows=True, constrained=3e-4)
    for other in ("", "tendon2='s'"):
        text = f"<equality><tendon tendon1='t' {other} {poly} solref='.03 1'/></equality>"
        assert_matches(scene(two, option, extra + text), spread=0.5, speed=2.0, rows=True, constrained=3e-4)


POLYNOMIALS = {
    "hinge": body("<joint axis='0 1 0' stiffness='3 2 9' springref='20' damping='.1 .05 .02'/>", ROD + CHAIN),
    "slide": body("<joint type='slide' stiffness='0 0 90'/>") + body("<joint damping='.1 0 .03'/>"),
    "ball": body("<joint type='ball' stiffness='.3 1 2' damping='.02 .01 .003'/>"),
    "free": body("<joint type='free' stiffness='3 1 2' damping='.02 .01 .01'/>"),
}


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("joint", POLYNOMIALS)
def test_polynomial_springs_and_dampers(joint, integrator):
    assert_matches(scene(POLYNOMIALS[joint], f"<option integrator='{integrator}'/>"), spread=0.5, speed=2.0)


FLAGS = ("gravity", "spring", "damper", "clampctrl", "actuation", "eulerdamp")


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("flag", FLAGS)
def test_flags(flag, integrator):
    two, extra = pulled("name='t' stiffness='5' damping='.2'")
    two = two.replace("axis='0 1 0'", "axis='0 1 0' stiffness='3 1' damping='.1 .2'")
    two = two.replace("pos='.1", "gravcomp='.5' pos='.1", 1)
    extra += "<actuator><motor joint='a' ctrlrange='-.1 .1'/>"
    option = f"<option integrator='{integrator}' density='100'><flag {flag}='disable'/></option>"
    more = "<intvelocity joint='b' kp='3' actrange='-5 5'/><velocity tendon='t' kv='.3'/></actuator>"
    for actuators in ("</actuator>", more):
        assert_matches(scene(two, option, extra + actuators), spread=0.5, speed=2.0)


def test_weights_that_are_compensated():
    arm = body(
        "<joint axis='0 1 0'/>", ROD + body("<joint axis='1 0 0'/>", ROD, "pos='.1 .2 .3' gravcomp='.7'"),
        "pos='.1 0 0' gravcomp='1'",
    )  # fmt: skip
    assert_matches(scene(arm), spread=1.0)
    assert_matches(scene(body("<freejoint/>", ROD, "gravcomp='1.5'"), "<option gravity='1 2 -9'/>"), spread=1.0)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_mocap(integrator):
    world = (
        "<geom type='plane' size='5 5 .1' pos='0 0 .05'/>"
        "<body pos='.5 0 0' euler='10 0 0' mocap='true'><geom size='.1' contype='0' conaffinity='0'/></body>"
        f"<body mocap='true' pos='0 0 .1'><geom size='.1'/></body>"
        f"<body pos='.15 0 .1'>{SLIDES}<geom size='.12'/></body>"
    )
    assert_matches(scene(world, f"<option integrator='{integrator}'/>"), spread=0.05, contacts=True)


KEYS = (
    "<keyframe><key name='home' qpos='.1' qvel='.2' ctrl='.3' act='.4' time='5' mpos='1 2 3' mquat='0 1 0 0'/>"
    "<key qpos='.7'/></keyframe><actuator><intvelocity name='m' joint='hip' actrange='-1 1'/></actuator>"
)


def test_keyframes():
    model = scene(body("<joint name='hip'/>") + "<body mocap='true' pos='3 2 1'><geom size='.1'/></body>", "", KEYS)
    state = Simulation(model, 3, device="cpu").groups[0].state
    state.reset([1], keyframe="home")
    state.reset([2], keyframe=1)
    for name, values in {
        "qpos": (0, 0.1, 0.7), "qvel": (0, 0.2, 0), "ctrl": (0, 0.3, 0), "act": (0, 0.4, 0), "time": (0, 5, 0),
    }.items():  # fmt: skip
        np.testing.assert_allclose(state.get(name)[:, 0], values, rtol=1e-6)
    np.testing.assert_allclose(state.get("mocap_pos")[:, 0], [(3, 2, 1), (1, 2, 3), (3, 2, 1)])
    np.testing.assert_allclose(state.get("mocap_quat")[:, 0], [(1, 0, 0, 0), (0, 1, 0, 0), (1, 0, 0, 0)])
    with pytest.raises(ValueError, match="no keyframe 'away'; there are: home, 1"):
        state.reset(keyframe="away")
