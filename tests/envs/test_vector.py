"""The Gymnasium vector interface, against SyncVectorEnv's conventions."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from acesim_rl.envs import VectorEnv


@pytest.fixture(scope="module")
def pendulums():
    return VectorEnv("inverted_pendulum", 4, device="cpu")


def test_make_vec():
    env = gymnasium.make_vec("acesim_rl/Hopper-v5", num_envs=3, device="cpu", reset_noise_scale=0.01)
    assert isinstance(env, VectorEnv)
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert env.spec.id == "acesim_rl/Hopper-v5"
    assert env.batch.max_episode_steps == 1000
    obs, info = env.reset(seed=0)
    assert obs.dtype == np.float32 and env.observation_space.contains(obs)
    assert set(info) == {"x_position", "_x_position", "z_distance_from_origin", "_z_distance_from_origin"}
    obs, reward, terminated, truncated, _ = env.step(env.action_space.sample())
    assert env.observation_space.contains(obs)
    assert reward.shape == terminated.shape == truncated.shape == (3,)
    assert env.step(env.action_space.sample())[0] is not obs
    env.close()


@pytest.mark.parametrize("task", ["hopper", "humanoid"])  # a humanoid's info has vectors
def test_info_has_the_form_of_gymnasiums_vector_env(task):
    ours = VectorEnv(task, 4, device="cpu", reset_noise_scale=0.1)
    theirs = SyncVectorEnv(
        [lambda: gymnasium.make(f"{task.capitalize()}-v5", reset_noise_scale=0.1)] * 4,
        autoreset_mode=AutoresetMode.SAME_STEP,
    )
    rng = np.random.default_rng(0)
    forms = []
    for env in (ours, theirs):
        env.reset(seed=0)
        form = {}
        for _ in range(60):
            action = rng.uniform(-1, 1, env.action_space.shape).astype(np.float32)
            _, _, terminated, truncated, info = env.step(action)
            done = terminated | truncated
            describe(info, done, form)
        forms.append(form)
    assert forms[0] == forms[1]
    assert any("final_info" in key for key in forms[0])


def describe(info: dict, done: np.ndarray, form: dict, prefix: str = "") -> None:
    """Which keys there are, by whether none, some or all worlds are done, and where their masks are true."""
    state = "none" if not done.any() else "all" if done.all() else "some"
    for key, value in info.items():
        name = f"{state}: {prefix}{key}"
        if isinstance(value, dict):
            form[name] = "dict"
            describe(value, done, form, f"{prefix}{key}.")
        elif key.startswith("_"):
            form[name] = "all" if value.all() else "done" if np.array_equal(value, done) else "not done"
            if not value.all() and form[name] == "not done":
                assert np.array_equal(value, ~done)
        else:
            form[name] = (np.asarray(value).dtype.kind, np.shape(value))


def test_final_obs_and_final_info(pendulums):
    env = pendulums
    env.reset(seed=1)
    for _ in range(60):
        obs, reward, terminated, truncated, info = env.step(np.full((4, 1), 3.0, np.float32))
        assert not truncated.any()
        if not terminated.any():
            assert "final_obs" not in info
            continue
        np.testing.assert_array_equal(info["_final_obs"], terminated)
        np.testing.assert_array_equal(info["final_info"]["_reward_survive"], terminated)
        for w in range(4):
            if terminated[w]:
                assert abs(info["final_obs"][w][1]) > 0.2 and np.abs(obs[w]).max() <= 0.01 and reward[w] == 0.0
            else:
                assert info["final_obs"][w] is None
        return
    pytest.fail("no pendulum fell")


def test_a_world_that_the_engine_resets_ends_its_episode(pendulums):
    env = pendulums
    env.reset(seed=1)
    env.batch.group.state.set("qvel", np.inf, [1])
    _, reward, terminated, _, info = env.step(np.zeros((4, 1), np.float32))
    assert terminated.tolist() == info["_final_info"].tolist() == [False, True, False, False]
    assert reward[1] == 0.0 and info["final_info"]["bad_state"].tolist() == terminated.tolist()


def test_reset_by_mask(pendulums):
    env = pendulums
    env.reset(seed=1)
    before = env.step(np.ones((4, 1), np.float32))[0]
    mask = np.array([False, True, False, False])
    obs, _ = env.reset(options={"reset_mask": mask})
    np.testing.assert_array_equal(obs[~mask], before[~mask])
    assert (obs[mask] != before[mask]).all()
    with pytest.raises(TypeError, match="expected a numpy array of 4 bools"):
        env.reset(options={"reset_mask": np.ones(3, bool)})
    with pytest.raises(ValueError, match="at least one world"):
        env.reset(options={"reset_mask": np.zeros(4, bool)})


def test_seeds(pendulums):
    env = pendulums
    first, _ = env.reset(seed=4)
    again, _ = env.reset()
    assert (first != again).all()
    np.testing.assert_array_equal(env.reset(seed=4)[0], first)
    np.testing.assert_array_equal(env.reset(seed=[4, 4, 4, 4])[0], first)
    # as in Gymnasium a world without a seed goes on with its own sequence
    env.reset(seed=4)
    second, _ = env.reset()
    env.reset(seed=4)
    mixed, _ = env.reset(seed=[4, None, None, 4])
    np.testing.assert_array_equal(mixed, np.stack([first[0], second[1], second[2], first[3]]))
    for seed in (0.5, [1, 2], "one", [1, 2, 3, 0.5]):
        with pytest.raises(ValueError, match="expected an integer, or one or None for each of 4 worlds"):
            env.reset(seed=seed)


def test_options(pendulums):
    with pytest.raises(ValueError, match="options are mask; the only one is 'reset_mask'"):
        pendulums.reset(options={"mask": np.ones(4, bool)})
    with pytest.raises(ValueError, match="options are qpos; there are none"):
        gymnasium.make("acesim_rl/InvertedPendulum-v5").reset(options={"qpos": [0, 0]})
