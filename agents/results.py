"""What a run leaves for its reader: the configuration, a summary and the learning curve."""

import json
from pathlib import Path

from acesim_rl.agents.checkpoint import atomic

__all__ = ["draw_curve", "write_json"]


def write_json(path: Path, content: dict) -> None:
    """Write `content` in one go."""
    with atomic(path) as temporary:
        temporary.write_text(json.dumps(content, indent=2, allow_nan=False) + "\n")


def draw_curve(path: Path, history: list[dict[str, float]], title: str) -> None:
    """Mean return, and its parts, over the steps of the run, as a PNG."""
    from matplotlib.figure import Figure  # slow to import, and wanted only here

    rows = [row for row in history if "return" in row]
    steps = [row["steps"] for row in rows]
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    for name in [name for name in (rows[-1] if rows else ()) if name == "return" or name.startswith("reward_")]:
        label = name.removeprefix("reward_")
        axes.plot(steps, [row[name] for row in rows], label=label, linewidth=2 if name == "return" else 1)
    axes.set(title=title, xlabel="environment steps", ylabel="per episode, mean of the last 100")
    axes.grid(alpha=0.3)
    if rows:
        axes.legend(frameon=False)
    with atomic(path) as temporary:
        figure.savefig(temporary, dpi=120, format="png")
