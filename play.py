"""Watch and measure what a run has learned: python play.py --run-dir runs/ant --video ant.mp4"""

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import torch
from rich.progress import track

from acesim_rl import envs
from acesim_rl.agents.checkpoint import atomic, load_checkpoint, policy_of
from acesim_rl.agents.config import Config, UsageError, command_line, config_from_dict
from acesim_rl.agents.display import warnings_text
from acesim_rl.agents.policy import Policy


@dataclass(frozen=True, kw_only=True)
class Options:
    """Watch and measure what a run has learned."""

    run_dir: Path
    """Folder of a run that train.py wrote."""
    episodes: int = 10
    """Episodes to average over."""
    video: Path | None = None
    """Film one more episode to this file (.mp4 or .gif)."""
    seed: int = 1
    """Seed of the start states."""


def main(argv: list[str]) -> int:
    """Exit code 0: done; 2: a mistake in the command; 130: interrupted."""
    try:
        options = command_line(Options, argv, prog="play.py")
        if options.episodes < 1:
            raise UsageError(f"--episodes {options.episodes}: expected a positive number")
        if options.video:
            _check_video(options.video)
        state = load_checkpoint(options.run_dir)
        policy, config = policy_of(state), config_from_dict(state["config"])
        returns, warnings = episode_returns(policy, config, options.episodes, options.seed)
        print(f"{config.env}: return {returns.mean():.1f} +- {returns.std(correction=0):.1f} ({len(returns)} episodes)")
        if counted := warnings_text(warnings):
            print(f"the engine's {counted}")
        if options.video:
            frames = record(policy, config, options.video, options.seed)
            print(f"{options.video}: one episode, {frames} frames")
    except UsageError as error:
        print(f"play.py: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("play.py: interrupted", file=sys.stderr)
        return 130
    return 0


def episode_returns(policy: Policy, config: Config, episodes: int, seed: int) -> tuple[torch.Tensor, dict[str, int]]:
    """Returns of the policy's mean action, [episodes], one episode each in as many worlds; the engine's warnings."""
    env = _checked(envs.BatchEnv, config.env, episodes, device="cpu", seed=seed, **_task_options(config))
    obs = env.reset(seed=seed)
    returns, running = torch.zeros(episodes), torch.ones(episodes, dtype=torch.bool)
    while running.any():
        obs, reward, terminated, truncated, _ = env.step(policy(obs))
        returns += reward * running
        running &= ~(terminated | truncated)
    return returns, env.warnings


def record(policy: Policy, config: Config, path: Path, seed: int) -> int:
    """Film one episode of the policy's mean action; returns the number of frames."""
    import gymnasium
    import imageio.v2 as imageio

    id = envs.gymnasium_id(config.env)
    # The model's camera that moves with the robot; the free camera, which stands still, where there is none.
    env = _checked(gymnasium.make, id, render_mode="rgb_array", camera_name="track", **_task_options(config))
    try:
        obs, _ = env.reset(seed=seed)
        fps, over, frames = env.metadata["render_fps"], False, 0
        with atomic(path) as temporary, imageio.get_writer(temporary, fps=fps) as film:
            for _ in track(range(env.spec.max_episode_steps + 1), f"filming {path}"):
                film.append_data(env.render())
                frames += 1
                if over:
                    break
                obs, _, terminated, truncated, _ = env.step(policy(obs))
                over = terminated or truncated
    except (OSError, ValueError, ImportError, RuntimeError) as error:
        raise UsageError(f"--video {path}: {error}") from None
    finally:
        env.close()
    return frames


def _check_video(path: Path) -> None:
    """Before an episode is rendered: can the film be written?"""
    if path.suffix not in (".mp4", ".gif"):
        raise UsageError(f"--video {path}: expected a name that ends in .mp4 or .gif")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise UsageError(f"--video {path}: cannot write there ({error.strerror})") from None


def _checked(make, *arguments, **options):
    try:
        return make(*arguments, **options)
    except (ValueError, OSError) as error:
        raise UsageError(error) from None


def _task_options(config: Config) -> dict:
    return {"xml_file": config.xml_file} if config.xml_file else {}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
