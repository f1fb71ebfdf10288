"""A policy trained here, in Gymnasium's own environment."""

from pathlib import Path

import pytest

from acesim_rl.agents import load_policy
from acesim_rl.agents.config import UsageError
from transfer import gymnasium_returns, our_returns

ANT = Path(__file__).parent / "ant"  # 2 million steps, 4 minutes: the policy in a checkpoint of `train.py --env ant`


def test_an_ant_keeps_its_return_in_gymnasium():
    policy = load_policy(ANT)
    ours, theirs = our_returns(policy, "ant", 40, seed=1), gymnasium_returns(policy, "ant", 16, seed=1)
    assert ours.mean() > 2500
    assert theirs.mean() > 0.9 * ours.mean()


def test_our_own_task_is_not_in_gymnasium():
    with pytest.raises(UsageError, match="Gymnasium has no such environment"):
        gymnasium_returns(None, "grasp", 1, seed=0)
