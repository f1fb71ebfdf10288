"""What of MuJoCo the engine simulates: one small model a feature; `features.py` compares them with MuJoCo.

Models share few numbers of degrees of freedom, since solvers are compiled for each.
"""

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["SIMULATED", "Feature"]


@dataclass(frozen=True)
class Feature:
    """A model, and how its trajectory begins."""

    chapter: str
    name: str
    xml: str
    spread: float = 0.3
    """How far the start lies from the initial state [m or rad]."""
    speed: float = 1.0
    """Standard deviation of the velocities at the start [m/s or rad/s]."""
    tolerance: float = 1e-4
    """The largest error, relative to the largest value of a field along the trajectory."""
    note: str = ""
    """Why the tolerance is larger, where it is."""
    refused: str = ""
    """The element that the refusal names, where the engine does not simulate the feature."""


FLOOR = "<geom type='plane' size='5 5 .1'/>"
ROD = "<geom type='capsule' size='.05' fromto='0 0 0 .3 .02 .1' contype='0' conaffinity='0'/>"
SLIDES = "".join(f"<joint type='slide' axis='{axis}'/>" for axis in ("1 0 0", "0 1 0", "0 0 1"))
EXACT = "iterations='1000' tolerance='1e-14'"
"""So that MuJoCo's solver converges."""
EXACT_CCD = "ccd_tolerance='1e-9' ccd_iterations='200'"
"""MuJoCo's iterations for convex shapes end at 1e-6 m by default."""


def scene(world: str, option: str = "", extra: str = "", flag: str = "") -> str:
    return f"<mujoco><option {option}><flag {flag}/></option><worldbody>{world}</worldbody>{extra}</mujoco>"


def body(joints: str, inside: str = ROD, attributes: str = "pos='.1 .2 .3' euler='10 20 30'") -> str:
    return f"<body {attributes}>{joints}{inside}</body>"


def double(first: str = "", second: str = "", attributes: str = "pos='.1 .2 .3' euler='10 20 30'") -> str:
    """Two hinges (nv 2)."""
    lower = body(f"<joint name='b' axis='1 0 .2' {second}/>", ROD + "<site name='tip' pos='.3 0 .1' euler='20 30 40'/>")
    base = "<site name='base' pos='.1 0 0' euler='0 20 0'/>"
    return body(f"<joint name='a' axis='0 1 0' {first}/>", ROD + base + lower, attributes)


def lander(geom: str = "") -> str:
    """A free body with three balls as feet (nv 6): contacts that share all degrees of freedom."""
    feet = "".join(f"<geom size='.05' pos='{x} {y} -.1' {geom}/>" for x, y in ((0.2, 0.0), (-0.1, 0.17), (-0.1, -0.17)))
    return f"{FLOOR}<body pos='0 0 .145'><freejoint/><geom size='.1'/>{feet}</body>"


def leg() -> str:
    """A slide and two hinges with narrow limits, springs and friction loss; capsules on a floor (nv 3)."""
    inner = "<joint name='b' axis='0 .8 .6' range='-1 1' frictionloss='.1'/>"
    return FLOOR + (
        "<body pos='0 0 .05'><joint type='slide' axis='0 0 1' damping='2'/>"
        "<joint name='a' axis='0 1 0' range='-2 3' stiffness='90' damping='1'/>"
        "<geom type='capsule' fromto='0 0 0 .3 0 0' size='.04' solref='.003 1' priority='1'/>"
        f"<body pos='.35 0 0'>{inner}<geom type='capsule' fromto='0 0 0 .25 0 0' size='.04'/></body></body>"
    )


LEG_MORE = (
    "<equality><joint joint1='a' joint2='b' polycoef='0 .5 0 0 0'/></equality>"
    "<actuator><motor joint='a' gear='50' ctrlrange='-.1 .1'/></actuator>"
    "<sensor><jointpos joint='a'/></sensor>"
)
INTEGRATORS = {
    "Euler": "integrator='Euler'",
    "RK4": "integrator='RK4'",
    "implicit": "integrator='implicit'",
    "implicitfast": "integrator='implicitfast'",
}
SOLVERS = {
    "Newton": "solver='Newton'",
    "CG": f"solver='CG' {EXACT}",
    "PGS": "solver='PGS'",
    "PGS, 3 iterations": "solver='PGS' iterations='3'",
    "jacobian sparse": "jacobian='sparse'",
}
DISABLED = (
    "constraint", "equality", "frictionloss", "limit", "contact", "spring", "damper", "gravity", "clampctrl",
    "warmstart", "filterparent", "actuation", "refsafe", "sensor", "midphase", "eulerdamp", "nativeccd", "island",
    "multiccd",
)  # fmt: skip
OPTIONS = {"timestep": "timestep='.005'", "gravity": "gravity='1 -2 3'"}
FLUIDS = {
    "density": "density='1000'",
    "viscosity": "viscosity='.5'",
    "wind": "density='100' viscosity='.2' wind='1 -2 .5'",
}
BODIES = {
    "inertial": body(
        "<joint type='ball'/>", "<inertial pos='.01 .02 .03' mass='2' fullinertia='.1 .12 .15 .01 .02 .03'/>"
    ),
    "gravcomp": double(attributes="pos='.1 .2 .3' gravcomp='.7'"),
    "frame": "<frame pos='.1 0 .2' euler='0 30 0'>" + double() + "</frame>",
    "body without joints": body("<freejoint/>", ROD + body("", ROD)),
    "several trees": body("<joint axis='0 1 0'/>") + body("<joint type='slide'/>") + body("<joint axis='1 0 0'/>"),
    "geoms that cannot collide": body(
        "<joint axis='0 1 0'/><joint type='slide'/>",
        "".join(
            f"<geom type='{kind}' size='.1 .2 .3' contype='0' conaffinity='0' pos='.1 0 0'/>"
            for kind in ("box", "ellipsoid", "cylinder")
        ),
    ),
    "mocap": "<body mocap='true' pos='0 0 .1'><geom size='.1'/></body>"
    f"<body pos='.15 0 .1'>{SLIDES}<geom size='.12'/></body>",
}
JOINTS = {
    "hinge": "<joint axis='0 1 .2' pos='.1 .02 0'/>",
    "slide": "<joint type='slide' axis='.3 1 .2' pos='.1 .02 0'/>",
    "ball": "<joint type='ball' pos='.1 .02 0'/>",
    "free": "<freejoint/>",
    "freejoint align": "<freejoint align='true'/>",
    "three on a body": "<joint axis='0 1 .2' pos='.1 .02 0'/><joint axis='1 0 0'/><joint pos='0 .1 .3'/>",
    "ref": "<joint axis='0 1 .2' ref='20'/>",
    "armature": "<joint axis='0 1 .2' armature='.1'/>",
    "damping": "<joint type='ball' damping='.3'/>",
    "damping, polynomial": "<joint axis='0 1 0' damping='.1 .05 .02'/>",
    "stiffness": "<joint type='ball' stiffness='3'/>",
    "stiffness, polynomial": "<joint axis='0 1 0' stiffness='3 2 9'/>",
    "springref": "<joint axis='0 1 0' stiffness='3' springref='30'/>",
    "springdamper": "<joint axis='0 1 0' springdamper='.1 .7'/>",
}
LIMITS = {
    "range of a hinge": "<joint axis='0 1 0' range='-10 15'/>",
    "range of a slide": "<joint type='slide' axis='0 0 1' range='-.05 .02'/>",
    "range of a ball": "<joint type='ball' range='0 20'/>",
    "margin": "<joint axis='0 1 0' range='-10 15' margin='.05'/>",
    "solreflimit, solimplimit": "<joint axis='0 1 0' range='-5 5' solreflimit='.01 .7' solimplimit='.7 .95 .05 .3 4'/>",
    "frictionloss": "<joint axis='0 1 0' frictionloss='.4'/><joint type='slide' frictionloss='5'/><joint/>",
    "frictionloss of a ball": "<joint type='ball' frictionloss='.02' solreffriction='.05 1'/>",
}
GEOMS = {
    "plane": "type='plane' size='5 5 .1'",
    "sphere": "type='sphere' size='.1'",
    "capsule": "type='capsule' size='.1 .2'",
    "cylinder": "type='cylinder' size='.15 .1'",
    "box": "type='box' size='.15 .2 .1'",
}
HEIGHTS = {"plane": 0.0, "sphere": 0.1, "capsule": 0.1, "cylinder": 0.1, "box": 0.1}
"""How high each geom reaches above its centre; capsules lie, one across the other."""
RIM = "MuJoCo picks other points of the same area, corners of a polygon in place of the rim"
RIMS = {"capsule-cylinder": 5e-3, "cylinder-cylinder": 0.1, "cylinder-box": 0.5}
"""Pairs where that shows, and the errors that it makes."""
CONTACTS = {
    "friction": "friction='.3' priority='1'",
    "solref": "solref='.05 .5'",
    "solref, direct": "solref='-1000 -20'",
    "solimp": "solimp='.5 .99 .01 .3 3'",
    "margin": "margin='.01'",
    "gap": "margin='.005' gap='.02'",
    "priority": "priority='1' friction='.2' solref='.04 1'",
    "solmix": "solmix='3' solref='.04 1'",
    "contype, conaffinity": "contype='2' conaffinity='4'",
}
HINGES = (
    "<joint name='{0}' axis='0 1 0'/><joint name='{0}2' axis='1 0 .3' range='-20 20'/>"
    "<joint name='{0}3' type='slide' axis='1 0 0'/>"
)
TWO = (
    f"<body name='a' pos='0 0 1'>{HINGES.format('p')}<geom size='.1' pos='.1 0 0' contype='0' conaffinity='0'/>"
    "<site name='s' pos='.1 .02 .03' euler='10 20 30'/></body>"
    f"<body name='b' pos='.3 .1 1' euler='10 20 30'>{HINGES.format('q')}"
    "<geom size='.1' pos='0 .1 0' contype='0' conaffinity='0'/>"
    "<site name='t' pos='-.1 .02 .03' euler='40 20 30'/></body>"
)
"""Two bodies with three joints each (nv 6)."""
EQUALITY = {
    "connect": "<connect body1='a' body2='b' anchor='.1 .05 0'/>",
    "connect to the world": "<connect body1='b' anchor='.1 .05 0' solref='.05 .7'/>",
    "connect, sites": "<connect site1='s' site2='t'/>",
    "weld": "<weld body1='a' body2='b'/>",
    "weld, relpose": "<weld body1='a' body2='b' relpose='.2 .1 0 .7 .1 .2 .3' solimp='.8 .95 .1 .3 3'/>",
    "weld, sites": "<weld site1='s' site2='t' torquescale='2'/>",
    "joint": "<joint joint1='p' joint2='q' polycoef='.1 .5 .3 -.2 .1'/>",
    "joint alone": "<joint joint1='p' polycoef='.2 0 0 0 0'/>",
    "tendon": "<tendon tendon1='u' tendon2='v' polycoef='.1 .5 .3 .2 .1'/>",
    "active": "<joint joint1='p2' joint2='q2'/><joint joint1='q' active='false'/>",
}
EQUAL_TENDONS = "<tendon>{}</tendon>".format(
    "".join(f"<fixed name='{t}'><joint joint='{j}' coef='1.5'/></fixed>" for t, j in (("u", "p"), ("v", "q")))
)
TENDONS = {
    "fixed": "",
    "stiffness": "stiffness='5'",
    "springlength": "stiffness='5' springlength='-.1 .1'",
    "damping": "damping='2'",
    "stiffness and damping, polynomials": "stiffness='5 3 8' damping='1 .2 .3'",
    "range": "range='-.2 .3' margin='.02'",
    "frictionloss": "frictionloss='.3' solreffriction='.03 .9'",
}
TENDON = "<fixed name='t' {}><joint joint='a' coef='1.5'/><joint joint='b' coef='-.7'/></fixed>"
ACTUATORS = {
    "motor": "<motor joint='a' gear='3' ctrlrange='-.5 .4' forcerange='-.3 .2'/>",
    "position": "<position joint='a' kp='20' kv='3'/>",
    "position, dampratio": "<position joint='b' kp='50' dampratio='1'/>",
    "position, timeconst": "<position joint='b' kp='50' timeconst='.05'/>",
    "velocity": "<velocity joint='a' kv='20'/>",
    "intvelocity": "<intvelocity joint='a' kp='20' kv='2' actrange='-.6 .6'/>",
    "damper": "<damper joint='a' kv='5' ctrlrange='0 1'/>",
    "cylinder": "<cylinder joint='a' timeconst='.05' area='3' bias='1 -2 -.3'/>",
    "general, integrator": "<general joint='a' dyntype='integrator' gainprm='3' actrange='-.5 .5'/>",
    "general, filter": "<general joint='a' dyntype='filter' dynprm='.03' gainprm='3'/>",
    "general, filterexact": "<general joint='b' dyntype='filterexact' dynprm='.03' gainprm='3'/>",
    "actearly": "<general joint='b' dyntype='filterexact' dynprm='.03' gainprm='30' actearly='true'/>",
    "affine gain": "<general joint='a' gaintype='affine' gainprm='2 3 4'/>",
    "affine bias": "<general joint='a' biastype='affine' biasprm='.1 .2 .3'/>",
    "jointinparent": "<position jointinparent='a' kp='3' kv='1'/>",
    "tendon": "<position tendon='t' kp='20' kv='2' gear='1.5'/>",
    "site": "<motor site='tip' gear='1 2 3 .1 .2 .3'/>",
    "refsite": "<position site='tip' refsite='base' gear='1 .5 .2 .1 .2 .3' kp='10' kv='1'/>",
}
HAND = (
    FLOOR + "<site name='fixed' pos='1 2 3' euler='10 20 30'/>"
    "<body name='hand' pos='0 0 .08' euler='5 10 15'><freejoint/><geom name='ball' size='.1' pos='.01 .02 .03'/>"
    "<site name='palm' pos='.05 .02 .01' euler='40 0 20' size='.2'/>"
    "<body name='thumb' pos='.2 .1 .1' euler='0 20 10'>"
    "<joint name='hinge' axis='0 1 .3' stiffness='2 3 4' damping='.1'/>"
    "<geom name='bone' type='capsule' size='.05 .1' pos='.05 0 0' euler='0 80 0'/><site name='tip' pos='.1 0 .1'/>"
    "<body name='nail' pos='.1 0 .2'><joint name='slide' type='slide' axis='1 0 1'/>"
    "<geom name='end' size='.04' pos='.02 0 .01'/></body></body></body>"
    "<body name='other' pos='0 .5 .09'><joint name='socket' type='ball' stiffness='1 2 1'/>"
    "<geom size='.1' pos='.1 0 0'/></body>"
)
"""A free body with a finger, and another that swings (nv 11)."""
HAND_MORE = (
    "<tendon><fixed name='t' stiffness='3 2 1' springlength='.1'><joint joint='hinge' coef='2'/>"
    "<joint joint='slide' coef='-1'/></fixed></tendon>"
    "<actuator><motor name='m' joint='hinge' gear='3'/><motor name='s' joint='slide'/></actuator>"
)
FRAMES = ("framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis", "framelinvel", "frameangvel")
SENSORS = {
    "touch": "<touch site='palm'/>",
    **{kind: f"<{kind} site='tip'/>" for kind in ("accelerometer", "velocimeter", "gyro", "force", "torque")},
    "magnetometer": "<magnetometer site='tip'/>",
    **{kind: f"<{kind} objtype='geom' objname='bone'/>" for kind in (*FRAMES, "framelinacc", "frameangacc")},
    **{f"{kind}, reftype": f"<{kind} objtype='site' objname='tip' reftype='body' refname='other'/>" for kind in FRAMES},
    **{kind: f"<{kind} body='thumb'/>" for kind in ("subtreecom", "subtreelinvel", "subtreeangmom")},
    **{kind: f"<{kind} joint='hinge'/>" for kind in ("jointpos", "jointvel", "jointactuatorfrc")},
    **{kind: f"<{kind} tendon='t'/>" for kind in ("tendonpos", "tendonvel")},
    **{kind: f"<{kind} actuator='m'/>" for kind in ("actuatorpos", "actuatorvel", "actuatorfrc")},
    **{kind: f"<{kind} joint='socket'/>" for kind in ("ballquat", "ballangvel")},
    "e_potential": "<e_potential/>",
    "e_kinetic": "<e_kinetic/>",
    "clock": "<clock/>",
    "cutoff": "<accelerometer site='tip' cutoff='5'/>",
}


def _simulated() -> Iterator[Feature]:
    for name, option in INTEGRATORS.items():
        world = scene(double("damping='.5'", "damping='.1'"), option, "<actuator><velocity joint='b'/></actuator>")
        yield Feature("Integrators", name, world, spread=1.0, speed=4.0)
    for name, option in SOLVERS.items():
        yield Feature("Solvers", name, scene(lander(), option), spread=0.03)
    for cone in ("pyramidal", "elliptic"):
        for solver in ("Newton", "CG", "PGS"):
            option = f"cone='{cone}' impratio='5' {SOLVERS[solver]}"
            yield Feature("Solvers", f"{solver}, cone {cone}, impratio", scene(lander(), option), spread=0.03)
    balls = "".join(f"<body pos='{x} 0 .095'>{SLIDES}<geom size='.1'/></body>" for x in (0, 1))
    option, islands = SOLVERS["PGS, 3 iterations"], "PGS, 3 iterations, 2 islands"
    yield Feature("Solvers", islands, scene(FLOOR + balls, option), spread=0.03)
    together = scene(FLOOR + balls, option, flag="island='disable'")
    yield Feature("Solvers", f"{islands}, island disable", together, spread=0.03)
    for name, option in OPTIONS.items():
        yield Feature("Options", name, scene(leg(), option, LEG_MORE), spread=0.05)
    for flag in DISABLED:
        yield Feature("Options", f"{flag} disable", scene(leg(), "", LEG_MORE, f"{flag}='disable'"), spread=0.05)
    flags = "energy='enable' fwdinv='enable' invdiscrete='enable'"
    yield Feature("Options", "energy, fwdinv, invdiscrete enable", scene(leg(), "", LEG_MORE, flags), spread=0.05)
    for name, option in FLUIDS.items():
        yield Feature("Fluids", name, scene(double(), option), speed=3.0)
    compiler = "<compiler angle='radian' eulerseq='zyx' inertiafromgeom='true' balanceinertia='true' boundmass='.1'/>"
    yield Feature("Bodies", "compiler", f"<mujoco>{compiler}<worldbody>{double()}</worldbody></mujoco>")
    for name, world in BODIES.items():
        yield Feature("Bodies", name, scene(world), spread=0.05 if name == "mocap" else 0.3)
    for name, joints in JOINTS.items():
        yield Feature("Joints", name, scene(body(joints)), spread=1.0)
    for name, joints in LIMITS.items():
        yield Feature("Limits and friction loss", name, scene(body(joints)))
    for k, first in enumerate(GEOMS):
        for second in list(GEOMS)[max(k, 1) :]:
            name = f"{first}-{second}"
            height = HEIGHTS[first] + HEIGHTS[second] + 0.005
            turn = "0 90 0" if second == "capsule" else "0 0 0"
            lying = "euler='90 0 0'" if first == "capsule" else ""
            world = f"<geom {GEOMS[first]} {lying}/>"
            world += f"<body pos='.02 .03 {height}' euler='{turn}'><freejoint/><geom {GEOMS[second]}/></body>"
            more = {"tolerance": RIMS[name], "note": RIM} if name in RIMS else {}
            yield Feature("Geom pairs", name, scene(world, EXACT_CCD), spread=0.01, speed=0.2, **more)
    for condim in (1, 3, 4, 6):
        for cone in ("pyramidal", "elliptic"):
            world = lander(f"condim='{condim}' friction='.8 .05 .02' priority='1'")
            yield Feature("Contacts", f"condim {condim}, {cone}", scene(world, f"cone='{cone}'"), spread=0.03)
    for name, text in CONTACTS.items():
        yield Feature("Contacts", name, scene(lander(text)), spread=0.03)
    for name, extra in {
        "exclude": "<exclude body1='a' body2='b'/>",
        "pair": "<pair geom1='a' geom2='floor' condim='4' friction='.5 .9 .1 .001 .001' solref='.03 1' margin='.01'/>",
    }.items():
        balls = "".join(
            f"<body name='{b}' pos='{x} 0 .09'>{SLIDES}<geom name='{b}' size='.1'/></body>"
            for b, x in (("a", 0), ("b", 0.19))
        )
        floor = "<geom name='floor' type='plane' size='5 5 .1'/>"
        yield Feature("Contacts", name, scene(floor + balls, "", f"<contact>{extra}</contact>"), spread=0.02)
    for name, text in EQUALITY.items():
        tendons = EQUAL_TENDONS if name == "tendon" else ""
        yield Feature("Equality", name, scene(TWO, "", f"{tendons}<equality>{text}</equality>"))
    for name, text in TENDONS.items():
        yield Feature("Tendons", name, scene(double(), "", f"<tendon>{TENDON.format(text)}</tendon>"), speed=2.0)
    for name, text in ACTUATORS.items():
        tendon = f"<tendon>{TENDON.format('')}</tendon>" if name == "tendon" else ""
        yield Feature("Actuators", name, scene(double(), "", f"{tendon}<actuator>{text}</actuator>"), speed=2.0)
    position = "<actuator><position joint='a' kp='20' group='2'/><position joint='b' kp='20'/></actuator>"
    yield Feature("Actuators", "actuatorgroupdisable", scene(double(), "actuatorgroupdisable='2'", position))
    limited = double("actuatorfrcrange='-1 1.5'")
    yield Feature("Actuators", "actuatorfrcrange of a joint", scene(limited, "", position))
    lifted = double("actuatorgravcomp='true' actuatorfrcrange='-.5 .5'", attributes="pos='.1 .2 .3' gravcomp='.7'")
    yield Feature("Actuators", "actuatorgravcomp of a joint", scene(lifted, "", position))
    for name, text in SENSORS.items():
        extra = f"{HAND_MORE}<sensor>{text}</sensor>"
        yield Feature("Sensors", name, scene(HAND, "magnetic='1 2 3'", extra), spread=0.1)


SIMULATED = tuple(_simulated())
"""All of them, by chapters of MuJoCo's documentation."""
