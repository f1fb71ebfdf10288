"""The same bits under every scheduler, and what the scheduler believes of the physics stages is true."""

from functools import cache
from itertools import combinations

import numpy as np
import pytest
import warp as wp

from acesim_rl import Model, Scene, Simulation
from acesim_rl.arrays import lanes_for
from acesim_rl.model import ModelData
from acesim_rl.scene import ROBOTS
from acesim_rl.scheduler import AccessViolation, accesses, check
from acesim_rl.stage import stage
from acesim_rl.stages import BINS
from acesim_rl.state import SCRATCH, StateData

RESULTS = [name for name in StateData.vars if name not in SCRATCH]
SCENES = {"ants": (("ant", 64),), "mix": (("ant", 64), ("hopper", 40), ("half_cheetah", 96))}


@cache
def final_bits(scene: str, device: str, scheduler: str, run: int = 0) -> dict[str, bytes]:
    """Every array of every group after 200 steps under random controls."""
    options = {"workers": 2} if scheduler == "ace-sw" and device == "cpu" else {}
    simulation = Simulation(Scene(SCENES[scene]), device=device, scheduler=scheduler, **options)
    rng = np.random.default_rng(0)
    for _ in range(50):
        for group in simulation.groups:
            group.state.set("ctrl", rng.uniform(-1.0, 1.0, (group.nworld, group.model.nu)))
        simulation.step(4)
    assert all(group.state.get("ncon").any() for group in simulation.groups)
    return {f"{g.name}.{name}": g.state.get(name).tobytes() for g in simulation.groups for name in RESULTS}


def others(device: str) -> list[str]:
    return ["ace-sw", "ace", *(["graph"] if device == "cuda" else [])]


@pytest.mark.parametrize("scene", SCENES)
def test_same_bits_under_every_scheduler(scene, any_device):
    expected = final_bits(scene, any_device, "serial")
    for scheduler in others(any_device):
        found = final_bits(scene, any_device, scheduler)
        assert [name for name in expected if found[name] != expected[name]] == [], scheduler


@pytest.mark.parametrize("scheduler", ["serial", "ace-sw"])
def test_same_bits_in_every_run(scheduler, any_device):
    assert final_bits("ants", any_device, scheduler, run=1) == final_bits("ants", any_device, scheduler)


def test_more_worlds_give_the_same_bits(any_device):
    """A world's numbers do not depend on how many others there are, or on how they are tiled."""
    few, many = Simulation("hopper", 3, device=any_device), Simulation("hopper", 100, device=any_device)
    for simulation in (few, many):
        qvel = np.random.default_rng(0).normal(size=(100, 6))[: simulation.groups[0].nworld]
        simulation.groups[0].state.set("qvel", qvel)
        simulation.step(30)
    for name in ("qpos", "qvel", "efc_force", "xquat"):
        np.testing.assert_array_equal(few.groups[0].state.get(name), many.groups[0].state.get(name)[:3])


PREDICTIONS = [bins for count in range(BINS + 1) for bins in combinations(range(BINS), count)]


def bits_under(
    robot: str, device: str, bins: tuple[int, ...] | None, scheduler: str = "serial"
) -> tuple[dict[str, bytes], set[int]]:
    """What 20 steps leave where these bins are predicted in each, and the bins that there were."""
    simulation = Simulation(robot, 24, device=device, scheduler=scheduler)
    group = simulation.groups[0]
    group.prediction.fixed = bins
    rng = np.random.default_rng(0)
    seen: set[int] = set()
    for _ in range(20):
        group.state.set("ctrl", rng.uniform(-1.0, 1.0, (group.nworld, group.model.nu)))
        group.state.set("qvel", group.state.get("qvel") + rng.normal(size=(group.nworld, group.model.nv)))
        simulation.step()
        rows = group.state.get("nefc")
        seen |= set(np.minimum(np.maximum(rows - 1, 0) // lanes_for(group.model.nv), BINS).ravel().tolist())
    return {name: group.state.get(name).tobytes() for name in RESULTS}, seen


@pytest.mark.parametrize("robot", ROBOTS)
def test_same_bits_under_every_prediction(robot, any_device):
    """Whether what was predicted is right, wrong or empty, and under every scheduler: the rest takes what no variant
    takes."""
    expected, _ = bits_under(robot, any_device, ())
    for scheduler in others(any_device):
        for bins in [*PREDICTIONS, None] if scheduler != "ace" else [None]:
            found, _ = bits_under(robot, any_device, bins, scheduler)
            assert [name for name in expected if found[name] != expected[name]] == [], (scheduler, bins)


def test_predictions_are_put_to_the_test(any_device):
    """Worlds of all bins, so that each prediction above is right for some and wrong for others."""
    for robot in ("hopper", "humanoid_standup"):
        assert len(bits_under(robot, any_device, ())[1]) >= 2, robot


def test_what_is_counted_is_a_decision(any_device):
    """A program recorded while nothing was predicted is not replayed once predictions are to be made."""
    simulation = Simulation("hopper", 4, device=any_device, scheduler="serial")
    for fixed in ((), None):
        simulation.groups[0].prediction.fixed = fixed
        simulation.step()
    program = simulation.scheduler.statistics()["programs"]["step"]
    assert program["variants"] == 2 and program["most"] == program["fewest"] + 2


BUSY = Model.from_mjcf("""<mujoco><worldbody><geom type='plane' size='5 5 .1'/>
<body pos='0 0 .1'><joint type='slide'/><joint type='ball' range='0 3' damping='.1' stiffness='1'/><geom size='.1'/>
<body pos='.2 0 0'><joint name='j' axis='0 1 0' range='-3 3'/><geom type='capsule' size='.1 .1'/></body></body>
<body pos='.35 0 .1'><joint type='slide'/><geom type='capsule' size='.1 .1'/></body>
<body pos='.1 .15 .1'><joint type='slide'/><geom size='.1' condim='1'/></body></worldbody>
<actuator><motor joint='j'/></actuator></mujoco>""", per_world=["body_mass", "timestep"])  # fmt: skip
"""Every stage has something to do: all pair types, limits, damping taken implicitly, several trees."""


GENERAL = """<mujoco><option density='10' viscosity='.1' integrator='{}' timestep='.003'/>
<worldbody><geom type='plane' size='5 5 .1'/><body mocap='true' pos='0 0 1'><geom size='.1'/></body>
<body pos='0 0 .1' gravcomp='.5'><joint type='slide' name='a' damping='.1 .2 .3'/><geom size='.1'/><site name='s'/>
<body pos='.2 0 0'><joint name='b' axis='0 1 0' actuatorfrcrange='-1 1'/><geom type='capsule' size='.1 .1'/></body>
</body>
<body pos='1 0 .1'><freejoint/><geom size='.1'/></body></worldbody>
<tendon><fixed name='t' stiffness='3' damping='1' range='-.01 .01'>
<joint joint='a' coef='1'/><joint joint='b' coef='2'/></fixed></tendon>
<actuator><position joint='a' kp='9' kv='1'/><general tendon='t' dyntype='filterexact' dynprm='.1' actearly='true'/>
<motor site='s' gear='1 2 3 1 2 3'/></actuator>
<sensor><touch site='s'/><accelerometer site='s'/><force site='s'/><tendonpos tendon='t'/><e_kinetic/>
<subtreeangmom body='world'/><framequat objtype='site' objname='s'/></sensor></mujoco>"""
"""Every stage that only some models need."""


@pytest.mark.parametrize("integrator", ["Euler", "RK4", "implicit"])
def test_general_models(integrator, any_device):
    """All schedulers give the same bits."""
    found = []
    for scheduler in ("serial", "ace-sw"):
        simulation = Simulation(GENERAL.format(integrator), 130, device=any_device, scheduler=scheduler, sensors=True)
        group = simulation.groups[0]
        rng = np.random.default_rng(0)
        for name in ("qvel", "ctrl", "act", "mocap_pos"):
            group.state.set(name, rng.normal(size=group.state.get(name).shape))
        simulation.step(20)
        found.append({name: group.state.get(name).tobytes() for name in RESULTS})
        assert group.state.get("act").std() > 0.0 and group.state.get("sensordata").std() > 0.0
    assert [name for name in found[0] if found[0][name] != found[1][name]] == []


@pytest.mark.skipif(not wp.is_cpu_available(), reason="Warp came without its CPU compiler")
@pytest.mark.parametrize("integrator", ["Euler", "RK4", "implicit"])
def test_stages_of_general_models_touch_what_the_scheduler_thinks(integrator):
    group = Simulation(GENERAL.format(integrator), 3, device="cpu", scheduler="serial", sensors=True).groups[0]
    group.state.set("qvel", [[1.0], [np.nan], [2.0]])
    operations = [*group.emit_step(), *group.emit_internal_forces(), *group.emit_energy()]
    assert check(operations) == len(operations)


@pytest.mark.parametrize("robot", [*ROBOTS, BUSY], ids=lambda robot: robot if isinstance(robot, str) else "busy")
def test_stages_touch_what_the_scheduler_thinks(robot):
    group = Simulation(robot, 3, device="cpu", scheduler="serial").groups[0]
    rng = np.random.default_rng(0)
    qpos = group.state.get("qpos") + rng.uniform(-0.05, 0.05, (3, group.model.nq))
    group.state.set("qpos", qpos)
    group.state.set("qvel", rng.normal(size=(3, group.model.nv)))
    group.state.set("ctrl", 0.5)
    group.state.set("qvel", np.nan, [1])  # this world is reset on the way
    group.bins = tuple(range(BINS))
    operations = [*group.emit_step(), *group.emit_rne_post_constraint()]
    assert check(operations) == len(operations)
    assert group.state.get("warning")[:, 1].tolist() == [0, 1, 0]
    if robot is BUSY:
        assert group.state.get("nefc").min() > 8


def test_a_planted_access_is_caught():
    @accesses(reads=(), writes=("qvel",))  # it also reads qacc
    @wp.func_native("wp::address(qvel, 0, w)[0] = wp::address(qacc, 0, w)[0];")
    def liar(qacc: wp.array2d[float], qvel: wp.array2d[float], w: int): ...

    @stage("world", module="tests.liar")
    def lie(m: ModelData, d: StateData, w: int):
        liar(d.qacc, d.qvel, w)

    group = Simulation("hopper", 3, device="cpu", scheduler="serial").groups[0]
    group.state.set("qacc", 1.0)
    with pytest.raises(AccessViolation, match=r"'hopper\.lie' read 'd\.qacc' without declaring it.* in 'd\.qvel'"):
        check(group.operations(lie))
