import gymnasium
import numpy as np
import pytest

from acesim_rl.envs import SingleEnv


@pytest.fixture(scope="module")
def hopper():
    return gymnasium.make("acesim_rl/Hopper-v5", render_mode="rgb_array", width=64, height=48)


def test_types(hopper):
    obs, info = hopper.reset(seed=0)
    assert obs.dtype == np.float64 and all(type(value) is float for value in info.values())
    obs, reward, terminated, truncated, info = hopper.step(hopper.action_space.sample())
    assert obs.dtype == np.float64 and type(reward) is float and type(terminated) is type(truncated) is bool
    assert all(type(value) is float for value in info.values())


def test_a_world_that_the_engine_resets_ends_its_episode(hopper):
    hopper.reset(seed=0)
    hopper.unwrapped.state.set("qpos", np.nan)
    obs, reward, terminated, truncated, info = hopper.step(np.zeros(3, np.float32))
    assert np.isfinite(obs).all() and (reward, terminated, truncated, info["bad_state"]) == (0.0, True, False, True)
    assert hopper.unwrapped.batch.warnings["bad_qpos"] == 1


def test_time_limit_is_gymnasiums():
    env = gymnasium.make("acesim_rl/HalfCheetah-v5", max_episode_steps=3)
    env.reset(seed=0)
    assert [env.step(np.zeros(6, np.float32))[3] for _ in range(3)] == [False, False, True]


def test_state(hopper):
    env = hopper.unwrapped
    env.reset(seed=0)
    obs = env.set_state(np.arange(6) / 10, np.arange(6) / 5)
    np.testing.assert_allclose(obs, [*np.arange(1, 6) / 10, *np.arange(6) / 5], rtol=1e-6)
    np.testing.assert_allclose(env.state.get("qpos")[0], np.arange(6) / 10, rtol=1e-6)
    assert (env.model.nq, env.frame_skip) == (6, 4)
    with pytest.raises(ValueError, match=r"qpos has shape \(5,\); expected \(6,\)"):
        env.set_state(np.zeros(5), np.zeros(6))
    with pytest.raises(ValueError, match=r"action has shape \(2,\); expected \(3,\)"):
        env.step(np.zeros(2))


def test_render(hopper):
    hopper.reset(seed=0)
    try:
        picture = hopper.render()
    except RuntimeError as error:
        assert "EGL or OSMesa" in str(error)
        pytest.skip(str(error))
    assert picture.shape == (48, 64, 3) and picture.dtype == np.uint8 and picture.std() > 5
    hopper.step(np.ones(3, np.float32))
    for _ in range(10):
        hopper.unwrapped.step(np.ones(3, np.float32))
    assert (hopper.render() != picture).any()


def test_unknown_render_mode():
    with pytest.raises(ValueError, match="render_mode is 'ascii'; expected None or one of human, rgb_array"):
        SingleEnv("inverted_pendulum", render_mode="ascii")
