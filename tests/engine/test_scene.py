"""Robots by name, file and model, alone and together."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

from acesim_rl import Model, Scene, Simulation
from acesim_rl.scene import ROBOTS, asset_path, robot_name
from acesim_rl.state import StateData

PENDULUM = "<mujoco><worldbody><body><joint axis='0 1 0'/><geom size='.1' pos='.3 0 0'/></body></worldbody></mujoco>"


@pytest.mark.parametrize("scheduler", ["serial", "ace-sw"])
def test_a_mix_gives_each_robot_the_bits_that_it_has_alone(scheduler, any_device):
    robots = [("ant", 40), ("hopper", 33), ("walker2d", 64)]
    mix = Simulation(Scene(robots), device=any_device, scheduler=scheduler)
    alone = [Simulation(name, count, device=any_device, scheduler=scheduler) for name, count in robots]
    assert [(group.name, group.nworld) for group in mix.groups] == robots
    rng = np.random.default_rng(0)
    for _ in range(10):
        for group, other in zip(mix.groups, alone, strict=True):
            ctrl = rng.uniform(-1.0, 1.0, (group.nworld, group.model.nu))
            for state in (group.state, other.groups[0].state):
                state.set("ctrl", ctrl)
            other.step(3)
        mix.step(3)
    for group, other in zip(mix.groups, alone, strict=True):
        assert group.state.get("ncon").any()
        for name in StateData.vars:
            ours, theirs = group.state.get(name), other.groups[0].state.get(name)
            assert ours.tobytes() == theirs.tobytes(), f"{group.name}: {name} differs"


@pytest.mark.parametrize("robot", ROBOTS)
def test_names(robot):
    camel = "".join(word.capitalize() for word in robot.split("_"))
    spaced = (robot.replace("_", mark) for mark in "- ")
    id, file = ROBOTS[robot]
    for name in (robot, robot.upper(), *spaced, camel, id, id.lower(), f" {robot} ", f"acesim_rl/{id}", file):
        assert robot_name(name) == robot, name
    assert asset_path(id).is_file() and asset_path(id).name == file
    for name in (f"{robot}s", "", "v5", f"my_{robot}", f"{camel}-v99", f"other/{robot}"):
        with pytest.raises(ValueError, match=f"no robot named '{name}'.*; known: ant, half_cheetah, "):
            robot_name(name)


def test_unknown_names():
    for name, meant in (("hoper", "hopper"), ("Ant-v99", "Ant-v5")):
        words = (
            rf"no robot named '{name}' \(did you mean '{meant}'\?\); known: ant, .*, or give the path of an MJCF file"
        )
        with pytest.raises(ValueError, match=words):
            Simulation(name)


def test_models_from_everywhere(tmp_path):
    file = tmp_path / "pendulum.xml"
    file.write_text(PENDULUM)
    mj = mujoco.MjModel.from_xml_string(PENDULUM)
    sources = (
        (PENDULUM, "model"), (file, "pendulum"), (str(file), "pendulum"), (Model.from_mjcf(PENDULUM), "XML string"),
        (Model.from_mujoco(mj), "model"), (Model.from_mujoco(mj, name="swing"), "swing"),
    )  # fmt: skip
    results = []
    for source, name in sources:
        simulation = Simulation(Scene([(source, 2)]), device="cpu")
        assert simulation.groups[0].name == name
        simulation.step(5)
        results.append(simulation.groups[0].state.get("qpos"))
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


def test_changes_to_mujocos_model_before_are_kept():
    mj = mujoco.MjModel.from_xml_string(PENDULUM)
    mj.opt.gravity[:] = 0.0
    simulation = Simulation(Model.from_mujoco(mj), device="cpu")
    simulation.step(5)
    assert not simulation.groups[0].state.get("qvel").any()
    assert simulation.groups[0].nworld == 1  # the default


def test_one_robot_twice_and_every_robot_at_once(any_device):
    """Groups do not share memory; hopper is there twice, with other controls."""
    simulation = Simulation(Scene([*((name, 2) for name in ROBOTS), ("Hopper-v5", 3)]), device=any_device)
    first, second = (group.state for group in simulation.groups if group.name == "hopper")
    second.set("ctrl", 1.0)
    simulation.step(4)
    assert not np.array_equal(first.get("qpos")[0], second.get("qpos")[0])
    assert all(np.isfinite(group.state.get("qvel")).all() for group in simulation.groups)
    np.testing.assert_array_equal(first.get("qpos")[0], first.get("qpos")[1])


def test_path_objects():
    assert Simulation(Path(asset_path("ant")), device="cpu").groups[0].name == "ant"
