"""Advantages against the definition, written out step by step."""

import torch

from acesim_rl.agents.rollout import advantages


def naive_advantage(t, world, rewards, values, final_values, terminated, done, gamma, gae_lambda):
    total, weight = 0.0, 1.0
    for k in range(t, len(rewards)):
        after = 0.0 if terminated[k, world] else final_values[k, world]
        total += weight * (rewards[k, world] + gamma * after - values[k, world])
        if done[k, world]:
            break
        weight *= gamma * gae_lambda
    return total


def test_advantages_equal_the_naive_sum_with_terminations_and_truncations():
    torch.manual_seed(0)
    rewards, values, final_values = torch.randn(3, 12, 5)
    terminated = torch.rand(12, 5) < 0.15
    done = terminated | (torch.rand(12, 5) < 0.15)
    assert (done & ~terminated).any() and terminated.any()
    result = advantages(rewards, values, final_values, terminated, done, gamma=0.9, gae_lambda=0.8)
    for t in range(12):
        for world in range(5):
            expected = naive_advantage(t, world, rewards, values, final_values, terminated, done, 0.9, 0.8)
            torch.testing.assert_close(result[t, world], expected)


def test_truncation_counts_the_value_of_the_last_state_and_termination_does_not():
    one, no, yes = torch.ones(1, 1), torch.zeros(1, 1, dtype=torch.bool), torch.ones(1, 1, dtype=torch.bool)
    options = {"gamma": 0.5, "gae_lambda": 0.9}
    assert advantages(one, 0 * one, 8 * one, no, yes, **options) == 5  # 1 + 0.5 * 8
    assert advantages(one, 0 * one, 8 * one, yes, yes, **options) == 1
    assert advantages(one, 0 * one, torch.nan * one, yes, yes, **options) == 1  # a state that is not finite is terminal
