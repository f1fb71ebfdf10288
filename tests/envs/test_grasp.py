"""Grasp: steps against MuJoCo from the states of a ball that is caught and carried, its reward worked out in numpy."""

import gymnasium
import mujoco
import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import check_env

OPEN, CLOSED = [-0.5] * 3, [0.8] * 3
DOWN, HOLD, UP, AWAY = [0, 0, -0.8], [0, 0, -0.3], [0, 0, 0.5], [0.3, 0.2, 0.1]
PHASES = [(DOWN, OPEN, 60), (HOLD, CLOSED, 40), (UP, CLOSED, 60), (AWAY, CLOSED, 60)]


def reward_of(mj: mujoco.MjModel, data: mujoco.MjData, ctrl: np.ndarray) -> dict[str, float]:
    """The reward's terms as the docstring has them."""

    def near(x):
        return 1 - np.tanh(5 * np.linalg.norm(x))

    hand, ball, target = data.qpos[:3], data.qpos[6:9], data.qpos[13:]
    links = [data.body(f"finger{k}") for k in (1, 2, 3)]
    tips = [link.xpos + link.xmat.reshape(3, 3) @ (0.035, 0, -0.12) for link in links]
    return {
        "reward_reach": 0.5 * near(ball - hand + (0, 0, 0.09)),
        "reward_close": 0.5 * np.mean([near(tip - data.body("ball").xpos + (0, 0, 0.02)) for tip in tips]),
        "reward_carry": 4.0 * np.clip((ball[2] - 0.04) / 0.03, 0, 1) * near(target - ball),
        "reward_hit": 2.0 * (np.linalg.norm(target - ball) < 0.05),
        "reward_ctrl": -0.001 * np.sum(ctrl**2),
    }


def test_one_step_along_a_catch(batch):
    task = batch("grasp", 1).task
    mj, data = task.mj, mujoco.MjData(task.mj)
    data.qpos[13:] = (0.1, 0.05, 0.35)
    rng = np.random.default_rng(0)
    states, ends, terms = [], [], []
    for hand, fingers, steps in PHASES:
        for _ in range(steps):
            if hand is AWAY:
                data.qpos[13:] = data.qpos[6:9] + np.array([0.0, 0.03, 0.03])  # within reach of the bonus
            data.qpos[:], data.qvel[:] = data.qpos.astype(np.float32), data.qvel.astype(np.float32)
            data.ctrl[:] = np.clip(rng.normal([*hand, *fingers], 0.1), -1, 1).astype(np.float32)
            states.append([data.qpos.copy(), data.qvel.copy(), data.ctrl.copy()])
            mujoco.mj_step(mj, data, nstep=task.frame_skip)
            ends.append([data.qpos.copy(), data.qvel.copy()])
            terms.append(reward_of(mj, data, data.ctrl))
    height = np.array([qpos[8] for qpos, _ in ends])
    assert height[0] < 0.05 and height.max() > 0.25  # it was caught
    assert any(one["reward_hit"] for one in terms)

    env = batch("grasp", len(states))
    qpos, qvel, action = (np.stack(column) for column in zip(*states, strict=True))
    env.set_state(qpos, qvel)
    _, reward, terminated, _, info = env.step(torch.from_numpy(action.astype(np.float32)))
    obs, (qpos, qvel) = env.final_obs.numpy(), (np.stack(column) for column in zip(*ends, strict=True))
    tolerance = {"rtol": 1e-3, "atol": 1e-3}
    np.testing.assert_allclose(obs[:, :6], qpos[:, :6], **tolerance)
    np.testing.assert_allclose(obs[:, 6:9], qpos[:, 6:9] - qpos[:, :3] + (0, 0, 0.09), **tolerance)
    np.testing.assert_allclose(obs[:, 9:12], qpos[:, 13:] - qpos[:, 6:9], **tolerance)
    np.testing.assert_allclose(obs[:, 12:], qvel[:, :9], rtol=1e-3, atol=5e-3)
    for name in env.task.terms:
        np.testing.assert_allclose(info[name], [one[name] for one in terms], **tolerance, err_msg=name)
    np.testing.assert_allclose(reward, [sum(one.values()) for one in terms], rtol=1e-3, atol=3e-3)
    np.testing.assert_allclose(info["ball_distance"], np.linalg.norm(obs[:, 6:9], axis=1), rtol=1e-5)
    np.testing.assert_allclose(info["target_distance"], np.linalg.norm(obs[:, 9:12], axis=1), rtol=1e-5)
    np.testing.assert_array_equal(terminated, (np.abs(qpos[:, 6:8]) >= 0.4).any(1))


def test_a_lost_ball_ends_the_episode(batch):
    env = batch("grasp", 4)
    qpos = np.tile(env.task.mj.qpos0, (4, 1))
    qpos[:, 6:8] = [(0.39, 0), (0.41, 0), (0, -0.41), (0.2, -0.39)]
    env.set_state(qpos, np.zeros((4, 15)))
    terminated = env.step(torch.zeros(4, 6))[2]
    assert terminated.tolist() == [False, True, True, False]


def test_starts(batch):
    env = batch("grasp", 200)
    obs = env.reset(seed=0).numpy()
    ball, target = env.group.state.get("qpos")[:, 6:9], env.group.state.get("qpos")[:, 13:]
    assert np.abs(ball[:, :2]).max() <= 0.12 and ball[:, :2].std() > 0.06
    assert np.abs(target[:, :2]).max() <= 0.15 and (target[:, 2] >= 0.2).all() and (target[:, 2] <= 0.4).all()
    assert np.abs(obs[:, 3:6]).max() <= 0.01 and np.abs(obs[:, 12:18]).max() <= 0.01
    single = gymnasium.make("acesim_rl/Grasp-v0")
    assert single.spec.max_episode_steps == env.max_episode_steps == 250
    first = single.reset(seed=1)[0]
    np.testing.assert_array_equal(single.reset(seed=1)[0], first)
    assert np.abs(first[6:8]).max() <= 0.15 and (single.reset(seed=2)[0] != first).any()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_check_env():
    check_env(gymnasium.make("acesim_rl/Grasp-v0").unwrapped, skip_render_check=True)
