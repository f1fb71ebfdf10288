import subprocess
import sys

import gymnasium

from acesim_rl.envs import gymnasium_id, robot_name, tasks
from acesim_rl.envs.registration import task_class


def test_importing_stays_light():
    code = "import sys, acesim_rl; print([m for m in ('warp', 'torch', 'mujoco') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_every_mujoco_task_of_gymnasium_is_there():
    ids = {gymnasium_id(task).removeprefix("acesim_rl/") for task in tasks()}
    entries = gymnasium.registry.values()
    assert ids - {"Grasp-v0"} == {e.id for e in entries if "mujoco" in str(e.entry_point) and e.id.endswith("-v5")}
    for task in tasks():
        ours = gymnasium.spec(gymnasium_id(task))
        assert ours.max_episode_steps == task_class(task).max_episode_steps
        assert robot_name(gymnasium_id(task)) == task
        original = gymnasium.registry.get(ours.id.removeprefix("acesim_rl/"))
        assert ours.reward_threshold == (original.reward_threshold if original else None)
