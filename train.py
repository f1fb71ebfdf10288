"""Train a robot: python train.py --env ant --scheduler ace"""

import dataclasses
import itertools
import sys
from pathlib import Path

try:
    import torch

    from acesim_rl import envs
    from acesim_rl.agents.checkpoint import FILE, load_checkpoint
    from acesim_rl.agents.config import Config, UsageError, check_resumable, config_from_dict, parse
    from acesim_rl.agents.display import warnings_text
    from acesim_rl.agents.hyperparameters import default_config
    from acesim_rl.agents.trainer import DivergedError, Trainer, make_deterministic
except KeyboardInterrupt:  # torch takes a second to import
    print("train.py: interrupted", file=sys.stderr)
    sys.exit(130)


def main(argv: list[str]) -> int:
    """Exit code 0: done; 1: it diverged, or a warning in strict mode; 2: a mistake in the command; 130: interrupted."""
    try:
        return train(parse(argv, defaults=_defaults, saved=_saved))
    except UsageError as error:
        print(f"train.py: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(
            "train.py: interrupted; continue from the last checkpoint, if there is one, with --resume", file=sys.stderr
        )
        return 130


def train(config: Config) -> int:
    """Run the training that `config` describes."""
    config = dataclasses.replace(config, env=_robot_name(config.env))
    if config.device == "cuda" and not torch.cuda.is_available():
        raise UsageError("--device cuda: torch finds no CUDA GPU here; use --device cpu, or install torch with CUDA")
    checkpoint = None
    if config.resume:
        checkpoint = load_checkpoint(config.resume, config.device)
        check_resumable(config, config_from_dict(checkpoint["config"]))
        if checkpoint["steps"] >= config.total_steps:
            print(f"{config.resume}: already at step {checkpoint['steps']:,} of {config.total_steps:,}; nothing to do")
            return 0
    make_deterministic(config.threads)
    env = _environment(config, checkpoint)
    if not env.num_actions:
        raise UsageError(f"--xml-file {config.xml_file}: the model has no actuators; there is nothing to train")
    folder = _folder(config)
    resumed, config = config.resume, dataclasses.replace(config, run_dir=folder, resume=None)
    trainer = Trainer(env, config, folder)
    if checkpoint:
        try:
            trainer.load_state_dict(checkpoint)
        except torch.OutOfMemoryError:
            raise
        except (KeyError, ValueError, RuntimeError) as error:
            raise UsageError(f"--resume {resumed}: the checkpoint is of another version ({error})") from error
    from acesim_rl.simulation import StrictError  # Warp takes a second to import

    try:
        finished = trainer.run()
    except StrictError as error:
        print(f"train.py: stopped in update {trainer.updates + 1} (--strict): {error}", file=sys.stderr)
        return 1
    except DivergedError as error:
        print(
            f"train.py: training diverged in update {trainer.updates}: {error}; try a smaller --learning-rate "
            f"(only what was saved before is in {folder})",
            file=sys.stderr,
        )
        return 1
    if not finished:
        print(
            f"train.py: interrupted at step {trainer.steps:,}; saved, continue with --resume {folder}", file=sys.stderr
        )
        return 130
    print(trainer.env.report())
    if counted := warnings_text(trainer.warnings):
        print(f"the engine's {counted}")
    print(f"results in {folder}; watch them with: python play.py --run-dir {folder}")
    return 0


def _robot_name(env: str) -> str:
    try:
        return envs.robot_name(env)
    except ValueError as error:
        raise UsageError(f"--env: {error}") from None


def _defaults(env: str | None, device: str | None) -> Config:
    device = device if device in ("cpu", "cuda") else "cuda" if torch.cuda.is_available() else "cpu"
    return default_config(_robot_name(env or "ant"), device)


def _saved(folder: Path) -> Config:
    config = config_from_dict(load_checkpoint(folder)["config"])
    return dataclasses.replace(config, run_dir=folder, resume=folder)


def _folder(config: Config) -> Path:
    """The folder for results, made and tried, so that nothing is trained that cannot be saved."""
    folder = config.run_dir or _free_folder(Path("runs"), config.env)
    if (folder / FILE).exists() and folder != config.resume:
        raise UsageError(f"--run-dir {folder}: holds a run; continue it with --resume {folder}, or name another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".probe").touch()
        (folder / ".probe").unlink()
    except OSError as error:
        raise UsageError(f"--run-dir {folder}: cannot write there ({error.strerror})") from None
    return folder


def _free_folder(root: Path, env: str) -> Path:
    names = itertools.chain([env], (f"{env}-{number}" for number in itertools.count(2)))
    return next(root / name for name in names if not (root / name).exists() or not any((root / name).iterdir()))


def _environment(config: Config, checkpoint: dict | None) -> "envs.BatchEnv":
    """The worlds to train in; a resumed run keeps the scheduler that was picked for it."""
    scheduler = checkpoint["scheduler"] if checkpoint else config.scheduler
    options = {"xml_file": config.xml_file} if config.xml_file else {}
    try:
        return envs.BatchEnv(
            config.env,
            config.num_envs,
            device=config.device,
            scheduler=scheduler,
            seed=config.seed,
            strict=config.strict,
            **options,
        )
    except (ValueError, OSError) as error:
        raise UsageError(error) from None
    except (RuntimeError, MemoryError) as error:
        raise UsageError(f"--num-envs {config.num_envs}: could not make the worlds ({error})") from None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
