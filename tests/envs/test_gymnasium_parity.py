"""Our environments and Gymnasium's own: the same steps from the same states, the same first states."""

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import check_env

from acesim_rl.envs import BatchEnv

NAMES = {
    "ant": "Ant-v5",
    "half_cheetah": "HalfCheetah-v5",
    "hopper": "Hopper-v5",
    "walker2d": "Walker2d-v5",
    "humanoid": "Humanoid-v5",
    "humanoid_standup": "HumanoidStandup-v5",
    "swimmer": "Swimmer-v5",
    "reacher": "Reacher-v5",
    "pusher": "Pusher-v5",
    "inverted_pendulum": "InvertedPendulum-v5",
    "inverted_double_pendulum": "InvertedDoublePendulum-v5",
}

OTHER_ARGUMENTS = [
    ("ant", {"main_body": "aux_1", "exclude_current_positions_from_observation": False, "frame_skip": 2}),
    ("ant", {"main_body": 4, "include_cfrc_ext_in_observation": False, "contact_cost_weight": 0.01}),
    ("ant", {"contact_force_range": (-20.0, 15.0), "healthy_z_range": (0.45, 0.9), "ctrl_cost_weight": 0.1}),
    ("ant", {"terminate_when_unhealthy": False, "healthy_reward": 3.0, "forward_reward_weight": 2.0}),
    ("half_cheetah", {"forward_reward_weight": 0.5, "ctrl_cost_weight": 1.0, "frame_skip": 3}),
    ("half_cheetah", {"exclude_current_positions_from_observation": False, "reset_noise_scale": 0.3}),
    ("hopper", {"healthy_state_range": (-2.0, 2.0), "healthy_z_range": (1.1, 1.3), "healthy_reward": 0.3}),
    ("hopper", {"healthy_angle_range": (-0.02, 0.05), "exclude_current_positions_from_observation": False}),
    ("walker2d", {"healthy_z_range": (1.1, 1.26), "healthy_angle_range": (-0.1, 0.2), "ctrl_cost_weight": 0.1}),
    ("walker2d", {"terminate_when_unhealthy": False, "xml_file": "walker2d.xml", "reset_noise_scale": 0.1}),
    ("reacher", {"reward_dist_weight": 0.5, "reward_control_weight": 0.1, "frame_skip": 3}),
    ("humanoid", {"exclude_current_positions_from_observation": False, "include_cvel_in_observation": False}),
    ("humanoid", {"include_cinert_in_observation": False, "include_cfrc_ext_in_observation": False}),
    ("humanoid", {"include_qfrc_actuator_in_observation": False, "contact_cost_weight": 1e-3, "healthy_reward": 1.0}),
    ("humanoid", {"contact_cost_range": (2.0, 3.0), "healthy_z_range": (1.2, 1.4), "forward_reward_weight": 0.5}),
    ("humanoid", {"terminate_when_unhealthy": False, "ctrl_cost_weight": 1.0, "reset_noise_scale": 0.1}),
    ("humanoid_standup", {"impact_cost_weight": 1e-3, "ctrl_cost_weight": 1.0, "uph_cost_weight": 3.0}),
    ("humanoid_standup", {"impact_cost_range": (1.0, 2.0), "frame_skip": 2, "reset_noise_scale": 0.1}),
    ("humanoid_standup", {"exclude_current_positions_from_observation": False, "include_cvel_in_observation": False}),
    ("swimmer", {"forward_reward_weight": 2.0, "ctrl_cost_weight": 0.1, "frame_skip": 2, "reset_noise_scale": 0.5}),
    ("swimmer", {"exclude_current_positions_from_observation": False}),
    ("pusher", {"reward_near_weight": 2.0, "reward_dist_weight": 0.3, "reward_control_weight": 0.5}),
    ("pusher", {"xml_file": "pusher.xml", "frame_skip": 3}),
    ("inverted_pendulum", {"reset_noise_scale": 0.15, "frame_skip": 3}),
    ("inverted_double_pendulum", {"healthy_reward": 2.0, "reset_noise_scale": 0.4}),
    ("inverted_double_pendulum", {"reset_noise_scale": 1.1}),
]


def collect(name: str, count: int, seed: int = 7, **arguments) -> dict[str, np.ndarray]:
    """Steps of Gymnasium's environment from states that it reached with random actions, rounded to float32."""
    env = gymnasium.make(name, **arguments).unwrapped
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    steps = {key: [] for key in ("qpos", "qvel", "warm", "action", "obs", "reward", "terminated", "info")}
    while len(steps["reward"]) < count:
        qpos, qvel = env.data.qpos.astype(np.float32), env.data.qvel.astype(np.float32)
        env.set_state(qpos.astype(np.float64), qvel.astype(np.float64))
        warm = env.data.qacc_warmstart.copy()
        action = rng.uniform(env.action_space.low, env.action_space.high).astype(np.float32)
        obs, reward, terminated, _, info = env.step(action)
        for key, value in zip(steps, (qpos, qvel, warm, action, obs, reward, terminated, info), strict=True):
            steps[key].append(value)
        if terminated or len(steps["reward"]) % 50 == 0:
            env.reset()
    env.close()
    return {key: values if key == "info" else np.stack(values) for key, values in steps.items()}


def compare(env: BatchEnv, steps: dict[str, np.ndarray]) -> None:
    env.set_state(steps["qpos"], steps["qvel"])
    env.group.state.set("qacc", steps["warm"])  # where an iteration begins decides where a short one ends
    _, reward, terminated, _, info = env.step(torch.from_numpy(steps["action"]))
    close = np.isclose(env.final_obs.numpy(), steps["obs"], rtol=1e-3, atol=1e-3).all(axis=1)
    # Of a hundred states of a humanoid one has a contact whose distance is the margin to eight digits in one of twenty
    # forward passes: there in ours, not yet in MuJoCo's. No other task has such a state.
    allowed = max(1, len(close) // 100) if env.task.model.solver == "pgs" else 0
    if np.count_nonzero(~close) > allowed:
        np.testing.assert_allclose(env.final_obs.numpy(), steps["obs"], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(reward.numpy()[close], steps["reward"][close], rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(terminated.numpy()[close], steps["terminated"][close])
    assert [*env.task.place, *env.task.terms] == list(steps["info"][0])
    for name in steps["info"][0]:
        expected = np.array([one[name] for one in steps["info"]])
        np.testing.assert_allclose(info[name].numpy()[close], expected[close], rtol=1e-3, atol=1e-3, err_msg=name)


@pytest.mark.parametrize("seed", [7, 8, 9])
@pytest.mark.parametrize("task", NAMES)
def test_one_step_from_200_states(task, seed, batch):
    compare(batch(task, 200), collect(NAMES[task], 200, seed))


@pytest.mark.parametrize(("task", "arguments"), OTHER_ARGUMENTS)
def test_one_step_with_other_arguments(task, arguments):
    steps = collect(NAMES[task], 40, **arguments)
    env = BatchEnv(task, 40, device="cpu", **arguments)
    compare(env, steps)
    if task in ("hopper", "walker2d") and arguments.get("terminate_when_unhealthy", True):
        assert 0 < steps["terminated"].sum() < 40  # the ranges matter


@pytest.mark.parametrize(("task", "arguments"), [*((task, {}) for task in NAMES), *OTHER_ARGUMENTS])
def test_first_steps_from_a_seed(task, arguments):
    theirs = gymnasium.make(NAMES[task], **arguments)
    ours = gymnasium.make(f"acesim_rl/{NAMES[task]}", **arguments)
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert ours.unwrapped.dt == theirs.unwrapped.dt
    assert ours.unwrapped.metadata == theirs.unwrapped.metadata
    assert ours.spec.max_episode_steps == theirs.spec.max_episode_steps == ours.unwrapped.task.max_episode_steps
    for seed in (3, 4, 5, None):
        (obs, info), (their_obs, their_info) = ours.reset(seed=seed), theirs.reset(seed=seed)
        np.testing.assert_allclose(obs, their_obs, rtol=1e-5, atol=1e-5)
        assert list(info) == list(their_info)
        for name in info:
            np.testing.assert_allclose(info[name], their_info[name], rtol=1e-5, atol=1e-5, err_msg=name)
        rng = np.random.default_rng(0)
        for _ in range(3):  # without a new state in between: what a step leaves behind is what the next one reads
            action = rng.uniform(ours.action_space.low, ours.action_space.high).astype(np.float32)
            step, their_step = ours.step(action), theirs.step(action)
            np.testing.assert_allclose(step[0], their_step[0], rtol=1e-3, atol=1e-3)
            assert step[1] == pytest.approx(their_step[1], rel=1e-3, abs=1e-3)
            assert step[2:4] == their_step[2:4]
            assert list(step[4]) == list(their_step[4])
            if step[2]:
                break
    ours.close()
    theirs.close()


@pytest.mark.parametrize("task", NAMES)
def test_check_env(task):
    with pytest.warns(UserWarning) as caught:  # Gymnasium's own environments get the same: the spaces are unbounded
        check_env(gymnasium.make(f"acesim_rl/{NAMES[task]}").unwrapped, skip_render_check=True)
    assert all("infinity" in str(w.message) or "recommend" in str(w.message) for w in caught)
