"""Actuators of every kind that the engine simulates, against MuJoCo in the same states."""

import pytest
from compare import assert_matches
from test_features import ROD, body, scene

INTEGRATORS = ("Euler", "RK4", "implicitfast", "implicit")
SITE = "<site name='tip' pos='.3 .02 .1' euler='20 30 40'/>"
ARM = body(
    "<joint name='a' axis='0 1 0'/>",
    ROD + "<site name='base' pos='.1 0 0' euler='0 20 0'/>"
    + body("<joint name='b' type='slide' axis='1 0 .2'/>", ROD + SITE),
)  # fmt: skip
TENDON = "<tendon><fixed name='t'><joint joint='a' coef='1.5'/><joint joint='b' coef='-2'/></fixed></tendon>"


def check(actuators: str, *, arm: str = ARM, integrator: str = "Euler", option: str = "", **limits):
    options = f"<option integrator='{integrator}' {option}/>"
    return assert_matches(
        scene(arm, options, f"{TENDON if arm is ARM else ''}<actuator>{actuators}</actuator>"),
        **{"spread": 0.5, "speed": 2.0} | limits,
    )


KINDS = {
    "position": "<position joint='a' kp='20'/>",
    "position with damping": "<position joint='a' kp='20' kv='3'/><position joint='b' kp='50' dampratio='1'/>",
    "position with limits": "<position joint='a' kp='20' kv='1' forcerange='-5 5' ctrlrange='-.3 .4'/>",
    "velocity": "<velocity joint='a' kv='20'/><velocity joint='b' kv='20' forcerange='-8 8'/>",
    "damper": "<damper joint='a' kv='5' ctrlrange='0 1'/><damper joint='b' kv='50' ctrlrange='.2 .3'/>",
    "intvelocity": "<intvelocity joint='a' kp='20' kv='2' actrange='-.6 .6'/>",
    "cylinder": "<cylinder joint='a' timeconst='.05' area='3' bias='1 -2 -.3'/>",
    "integrator": "<general joint='a' dyntype='integrator' gainprm='3'/><motor joint='b'/>",
    "integrator with a range": "<general joint='a' dyntype='integrator' gainprm='3' actrange='-.5 .5'/>",
    "filter": "<general joint='a' dyntype='filter' dynprm='.03' gainprm='3'/><motor joint='a'/>",
    "filterexact": "<general joint='b' dyntype='filterexact' dynprm='.03' gainprm='3' actrange='-1.1 1'/>",
    "actearly": "<general joint='b' dyntype='filterexact' dynprm='.03' gainprm='30' actearly='true' actrange='-1 1'/>"
    "<general joint='a' dyntype='integrator' gainprm='30' actearly='true'/>",
    "affine gain": "<general joint='a' gaintype='affine' gainprm='2 3 4' biastype='affine' biasprm='.1 .2 .3'/>"
    "<general joint='b' gaintype='affine' gainprm='2 3 4' dyntype='integrator' actearly='true'/>",
    "tendon": "<position tendon='t' kp='20' kv='2' gear='1.5'/><motor tendon='t'/>",
    "site": "<motor site='tip' gear='1 2 3 .1 .2 .3'/><motor site='tip' gear='0 0 0 0 1 0'/>",
    "site on the way": "<motor site='base' gear='1 2 3 .1 .2 .3'/>",
    "site against another": "<position site='tip' refsite='base' gear='1 .5 .2 .1 .2 .3' kp='10' kv='1'/>"
    "<position site='base' refsite='tip' gear='0 0 1 0 0 0' kp='10' kv='1'/>",
}


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("kind", KINDS)
def test_kinds(kind, integrator):
    check(KINDS[kind], integrator=integrator)


JOINTS = {
    "ball": body("<joint name='a' type='ball'/>"),
    "free": body("<freejoint name='a'/>"),
}


@pytest.mark.parametrize("integrator", ("Euler", "implicit"))
@pytest.mark.parametrize("transmission", ("joint", "jointinparent"))
@pytest.mark.parametrize("joint", JOINTS)
def test_joints_with_several_dofs(joint, transmission, integrator):
    gear = "1 2 3 .1 .2 .3"
    check(
        f"<position {transmission}='a' gear='{gear}' kp='3' kv='1'/><motor {transmission}='a' gear='{gear}'/>",
        arm=JOINTS[joint], integrator=integrator, spread=1.0,
    )  # fmt: skip


def test_jointinparent_of_a_hinge():
    check("<position jointinparent='a' kp='3' kv='1'/><motor jointinparent='b' gear='3'/>")


def test_site_against_one_on_another_tree():
    world = body("<joint axis='0 1 0'/>", ROD + SITE) + body("<joint type='slide'/>", ROD + "<site name='other'/>")
    world += "<site name='fixed' pos='1 1 1' euler='0 0 30'/>"
    check(
        "<position site='tip' refsite='other' gear='1 2 3 .1 .2 .3' kp='3' kv='1'/>"
        "<position site='tip' refsite='fixed' gear='1 2 3 .1 .2 .3' kp='3' kv='1'/>",
        arm=world,
    )


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("driver", ["<velocity tendon='t' kv='1'/>", "<damper tendon='t' kv='1' ctrlrange='0 1'/>", ""])
def test_tendons_between_branches(driver, integrator):
    """MuJoCo's implicit integrators leave out derivatives between dofs that have no common path."""
    branches = body("<joint name='b'/>") + body("<joint name='c' axis='1 0 0'/>")
    arm = body("<joint name='a' axis='0 1 0'/>", ROD + branches)
    joints = "".join(f"<joint joint='{name}' coef='1.5'/>" for name in "abc")
    extra = f"<tendon><fixed name='t' damping='.2'>{joints}</fixed></tendon><actuator>{driver}</actuator>"
    assert_matches(scene(arm, f"<option integrator='{integrator}'/>", extra), spread=0.5, speed=2.0)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_joint_force_ranges(integrator):
    arm = body("<joint name='a' axis='0 1 0' actuatorfrcrange='-1 1.5'/>", ROD + body("<joint name='b' axis='1 0 0'/>"))
    check(
        "<position joint='a' kp='20' kv='4'/><motor joint='a' gear='.5'/><motor joint='b' gear='9'/>",
        arm=arm, integrator=integrator,
    )  # fmt: skip


@pytest.mark.parametrize("limit", ("", "actuatorfrcrange='-1 .5'"))
def test_gravity_compensated_by_actuators(limit):
    joints = f"<joint name='a' axis='0 1 0' actuatorgravcomp='true' {limit}/><joint name='b' axis='1 0 0'/>"
    arm = body(joints, ROD, "pos='.1 0 0' gravcomp='.9'")
    check("<motor joint='a' gear='.5'/>", arm=arm)
    check("<motor joint='a' gear='.5'/>", arm=arm.replace("gravcomp='.9'", ""))


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_disabled_groups(integrator):
    check(
        "<intvelocity joint='a' kp='3' kv='1' actrange='-1 1' group='2'/><position joint='b' kp='5' group='1'/>"
        "<general joint='b' dyntype='filter' dynprm='.1' group='1'/><motor joint='a' group='2'/>",
        integrator=integrator, option="actuatorgroupdisable='2'",
    )  # fmt: skip
