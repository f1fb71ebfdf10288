"""AceSim RL: a rigid-body simulator for reinforcement learning with the ACE kernel scheduler built in."""

import importlib
from pathlib import Path

__all__ = ["Model", "Scene", "Simulation"]
__version__ = "0.1.0"

# In a checkout without an install, scheduler/, envs/ and agents/ lie beside this folder.
_root = Path(__file__).resolve().parent.parent
if all((_root / name / "__init__.py").exists() for name in ("scheduler", "envs", "agents")):
    __path__.append(str(_root))

_homes = {"Model": "acesim_rl.model", "Scene": "acesim_rl.scene", "Simulation": "acesim_rl.simulation"}


def __getattr__(name: str):
    """Import the engine (and Warp with it) only when somebody asks for it."""
    if name in _homes:
        return getattr(importlib.import_module(_homes[name]), name)
    if name in ("agents", "envs", "scheduler"):
        return importlib.import_module(f"acesim_rl.{name}")
    raise AttributeError(f"module 'acesim_rl' has no attribute {name!r}")


from acesim_rl.envs.registration import register as _register  # noqa: E402

_register()
