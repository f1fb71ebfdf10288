import subprocess
import sys

import gymnasium
import pytest

from acesim_rl.envs import canonical, gymnasium_id, tasks
from acesim_rl.envs.registration import task_class
from acesim_rl.scene import asset_path, robot_name


def test_importing_stays_light():
    code = "import sys, acesim_rl; print([m for m in ('warp', 'torch', 'mujoco') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_names_are_forgiven():
    for stem in tasks():
        assert canonical(stem) == stem
    for name in ("Ant-v5", "acesim_rl/Ant-v5", "ANT", "ant.xml"):
        assert canonical(name) == "ant"
    for name in ("HalfCheetah-v5", "half-cheetah", "Half_Cheetah", "halfcheetah"):
        assert canonical(name) == "half_cheetah"
    assert canonical("walker2d_v5.xml") == canonical("Walker2d-v5") == "walker2d"
    assert canonical("InvertedDoublePendulum-v5") == "inverted_double_pendulum"
    assert canonical("humanoidstandup.xml") == canonical("HumanoidStandup-v5") == "humanoid_standup"
    assert canonical("Grasp-v0") == canonical("acesim_rl/Grasp-v0") == "grasp"


def test_every_mujoco_task_of_gymnasium_is_there():
    ids = {gymnasium_id(task).removeprefix("acesim_rl/") for task in tasks()}
    entries = gymnasium.registry.values()
    assert ids - {"Grasp-v0"} == {e.id for e in entries if "mujoco" in str(e.entry_point) and e.id.endswith("-v5")}
    for task in tasks():
        ours = gymnasium.spec(gymnasium_id(task))
        assert ours.max_episode_steps == task_class(task).max_episode_steps
        assert canonical(gymnasium_id(task)) == robot_name(gymnasium_id(task)) == task and asset_path(task).is_file()


def test_unknown_names_list_the_known_ones():
    with pytest.raises(ValueError, match=r"no environment named 'hoper' \(did you mean 'hopper'\?\); known: ant, half"):
        canonical("hoper")
