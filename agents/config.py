"""The options of a training run: dataclasses whose fields are the command line, and their validation."""

import argparse
import contextlib
import dataclasses
import io
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

import tyro

__all__ = [
    "Config",
    "PPOConfig",
    "UsageError",
    "check_resumable",
    "command_line",
    "config_from_dict",
    "config_to_dict",
    "parse",
    "validate",
]


Options = TypeVar("Options")


class UsageError(Exception):
    """A mistake of the user, told in one line: what was given, what was expected, what to do."""

    def __init__(self, message: object):
        super().__init__(" ".join(str(message).split()))


@dataclass(frozen=True, kw_only=True)
class PPOConfig:
    """Proximal policy optimization (Schulman et al. 2017)."""

    horizon: int = 32
    """Steps that each world takes between two updates."""
    epochs: int = 5
    """Passes over the collected steps in one update."""
    minibatches: int = 4
    """Parts that a pass is cut into; one gradient step each."""
    gamma: float = 0.99
    """Discount factor of future rewards."""
    gae_lambda: float = 0.95
    """Generalized advantage estimation: 0 trusts the critic, 1 trusts the returns."""
    learning_rate: float = 1e-3
    """Step size of Adam (the first one, where the schedule changes it)."""
    schedule: Literal["adaptive", "linear", "constant"] = "adaptive"
    """Learning rate: adaptive keeps the KL divergence of an update near target-kl, linear falls to zero."""
    target_kl: float = 0.01
    """KL divergence between old and new policy that the adaptive schedule aims at."""
    clip_range: float = 0.2
    """How far the probability ratio may leave 1 before its gradient is cut."""
    value_clip: float = 0.0
    """How far the critic may move in one update, in standard deviations of the return; 0 switches it off."""
    value_coef: float = 1.0
    """Weight of the critic's loss."""
    entropy_coef: float = 0.0
    """Weight of the entropy bonus."""
    max_grad_norm: float = 1.0
    """Gradients longer than this are shortened to it."""
    hidden: tuple[int, ...] = (64, 64)
    """Widths of the hidden layers of actor and critic."""
    activation: Literal["elu", "relu", "tanh"] = "elu"
    """Nonlinearity of the hidden layers."""
    initial_std: float = 0.4
    """Standard deviation of the action noise at the start, in units of half the action range."""
    normalize_observations: bool = True
    """Scale observations by their running mean and variance."""
    normalize_returns: bool = True
    """Let the critic predict returns scaled by their running mean and variance."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """Train a robot with PPO on AceSim RL."""

    env: str = "ant"
    """Robot to train: the name of its asset; case, dashes and Gymnasium's own ids are forgiven."""
    xml_file: str | None = None
    """MJCF file to use instead of the robot's own."""
    scheduler: Literal["ace", "ace-sw", "graph", "serial"] = "ace"
    """Who orders the kernels of a step: ace picks one for the device and the number of worlds."""
    device: Literal["cpu", "cuda"] = "cpu"
    """Where simulation and learning run; the GPU where there is one."""
    num_envs: int = 64
    """Worlds simulated side by side."""
    total_steps: int = 1_000_000
    """Environment steps of the whole run, summed over the worlds; the last update may exceed it."""
    seed: int = 0
    """Same seed, same run, to the bit."""
    run_dir: Path | None = None
    """Folder for results; by default the next free one of runs/ENV, runs/ENV-2, ..."""
    resume: Path | None = None
    """Folder of a run to continue with its options; only total-steps, save-every, run-dir and strict may change."""
    save_every: int = 20
    """Updates between two checkpoints."""
    threads: int = 1
    """CPU threads of torch, part of what makes a run repeatable; 2 learn faster, if no one else needs the cores."""
    strict: bool = False
    """Stop at the first world whose state or action is not finite or too large; else they are counted."""
    ppo: PPOConfig = field(default_factory=PPOConfig)


_POSITIVE = {"num_envs", "total_steps", "save_every", "threads", "horizon", "epochs", "minibatches"} | {
    "learning_rate",
    "target_kl",
    "clip_range",
    "max_grad_norm",
    "hidden",
    "initial_std",
}
_NOT_NEGATIVE = {"seed", "value_clip", "value_coef", "entropy_coef"}
_FRACTION = {"gamma", "gae_lambda"}
_FREE_ON_RESUME = {"total_steps", "save_every", "run_dir", "resume", "strict", "ppo"}


def parse(
    argv: list[str],
    *,
    defaults: Callable[[str | None, str | None], Config],
    saved: Callable[[Path], Config],
    prog: str = "train.py",
) -> Config:
    """The configuration that `argv` asks for.

    Args:
        defaults: `defaults(env, device) -> Config`, asked with what `argv` says of the two (None: nothing).
        saved: `saved(folder) -> Config`, the configuration of the run that `--resume` names.
    """
    early = argparse.ArgumentParser(add_help=False, allow_abbrev=False, prog=prog)
    for option in ("--env", "--device", "--resume"):
        early.add_argument(option, nargs="?")
    known = early.parse_known_args(argv)[0]
    default = saved(Path(known.resume)) if known.resume else defaults(known.env, known.device)
    config = command_line(Config, argv, prog=prog, default=default)
    validate(config)
    return config


def command_line(options: type[Options], argv: list[str], *, prog: str, default: Options | None = None) -> Options:
    """An `options` (a dataclass) read from `argv`; a complaint that tyro draws in a box becomes one line."""
    drawn = io.StringIO()
    given: dict[str, Any] = {} if default is None else {"default": default}
    try:
        with contextlib.redirect_stderr(drawn):
            return tyro.cli(options, args=argv, prog=prog, config=(tyro.conf.OmitArgPrefixes,), **given)
    except SystemExit as stop:
        if not stop.code:
            raise
        lines = [line.strip("│ ") for line in drawn.getvalue().splitlines()[1:]]
        rule = next((i for i, line in enumerate(lines) if line.startswith(("───", "╰"))), len(lines))
        raise UsageError(f"{' '.join(lines[:rule])} (--help lists the options)") from None


def validate(config: Config) -> None:
    """Raise UsageError for the first number that makes no sense."""
    values = {f.name: getattr(config, f.name) for f in dataclasses.fields(config) if f.name != "ppo"}
    for name, value in (values | dataclasses.asdict(config.ppo)).items():
        numbers = value if isinstance(value, tuple) else (value,)
        option = f"--{name.replace('_', '-')} {' '.join(map(str, numbers))}"
        if name in _POSITIVE and not all(0 < number < math.inf for number in numbers):
            raise UsageError(f"{option}: expected a positive number")
        if name in _NOT_NEGATIVE and not 0 <= value < math.inf:
            raise UsageError(f"{option}: expected zero or a positive number")
        if name in _FRACTION and not 0 <= value <= 1:
            raise UsageError(f"{option}: expected a number from 0 to 1")
    batch = config.num_envs * config.ppo.horizon
    if config.ppo.minibatches > batch:
        raise UsageError(f"--minibatches {config.ppo.minibatches}: an update has only {batch} steps (worlds x horizon)")


def check_resumable(config: Config, saved: Config) -> None:
    """Raise UsageError where `config` asks for another run than the one that it resumes."""
    asked, had = ({**dataclasses.asdict(c), **dataclasses.asdict(c.ppo)} for c in (config, saved))
    for name in asked:
        if name not in _FREE_ON_RESUME and asked[name] != had[name]:
            raise UsageError(
                f"--resume {config.resume}: that run has {name} {had[name]}, not {asked[name]}; "
                "only --total-steps, --save-every, --run-dir and --strict can change"
            )


def config_to_dict(config: Config) -> dict:
    """Plain numbers, strings and lists, for JSON and for checkpoints."""
    plain = dataclasses.asdict(config)
    plain["ppo"]["hidden"] = list(config.ppo.hidden)
    return plain | {name: str(plain[name]) if plain[name] else None for name in ("run_dir", "resume")}


def config_from_dict(plain: dict) -> Config:
    """The inverse of config_to_dict."""
    unknown = plain.keys() - Config.__dataclass_fields__ | plain["ppo"].keys() - PPOConfig.__dataclass_fields__
    if unknown:
        raise UsageError(f"the run has options that this version does not know: {', '.join(sorted(unknown))}")
    ppo = PPOConfig(**(plain["ppo"] | {"hidden": tuple(plain["ppo"]["hidden"])}))
    paths = {name: Path(plain[name]) if plain[name] else None for name in ("run_dir", "resume")}
    return Config(**(plain | paths | {"ppo": ppo}))
