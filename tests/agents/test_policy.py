"""The policy's densities, its bounds, and what it takes and gives."""

import numpy as np
import pytest
import torch

from acesim_rl.agents.config import PPOConfig
from acesim_rl.agents.policy import Policy


def make_policy(low=(-1.0, -2.0), high=(1.0, 4.0)) -> Policy:
    torch.manual_seed(0)
    return Policy(3, torch.tensor(low), torch.tensor(high), PPOConfig(hidden=(8,), initial_std=0.5))


def test_log_prob_and_entropy_are_those_of_a_normal_distribution():
    policy = make_policy()
    x, a = torch.randn(5, 3), torch.randn(5, 2)
    normal = torch.distributions.Normal(policy.actor(x), policy.log_std.exp())
    torch.testing.assert_close(policy.log_prob(x, a), normal.log_prob(a).sum(-1))
    torch.testing.assert_close(policy.entropy(), normal.entropy().sum(-1)[0])


def test_samples_have_the_policys_mean_and_deviation():
    policy = make_policy()
    x = torch.randn(1, 3).expand(20_000, 3)
    a = policy.sample(x, torch.Generator().manual_seed(0))
    torch.testing.assert_close(a.mean(0), policy.actor(x[0]), atol=0.02, rtol=0)
    torch.testing.assert_close(a.std(0), policy.log_std.exp(), atol=0.02, rtol=0)


def test_bound_maps_the_unit_range_to_the_action_range_and_cuts():
    bound = make_policy().bound(torch.tensor([[-1.0, -1.0], [1.0, 1.0], [0.0, 0.0], [9.0, -9.0]]))
    assert bound.tolist() == [[-1, -2], [1, 4], [0, 1], [1, -2]]
    assert make_policy((-1.0, -torch.inf), (1.0, torch.inf)).bound(torch.tensor([0.5, 7.0])).tolist() == [0.5, 7.0]


@pytest.mark.parametrize("shape", [(3,), (4, 3)])
def test_takes_numpy_and_torch_with_and_without_a_batch(shape):
    policy = make_policy()
    obs = np.random.default_rng(0).normal(size=shape)
    from_numpy, from_torch = policy(obs), policy(torch.tensor(obs))
    assert isinstance(from_numpy, np.ndarray) and isinstance(from_torch, torch.Tensor)
    assert from_numpy.shape == (*shape[:-1], 2)
    assert np.array_equal(from_numpy, from_torch.numpy())
    assert (from_numpy >= [-1, -2]).all() and (from_numpy <= [1, 4]).all()
