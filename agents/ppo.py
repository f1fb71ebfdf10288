"""Proximal policy optimization: the loss, and the update that descends it."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from acesim_rl.agents.config import PPOConfig
from acesim_rl.agents.normalize import RunningMoments
from acesim_rl.agents.policy import Policy
from acesim_rl.agents.rollout import Rollout, advantages

__all__ = ["PPO", "ppo_loss"]

METRICS = ("policy_loss", "value_loss", "entropy", "kl", "clip_fraction")
_LEARNING_RATES = (1e-5, 1e-2)


def ppo_loss(
    log_prob: Tensor,
    value: Tensor,
    entropy: Tensor,
    *,
    old_log_prob: Tensor,
    old_value: Tensor,
    advantage: Tensor,
    target: Tensor,
    config: PPOConfig,
) -> tuple[Tensor, Tensor]:
    """The clipped surrogate objective (Schulman et al. 2017, equation 9), to be minimized; every input is [batch].

    Returns:
        The loss, and its parts as named in METRICS; kl is the estimate E[r - 1 - log r] of the divergence.
    """
    log_ratio = log_prob - old_log_prob
    ratio = log_ratio.exp()
    clipped = ratio.clamp(1 - config.clip_range, 1 + config.clip_range)
    policy_loss = -torch.minimum(ratio * advantage, clipped * advantage).mean()

    error = (value - target).square()
    if config.value_clip:
        near = old_value + (value - old_value).clamp(-config.value_clip, config.value_clip)
        error = torch.maximum(error, (near - target).square())
    value_loss = 0.5 * error.mean()

    loss = policy_loss + config.value_coef * value_loss - config.entropy_coef * entropy
    with torch.no_grad():
        kl = (ratio - 1 - log_ratio).mean()
        clip_fraction = (ratio != clipped).float().mean()
        return loss, torch.stack([policy_loss, value_loss, entropy, kl, clip_fraction])


class PPO:
    """Improves a policy from rollouts.

    Nothing here waits for the device: the learning rate, the metrics and the statistics are tensors. On CUDA a gradient
    step is captured once as a graph, which is then launched for every minibatch.
    """

    def __init__(self, policy: Policy, config: PPOConfig, batch: int, generator: torch.Generator):
        self.policy = policy
        self.config = config
        self.generator = generator
        self.device = policy.log_std.device
        self.return_moments = RunningMoments(enabled=config.normalize_returns, limit=float("inf")).to(self.device)
        self.optimizer = _adam(policy, config.learning_rate)
        self.metrics = torch.zeros(len(METRICS), device=self.device)
        self.index = torch.zeros(batch // config.minibatches, dtype=torch.int64, device=self.device)
        self.batch: dict[str, Tensor] = {}
        self._step: Callable[[], None] | None = None

    @property
    def learning_rate(self) -> Tensor:
        """A scalar on the device, changed in place."""
        return self.optimizer.param_groups[0]["lr"]

    def update(self, rollout: Rollout, progress: float = 0.0) -> Tensor:
        """Train on a rollout, the run being `progress` (0 to 1) done; METRICS of the last epoch, on the device."""
        self._prepare(rollout)
        if self.config.schedule == "linear":
            self.learning_rate.fill_(self.config.learning_rate * max(0.0, 1.0 - progress))
        if self._step is None:
            self._step = self._capture() if self.device.type == "cuda" else self._gradient_step
        for _ in range(self.config.epochs):
            self.metrics.zero_()
            order = torch.randperm(rollout.rewards.numel(), generator=self.generator, device=self.device)
            for part in order.split(len(self.index))[: self.config.minibatches]:
                self.index.copy_(part)
                self._step()
        self.metrics /= self.config.minibatches
        if self.config.schedule == "adaptive":
            self._adapt_learning_rate(self.metrics[METRICS.index("kl")])
        self.policy.moments.update(rollout.obs)
        return self.metrics

    @torch.no_grad()
    def _prepare(self, rollout: Rollout) -> None:
        """Fill the batch that the gradient steps draw from."""
        policy, moments, config = self.policy, self.return_moments, self.config
        x = policy.normalize(rollout.obs)
        values = moments.denormalize(policy.value(x))
        final_values = moments.denormalize(policy.value(policy.normalize(rollout.final_obs)))
        advantage = advantages(
            rollout.rewards,
            values,
            final_values,
            rollout.terminated,
            rollout.done,
            gamma=config.gamma,
            gae_lambda=config.gae_lambda,
        )
        returns = advantage + values
        moments.update(returns)
        batch = {
            "x": x,
            "action": rollout.actions,
            "old_log_prob": policy.log_prob(x, rollout.actions),
            "old_value": moments.normalize(values),
            "advantage": (advantage - advantage.mean()) / (advantage.std() + 1e-8),
            "target": moments.normalize(returns),
        }
        for name, tensor in batch.items():
            flat = tensor.flatten(0, 1)
            self.batch.setdefault(name, torch.empty_like(flat)).copy_(flat)

    def _gradient_step(self) -> None:
        """One step of Adam on the rows `index` of the batch; touches only tensors that stay where they are."""
        part = {name: tensor[self.index] for name, tensor in self.batch.items()}
        x, action = part.pop("x"), part.pop("action")
        policy = self.policy
        loss, metrics = ppo_loss(
            policy.log_prob(x, action), policy.value(x), policy.entropy(), config=self.config, **part
        )
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), self.config.max_grad_norm)
        self.optimizer.step()
        self.metrics += metrics

    def _capture(self) -> Callable[[], None]:
        """The gradient step as a CUDA graph; what the warm-up changes is put back."""
        state = [tensor for of_one in self.optimizer.state.values() for tensor in of_one.values()]
        changed = [*self.policy.parameters(), *state, self.metrics]
        before = [tensor.detach().clone() for tensor in changed]
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self._gradient_step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._gradient_step()
        with torch.no_grad():
            for tensor, value in zip(changed, before, strict=True):
                tensor.copy_(value)
        return graph.replay

    def _adapt_learning_rate(self, kl: Tensor) -> None:
        """Slower where the policy moved too far, faster where it hardly did."""
        target = self.config.target_kl
        factor = torch.where(kl > 2 * target, 1 / 1.5, torch.where(kl < target / 2, 1.5, 1.0))
        self.learning_rate.mul_(factor).clamp_(*_LEARNING_RATES)

    def state_dict(self) -> dict:
        """Everything beside the policy that the next update depends on."""
        return {"optimizer": self.optimizer.state_dict(), "return_moments": self.return_moments.state_dict()}

    def load_state_dict(self, state: dict) -> None:
        """Continue from state_dict; before the first update."""
        self.optimizer.load_state_dict(state["optimizer"])
        self.return_moments.load_state_dict(state["return_moments"])


def _adam(policy: nn.Module, learning_rate: float) -> torch.optim.Adam:
    """Adam whose learning rate is a tensor and whose state exists from the start, as a CUDA graph needs them."""
    parameters = list(policy.parameters())
    device = parameters[0].device
    lr = torch.tensor(learning_rate, device=device)
    adam = torch.optim.Adam(parameters, lr=lr, eps=1e-5, fused=True, capturable=device.type == "cuda")
    for parameter in parameters:
        parameter.grad = torch.zeros_like(parameter)
    adam.step()  # with zero gradients: makes the state, moves nothing
    for state in adam.state.values():
        state["step"].zero_()
    return adam
