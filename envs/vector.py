"""Many worlds as a ``gymnasium.vector.VectorEnv`` with numpy arrays."""

import os

import gymnasium
import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from acesim_rl.envs.base import Task
from acesim_rl.envs.batch import BatchEnv

__all__ = ["VectorEnv"]


class VectorEnv(gymnasium.vector.VectorEnv):
    """Worlds of one task with autoreset in the same step. ``gymnasium.make_vec("acesim_rl/Ant-v5", 8)`` makes one.

    Observations are float32. In ``info`` every value has its mask under the name with an underscore before it;
    ``final_obs`` and ``final_info`` say how an episode ended that ended in this step; ``final_info`` has ``bad_state``
    where the engine had to reset a world, as its state was not finite or too large: terminated, with reward 0.

    Args:
        task: Name of a task (see ``tasks()``), or a ``Task``.
        num_envs: Number of worlds.
        max_episode_steps: Time limit [steps]; the task's own by default.
        device: Where the simulation runs; the GPU if there is one by default.
        scheduler: As for ``BatchEnv``.
        strict: As for ``BatchEnv``.
        render_mode: None; only single environments render.
        task_kwargs: Arguments of the task's constructor.
    """

    def __init__(
        self,
        task: str | Task,
        num_envs: int = 1,
        *,
        max_episode_steps: int | None = None,
        device: str | None = None,
        scheduler: str = "ace",
        strict: bool = False,
        render_mode: str | None = None,
        **task_kwargs,
    ):
        if render_mode is not None:
            raise ValueError(
                f"render_mode is {render_mode!r}; many worlds are not rendered: use gymnasium.make for one"
            )
        seed = int.from_bytes(os.urandom(7), "little")  # until reset is given one
        self.batch = BatchEnv(
            task, num_envs, device, scheduler, seed, max_episode_steps=max_episode_steps, strict=strict, **task_kwargs
        )
        self.num_envs = num_envs
        self.metadata = {
            "render_modes": [],
            "render_fps": round(1.0 / self.batch.dt),
            "autoreset_mode": AutoresetMode.SAME_STEP,
        }
        low, high = self.batch.task.action_bounds
        self.single_observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (self.batch.num_obs,), np.float32)
        self.single_action_space = gymnasium.spaces.Box(low, high, dtype=np.float32)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict | None = None
    ) -> tuple[np.ndarray, dict]:
        """Begin new episodes, in all worlds or where ``options["reset_mask"]`` [num_envs] is true.

        Seeds are as for ``BatchEnv``: one for all worlds, or one for each; a world with None goes on with its own.
        """
        super().reset(seed=seed if isinstance(seed, int) else None)
        options = dict(options or {})
        mask = options.pop("reset_mask", None)
        if options:
            raise ValueError(f"options are {', '.join(options)}; the only one is 'reset_mask'")
        if mask is None:
            mask = np.ones(self.num_envs, dtype=np.bool_)
        elif not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (self.num_envs,):
            raise TypeError(f"options['reset_mask'] is {mask!r}; expected a numpy array of {self.num_envs} bools")
        elif not mask.any():
            raise ValueError("options['reset_mask'] is false everywhere; expected at least one world to reset")
        obs = _numpy(self.batch.reset(seed, mask))
        return obs, self._masked(self.batch.reset_info, mask)

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict]:
        """Step all worlds with actions [num_envs, num_actions]."""
        obs, reward, terminated, truncated, ended = self.batch.step(torch.as_tensor(np.asarray(actions, np.float32)))
        obs, reward, terminated, truncated = _numpy(obs), _numpy(reward), _numpy(terminated), _numpy(truncated)
        done = terminated | truncated
        final_obs, bad_state = ended.pop("final_obs"), _numpy(ended.pop("bad_state"))
        info = self._masked(self.batch.reset_info, np.ones_like(done))
        info |= self._masked({name: ended[name] for name in self.batch.task.terms}, ~done)
        if done.any():
            info["final_obs"] = np.full(self.num_envs, None, dtype=object)
            rows = _numpy(final_obs)
            for w in np.flatnonzero(done):
                info["final_obs"][w] = rows[w].copy()
            info["_final_obs"] = done
            info["final_info"] = self._masked(ended, done)
            if bad_state.any():
                info["final_info"] |= {"bad_state": bad_state, "_bad_state": bad_state.copy()}
            info["_final_info"] = done.copy()
        return obs, reward.astype(np.float64), terminated, truncated, info

    def close_extras(self, **kwargs) -> None:
        """Nothing is open."""

    @staticmethod
    def _masked(values: dict[str, torch.Tensor], mask: np.ndarray) -> dict[str, np.ndarray]:
        """Values with their masks as Gymnasium has them: zero where there is none, left out if there are none."""
        info = {}
        if mask.any():
            for name, tensor in values.items():
                where = mask if tensor.ndim == 1 else mask[:, None]
                info[name] = np.where(where, _numpy(tensor).astype(np.float64), 0.0)
                info[f"_{name}"] = mask.copy()
        return info


def _numpy(tensor: torch.Tensor) -> np.ndarray:
    """A copy of a tensor on the host."""
    return tensor.cpu().numpy().copy()
