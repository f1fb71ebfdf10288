"""Checkpoints: one file that holds all that a run needs to go on, written at once or not at all."""

import contextlib
import os
import pickle
import tempfile
from collections.abc import Iterator
from pathlib import Path

import torch

from acesim_rl.agents.config import UsageError, config_from_dict
from acesim_rl.agents.policy import Policy

__all__ = ["atomic", "load_checkpoint", "load_policy", "policy_of", "save_checkpoint"]

FILE = "checkpoint.pt"


@contextlib.contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """A temporary file to write, which takes the place of `path` when it is complete."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix)
    os.close(handle)
    try:
        yield Path(name)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def save_checkpoint(folder: Path, state: dict) -> Path:
    """Write `state` (tensors, numbers, strings, lists, dicts) to the run's checkpoint."""
    path = folder / FILE
    with atomic(path) as temporary, open(temporary, "wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())
    return path


def load_checkpoint(folder: str | Path, device: str = "cpu") -> dict:
    """The state last saved in a run's folder; only data is read, no code is run."""
    path = Path(folder) / FILE
    if not path.is_file():
        raise UsageError(f"{folder}: no {FILE} there; give the folder of a run that train.py wrote")
    try:
        state = torch.load(path, map_location=device, weights_only=True)
    except (RuntimeError, EOFError, pickle.UnpicklingError) as error:
        raise UsageError(f"{path}: not a readable checkpoint ({str(error).split('. ')[0] or 'empty'})") from None
    if not isinstance(state, dict) or not {"policy", "config"} <= state.keys():
        raise UsageError(f"{path}: not a checkpoint of train.py (it holds no policy and config)")
    return state


def policy_of(state: dict) -> Policy:
    """The policy in a checkpoint, on the device that the checkpoint was loaded to; UsageError if it is not finite."""
    weights = state["policy"]
    low, high = weights["action_low"], weights["action_high"]
    policy = Policy(len(weights["moments.mean"]), low, high, config_from_dict(state["config"]).ppo)
    policy.to(low.device).load_state_dict(weights)
    if not policy.is_finite():
        raise UsageError(
            "the checkpoint's weights are not finite: that training diverged; train anew with a smaller --learning-rate"
        )
    return policy


def load_policy(folder: str | Path, device: str = "cpu") -> Policy:
    """The policy of a run: `load_policy("runs/ant")(observation)` is its best action.

    Observations are numpy arrays or tensors, [num_obs] or [N, num_obs]; actions come back as the same kind.
    """
    return policy_of(load_checkpoint(folder, device)).eval()
