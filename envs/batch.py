"""Many worlds of one task, as torch tensors that are the simulation's own memory."""

import operator
from collections.abc import Iterator, Sequence
from contextlib import nullcontext

import numpy as np
import torch
import warp as wp

from acesim_rl.envs.base import Task, TaskData
from acesim_rl.envs.registration import task_class
from acesim_rl.scheduler import Operation
from acesim_rl.simulation import Simulation
from acesim_rl.stage import load
from acesim_rl.stages import check_state

__all__ = ["BatchEnv"]

_FOREVER = 2**31 - 1


class BatchEnv:
    """Worlds of one task on one device, stepped together; autoreset in the same step.

    A step is one program for the scheduler: the physics, what the step came to, and the beginning of new episodes in
    the worlds where one ended. Tensors that it returns are the simulation's memory: valid until the next step.

    Args:
        task: Name of a task (see ``tasks()``), or a ``Task``.
        num_envs: Number of worlds.
        device: ``"cpu"``, ``"cuda"`` or a torch device; the GPU if there is one by default.
        scheduler: As for ``Simulation``: ``ace``, ``ace-sw``, ``serial`` or ``graph``.
        seed: Seed of the episodes' first states; with the world's number and the episode's it fixes their noise.
        max_episode_steps: Time limit [steps]; the task's own by default, 0 for none.
        autoreset: Begin a new episode where one ended.
        strict: As for ``Simulation``: raise where a world has a warning.
        task_kwargs: Arguments of the task's constructor.
    """

    def __init__(
        self,
        task: str | Task,
        num_envs: int,
        device: str | torch.device | None = None,
        scheduler: str = "ace",
        seed: int = 0,
        *,
        max_episode_steps: int | None = None,
        autoreset: bool = True,
        strict: bool = False,
        **task_kwargs,
    ):
        if num_envs != int(num_envs) or num_envs < 1:
            raise ValueError(f"num_envs is {num_envs}; expected a whole number of worlds, at least 1")
        if max_episode_steps is not None and max_episode_steps < 0:
            raise ValueError(f"max_episode_steps is {max_episode_steps}; expected a number of steps, or 0 for no limit")
        if task_kwargs and not isinstance(task, str):
            raise TypeError(
                f"{', '.join(task_kwargs)}: arguments of a task's constructor, but the task is made already"
            )
        self.task = task_class(task)(**task_kwargs) if isinstance(task, str) else task
        self.num_envs = num_envs
        self.num_obs = self.task.num_obs
        self.num_actions = self.task.mj.nu
        self.dt = self.task.dt
        self.autoreset = autoreset
        self.max_episode_steps = self.task.max_episode_steps if max_episode_steps is None else max_episode_steps

        if device is None:
            device = "cuda" if torch.cuda.is_available() else "cpu"
        self.sim = Simulation(self.task.model, num_envs, device=str(device), scheduler=scheduler, strict=strict)
        self.group = self.sim.groups[0]
        self.device = torch.device(wp.device_to_torch(self.sim.device))
        low, high = self.task.action_bounds
        self.action_low = torch.from_numpy(low).to(self.device)
        self.action_high = torch.from_numpy(high).to(self.device)

        stages = (self.task.before, self.task.observe, self.task.evaluate, self.task.reset)
        load((stage for stage in stages if stage is not None), self.sim.device)
        self._allocate()
        self._streams: dict[int, wp.Stream] = {}
        self._seed(seed, torch.ones_like(self._done))
        wp.synchronize_device(self.sim.device)  # what was allocated on other streams is there

    def _allocate(self) -> None:
        n, task, device = self.num_envs, self.task, self.device

        def zeros(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
            return torch.zeros(shape, dtype=dtype, device=device)

        self.action = wp.to_torch(self.group.d.ctrl).T
        """The simulation's controls, shape [num_envs, num_actions]: a policy may write its action here.
        Zero after a step in the worlds that began a new episode."""
        self._qacc = wp.to_torch(self.group.d.qacc)
        self.obs = zeros(n, self.num_obs)
        self.final_obs = zeros(n, self.num_obs)
        self.reward = zeros(n)
        self.terminated = zeros(n, dtype=torch.bool)
        self.truncated = zeros(n, dtype=torch.bool)
        # One row too many where a task has none: no array is empty.
        rows = [sum(task.vectors.get(name, 1) for name in names) + 1 for names in (task.place, task.terms)]
        self._place, self._final_place, self._terms = zeros(rows[0], n), zeros(rows[0], n), zeros(rows[1], n)
        self._done = zeros(n, dtype=torch.bool)
        self._bad_state = zeros(n, dtype=torch.bool)
        self._before = zeros(max(task.num_before, 1), n)
        self._elapsed, self._episode = zeros(n, dtype=torch.int32), zeros(n, dtype=torch.int32)
        self._seeds = zeros(n, dtype=torch.int64)
        self._next = self._task_data(self.obs, self._place)
        self._last = self._task_data(self.final_obs, self._final_place)

        self.reset_info = self._named(task.place, self._place)
        """Info values of the worlds' states now, after a reset where there was one; shape [num_envs] each, or
        [num_envs, numbers] where ``task.vectors`` says so."""
        self.info = self._named(task.place, self._final_place) | self._named(task.terms, self._terms)
        self.info |= {"final_obs": self.final_obs, "bad_state": self._bad_state}

    def _named(self, names: tuple[str, ...], rows: torch.Tensor) -> dict[str, torch.Tensor]:
        """The rows of values by their names."""
        named, row = {}, 0
        for name in names:
            count = self.task.vectors.get(name)
            named[name] = rows[row] if count is None else rows[row : row + count].T
            row += 1 if count is None else count
        return named

    def _task_data(self, obs: torch.Tensor, place: torch.Tensor) -> TaskData:
        t = TaskData()
        t.obs = wp.from_torch(obs.T)
        t.place = wp.from_torch(place)
        t.terms = wp.from_torch(self._terms)
        t.reward = wp.from_torch(self.reward)
        t.terminated = wp.from_torch(self.terminated)
        t.truncated = wp.from_torch(self.truncated)
        t.done = wp.from_torch(self._done)
        t.bad_state = wp.from_torch(self._bad_state)
        t.was_reset = self.group.d.was_reset
        t.before = wp.from_torch(self._before)
        t.elapsed = wp.from_torch(self._elapsed)
        t.episode = wp.from_torch(self._episode)
        t.seed = wp.from_torch(self._seeds)
        t.max_episode_steps = self.max_episode_steps or _FOREVER
        t.dt = self.dt
        return t

    # The programs ------------------------------------------------------------------------------------------------

    def emit_step(self) -> Iterator[Operation]:
        """Operations of one step of the environment, in order."""
        if self.task.before is not None:
            yield from self._operations(self.task.before, self._last)
        for _ in range(self.task.frame_skip):
            yield from self.group.emit_step()
        yield from self.group.operations(check_state)  # before somebody sees it
        if self.task.contact_forces:
            yield from self.group.emit_rne_post_constraint()
        yield from self._operations(self.task.observe, self._last)
        yield from self._operations(self.task.evaluate, self._last)
        yield from self.emit_reset() if self.autoreset else self.emit_observe()

    def emit_reset(self) -> Iterator[Operation]:
        """Operations that begin a new episode in the worlds that are marked as done, and observe all worlds."""
        yield from self._operations(self.task.reset, self._next)
        if self.task.forward_on_reset:
            yield from self.group.emit_forward()
        yield from self.emit_observe()

    def emit_observe(self) -> Iterator[Operation]:
        """Operations that observe the state as it is."""
        yield from self._operations(self.task.observe, self._next)

    def _operations(self, stage, t: TaskData) -> list[Operation]:
        return self.group.operations(stage, t, self.task.parameters)

    def _run(self, name: str, emit) -> None:
        with self._torch_stream():
            self.sim.run(name, emit)

    def _torch_stream(self):
        """Make torch's current stream Warp's, so that each sees what the other enqueued before."""
        if self.device.type != "cuda":
            return nullcontext()
        stream = torch.cuda.current_stream(self.device)
        if stream.cuda_stream not in self._streams:
            self._streams[stream.cuda_stream] = wp.stream_from_torch(stream)
        return wp.ScopedStream(self._streams[stream.cuda_stream], sync_enter=False)

    # The environment ---------------------------------------------------------------------------------------------

    def reset(
        self,
        seed: int | Sequence[int | None] | None = None,
        mask: torch.Tensor | np.ndarray | None = None,
    ) -> torch.Tensor:
        """Begin new episodes, in all worlds or where ``mask`` [num_envs] is true; returns the observations.

        A seed (or one for each world, None: none) begins the sequence of episodes anew.
        """
        if mask is None:
            mask = torch.ones(self.num_envs, dtype=torch.bool)
        mask = torch.as_tensor(mask).to(self.device)
        if mask.shape != (self.num_envs,) or mask.dtype != torch.bool:
            raise ValueError(
                f"mask has shape {tuple(mask.shape)} and type {mask.dtype}; expected ({self.num_envs},) and torch.bool"
            )
        if seed is not None:
            self._seed(seed, mask)
        self._done.copy_(mask)
        self._run("env reset", self.emit_reset)
        return self.obs

    def _seed(self, seed: int | Sequence[int | None], mask: torch.Tensor) -> None:
        given = list(seed) if isinstance(seed, Sequence | np.ndarray) else [seed] * self.num_envs
        try:
            seeds = [None if value is None else operator.index(value) for value in given]
        except TypeError:
            seeds = []
        if len(seeds) != self.num_envs:
            raise ValueError(
                f"seed is {seed!r}; expected an integer, or one or None for each of {self.num_envs} worlds"
            )
        chosen = mask & torch.tensor([value is not None for value in seeds], device=self.device)
        self._seeds[chosen] = torch.tensor([value or 0 for value in seeds], device=self.device)[chosen]
        self._episode[chosen] = 0

    def step(
        self, action: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, dict[str, torch.Tensor]]:
        """Step all worlds with actions [num_envs, num_actions].

        Returns observation [num_envs, num_obs] (the first of the new episode where one ended), reward, terminated,
        truncated [num_envs], and info: the task's reward terms and positions at the end of the step [num_envs],
        ``final_obs`` [num_envs, num_obs], the observation at the end of the step in every world, and ``bad_state``
        [num_envs]: the engine reset the world, as its state was not finite or too large. That ends the episode,
        terminated and with reward 0.
        """
        if not isinstance(action, torch.Tensor):
            raise TypeError(
                f"action is a {type(action).__name__}; expected a torch tensor of shape {tuple(self.action.shape)} "
                f"on {self.device} (VectorEnv and SingleEnv take numpy arrays)"
            )
        if action.shape != self.action.shape:
            raise ValueError(f"action has shape {tuple(action.shape)}; expected {tuple(self.action.shape)}")
        if action is not self.action:
            self.action.copy_(action.detach())  # else torch would remember every step
        self._run("env step", self.emit_step)
        return self.obs, self.reward, self.terminated, self.truncated, dict(self.info)

    def set_state(self, qpos, qvel) -> torch.Tensor:
        """Put all worlds into states, qpos [num_envs, nq] and qvel [num_envs, nv]; returns the observations."""
        with self._torch_stream():
            self.group.state.set("qpos", qpos)
            self.group.state.set("qvel", qvel)
            warm = self._qacc.clone()
            self.sim.forward()
            self._qacc.copy_(warm)  # as in MuJoCo a forward pass is not where the next step's solver begins
        self._run("env observe", self.emit_observe)
        return self.obs

    # Bookkeeping -------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, torch.Tensor]:
        """A copy of all that the next steps depend on: the states, and the counters of the random numbers."""
        return {name: tensor.detach().clone() for name, tensor in self._carried().items()}

    def load_state_dict(self, state: dict[str, torch.Tensor]) -> None:
        """Continue from a ``state_dict``: the same actions then give the same bits."""
        carried = self._carried()
        if state.keys() != carried.keys():
            raise KeyError(f"the state has {', '.join(state)}; expected {', '.join(carried)}")
        for name, tensor in carried.items():
            if state[name].shape != tensor.shape:
                raise ValueError(
                    f"{name!r} has shape {tuple(state[name].shape)}; expected {tuple(tensor.shape)} "
                    f"(is the state from {self.num_envs} worlds of the same task?)"
                )
            tensor.copy_(state[name])

    def _carried(self) -> dict[str, torch.Tensor]:
        names = (*self.task.carried, "warning", "was_reset", *(["act"] if self.task.mj.na else []))
        carried = {name: wp.to_torch(getattr(self.group.d, name)) for name in names}
        return carried | {
            "obs": self.obs,
            "place": self._place,
            "elapsed": self._elapsed,
            "episode": self._episode,
            "seed": self._seeds,
        }

    @property
    def warnings(self) -> dict[str, int]:
        """How often worlds had each of the engine's warnings since the environment was made; waits for the device."""
        with self._torch_stream():
            return self.sim.warnings

    @property
    def scheduler_name(self) -> str:
        """The scheduler that runs the steps (what ``ace`` picked)."""
        return self.sim.scheduler.name

    def scheduler_stats(self) -> dict:
        """Counts of the scheduler's work."""
        return self.sim.scheduler.statistics()

    def report(self) -> str:
        """The scheduler's counts as text."""
        return self.sim.scheduler.report()
