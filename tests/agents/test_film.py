"""The film of play.py shows the robot, wherever it goes."""

import imageio.v2 as imageio
import pytest
import torch

import play
from acesim_rl.agents.config import Config, PPOConfig, UsageError
from acesim_rl.agents.policy import Policy
from acesim_rl.envs import SingleEnv


def test_the_camera_goes_with_the_robot(tmp_path, monkeypatch):
    def step(env, action):  # 3 m a step: what the free camera would see no more
        qpos, qvel = env.state.get("qpos")[0], env.state.get("qvel")[0]
        qpos[0] += 3.0
        return env.set_state(qpos, qvel), 0.0, qpos[0] > 10.0, False, {}

    monkeypatch.setattr(SingleEnv, "step", step)
    policy = Policy(11, -torch.ones(3), torch.ones(3), PPOConfig())
    path = tmp_path / "hopper.gif"
    try:
        frames = play.record(policy, Config(env="hopper"), path, seed=0)
    except UsageError as error:
        assert "EGL or OSMesa" in str(error)
        pytest.skip(str(error))
    film = [frame[..., :3].astype(int) for frame in imageio.mimread(path)]
    assert len(film) == frames == 5
    skin = [(frame[..., 0] > frame[..., 2] + 30).sum() for frame in film]  # the robot is brown, the floor is grey
    assert min(skin) > 0.8 * skin[0] > 1000
