"""A batch of cart-poles with the interface of BatchEnv, in a few lines of torch."""

import torch
from torch import Tensor

__all__ = ["CartPoleBatch"]


class CartPoleBatch:
    """Balance a pole: reward 1 a step, over when the pole leans more than 0.2 rad or the cart is 2.4 m away."""

    num_obs, num_actions, max_episode_steps, dt = 4, 1, 200, 0.02

    def __init__(
        self,
        name: str,
        num_envs: int,
        device: str = "cpu",
        scheduler: str = "ace",
        seed: int = 0,
        *,
        strict: bool = False,
    ):
        self.strict = strict
        self.num_envs, self.device = num_envs, torch.device(device)
        self.scheduler_name = "serial" if scheduler == "ace" else scheduler
        self.action_low, self.action_high = torch.full((1,), -3.0), torch.full((1,), 3.0)
        self.reset(seed)

    def reset(self, seed: int | None = None) -> Tensor:
        self._seed = torch.tensor(0 if seed is None else seed, device=self.device)
        self._episode = torch.zeros(self.num_envs, dtype=torch.int64, device=self.device)
        self._time = torch.zeros(self.num_envs, dtype=torch.int64, device=self.device)
        self._obs = self._first_obs()
        return self._obs

    def step(self, action: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, dict[str, Tensor]]:
        x, v, angle, spin = self._obs.unbind(-1)
        force = action[:, 0].clamp(-3, 3) * 4
        sin, cos = angle.sin(), angle.cos()
        push = (force + 0.05 * spin**2 * sin) / 1.1
        spin_rate = (9.8 * sin - cos * push) / (0.5 * (4 / 3 - 0.1 * cos**2 / 1.1))
        v_rate = push - 0.05 * spin_rate * cos / 1.1
        h = self.dt
        final_obs = torch.stack([x + h * v, v + h * v_rate, angle + h * spin, spin + h * spin_rate], dim=-1)
        self._time += 1
        terminated = (final_obs[:, 2].abs() > 0.2) | (final_obs[:, 0].abs() > 2.4)
        truncated = ~terminated & (self._time >= self.max_episode_steps)
        done = terminated | truncated
        self._episode += done
        self._time *= ~done
        self._obs.copy_(torch.where(done[:, None], self._first_obs(), final_obs))
        reward = torch.ones(self.num_envs, device=self.device)
        return self._obs, reward, terminated, truncated, {"final_obs": final_obs, "reward_survive": reward}

    def _first_obs(self) -> Tensor:
        """Start states that depend on (seed, world, episode) alone."""
        world = torch.arange(self.num_envs, device=self.device)
        phase = (self._seed * 7919 + world * 104729 + self._episode * 1299709)[:, None] + torch.arange(
            4, device=self.device
        )
        return 0.05 * (phase.double() * 12.9898).sin().float()

    def state_dict(self) -> dict[str, Tensor]:
        return {"obs": self._obs, "episode": self._episode, "time": self._time, "seed": self._seed}

    def load_state_dict(self, state: dict[str, Tensor]) -> None:
        self._obs, self._episode, self._time = (state[name].clone() for name in ("obs", "episode", "time"))
        self._seed = state["seed"]

    warnings = {"bad_qpos": 0, "bad_qvel": 2}  # noqa: RUF012

    def scheduler_stats(self) -> dict:
        return {"operations": 1}

    def report(self) -> str:
        return f"scheduler {self.scheduler_name}: 1 operation"
