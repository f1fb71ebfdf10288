"""Every element of MJCF that the engine simulates, one small model each, against MuJoCo in the same states."""

import numpy as np
import pytest
from compare import assert_matches

from acesim_rl import Simulation

ROD = "<geom type='capsule' size='.05' fromto='0 0 0 .3 .02 .1' contype='0' conaffinity='0'/>"
SLIDES = "".join(f"<joint type='slide' axis='{axis}'/>" for axis in ("1 0 0", "0 1 0", "0 0 1"))
FLOOR = "<geom type='plane' size='5 5 .1'/>"
RK4 = "<option integrator='RK4'/>"


def scene(world: str, option: str = "", extra: str = "") -> str:
    return f"<mujoco>{option}<worldbody>{world}</worldbody>{extra}</mujoco>"


def body(joints: str, inside: str = ROD, attributes: str = "pos='.1 .2 .3' euler='10 20 30'") -> str:
    return f"<body {attributes}>{joints}{inside}</body>"


def ball_geom(attributes: str = "", pos: str = "0 0 .09") -> str:
    return f"<body pos='{pos}'><freejoint/><geom size='.1' {attributes}/></body>"


JOINTS = {
    "hinge": body("<joint axis='0 1 .2' pos='.1 .02 0' ref='20'/>"),
    "slide": body("<joint type='slide' axis='.3 1 .2' pos='.1 .02 0' ref='.2'/>"),
    "ball": body("<joint type='ball' pos='.1 .02 0'/>"),
    "free": body("<freejoint/>"),
    "free, axes through the centre of mass": body("<freejoint align='true'/>"),
    "three hinges": body(
        "<joint axis='0 1 .2' pos='.1 .02 0'/><joint axis='1 0 0' pos='0 .1 0'/><joint pos='0 .1 .3'/>"
    ),
    "slides and a hinge": body(
        "<joint type='slide' axis='0 1 .2'/><joint axis='1 0 0' pos='0 .1 0'/><joint type='slide' ref='.3'/>"
    ),
    "slides and a ball": body(SLIDES + "<joint type='ball' pos='0 .1 0'/>"),
    "ball on ball": body("<joint type='ball'/>", ROD + body("<joint type='ball' pos='.1 .1 .1'/>")),
    "chain": body(
        "<joint axis='0 1 0'/>", ROD + body("<joint axis='1 0 0'/>", ROD + body("<joint type='slide' axis='1 1 0'/>"))
    ),
    "branches": body("<freejoint/>", ROD + 3 * body("<joint axis='0 1 0' pos='0 .1 0'/>")),
    "several trees": body("<joint axis='0 1 0'/>") + body("<joint type='slide'/>") + body("<joint axis='1 0 0'/>"),
    "a body without joints in the chain": body(
        "<freejoint/>", ROD + body("", ROD + body("<joint type='ball' pos='.1 0 0'/>"))
    ),
    "full inertia": body(
        "<joint type='ball'/>", "<inertial pos='.01 .02 .03' mass='2' fullinertia='.1 .12 .15 .01 .02 .03'/>"
    ),
    "frames": "<frame pos='.1 0 .2' euler='0 30 0'>" + body("<joint axis='1 1 0'/>") + "</frame>",
}  # fmt: skip


@pytest.mark.parametrize("name", JOINTS)
def test_joints(name):
    assert_matches(scene(JOINTS[name]), spread=1.0, contacts=False, rows=False)
    assert_matches(scene(JOINTS[name], RK4), runs=2, spread=1.0, seed=1)


@pytest.mark.parametrize("joint", ["hinge", "slide", "ball", "free"])
def test_springs(joint):
    spring = {"hinge": "springref='30' ref='10'", "slide": "springref='.1' ref='.2'"}.get(joint, "")
    assert_matches(scene(body(f"<joint type='{joint}' stiffness='3' {spring}/>")), spread=2.0)
    if spring:
        assert_matches(scene(body(f"<joint type='{joint}' springdamper='.1 .7'/>")))


EULER_DAMP_OFF = "<option><flag eulerdamp='disable'/></option>"


@pytest.mark.parametrize("option", ["", EULER_DAMP_OFF, RK4], ids=["implicit", "explicit", "RK4"])
@pytest.mark.parametrize("joint", ["ball", "free", "chain"])
def test_damping_and_armature(joint, option):
    damped = body(f"<joint type='{joint}' damping='.3' armature='.02'/>") if joint != "chain" else body(
        "<joint axis='0 1 0' damping='3'/>",
        ROD + body("<joint armature='.1'/>", ROD + body("<joint type='slide' axis='1 0 0' damping='5'/>")),
    )  # fmt: skip
    assert_matches(scene(damped, option), spread=1.0, speed=3.0)


LIMITS = {
    "hinge": ("<joint axis='0 1 0' range='-10 15'/>", 0.3),
    "hinge with margin": ("<joint axis='0 1 0' range='-10 15' margin='.05'/>", 0.3),
    "slide": ("<joint type='slide' axis='1 0 0' range='-.05 .02'/>", 0.1),
    "both sides at once": (
        "<joint axis='0 1 0' range='-1 1' margin='.1'/><joint type='slide' range='-.01 .02' margin='.04'/>", 0.05
    ),
    "ball": ("<joint type='ball' range='0 40'/>", 0.8),
    "ball with margin": ("<joint type='ball' range='0 40' margin='.2'/>", 0.6),
    "solver parameters": ("<joint axis='0 1 0' range='-5 5' solreflimit='.01 .7' solimplimit='.7 .95 .05 .3 4'/>", 0.3),
    "direct solver parameters": ("<joint type='slide' range='-.01 .02' solreflimit='-1000 -10'/>", 0.1),
}  # fmt: skip


@pytest.mark.parametrize("name", LIMITS)
def test_limits(name):
    joints, spread = LIMITS[name]
    theirs = assert_matches(scene(body(joints)), spread=spread, rows=True, contacts=False)
    if name == "both sides at once":
        assert theirs.counts[:, 1].max() == 4


MOTORS = {
    "hinge and slide": (
        "<joint name='a' axis='0 1 0'/><joint name='b' type='slide'/>",
        "<motor joint='a' gear='3' ctrlrange='-.5 .4'/><motor joint='b' gear='-2' forcerange='-.3 .2'/>"
        "<general joint='a' gainprm='7' gear='2'/>",
    ),
    "ball": ("<joint name='a' type='ball'/>", "<motor joint='a' gear='3 1 -2'/><motor joint='a' gear='0 1 0'/>"),
    "free": ("<freejoint name='a'/>", "<motor joint='a' gear='3 1 -2 .1 .2 .3'/><motor joint='a' gear='0 1 0 0 0 1'/>"),
}


@pytest.mark.parametrize("name", MOTORS)
def test_motors(name):
    joints, motors = MOTORS[name]
    assert_matches(scene(body(joints), "", f"<actuator>{motors}</actuator>"), spread=1.0)


def free(geom: str, attributes: str = "") -> str:
    return f"<body {attributes}><freejoint/><geom {geom}/></body>"


CAPSULE = "type='capsule' size='.1 .3'"
PAIRS = {
    "plane, sphere": (scene(FLOOR + ball_geom()), 0.05),
    "plane, capsule": (scene(FLOOR + free(CAPSULE, "pos='0 0 .15' euler='80 0 0'")), 0.3),
    "tilted plane, capsule": (
        scene("<geom type='plane' size='5 5 .1' euler='20 10 5' pos='.1 .2 .03'/>" + free(CAPSULE, "pos='0 0 .2'")), 0.2
    ),
    "plane, upright capsule": (scene(FLOOR + f"<body pos='0 0 .38'>{SLIDES}<geom {CAPSULE}/></body>"), 0.03),
    "sphere, sphere": (scene("<geom size='.1'/>" + free("size='.12'", "pos='.15 0 .1'")), 0.05),
    "sphere, side of a capsule": (scene(f"<geom {CAPSULE}/>" + free("size='.12'", "pos='.15 0 .1'")), 0.1),
    "sphere, end of a capsule": (scene(f"<geom {CAPSULE}/>" + free("size='.12'", "pos='0 0 .45'")), 0.15),
    "crossing capsules": (scene(f"<geom {CAPSULE}/>" + free(CAPSULE, "pos='.15 0 0' euler='90 0 0'")), 0.1),
    "capsules, side and end": (scene(f"<geom {CAPSULE}/>" + free(CAPSULE, "pos='.45 0 0' euler='0 90 0'")), 0.1),
    "capsules end to end": (scene(f"<geom {CAPSULE}/>" + free(CAPSULE, "pos='0 0 .75'")), 0.15),
    "capsules, almost parallel": (scene(f"<geom {CAPSULE}/>" + free(CAPSULE, "pos='.15 0 .1'")), 0.003),
    "capsules, parallel but for noise": (scene(f"<geom {CAPSULE}/>" + free(CAPSULE, "pos='.15 0 .1'")), 3e-5),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name):
    model, spread = PAIRS[name]
    assert_matches(model, runs=12, spread=spread, contacts=True, speed=min(1.0, 10.0 * spread))


@pytest.mark.parametrize("euler", ["0 0 0", "0 90 0", "30 40 50"])
@pytest.mark.parametrize("name", ["side by side", "turned around", "one beyond the other"])
def test_parallel_capsules(name, euler):
    place = {
        "side by side": "pos='.15 0 .1'",
        "turned around": "pos='.15 .05 .1' euler='180 0 0'",
        "one beyond the other": "pos='.05 0 .68'",
    }[name]
    moving = f"<body {place}>{SLIDES}<geom type='capsule' size='.12 .2'/></body>"
    world = f"<body euler='{euler}'><geom {CAPSULE}/>{moving}</body>"
    theirs = assert_matches(scene(world), spread=0.05, contacts=True)
    assert theirs.counts[:, 0].max() == 2


def test_two_bodies_that_move():
    """In different trees, and two branches of one tree; the latter share degrees of freedom."""
    apart = body("<joint axis='0 1 0'/><joint type='slide'/>", "<geom size='.1'/>") + "".join(
        f"<body pos='{x} .2 .3'><joint type='slide'/><joint axis='0 1 0'/><geom {CAPSULE}/></body>" for x in (0.25, 0.4)
    )
    arm = "<body pos='{} 0 0'><joint axis='0 1 0'/><geom {}/></body>"
    base = "<geom size='.05' contype='0' conaffinity='0'/>"
    arms = arm.format(0.1, CAPSULE) + arm.format(0.25, "size='.08'")
    tree = body("<joint type='ball'/><joint type='slide'/>", base + arms)
    for model in (apart, tree):
        assert_matches(scene(model), spread=0.1, contacts=True)


FILTERS = {
    "contype": scene(
        "<geom type='plane' size='5 5 .1' contype='2' conaffinity='4'/>"
        + "".join(
            f"<body pos='{x} 0 .09'><joint type='slide'/><joint axis='0 1 0'/><geom size='.1' {bits}/></body>"
            for x, bits in (
                (0.0, "contype='1' conaffinity='2'"), (0.1, "contype='4' conaffinity='0'"),
                (0.2, "contype='1' conaffinity='8'"),
            )
        )
    ),
    "exclude": scene(
        FLOOR + "".join(
            f"<body name='{name}' pos='{x} 0 .09'>{SLIDES}<geom size='.1'/></body>"
            for name, x in (("a", 0.0), ("b", 0.1), ("c", 0.2))
        ),
        extra="<contact><exclude body1='b' body2='a'/><exclude body1='world' body2='c'/></contact>",
    ),
    "parent": scene(
        FLOOR + body("<freejoint/>", "<geom size='.1'/><body pos='.1 0 0'><geom size='.05'/>" + "".join(
            f"<body pos='.1 {y} 0'><joint axis='0 1 0'/><geom size='.08'/></body>" for y in (-0.1, 0, 0.12)
        ) + "</body>", "pos='0 0 .1'")
    ),
    "static bodies": scene(
        "<body pos='0 0 -.1' euler='10 0 0'><geom size='.1'/><body pos='.1 0 0'><geom type='plane' size='1 1 1'/>"
        f"<body pos='.05 .05 0'>{SLIDES}<geom size='.1'/></body></body></body>"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FILTERS)
def test_which_geoms_touch(name):
    assert_matches(FILTERS[name], spread=0.05, contacts=True)
    if name == "parent":
        unfiltered = FILTERS[name].replace("<worldbody>", "<option><flag filterparent='disable'/></option><worldbody>")
        more = assert_matches(unfiltered, spread=0.05, contacts=True)
        assert more.counts[0, 0] > assert_matches(FILTERS[name], spread=0.05).counts[0, 0]


MARGINS = [
    ("margin='.01'", "margin='.02'"),
    ("margin='.01' gap='.015'", "margin='.02' gap='.02'"),
    ("gap='.03'", ""),
    ("margin='-.01'", "margin='.02' gap='.01'"),
]


@pytest.mark.parametrize("first, second", MARGINS)
def test_margin_and_gap(first, second):
    floor = f"<geom type='plane' size='5 5 .1' {first}/>"
    theirs = assert_matches(scene(floor + ball_geom(second, "0 0 .13")), runs=16, spread=0.05, contacts=True)
    silent = (theirs.counts[:, 0] > 0) & (theirs.counts[:, 1] == 0)
    assert silent.any() == ("gap" in first + second)


ONE = (
    "condim='1'", "friction='.3'", "friction='2'", "priority='1' friction='.2' solref='.04 1'", "solmix='3'",
    "solmix='0'", "solref='.05 .5'", "solref='-1000 -20'", "solref='.001 1'", "solimp='.5 .99 .01 .3 3'",
    "solimp='.8 .9 .003 .7 1'", "solimp='.8 .9 .003 .7 1.5'", "solimp='.95 .5 .01'", "solimp='.5 .95 0'",
    "solimp='.9 .9 .001'",
    "solimp='.5 .9 .01 0 2'",
)  # fmt: skip
OTHER = (
    "", "condim='1'", "friction='.8' solmix='2' solref='.03 1.2' solimp='.6 .95 .02 .5 2'", "priority='1' condim='1'",
    "solref='-500 -30'", "solmix='0'",
)  # fmt: skip


@pytest.mark.parametrize("other", OTHER)
def test_contact_parameters(other):
    """All combinations with ONE, as spheres side by side that touch one floor; three slides each, so nv stays small."""
    for k in range(0, len(ONE), 3):
        spheres = "".join(
            f"<body pos='{x} 0 .095'>{SLIDES}<geom size='.1' {one}/></body>" for x, one in enumerate(ONE[k : k + 3])
        )
        assert_matches(
            scene(f"<geom type='plane' size='5 5 .1' {other}/>{spheres}"), spread=0.01, contacts=True, constrained=2e-4
        )


@pytest.mark.parametrize("option", ["", RK4], ids=["Euler", "RK4"])
def test_quaternions_that_are_not_of_unit_length(option):
    """MuJoCo normalises them, and takes zero as no rotation."""
    simulation = Simulation(scene(body("<freejoint/>", attributes=""), option), 4, device="cpu")
    state = simulation.groups[0].state
    quats = np.array([[2, 1, 0, 3], [-0.1, 0.2, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]], float)
    state.set("qpos", np.hstack([np.zeros((4, 3)), quats]))
    state.set("qvel", np.arange(6.0))
    unit = quats / np.maximum(np.linalg.norm(quats, axis=1, keepdims=True), 1e-15)
    unit[2] = (1, 0, 0, 0)
    simulation.forward()
    np.testing.assert_allclose(state.get("xquat")[:, 1], unit, atol=1e-6)
    simulation.step()
    after = state.get("qpos")[:, 3:]
    np.testing.assert_allclose(np.linalg.norm(after, axis=1), 1.0, atol=1e-6)
    np.testing.assert_allclose(after[2], after[3], atol=1e-6)
