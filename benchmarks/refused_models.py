"""What of MuJoCo the engine refuses: one small model a feature, and the element that the refusal must name."""

from collections.abc import Iterator

from feature_models import Feature

__all__ = ["REFUSED", "leg"]


def leg(joint="", geom="", body="", option="", flag="", motor="<motor name='motor' joint='hip'/>", world="", extra=""):
    """A pendulum over a floor, with something added."""
    return f"""<mujoco><option {option}><flag {flag}/></option>
    <worldbody><geom name='floor' type='plane' size='5 5 .1'/><body name='leg' pos='0 0 1' {body}>
    <joint name='hip' axis='0 1 0' {joint}/><site name='tip' pos='.3 0 0'/><camera name='eye'/>
    <geom name='shin' type='capsule' fromto='0 0 0 .3 0 0' size='.05' {geom}/></body>{world}</worldbody>
    <actuator>{motor}</actuator>{extra}</mujoco>"""


OPTIONS = {
    ("Integrators", "discrete"): leg(option="integrator='discrete'"),
    ("Solvers", "noslip_iterations"): leg(option="noslip_iterations='3'", world="<geom size='.05' pos='.25 0 .91'/>"),
    **{
        ("Options", f"{flag} enable"): leg(flag=f"{flag}='enable'")
        for flag in ("override", "diagexact", "speculative", "sleep")
    },
    ("Options", "autoreset disable"): leg(flag="autoreset='disable'"),
}
STONE = "<geom name='stone' pos='.25 0 .91' type='{}' {}/>"
BALL = STONE.format("sphere", "size='.05'")
"""What the shin rests on."""
ASSETS = (
    "<asset><mesh name='m' vertex='-.1 -.1 0 .1 -.1 0 .1 .1 0 -.1 .1 0 0 0 .05'/>"
    "<hfield name='h' nrow='3' ncol='3' size='.2 .2 .05 .1' elevation='0 .5 0 .5 1 .5 0 .5 0'/></asset>"
)
GEOMS = {
    "ellipsoid": leg(world=STONE.format("ellipsoid", "size='.1 .08 .05'")),
    "mesh": leg(world=STONE.format("mesh", "mesh='m'"), extra=ASSETS),
    "hfield": leg(world=STONE.format("hfield", "hfield='h'"), extra=ASSETS),
    "capsule-ellipsoid, pair": leg(
        world=STONE.format("ellipsoid", "size='.1 .08 .05' contype='0' conaffinity='0'"),
        extra="<contact><pair geom1='stone' geom2='shin'/></contact>",
    ),
}
PAIRS = {
    "solreffriction of a pair": "<pair name='touch' geom1='stone' geom2='shin' solreffriction='.1 1'/>",
    "adhesion of a pair": "<pair name='touch' geom1='stone' geom2='shin' adhesion='50'/>",
    "two pairs of the same geoms": (
        "<pair geom1='stone' geom2='shin'/><pair name='touch' geom1='shin' geom2='stone'/>"
    ),
}
TENDONS = {"armature": "armature='.1'", "actuatorfrcrange": "actuatorfrcrange='-.1 .1'",
           "springyield": "stiffness='20' springyield='.1'"}  # fmt: skip
SPATIAL = {
    "spatial": "<site site='tip'/><site site='base'/>",
    "spatial, wrapped around a geom": "<site site='tip'/><geom geom='pin'/><site site='base'/>",
    "spatial, pulley": (
        "<site site='tip'/><site site='base'/><pulley divisor='2'/><site site='tip'/><site site='base'/>"
    ),
}
ACTUATORS = {
    "muscle": "<muscle name='motor' joint='hip' lengthrange='-1 1'/>",
    "adhesion": "<adhesion name='motor' body='leg' ctrlrange='0 1'/>",
    "slider-crank": "<motor name='motor' cranksite='tip' slidersite='rail' cranklength='.6'/>",
    "pid": "<pid name='motor' joint='hip' kp='1'/>",
    "dcmotor": "<dcmotor name='motor' joint='hip' motorconst='1' resistance='1'/>",
    "orientation": "<orientation name='motor' site='tip' refsite='rail' kp='1'/>",
    "general, dyntype user": "<general name='motor' joint='hip' dyntype='user' actdim='2'/>",
    "general, gaintype user": "<general name='motor' joint='hip' gaintype='user'/>",
    "general, biastype user": "<general name='motor' joint='hip' biastype='user'/>",
    "damping": "<motor name='motor' joint='hip' damping='1'/>",
    "damping, polynomial": "<motor name='motor' joint='hip' damping='0 1'/>",
    "armature": "<motor name='motor' joint='hip' armature='1'/>",
    "delay": "<motor name='motor' joint='hip' delay='.1' nsample='60'/>",
}
STRING = "<tendon><fixed name='string' range='-.03 .03'><joint joint='hip' coef='1'/></fixed></tendon>"
SENSORS = {
    "rangefinder": "rangefinder site='tip'",
    "camprojection": "camprojection site='tip' camera='sky'",
    "tendonactuatorfrc": "tendonactuatorfrc tendon='string'",
    **{f"jointlimit{what}": f"jointlimit{what} joint='hip'" for what in ("pos", "vel", "frc")},
    **{f"tendonlimit{what}": f"tendonlimit{what} tendon='string'" for what in ("pos", "vel", "frc")},
    "insidesite": "insidesite site='tip' objtype='site' objname='tip'",
    **{kind: f"{kind} geom1='stone' geom2='shin' cutoff='9'" for kind in ("distance", "normal", "fromto")},
    "contact": "contact geom1='stone' geom2='shin'",
    "user": "user dim='2'",
    "objtype camera": "framepos objtype='camera' objname='eye'",
    "reftype camera": "framelinvel objtype='site' objname='tip' reftype='camera' refname='sky'",
    "delay": "jointpos joint='hip' delay='.1' nsample='60'",
    "interval": "jointvel joint='hip' interval='.1' nsample='3'",
}


def _refused() -> Iterator[Feature]:
    for (chapter, name), xml in OPTIONS.items():
        yield Feature(chapter, name, xml, refused="option")
    swimming = leg(option="density='100'", geom="fluidshape='ellipsoid'")
    yield Feature("Fluids", "fluidshape ellipsoid", swimming, refused="geom 'shin'")
    still = "<mujoco><worldbody><geom size='.1'/></worldbody></mujoco>"
    yield Feature("Bodies", "a model without joints", still, refused="the model has no joints")
    cloth = "<flexcomp name='cloth' type='grid' count='3 3 1' spacing='.1 .1 .1' dim='2' rigid='true'/>"
    yield Feature("Bodies", "flex", leg(world=cloth), refused="flex 'cloth'")
    torus = "<extension><plugin plugin='mujoco.sdf.torus'><instance name='ring'/></plugin></extension>"
    yield Feature("Bodies", "plugin", leg(extra=torus), refused="plugin 'ring'")
    yield Feature("Joints", "springyield", leg("stiffness='20' springyield='.1'"), refused="joint 'hip'")
    for name, xml in GEOMS.items():
        yield Feature("Geom pairs", name, xml, refused="geom 'stone'")
    for name, text in {"surfacevel": "surfacevel='1 0 0'", "adhesion": "adhesion='50'"}.items():
        yield Feature("Contacts", name, leg(geom=text, world=BALL), refused="geom 'shin'")
    for name, pairs in PAIRS.items():
        xml = leg(world=BALL, extra=f"<contact>{pairs}</contact>")
        yield Feature("Contacts", name, xml, refused="pair 'touch'")
    for name, text in TENDONS.items():
        tendon = f"<tendon><fixed name='string' {text}><joint joint='hip' coef='1'/></fixed></tendon>"
        xml = leg(motor="<motor tendon='string'/>", extra=tendon)
        yield Feature("Tendons", name, xml, refused="tendon 'string'")
    for name, path in SPATIAL.items():
        ends = "<site name='base' pos='.1 0 .5'/>"
        ends += "<geom name='pin' pos='.2 0 .75' size='.05' contype='0' conaffinity='0'/>"
        tendon = f"<tendon><spatial name='string' stiffness='20' damping='1'>{path}</spatial></tendon>"
        yield Feature("Tendons", name, leg(world=ends, extra=tendon), refused="tendon 'string'")
    world = BALL + "<site name='rail' pos='.3 0 .5'/>"
    for name, actuator in ACTUATORS.items():
        yield Feature("Actuators", name, leg(motor=actuator, world=world), refused="actuator 'motor'")
    world = BALL + "<camera name='sky' pos='1 2 3' euler='20 30 40'/>"
    for name, text in SENSORS.items():
        sensor = f"{STRING}<sensor><{text} name='far'/></sensor>"
        xml = leg("range='-1.7 1.7'", motor="<motor tendon='string'/>", world=world, extra=sensor)
        yield Feature("Sensors", name, xml, refused="sensor 'far'")


REFUSED = tuple(_refused())
"""All of them, by chapters of MuJoCo's documentation."""
