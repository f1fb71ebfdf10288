"""One world as a ``gymnasium.Env``: float64 observations, and first states drawn as Gymnasium draws them."""

import os

import gymnasium
import mujoco
import numpy as np
import torch

from acesim_rl.envs.base import Task
from acesim_rl.envs.batch import BatchEnv

__all__ = ["SingleEnv"]


class SingleEnv(gymnasium.Env):
    """One world of a task. ``gymnasium.make("acesim_rl/Ant-v5")`` makes one, with the time limit around it.

    Args:
        task: Name of a task (see ``tasks()``), or a ``Task``.
        render_mode: ``human``, ``rgb_array``, ``depth_array`` or ``rgbd_tuple``.
        width: Width of the image [pixels].
        height: Height of the image [pixels].
        camera_id: Camera of the model to render from, by id; a free camera by default.
        camera_name: The same by name.
        max_geom: Most geoms that a picture can have.
        visual_options: Values of MuJoCo's visual flags.
        device: Where the simulation runs; the CPU by default, which is the faster one for a single world.
        scheduler: As for ``BatchEnv``.
        strict: As for ``BatchEnv``.
        task_kwargs: Arguments of the task's constructor.
    """

    metadata = {"render_modes": ["human", "rgb_array", "depth_array", "rgbd_tuple"]}  # noqa: RUF012

    def __init__(
        self,
        task: str | Task,
        render_mode: str | None = None,
        width: int = 480,
        height: int = 480,
        camera_id: int | None = None,
        camera_name: str | None = None,
        max_geom: int = 1000,
        visual_options: dict[int, bool] | None = None,
        *,
        device: str = "cpu",
        scheduler: str = "ace",
        strict: bool = False,
        **task_kwargs,
    ):
        self.batch = BatchEnv(
            task, 1, device, scheduler, max_episode_steps=0, autoreset=False, strict=strict, **task_kwargs
        )
        self.task = self.batch.task
        self.metadata = {**self.metadata, "render_fps": round(1.0 / self.dt)}
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            modes = ", ".join(self.metadata["render_modes"])
            raise ValueError(f"render_mode is {render_mode!r}; expected None or one of {modes}")
        self.render_mode = render_mode
        self._render_options = {
            "width": width,
            "height": height,
            "max_geom": max_geom,
            "camera_id": camera_id,
            "camera_name": camera_name,
            "visual_options": visual_options,
        }
        self._renderer = None
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (self.batch.num_obs,), np.float64)
        self.action_space = gymnasium.spaces.Box(*self.task.action_bounds, dtype=np.float32)

    @property
    def model(self) -> mujoco.MjModel:
        """The robot as MuJoCo compiled it."""
        return self.task.mj

    @property
    def state(self):
        """The engine's state: ``state.get("qpos")[0]`` and so on."""
        return self.batch.group.state

    @property
    def frame_skip(self) -> int:
        """Physics steps in a step of the environment."""
        return self.task.frame_skip

    @property
    def dt(self) -> float:
        """Duration of a step [s]."""
        return self.task.dt

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[np.ndarray, dict]:
        """Begin an episode; a seed draws the same first state as Gymnasium's own environment does. No options."""
        if options:
            raise ValueError(
                f"options are {', '.join(options)}; there are none: a task's arguments go to the constructor"
            )
        super().reset(seed=seed)
        self.batch.reset()  # for all that a reset clears; its noise gives way to Gymnasium's
        obs = self.set_state(*self.task.initial_state(self.np_random))
        if self.render_mode == "human":
            self.render()
        return obs, self._info(self.batch.reset_info)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict]:
        """One step of the environment: ``frame_skip`` steps of the physics.

        Where the engine had to reset the world, as its state was not finite or too large, the episode is terminated,
        the reward 0, and ``info["bad_state"]`` true; else it is not there.
        """
        action = np.asarray(action, dtype=np.float32)
        if action.shape != self.action_space.shape:
            raise ValueError(f"action has shape {action.shape}; expected {self.action_space.shape}")
        obs, reward, terminated, _, info = self.batch.step(torch.from_numpy(action[None]))
        del info["final_obs"]
        bad = {"bad_state": True} if info.pop("bad_state").any() else {}
        if self.render_mode == "human":
            self.render()
        return self._observation(obs), float(reward), bool(terminated), False, self._info(info) | bad

    def set_state(self, qpos: np.ndarray, qvel: np.ndarray) -> np.ndarray:
        """Put the robot into a state, qpos [nq] and qvel [nv]; returns the observation."""
        for name, value, size in (("qpos", qpos, self.model.nq), ("qvel", qvel, self.model.nv)):
            if np.shape(value) != (size,):
                raise ValueError(f"{name} has shape {np.shape(value)}; expected ({size},)")
        return self._observation(self.batch.set_state(np.asarray(qpos)[None], np.asarray(qvel)[None]))

    def render(self):
        """A picture of the robot as ``render_mode`` says."""
        if self.render_mode is None:
            raise ValueError("rendering needs a render_mode: gymnasium.make(..., render_mode='rgb_array')")
        if self._renderer is None:
            self._renderer = self._open_renderer()
        data = self._renderer.data
        data.qpos[:] = self.state.get("qpos")[0]
        data.qvel[:] = self.state.get("qvel")[0]
        mujoco.mj_forward(self.model, data)
        return self._renderer.render(self.render_mode)

    def close(self) -> None:
        """Close the renderer."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None

    def _open_renderer(self):
        if self.render_mode != "human" and not os.environ.get("DISPLAY"):
            os.environ.setdefault("MUJOCO_GL", "egl")
        framebuffer = self.model.vis.global_
        framebuffer.offwidth = max(framebuffer.offwidth, self._render_options["width"])
        framebuffer.offheight = max(framebuffer.offheight, self._render_options["height"])
        camera = {key: np.asarray(v) if np.ndim(v) else v for key, v in (self.task.camera or {}).items()}
        data = mujoco.MjData(self.model)
        data.qpos[:] = self.state.get("qpos")[0]
        mujoco.mj_forward(self.model, data)
        try:
            from gymnasium.envs.mujoco.mujoco_rendering import MujocoRenderer

            renderer = MujocoRenderer(self.model, data, camera, **self._render_options)
            renderer.render(self.render_mode)
        except Exception as error:
            raise RuntimeError(
                f"cannot render ({type(error).__name__}: {error}); MuJoCo needs a display, EGL or OSMesa: install one "
                "(Debian: libegl1, or libosmesa6) and set MUJOCO_GL to egl or osmesa"
            ) from error
        return renderer

    @staticmethod
    def _observation(obs: torch.Tensor) -> np.ndarray:
        return obs[0].cpu().numpy().astype(np.float64)

    @staticmethod
    def _info(values: dict[str, torch.Tensor]) -> dict[str, float | np.ndarray]:
        return {name: float(v) if v.ndim == 1 else v[0].cpu().numpy().astype(np.float64) for name, v in values.items()}
