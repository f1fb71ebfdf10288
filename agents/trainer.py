"""The training loop."""

import math
import os
import signal
import time
from pathlib import Path

import torch
from torch.utils.tensorboard import SummaryWriter

from acesim_rl.agents.checkpoint import save_checkpoint
from acesim_rl.agents.config import Config, config_to_dict
from acesim_rl.agents.display import Display
from acesim_rl.agents.episodes import EpisodeTracker
from acesim_rl.agents.policy import Policy
from acesim_rl.agents.ppo import METRICS, PPO
from acesim_rl.agents.results import draw_curve, write_json
from acesim_rl.agents.rollout import Rollout

__all__ = ["DivergedError", "Trainer", "make_deterministic"]


class DivergedError(RuntimeError):
    """A loss or a weight is not finite: no update will mend it."""


def make_deterministic(threads: int) -> None:
    """Make torch compute the same bits every time; to be called before anything runs on the GPU."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    torch.set_num_threads(threads)


class Trainer:
    """Trains a policy on a batch of worlds: act, step, improve, log, save.

    Args:
        env: an `acesim_rl.envs.BatchEnv`, or anything with its interface.
        folder: where the results go; must exist.
    """

    def __init__(self, env, config: Config, folder: Path):
        make_deterministic(config.threads)
        self.env, self.config, self.folder = env, config, folder
        device, ppo = env.device, config.ppo
        torch.manual_seed(config.seed)
        self.generator = torch.Generator(device).manual_seed(config.seed)
        self.policy = Policy(env.num_obs, env.action_low.cpu(), env.action_high.cpu(), ppo).to(device)
        self.algorithm = PPO(self.policy, ppo, env.num_envs * ppo.horizon, self.generator)
        self.rollout = Rollout(ppo.horizon, env.num_envs, env.num_obs, env.num_actions, device)
        self.episodes = EpisodeTracker(ppo.horizon, env.num_envs, device)
        self.obs = env.reset(seed=config.seed)
        self.steps = 0
        self.updates = 0
        self.seconds = 0.0
        self.history: list[dict[str, float]] = []
        self.warnings: dict[str, int] = env.warnings
        self.interrupted = False

    def run(self) -> bool:
        """Train to the end; False if Ctrl-C stopped it, after the update in progress.

        Raises DivergedError after an update that is not finite; what was saved before stays.
        """
        write_json(self.folder / "config.json", config_to_dict(self.config))
        handler = signal.signal(signal.SIGINT, self._interrupt)
        display = Display(self.config.env, self.config.total_steps)
        self._start = time.perf_counter() - self.seconds
        try:
            with SummaryWriter(str(self.folder / "tensorboard"), purge_step=self.steps or None) as board, display:
                while self.steps < self.config.total_steps and not self.interrupted:
                    self.collect()
                    metrics = self.algorithm.update(self.rollout, self.steps / self.config.total_steps)
                    self._log(metrics, board, display)
                    if self.updates % self.config.save_every == 0:
                        self.save()
        finally:
            signal.signal(signal.SIGINT, handler)
        self.save()
        write_json(self.folder / "summary.json", self.summary())
        draw_curve(self.folder / "curve.png", self.history, f"{self.config.env}, seed {self.config.seed}")
        return not self.interrupted

    @torch.no_grad()
    def collect(self) -> None:
        """Fill the rollout with the policy's own steps."""
        for t in range(self.rollout.horizon):
            action = self.policy.sample(self.policy.normalize(self.obs), self.generator)
            self.rollout.store_decision(t, self.obs, action)
            self.obs, reward, terminated, truncated, info = self.env.step(self.policy.bound(action))
            self.rollout.store_outcome(t, reward, terminated, truncated, info["final_obs"])
            terms = {name: value for name, value in info.items() if name.startswith("reward_")}
            self.episodes.add(t, reward, self.rollout.done[t], terms)
        self.steps += self.rollout.rewards.numel()

    def _log(self, metrics: torch.Tensor, board: SummaryWriter, display: Display) -> None:
        """Read what the device knows, once, and show it."""
        self.updates += 1
        more = [self.algorithm.learning_rate, self.policy.log_std.exp().mean(), self.policy.is_finite()]
        *numbers, finite = torch.cat([metrics, *(number.view(1) for number in more)]).tolist()
        losses = dict(zip((*METRICS, "learning_rate", "action_std"), numbers, strict=True))
        bad = [f"{name} is {losses[name]}" for name in ("policy_loss", "value_loss") if not math.isfinite(losses[name])]
        if bad or not finite:
            raise DivergedError(", ".join(bad) or "weights are not finite")
        self.episodes.read()
        means = self.episodes.means()
        self.warnings = self.env.warnings
        before, self.seconds = self.seconds, time.perf_counter() - self._start
        speed = self.rollout.rewards.numel() / (self.seconds - before)
        self.history.append({"steps": self.steps, "seconds": self.seconds, **means})
        for name, value in means.items():
            board.add_scalar(f"episode/{name}", value, self.steps)
        for name, value in (losses | {"steps_per_second": speed}).items():
            board.add_scalar(f"train/{name}", value, self.steps)
        for name, count in self.warnings.items():
            board.add_scalar(f"warnings/{name}", count, self.steps)
        display.show(self.steps, means.get("return"), speed, self.warnings)

    def _interrupt(self, signum: int, frame: object) -> None:
        """The first Ctrl-C ends the run after this update, the second at once."""
        if self.interrupted:
            raise KeyboardInterrupt
        self.interrupted = True

    def summary(self) -> dict:
        """The run in numbers; means are over the last 100 episodes, None where none has ended."""
        means = self.episodes.means()
        return {
            "env": self.config.env,
            "scheduler": self.env.scheduler_name,
            "device": self.config.device,
            "num_envs": self.config.num_envs,
            "seed": self.config.seed,
            "threads": self.config.threads,
            "steps": self.steps,
            "wall_seconds": self.seconds,
            "env_steps_per_second": self.steps / self.seconds if self.seconds else None,
            "episodes": self.episodes.count,
            "mean_return": means.get("return"),
            "mean_length": means.get("length"),
            **{name: value for name, value in means.items() if name.startswith("reward_")},
            "warnings": self.warnings,
            "scheduler_stats": self.env.scheduler_stats(),
        }

    def save(self) -> Path:
        """Write the checkpoint."""
        return save_checkpoint(self.folder, self.state_dict())

    def state_dict(self) -> dict:
        return {
            "config": config_to_dict(self.config),
            "scheduler": self.env.scheduler_name,
            "policy": self.policy.state_dict(),
            "algorithm": self.algorithm.state_dict(),
            "env": self.env.state_dict(),
            "obs": self.obs,
            "episodes": self.episodes.state_dict(),
            "generator": self.generator.get_state(),
            "steps": self.steps,
            "updates": self.updates,
            "seconds": self.seconds,
            "history": self.history,
        }

    def load_state_dict(self, state: dict) -> None:
        """Continue what an earlier trainer saved, to the same numbers as if it had never stopped."""
        self.policy.load_state_dict(state["policy"])
        self.algorithm.load_state_dict(state["algorithm"])
        self.env.load_state_dict(state["env"])
        self.obs = state["obs"].to(self.env.device)
        self.episodes.load_state_dict(state["episodes"])
        self.generator.set_state(state["generator"].cpu())
        self.steps, self.updates, self.seconds = state["steps"], state["updates"], state["seconds"]
        self.history = list(state["history"])
        self.warnings = self.env.warnings
