"""What the worlds did between two updates, and how good it was."""

import torch
from torch import Tensor

__all__ = ["Rollout", "advantages"]


class Rollout:
    """`horizon` steps of `num_envs` worlds; every tensor is [horizon, num_envs, ...]."""

    def __init__(self, horizon: int, num_envs: int, num_obs: int, num_actions: int, device: torch.device):
        def zeros(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
            return torch.zeros(horizon, num_envs, *shape, dtype=dtype, device=device)

        self.horizon = horizon
        self.obs = zeros(num_obs)
        self.actions = zeros(num_actions)
        self.rewards = zeros()
        self.final_obs = zeros(num_obs)
        """What each step led to: the next observation, before the reset where an episode ended."""
        self.terminated = zeros(dtype=torch.bool)
        self.done = zeros(dtype=torch.bool)
        """The episode ended here, terminated or truncated."""

    def store_decision(self, t: int, obs: Tensor, actions: Tensor) -> None:
        """Copy what was seen and chosen; before the step, which overwrites the observations."""
        self.obs[t].copy_(obs)
        self.actions[t].copy_(actions)

    def store_outcome(self, t: int, rewards: Tensor, terminated: Tensor, truncated: Tensor, final_obs: Tensor) -> None:
        """Copy what came of it."""
        self.rewards[t].copy_(rewards)
        self.final_obs[t].copy_(final_obs)
        self.terminated[t].copy_(terminated)
        torch.logical_or(terminated, truncated, out=self.done[t])


def advantages(
    rewards: Tensor,
    values: Tensor,
    final_values: Tensor,
    terminated: Tensor,
    done: Tensor,
    *,
    gamma: float,
    gae_lambda: float,
) -> Tensor:
    """Generalized advantage estimates (Schulman et al. 2016, equation 16), every tensor [horizon, num_envs].

    A truncated episode would have gone on, so the value of its last state, `final_values`, counts; only where it
    terminated is there nothing to come. The sum itself stops at both.

    Args:
        values: V of the state that each step started from.
        final_values: V of the state that each step led to, before any reset.
    """
    surprise = rewards + gamma * final_values.masked_fill(terminated, 0.0) - values  # a terminal state may be NaN
    carry = gamma * gae_lambda * ~done
    result = torch.empty_like(surprise)
    running = torch.zeros_like(surprise[0])
    for t in reversed(range(len(surprise))):
        running = surprise[t] + carry[t] * running
        result[t] = running
    return result
