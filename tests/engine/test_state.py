"""Reading and writing the state; worlds that go wrong."""

from types import SimpleNamespace

import mujoco
import numpy as np
import pytest

from acesim_rl import Scene, Simulation
from acesim_rl.simulation import StrictError
from acesim_rl.state import StateData

ARM = """<mujoco><option {option}/><worldbody><geom type='plane' size='5 5 .1'/>
<body pos='0 0 .5'><joint type='slide'/><joint type='ball' damping='{damping}'/><geom size='.1'/>
<body pos='.2 0 0'><joint name='j' axis='0 1 0'/><joint type='slide' axis='1 0 0'/><geom size='.08'/></body></body>
</worldbody><actuator><motor joint='j'/></actuator></mujoco>"""


def arm(nworld: int, device: str, option: str = "", damping: float = 0.0, **options) -> Simulation:
    return Simulation(ARM.format(option=option, damping=damping), nworld, device=device, **options)


def test_every_field_comes_back_as_it_was_set(any_device):
    state = arm(5, any_device).groups[0].state
    rng = np.random.default_rng(0)
    for name in StateData.vars:
        before = state.get(name)
        assert before.shape[0] == 5 and before.dtype in (np.float32, np.int32), name
        values = rng.uniform(-100, 100, before.shape).astype(before.dtype)
        state.set(name, values)
        np.testing.assert_array_equal(state.get(name), values, err_msg=name)


def test_layout_is_mujocos(any_device):
    simulation = arm(3, any_device)
    state, mj = simulation.groups[0].state, simulation.groups[0].model.mj
    data = mujoco.MjData(mj)
    data.qpos[:] = (0.1, *np.array([1, 2, 3, 4]) / 30**0.5, 0.2, 0.3)
    data.qvel[:] = np.arange(6)
    data.ctrl[:] = 0.7
    for name in ("qpos", "qvel", "ctrl"):
        state.set(name, getattr(data, name))  # one world's values, for all worlds
    mujoco.mj_forward(mj, data)
    simulation.forward()
    for name in ("xpos", "xquat", "xipos", "cvel", "cdof", "qfrc_bias", "qacc"):
        ours, theirs = state.get(name), getattr(data, name)
        assert ours.shape == (3, *theirs.shape), name
        np.testing.assert_allclose(ours, np.broadcast_to(theirs, ours.shape), rtol=1e-4, atol=1e-4, err_msg=name)


def test_chosen_worlds(any_device):
    state = arm(4, any_device).groups[0].state
    start = state.get("qvel")
    state.set("qvel", [[1.0], [2.0]], worlds=[3, 1])
    np.testing.assert_array_equal(state.get("qvel")[:, 0], [0.0, 2.0, 0.0, 1.0])
    state.set("qvel", np.arange(6), worlds=np.array([True, False, False, True]))
    state.set("qvel", 7.0, worlds=1)
    np.testing.assert_array_equal(state.get("qvel")[[0, 3]], np.tile(np.arange(6.0), (2, 1)))
    np.testing.assert_array_equal(state.get("qvel")[1:3], np.stack([np.full(6, 7.0), start[2]]))
    copy = state.get("qvel")
    copy[:] = 9.0
    assert not (state.get("qvel") == 9.0).any()


def test_reset(any_device):
    """Some worlds begin anew, and then do to the bit what they did at first; the others go on."""
    simulation, other = arm(4, any_device), arm(4, any_device)
    state = simulation.groups[0].state
    first = []
    for _ in range(5):
        state.set("ctrl", 1.0)
        simulation.step()
        first.append(state.get("qpos")[0])
    state.reset([1, 2])
    np.testing.assert_array_equal(state.get("qpos")[1], simulation.groups[0].model.qpos0)
    np.testing.assert_allclose(state.get("time")[:, 0], [0.01, 0.0, 0.0, 0.01], rtol=1e-6)
    for qpos in first:
        state.set("ctrl", 1.0)
        simulation.step()
        np.testing.assert_array_equal(state.get("qpos")[1:3], [qpos, qpos])
    state.reset()
    other.step(3)
    simulation.step(3)
    for name in ("qpos", "qvel", "time", "xquat", "warning"):
        np.testing.assert_array_equal(state.get(name), other.groups[0].state.get(name), err_msg=name)


BAD = {
    "NaN in qpos": ("qpos", 1, np.nan, [1, 0, 0, 0, 0]),
    "huge qpos": ("qpos", 6, -1e11, [1, 0, 0, 0, 0]),
    "infinite qvel": ("qvel", 0, np.inf, [0, 1, 0, 0, 0]),
    "huge qvel": ("qvel", 5, -1e11, [0, 1, 0, 0, 0]),
    "qvel that gives a huge qacc": ("qvel", 2, 1e9, [0, 0, 1, 0, 0]),
    "ctrl that gives a huge qacc": ("ctrl", 0, 9e9, [0, 0, 1, 0, 0]),
    "NaN in ctrl": ("ctrl", 0, np.nan, [0, 0, 0, 1, 0]),
    "huge ctrl": ("ctrl", 0, 1e11, [0, 0, 0, 1, 0]),
}
OPTIONS = {"Euler": ("", 0.0), "Euler with damping": ("", 0.1), "RK4": ("integrator='RK4'", 0.1)}


@pytest.mark.parametrize("option", OPTIONS)
def test_bad_worlds(option, any_device):
    """They begin anew (bad controls: count as zero) and are counted, as MuJoCo does; the others notice nothing."""
    nworld = 64
    simulation, healthy = (arm(nworld, any_device, *OPTIONS[option], scheduler="ace-sw") for _ in range(2))
    group, mj = simulation.groups[0], simulation.groups[0].model.mj
    rng = np.random.default_rng(0)
    qvel = rng.normal(size=(nworld, 6)).astype(np.float32)
    for state in (group.state, healthy.groups[0].state):
        state.set("qvel", qvel)
        state.set("ctrl", 0.5)
    bad = dict(zip(range(3, nworld, 7), BAD.values(), strict=False))
    assert len(bad) == len(BAD)
    for world, (name, item, value, _) in bad.items():
        values = group.state.get(name)[world]
        values[item] = value
        group.state.set(name, values, [world])
    start = {name: group.state.get(name) for name in ("qpos", "qvel", "ctrl")}
    simulation.step()
    data = mujoco.MjData(mj)
    for world, (_, _, _, warning) in bad.items():
        mujoco.mj_resetData(mj, data)
        for name, values in start.items():
            getattr(data, name)[:] = values[world]
        mujoco.mj_step(mj, data)
        assert group.state.get("warning")[world].tolist() == warning
        assert [data.warning[k].number > 0 for k in range(3, 7)] == [count > 0 for count in warning[:4]]
        # a world with a bad qacc is at rest after the step, MuJoCo's has begun to fall
        allowed = 0.03 if warning[2] else 1e-4
        for name in ("qpos", "qvel"):
            np.testing.assert_allclose(group.state.get(name)[world], getattr(data, name), atol=allowed)
        assert group.state.get("time")[world, 0] == pytest.approx(data.time)
    healthy.step()
    for other in (simulation, healthy):
        other.groups[0].state.set("ctrl", 0.5)
        other.step(20)
    untouched = [world for world in range(nworld) if world not in bad]
    for name in ("qpos", "qvel", "qacc", "xquat", "cfrc_ext", "warning"):
        ours, theirs = group.state.get(name), healthy.groups[0].state.get(name)
        np.testing.assert_array_equal(ours[untouched], theirs[untouched], err_msg=name)
        assert np.isfinite(ours).all(), name
    assert simulation.warnings == {"bad_qpos": 2, "bad_qvel": 2, "bad_qacc": 2, "bad_ctrl": 2, "contact_full": 0}
    assert group.state.warnings["bad_ctrl"].nonzero()[0].tolist() == list(bad)[-2:]
    assert not any(healthy.warnings.values())


def test_strict(any_device):
    """The first run with a warning raises and names the world; the next ones are judged by themselves."""
    simulation = arm(8, any_device, strict=True)
    state = simulation.groups[0].state
    simulation.step(2)
    state.set("qvel", np.nan, [3, 5, 6])
    state.set("ctrl", np.nan, [1])
    words = r"model, world 3 \(and 2 more\): bad_qvel: a velocity was not finite .*; the world was reset"
    with pytest.raises(StrictError, match=words):
        simulation.step()
    simulation.step(2)
    state.set("ctrl", np.nan, [1])
    with pytest.raises(StrictError, match="model, world 1: bad_ctrl: a control was NaN"):
        simulation.step()


def test_strict_is_not_captured(monkeypatch):
    simulation = arm(1, "cpu", strict=True)
    capturing = SimpleNamespace(is_cuda=True, stream=SimpleNamespace(is_capturing=True))
    monkeypatch.setattr(simulation, "device", capturing)
    with pytest.raises(RuntimeError, match=r"strict simulation reads warnings .* cannot be captured"):
        simulation.step()


def test_strict_forgets_the_warnings_of_all_groups(any_device):
    scene = Scene([("hopper", 3), ("half_cheetah", 2)])
    simulation = Simulation(scene, device=any_device, strict=True)
    for group in simulation.groups:
        group.state.set("qpos", np.nan, [1])
    with pytest.raises(StrictError, match="hopper, world 1: bad_qpos"):
        simulation.step()
    simulation.step()


def test_clamped_controls_are_not_bad(any_device):
    """An infinite control within a ctrlrange is its end."""
    limited = ARM.replace("<motor", "<motor ctrlrange='-1 2'").format(option="", damping=0.0)
    simulation = Simulation(limited, 3, device=any_device)
    state = simulation.groups[0].state
    state.set("ctrl", [[1e11], [-np.inf], [np.nan]])
    simulation.step()
    np.testing.assert_array_equal(state.get("actuator_force")[:, 0], [2.0, -1.0, 0.0])
    np.testing.assert_array_equal(state.get("warning")[:, 3], [0, 0, 1])
