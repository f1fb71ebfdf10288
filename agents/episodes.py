"""Returns of episodes, summed on the device while they run and read once an update."""

from collections import deque

import torch
from torch import Tensor

__all__ = ["EpisodeTracker"]


class EpisodeTracker:
    """Sums reward, length and reward terms of every world's episode, and remembers the last finished episodes."""

    def __init__(self, horizon: int, num_envs: int, device: torch.device, *, window: int = 100):
        self.names = ["return", "length"]
        self.finished: deque[list[float]] = deque(maxlen=window)
        """One list of numbers an episode, in the order of `names`."""
        self.count = 0
        """Episodes finished since the start of the run."""
        self._shape = (horizon, num_envs)
        self._device = device
        self._running = torch.zeros(0, device=device)

    def add(self, t: int, reward: Tensor, done: Tensor, terms: dict[str, Tensor]) -> None:
        """Take in step `t` of the rollout; `terms` are the parts of the reward, always the same ones."""
        if not len(self._running):
            self.names += sorted(terms)
            self._running = torch.zeros(self._shape[1], len(self.names), device=self._device)
        if t == 0:
            self._ends = torch.zeros(*self._shape, len(self.names), device=self._device)
            self._done = torch.zeros(self._shape, dtype=torch.bool, device=self._device)
        step = [reward, torch.ones_like(reward), *(terms[name] for name in self.names[2:])]
        self._running += torch.stack(step, dim=-1)
        self._ends[t].copy_(self._running)
        self._done[t].copy_(done)
        self._running *= ~done.unsqueeze(-1)

    def read(self) -> None:
        """Move the episodes that ended during the rollout to `finished`; waits for the device."""
        ended = self._ends[self._done].tolist()
        self.finished.extend(ended)
        self.count += len(ended)

    def means(self) -> dict[str, float]:
        """Mean of every name over the remembered episodes; empty before the first one ends."""
        episodes = list(self.finished)
        return {name: sum(e[i] for e in episodes) / len(episodes) for i, name in enumerate(self.names) if episodes}

    def state_dict(self) -> dict:
        return {
            "names": self.names,
            "finished": [list(episode) for episode in self.finished],
            "count": self.count,
            "running": self._running,
        }

    def load_state_dict(self, state: dict) -> None:
        self.names = list(state["names"])
        self.finished.clear()
        self.finished.extend(state["finished"])
        self.count = state["count"]
        self._running = state["running"].to(self._device)
