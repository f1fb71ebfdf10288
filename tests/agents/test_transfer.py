"""A policy trained here, in Gymnasium's own environment."""

from pathlib import Path

import numpy as np
import pytest
import torch

from acesim_rl.agents import load_policy
from acesim_rl.agents.config import UsageError
from acesim_rl.envs import BatchEnv
from transfer import gymnasium_returns, our_returns

ANT = Path(__file__).parent / "ant"  # 2 million steps, 4 minutes: the policy in a checkpoint of `train.py --env ant`


def test_an_ant_keeps_its_return_in_gymnasium():
    policy = load_policy(ANT)
    env = BatchEnv("ant", 40, device="cpu")
    ours, theirs = our_returns(policy, env, seed=1), gymnasium_returns(policy, "ant", 16, seed=1)
    assert ours.mean() > 2500
    assert theirs.mean() > 0.9 * ours.mean()


def test_both_begin_in_the_same_states():
    def policy(obs):
        seen.append(np.array(np.atleast_2d(obs)[0]))  # of our first world, or of Gymnasium's only one
        return np.zeros(1) if np.ndim(obs) == 1 else torch.zeros(len(obs), 1)

    seen: list[np.ndarray] = []
    theirs = gymnasium_returns(policy, "inverted_pendulum", 3, seed=5)
    first, seen = seen[0], []
    ours = our_returns(policy, BatchEnv("inverted_pendulum", 3, device="cpu"), seed=5)
    np.testing.assert_allclose(seen[0], first, rtol=1e-5)
    np.testing.assert_array_equal(ours, theirs)  # it falls at the same step


def test_our_own_task_is_not_in_gymnasium():
    with pytest.raises(UsageError, match="Gymnasium has no such environment"):
        gymnasium_returns(None, "grasp", 1, seed=0)
