"""Running mean and variance of a stream of batches."""

import torch
from torch import Tensor, nn

__all__ = ["RunningMoments"]


class RunningMoments(nn.Module):
    """Mean and variance of everything seen so far (Chan et al. 1979, parallel update), kept on the device.

    The numbers do not change inside a rollout or an update: `update` is called once between them. A sum over one batch
    is a fixed tree of additions, so the same batches give the same bits.
    """

    mean: Tensor
    var: Tensor
    count: Tensor

    def __init__(self, shape: tuple[int, ...] = (), *, limit: float = 10.0, enabled: bool = True):
        super().__init__()
        self.limit = limit
        self.enabled = enabled
        self.register_buffer("mean", torch.zeros(shape))
        self.register_buffer("var", torch.ones(shape))
        self.register_buffer("count", torch.zeros((), dtype=torch.float64))

    @torch.no_grad()
    def update(self, batch: Tensor) -> None:
        """Take in a batch of shape [..., *shape]."""
        if not self.enabled:
            return
        flat = batch.reshape(-1, *self.mean.shape)
        count = self.count + len(flat)
        weight = count.reciprocal().mul(len(flat)).float()
        delta = flat.mean(0) - self.mean
        self.var.lerp_(flat.var(0, correction=0) + delta * delta * (1 - weight), weight)
        self.mean.add_(delta * weight)
        self.count.copy_(count)

    def normalize(self, value: Tensor) -> Tensor:
        """Zero mean and unit variance, cut at `limit` standard deviations."""
        return ((value - self.mean) * self._scale().reciprocal()).clamp(-self.limit, self.limit)

    def denormalize(self, value: Tensor) -> Tensor:
        """The inverse of normalize."""
        return value * self._scale() + self.mean

    def _scale(self) -> Tensor:
        return (self.var + 1e-4).sqrt()
