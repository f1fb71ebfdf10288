"""The torch interface: memory, episodes, random numbers, resuming."""

import numpy as np
import pytest
import torch

from acesim_rl.envs import BatchEnv, tasks
from acesim_rl.scheduler import check
from acesim_rl.simulation import StrictError


def rollout(env: BatchEnv, steps: int, seed: int = 0) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    out = []
    for _ in range(steps):
        action = torch.rand(env.action.shape, generator=generator) * 2.0 - 1.0
        obs, reward, terminated, truncated, info = env.step(action)
        out += [obs.clone(), reward.clone(), terminated.clone(), truncated.clone(), info["final_obs"].clone()]
    return out


def same_bits(a: list[torch.Tensor], b: list[torch.Tensor]) -> bool:
    return all(torch.equal(x, y) for x, y in zip(a, b, strict=True))


def test_shapes_and_bounds(batch):
    env = batch("ant", 8)
    obs = env.reset(seed=0)
    assert obs.shape == (8, 105) and obs.dtype == torch.float32 and obs.is_contiguous()
    assert (env.num_envs, env.num_obs, env.num_actions, env.max_episode_steps) == (8, 105, 8, 1000)
    assert env.dt == pytest.approx(0.05)
    assert torch.equal(env.action_low, -torch.ones(8)) and torch.equal(env.action_high, torch.ones(8))
    _, reward, terminated, truncated, info = env.step(torch.zeros(8, 8))
    assert reward.shape == terminated.shape == truncated.shape == (8,)
    assert terminated.dtype == truncated.dtype == torch.bool
    assert set(info) == {*env.task.place, *env.task.terms, "final_obs", "bad_state"}
    with pytest.raises(ValueError, match=r"action has shape \(8, 7\); expected \(8, 8\)"):
        env.step(torch.zeros(8, 7))
    with pytest.raises(ValueError, match="mask has shape"):
        env.reset(mask=torch.ones(7, dtype=torch.bool))


def test_tensors_are_the_simulations_memory(batch):
    env = batch("hopper", 4)
    first = env.reset(seed=0)
    obs, reward, *_ = env.step(torch.zeros(4, 3))
    assert first.data_ptr() == obs.data_ptr() == env._next.obs.ptr
    assert reward.data_ptr() == env._next.reward.ptr
    assert env.action.data_ptr() == env.group.d.ctrl.ptr
    env.action[:] = torch.arange(12.0).reshape(4, 3) / 12.0
    np.testing.assert_array_equal(env.group.state.get("ctrl"), env.action.numpy())
    by_hand = torch.cat([t.clone() for t in env.step(env.action)[:2] if t.ndim == 2])
    env.reset(seed=0)
    env.step(torch.zeros(4, 3))
    assert torch.equal(env.step(torch.arange(12.0).reshape(4, 3) / 12.0)[0], by_hand)


def test_torch_does_not_remember_steps(batch):
    env = batch("hopper", 4)
    env.reset(seed=0)
    weight = torch.ones((), requires_grad=True)
    out = env.step(weight * torch.zeros(4, 3))
    assert not env.action.requires_grad and not any(value.requires_grad for value in out[:4])


def test_autoreset_in_the_same_step(batch):
    env = batch("inverted_pendulum", 6)
    env.reset(seed=5)
    push = torch.tensor([[3.0], [0.0], [-3.0], [0.0], [3.0], [0.0]])
    ends = 0
    for _ in range(40):
        before = env._episode.clone()
        obs, reward, terminated, truncated, info = env.step(push)
        done = terminated
        final = info["final_obs"]
        assert not truncated.any()
        assert torch.equal(final[:, 1].abs() > 0.2, done)
        assert torch.equal(reward, (~done).float())
        assert torch.equal(obs[~done], final[~done])
        assert (obs[done].abs() <= 0.01).all()
        assert torch.equal(env._episode - before, done.int())
        assert (env._elapsed[done] == 0).all()
        ends += int(done.sum())
    assert ends > 6


def test_time_limit():
    env = BatchEnv("half_cheetah", 2, device="cpu", max_episode_steps=5)
    env.reset(seed=0)
    for step in range(1, 13):
        obs, _, terminated, truncated, info = env.step(torch.ones(2, 6))
        assert not terminated.any()
        assert truncated.all() == truncated.any() == (step % 5 == 0)
        assert torch.equal(obs, info["final_obs"]) != truncated.any()


def test_a_seed_means_the_same_episodes(batch):
    env, wide = batch("inverted_pendulum", 6), batch("inverted_pendulum", 12)
    first = env.reset(seed=1).clone()
    second = env.reset().clone()
    assert not (first == second).any()
    assert not torch.equal(env.reset(seed=2), first)
    assert torch.equal(env.reset(seed=1), first)
    assert torch.equal(env.reset(), second)
    assert torch.equal(wide.reset(seed=1)[:6], first)
    assert torch.equal(env.reset(seed=[1] * 6), first)
    assert len(first.unique()) == first.numel()


def test_worlds_do_not_know_of_each_other(batch):
    few, many = batch("hopper", 4), batch("hopper", 96, scheduler="ace-sw")
    few.reset(seed=0)
    many.reset(seed=0)
    for step in range(40):
        action = torch.rand(many.action.shape, generator=torch.Generator().manual_seed(step)) * 2.0 - 1.0
        assert torch.equal(few.step(action[:4])[0], many.step(action)[0][:4])


def test_reset_by_mask(batch):
    env = batch("ant", 8)
    env.reset(seed=0)
    rollout(env, 3)
    before, kept = env.obs.clone(), env.state_dict()
    mask = torch.tensor([True, False] * 4)
    obs = env.reset(mask=mask)
    assert torch.equal(obs[~mask], before[~mask])
    assert not (obs[mask][:, :27] == before[mask][:, :27]).any()
    assert torch.equal(env.state_dict()["elapsed"], torch.tensor([0, 3] * 4, dtype=torch.int32))
    after = rollout(env, 2)  # the other worlds go on as if nothing had happened
    env.load_state_dict(kept)
    assert same_bits([x[~mask] for x in after], [x[~mask] for x in rollout(env, 2)])


@pytest.mark.parametrize("task", ["ant", "half_cheetah"])
def test_a_world_that_the_engine_resets_ends_its_episode(task, batch):
    """Terminated, with reward 0, and counted, also in a task that never terminates; the others notice nothing."""
    env, healthy = batch(task, 8), batch(task, 8, scheduler="serial")
    for one in (env, healthy):
        one.reset(seed=0)
        rollout(one, 3)
    env.group.state.set("qvel", np.nan, [2])
    action = torch.full(env.action.shape, 0.3)
    action[5] = torch.nan
    expected = [value.clone() for value in healthy.step(torch.full(env.action.shape, 0.3))[:4]]
    before = env.warnings
    obs, reward, terminated, truncated, info = env.step(action)
    assert {name: count - before[name] for name, count in env.warnings.items() if count > before[name]} == {
        "bad_qvel": 1, "bad_ctrl": 1,
    }  # fmt: skip
    assert info["bad_state"].tolist() == terminated.tolist() == [world == 2 for world in range(8)]
    assert reward[2] == 0.0 and env.state_dict()["elapsed"][2] == 0
    assert obs.isfinite().all() and reward.isfinite().all()
    others = [world for world in range(8) if world not in (2, 5)]
    assert same_bits([x[others] for x in (obs, reward, terminated, truncated)], [x[others] for x in expected])
    assert not env.step(torch.zeros_like(action))[4]["bad_state"].any()


def test_a_reset_by_the_engine_is_noticed_whoever_set_the_counts_back(batch):
    env = batch("half_cheetah", 4)
    env.reset(seed=0)
    zero = torch.zeros_like(env.action)
    for _ in range(2):
        env.group.state.set("qpos", np.nan, [1])
        _, reward, terminated, _, info = env.step(zero)
        assert info["bad_state"].tolist() == terminated.tolist() == [False, True, False, False] and reward[1] == 0.0
        env.group.state.reset()
    assert not env.step(zero)[2].any()
    env.group.state.set("qpos", np.nan, [1])
    env.sim.step()  # a reset before the episode is no matter of the episode
    env.reset()
    assert not env.step(zero)[2].any()


def test_strict(batch):
    env = BatchEnv("hopper", 4, device="cpu", strict=True)
    env.reset(seed=0)
    rollout(env, 2)
    with pytest.raises(StrictError, match=r"hopper.*, world 1: bad_ctrl"):
        env.step(torch.tensor([[0.0], [torch.nan], [0.0], [0.0]]).expand(4, 3))
    for _ in range(2):
        env.group.state.set("qvel", np.nan, [2])
        with pytest.raises(StrictError, match=r"hopper.*, world 2: bad_qvel"):
            env.step(torch.zeros(4, 3))
        assert env.info["bad_state"].tolist() == [False, False, True, False]


def test_noise_has_gymnasiums_distribution():
    env = BatchEnv("half_cheetah", 4000, device="cpu", exclude_current_positions_from_observation=False)
    obs = env.reset(seed=0)
    qpos, qvel = obs[:, :9].numpy() / 0.1, obs[:, 9:].numpy() / 0.1
    assert np.abs(qpos).max() <= 1.0
    np.testing.assert_allclose(qpos.mean(0), 0.0, atol=0.04)
    np.testing.assert_allclose(qpos.std(0), 3**-0.5, atol=0.02)
    np.testing.assert_allclose(qvel.mean(0), 0.0, atol=0.07)
    np.testing.assert_allclose(qvel.std(0), 1.0, atol=0.05)
    np.testing.assert_allclose((qvel**4).mean(), 3.0, atol=0.15)
    np.testing.assert_allclose(np.corrcoef(obs.numpy().T), np.eye(18), atol=0.08)


@pytest.mark.parametrize("task", tasks())
def test_new_episodes_are_observed_as_their_states(task, batch):
    env, other = batch(task, 130, scheduler="serial", max_episode_steps=4), batch(task, 130, scheduler="ace-sw")
    env.reset(seed=0)
    rollout(env, 4)
    assert env.truncated.all()
    other.reset(seed=1)
    obs = other.set_state(env.group.state.get("qpos"), env.group.state.get("qvel"))
    torch.testing.assert_close(env.obs, obs, rtol=1e-5, atol=1e-5)
    for name, value in env.reset_info.items():
        torch.testing.assert_close(value, other.reset_info[name], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("task", ["ant", "inverted_double_pendulum", "humanoid"])
def test_resuming_continues_to_the_same_bits(task, batch):
    env, other = batch(task, 8), BatchEnv(task, 8, device="cpu", seed=99)
    env.reset(seed=3)
    rollout(env, 70)
    state = env.state_dict()
    expected = rollout(env, 30, seed=1)
    assert not state["episode"].equal(torch.ones(8, dtype=torch.int32))  # episodes ended on the way
    other.load_state_dict(state)
    assert torch.equal(other.obs, state["obs"])
    assert same_bits(rollout(other, 30, seed=1), expected)
    with pytest.raises(ValueError, match="from 4 worlds"):
        batch(task, 4).load_state_dict(state)
    with pytest.raises(KeyError, match=r"the state has qpos, .* more; expected qpos, "):
        other.load_state_dict(state | {"more": state["obs"]})


def test_arguments(batch):
    for count in (0, 2.5):
        with pytest.raises(ValueError, match=f"num_envs is {count}; expected a whole number of worlds, at least 1"):
            BatchEnv("hopper", count)
    with pytest.raises(ValueError, match="max_episode_steps is -1; expected"):
        BatchEnv("hopper", 2, max_episode_steps=-1)
    with pytest.raises(TypeError, match="frame_skip: arguments of a task's constructor, but the task is made already"):
        BatchEnv(batch("hopper", 4).task, 2, frame_skip=3)
    for skip in (0, -1, 2.5):
        with pytest.raises(ValueError, match=f"frame_skip is {skip}; expected a whole number of physics steps"):
            BatchEnv("hopper", 2, frame_skip=skip)
    for action in ([[0.0] * 3] * 4, np.zeros((4, 3))):
        with pytest.raises(TypeError, match=r"action is a (list|ndarray); expected a torch tensor of shape \(4, 3\)"):
            batch("hopper", 4).step(action)


@pytest.mark.parametrize("scheduler", ["ace", "ace-sw"])
def test_schedulers_give_the_same_bits(scheduler, batch):
    runs = []
    for name in ("serial", scheduler):
        env = batch("hopper", 160, scheduler=name)
        env.reset(seed=0)
        runs.append(rollout(env, 40))
    assert same_bits(*runs)
    assert len(env.group.tiles) > 1
    assert env.scheduler_name != "ace"
    assert env.scheduler_stats() and env.report()


@pytest.mark.parametrize("task", tasks())
def test_schedulers_give_the_same_bits_in_every_task(task, batch):
    runs = []
    for name in ("serial", "ace-sw"):
        env = batch(task, 130, scheduler=name, max_episode_steps=4)
        env.reset(seed=0)
        runs.append(rollout(env, 6))
    assert same_bits(*runs)


@pytest.mark.parametrize("task", tasks())
def test_stages_touch_what_the_scheduler_thinks(task):
    env = BatchEnv(task, 3, device="cpu", scheduler="serial", frame_skip=1, max_episode_steps=2)
    env.reset(seed=0)
    operations = [*env.emit_step(), *env.emit_step(), *env.emit_reset()]
    assert check(operations) == len(operations)
    assert env.truncated.all()
