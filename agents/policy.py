"""A Gaussian actor and a critic, with everything that turns raw observations into bounded actions."""

import math

import numpy as np
import torch
from torch import Tensor, nn

from acesim_rl.agents.config import PPOConfig
from acesim_rl.agents.normalize import RunningMoments

__all__ = ["Policy"]

_ACTIVATIONS = {"elu": nn.ELU, "relu": nn.ReLU, "tanh": nn.Tanh}


class Policy(nn.Module):
    """pi(a | x) = Normal(actor(x), std), with one standard deviation an action, and a critic V(x).

    x is the normalized observation; a counts from -1 to 1 over the action range (`bound` makes it an action of the
    environment). Calling the policy goes the whole way, from raw observation to the best action.
    """

    action_low: Tensor
    action_high: Tensor
    action_center: Tensor
    action_scale: Tensor

    def __init__(self, num_obs: int, action_low: Tensor, action_high: Tensor, config: PPOConfig):
        super().__init__()
        num_actions = len(action_low)
        self.moments = RunningMoments((num_obs,), enabled=config.normalize_observations)
        self.actor = _network(num_obs, config.hidden, num_actions, config.activation, gain=0.01)
        self.critic = _network(num_obs, config.hidden, 1, config.activation, gain=1.0)
        self.log_std = nn.Parameter(torch.full((num_actions,), math.log(config.initial_std)))
        bounded = torch.isfinite(action_low) & torch.isfinite(action_high)
        self.register_buffer("action_low", action_low.float().clone())
        self.register_buffer("action_high", action_high.float().clone())
        self.register_buffer("action_center", torch.where(bounded, (action_low + action_high) / 2, 0.0).float())
        self.register_buffer("action_scale", torch.where(bounded, (action_high - action_low) / 2, 1.0).float())

    def normalize(self, obs: Tensor) -> Tensor:
        """What actor and critic see of observations [..., num_obs]."""
        return self.moments.normalize(obs)

    def value(self, x: Tensor) -> Tensor:
        """V(x) in the units of the critic's targets, [...] for x [..., num_obs]."""
        return self.critic(x).squeeze(-1)

    def sample(self, x: Tensor, generator: torch.Generator) -> Tensor:
        """Draw a ~ pi(. | x), [..., num_actions]."""
        mean = self.actor(x)
        noise = torch.randn(mean.shape, generator=generator, device=mean.device)
        return mean + noise * self.log_std.exp()

    def log_prob(self, x: Tensor, a: Tensor) -> Tensor:
        """log pi(a | x), [...]."""
        z = (a - self.actor(x)) * (-self.log_std).exp()
        return -0.5 * (z * z).sum(-1) - self.log_std.sum() - 0.5 * math.log(2 * math.pi) * a.shape[-1]

    def entropy(self) -> Tensor:
        """Entropy of pi(. | x), the same for every x."""
        return self.log_std.sum() + 0.5 * math.log(2 * math.pi * math.e) * len(self.log_std)

    def bound(self, a: Tensor) -> Tensor:
        """The environment's action for a: scaled to the action range and cut at its ends."""
        return (a * self.action_scale + self.action_center).clamp(self.action_low, self.action_high)

    def is_finite(self) -> Tensor:
        """Whether all that was learned is finite, a scalar on the device."""
        learned = (*self.parameters(), *self.moments.buffers())
        return torch.stack([tensor.isfinite().all() for tensor in learned]).all()

    @torch.no_grad()
    def forward(self, obs: Tensor | np.ndarray) -> Tensor | np.ndarray:
        """The mean action for observations [num_obs] or [N, num_obs], as the kind of array that came in."""
        raw = torch.as_tensor(obs, dtype=torch.float32, device=self.log_std.device)
        action = self.bound(self.actor(self.normalize(raw)))
        return action if isinstance(obs, Tensor) else action.cpu().numpy()


def _network(num_in: int, hidden: tuple[int, ...], num_out: int, activation: str, gain: float) -> nn.Sequential:
    """A multilayer perceptron with orthogonal weights (Saxe et al. 2014); a small `gain` makes a quiet last layer."""
    layers: list[nn.Module] = []
    for width in hidden:
        layers += [_linear(num_in, width, math.sqrt(2)), _ACTIVATIONS[activation]()]
        num_in = width
    return nn.Sequential(*layers, _linear(num_in, num_out, gain))


def _linear(num_in: int, num_out: int, gain: float) -> nn.Linear:
    layer = nn.Linear(num_in, num_out)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer
