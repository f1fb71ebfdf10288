"""Contacts of every pair of geom types against MuJoCo's: in many relative poses, along trajectories, and in rest."""

from dataclasses import dataclass

import mujoco
import numpy as np
import pytest
from compare import assert_matches

from acesim_rl import Model, Simulation
from acesim_rl.pairs import PAIR_TYPES

MARGIN = 0.02
GEOMS = {
    "plane": "type='plane' size='5 5 .1'",
    "sphere": "type='sphere' size='.1'",
    "capsule": "type='capsule' size='.05 .2'",
    "cylinder": "type='cylinder' size='.1 .2'",
    "box": "type='box' size='.1 .15 .2'",
}
EXACT_CCD = "<option ccd_tolerance='1e-9' ccd_iterations='200'/>"
"""MuJoCo's iterations for convex shapes end at 1e-6 m by default; positions and normals are then good to 1e-3 only."""


def pair(name: str) -> str:
    first, second = (GEOMS[kind] for kind in name.split("_"))
    return f"""<mujoco>{EXACT_CCD}<worldbody><geom {first} margin='{MARGIN}' pos='.1 0 .05' euler='10 20 30'/>
    <body><freejoint/><geom {second}/></body></worldbody></mujoco>"""


def random_quat(rng: np.random.Generator, how: str) -> np.ndarray:
    """Any rotation, or one of the 24 that take axes to axes; or almost one of those."""
    quat = rng.normal(size=4)
    if how != "anyhow":
        quat = np.array([1.0, 0, 0, 0])
        for axis in rng.permutation(3):
            turn, turned = np.zeros(4), np.zeros(4)
            mujoco.mju_axisAngle2Quat(turn, np.eye(3)[axis], np.pi / 2 * rng.integers(4))
            mujoco.mju_mulQuat(turned, quat, turn)
            quat = turned
        if how == "almost aligned":
            mujoco.mju_quatIntegrate(quat, rng.normal(size=3), 10 ** rng.uniform(-3, -1))
    return quat / np.linalg.norm(quat)


@dataclass
class Errors:
    """Largest differences of a state's contacts, [states that touch]."""

    touching: int
    counts_differ: int
    near: int
    """States where the distance is within 1 mm of zero or of the margin."""
    dist: np.ndarray
    pos: np.ndarray
    frame: np.ndarray
    qacc: np.ndarray


def compare_contacts(name: str, how: str, states: int = 1500, seed: int = 0) -> Errors:
    """Two geoms at random places."""
    model = Model.from_mjcf(pair(name))
    mj, rng = model.mj, np.random.default_rng(seed)
    qpos = np.zeros((states, 7))
    for row in qpos:
        row[:3] = mj.geom_pos[0] + rng.uniform(-0.4, 0.4, 3)
        mujoco.mju_mulQuat(row[3:], mj.geom_quat[0], random_quat(rng, how))
    return compare_contacts_in(model, qpos.astype(np.float32))


def compare_contacts_in(model: Model, qpos: np.ndarray) -> Errors:
    """In states [states, nq] of a model with a margin of MARGIN."""
    mj, states = model.mj, len(qpos)
    data = mujoco.MjData(mj)
    simulation = Simulation(model, states, device="cpu", scheduler="serial")
    state = simulation.groups[0].state
    state.set("qpos", qpos)
    simulation.forward()
    fields = ("contact_dist", "contact_pos", "contact_frame", "row_need", "qacc")
    dist, pos, frame, need, qacc = (state.get(field) for field in fields)
    touching = counts_differ = near = 0
    found = []
    for w in range(states):
        mujoco.mj_resetData(mj, data)
        data.qpos[:] = qpos[w]
        mujoco.mj_forward(mj, data)
        slots = np.flatnonzero(need[w]).tolist()
        touching += data.ncon > 0 or bool(slots)
        near += any(min(abs(d), abs(d - MARGIN)) < 1e-3 for d in data.contact.dist)
        if len(slots) != data.ncon:
            counts_differ += 1
            continue
        worst = np.zeros(3)
        for contact in data.contact:  # the same contacts, in any order
            s = min(slots, key=lambda s: np.abs(pos[w, s] - contact.pos).max() + abs(dist[w, s] - contact.dist))
            slots.remove(s)
            differences = (
                dist[w, s] - contact.dist, pos[w, s] - contact.pos, frame[w, s].ravel() - contact.frame
            )  # fmt: skip
            worst = np.maximum(worst, [np.abs(d).max() for d in differences])
        if data.ncon:
            found.append([*worst, np.abs(qacc[w] - data.qacc).max() / np.abs(data.qacc).max()])
    return Errors(touching, counts_differ, near, *np.array(found).T)


EXACT = ["plane_sphere", "plane_capsule", "plane_cylinder", "plane_box", "sphere_sphere", "sphere_capsule",
         "sphere_cylinder", "sphere_box", "capsule_box", "box_box"]  # fmt: skip
CONVEX = ["capsule_cylinder", "cylinder_cylinder", "cylinder_box"]


@pytest.mark.parametrize("how", ["anyhow", "almost aligned"])
@pytest.mark.parametrize("name", EXACT)
def test_contacts(name, how):
    e = compare_contacts(name, how)
    assert e.touching > 100 and e.near > 3
    # MuJoCo's own decisions at ties: which edge of a box is closest, whether the second contact is in reach
    assert e.counts_differ <= 0.01 * e.touching
    for errors, middle, most in (
        (e.dist, 1e-7, 1e-6), (e.pos, 1e-7, 1e-5), (e.frame, 1e-6, 1e-4), (e.qacc, 2e-5, 2e-3)
    ):  # fmt: skip
        assert np.median(errors) < middle
        assert np.quantile(errors, 0.98) < most


@pytest.mark.parametrize("name", CONVEX)
def test_contacts_of_convex_shapes(name):
    """MuJoCo finds more than one contact at some edges and rims, along the normal of a face beside them; we one."""
    e = compare_contacts(name, "anyhow")
    assert e.touching > 100 and e.near > 3
    assert e.counts_differ <= 0.05 * e.touching
    for errors, middle, most in ((e.dist, 1e-7, 1e-6), (e.pos, 2e-6, 5e-3), (e.frame, 1e-5, 1e-3)):
        assert np.median(errors) < middle
        assert np.quantile(errors, 0.9) < most
    assert np.median(e.qacc) < 1e-4


@pytest.mark.parametrize("tilt", [0.0, 3e-3])
@pytest.mark.parametrize("other", ["cylinder", "box"])
def test_cylinders_that_lie(other, tilt):
    """The side of a cylinder over a cap, which has 16 corners, a face, or an edge: two contacts, or one at an edge."""
    rng = np.random.default_rng(0)
    model = Model.from_mjcf(f"""<mujoco>{EXACT_CCD}<worldbody><geom {GEOMS["cylinder"]} euler='0 90 0'/>
        <body><freejoint/><geom {GEOMS[other]} margin='{MARGIN}'/></body></worldbody></mujoco>""")
    qpos = np.zeros((500, 7))
    for k, row in enumerate(qpos):
        edge = other == "box" and k % 2  # below the cylinder a box's edge along it
        turn = np.array([np.pi / 5 if edge else 0.0, 0.0, 0.0 if edge else rng.uniform(-3.0, 3.0)])
        below = 0.15 * np.sin(np.pi / 5) + 0.2 * np.cos(np.pi / 5) if edge else 0.2
        row[:3] = rng.uniform(-0.3, 0.3), 0.0 if edge else rng.uniform(-0.05, 0.05), -0.1 - below - rng.uniform(0, 0.01)
        row[3] = 1.0
        mujoco.mju_quatIntegrate(row[3:], turn, 1.0)
        mujoco.mju_quatIntegrate(row[3:], rng.normal(size=3), tilt)
    e = compare_contacts_in(model, qpos.astype(np.float32))
    assert e.touching == len(qpos) and e.counts_differ <= 0.01 * len(qpos)
    assert np.quantile(e.dist, 0.95) < 1e-5
    assert np.quantile(e.frame, 0.9) < 1e-6
    assert np.quantile(e.pos, 0.5 if tilt == 0.0 else 0.9) < 3e-4  # along parallel edges any point is as good


def test_all_pair_types_are_tested():
    assert {*EXACT, *CONVEX, "capsule_capsule"} == set(PAIR_TYPES)  # capsules: test_features.py


FALLING = {
    "boxes on a plane": "<geom type='plane' size='5 5 .1' euler='2 1 0'/>"
    "<body pos='0 0 .2' euler='10 20 0'><freejoint/><geom type='box' size='.1 .15 .2'/></body>",
    "cylinder on a plane": "<geom type='plane' size='5 5 .1'/>"
    "<body pos='0 0 .2' euler='10 20 0'><freejoint/><geom type='cylinder' size='.1 .2'/></body>",
    "box on a box": "<geom type='box' size='.3 .3 .1'/>"
    "<body pos='0 0 .25' euler='5 7 9'><freejoint/><geom type='box' size='.1 .12 .14'/></body>",
    "sphere on a cylinder": "<geom type='cylinder' size='.3 .1'/>"
    "<body pos='.05 .02 .19'><freejoint/><geom size='.1'/></body>",
    "sphere on a box": "<geom type='box' size='.1 .1 .1' euler='10 5 0'/>"
    "<body pos='.05 .02 .19'><freejoint/><geom size='.1'/></body>",
    "capsule on a box": "<geom type='box' size='.2 .3 .1' euler='10 5 0'/>"
    "<body pos='.05 .02 .15' euler='80 20 0'><freejoint/><geom type='capsule' size='.05 .2'/></body>",
}  # fmt: skip


@pytest.mark.parametrize("name", FALLING)
def test_trajectories(name):
    world = f"<mujoco><worldbody>{FALLING[name]}</worldbody></mujoco>"
    assert_matches(world, runs=6, steps=25, spread=0.03, speed=0.3, contacts=True, constrained=1e-3)


@pytest.mark.parametrize(
    "first, second, height, contacts",
    [
        ("type='box' size='.3 .3 .1'", "type='cylinder' size='.1 .1'", 0.2, 4),
        ("type='cylinder' size='.3 .1'", "type='cylinder' size='.1 .1'", 0.2, 4),
        ("type='cylinder' size='.3 .1'", "type='box' size='.1 .1 .1'", 0.2, 4),
        ("type='box' size='.3 .3 .1'", "type='cylinder' size='.1 .1' euler='90 0 0'", 0.2, 2),
        ("type='cylinder' size='.3 .1'", "type='capsule' size='.05 .1' euler='90 0 0'", 0.15, 2),
        ("type='box' size='.3 .3 .1'", "type='box' size='.1 .1 .1'", 0.2, 4),
    ],
)
def test_what_lies_stays(first, second, height, contacts):
    """One on the other, in rest, as MuJoCo does it."""
    world = f"""<mujoco><worldbody><geom {first}/><body pos='0 0 {height}'><freejoint/><geom {second}/></body>
    </worldbody></mujoco>"""
    simulation = Simulation(Model.from_mjcf(world), 1, device="cpu", scheduler="serial")
    state = simulation.groups[0].state
    simulation.step(500)
    assert state.get("ncon") == contacts
    assert np.abs(state.get("qpos")[0, :3] - [0, 0, height]).max() < 2e-3
    assert np.abs(state.get("qvel")).max() < 1e-3


EXPLICIT = (
    "", "condim='1'", "friction='.5 .9 .01 .001 .001'", "condim='4' friction='.5 .9 .1 .001 .001'", "condim='6'",
    "solref='.05 .7'", "solref='-1000 -20'", "solimp='.5 .99 .01 .3 3'", "margin='.03'", "margin='.01' gap='.02'",
)  # fmt: skip


@pytest.mark.parametrize("option", ["", "<option cone='elliptic' impratio='3'/>"])
@pytest.mark.parametrize("parameters", EXPLICIT)
def test_contact_pairs(parameters, option):
    """Their own parameters count, and no filter; other geoms touch as ever."""
    ball = "<body name='{0}' pos='{1} 0 .09'><freejoint/><geom name='{0}' size='.1' {2}/></body>"
    extra = f"""<contact><pair geom1='ball' geom2='floor' {parameters}/><pair geom1='ball' geom2='other' {parameters}/>
    <exclude body1='ball' body2='other'/></contact>"""
    world = f"""<mujoco>{option}<worldbody><geom name='floor' type='plane' size='5 5 .1' margin='.004'/>
    {ball.format("ball", 0, "contype='0' conaffinity='0' friction='2'")}{ball.format("other", 0.19, "solref='.03 1'")}
    </worldbody>{extra}</mujoco>"""
    assert_matches(world, runs=8, spread=0.02, contacts=True, constrained=3e-4)


def test_contact_pairs_differ_between_worlds():
    world = """<mujoco><worldbody><geom name='floor' type='plane' size='5 5 .1'/>
    <body pos='0 0 .1'><freejoint/><geom name='ball' size='.1'/></body></worldbody>
    <contact><pair geom1='ball' geom2='floor'/></contact></mujoco>"""
    group = Simulation(Model.from_mjcf(world, per_world=["pair_margin"]), 2, device="cpu", scheduler="serial")
    group.groups[0].parameters.set("pair_margin", [0.05], worlds=[1])
    group.groups[0].state.set("qpos", [0, 0, 0.12, 1, 0, 0, 0])
    group.forward()
    assert group.groups[0].state.get("ncon").ravel().tolist() == [0, 1]
