"""Live progress of a run: a bar in a terminal, plain lines elsewhere."""

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

__all__ = ["Display", "warnings_text"]


class Display:
    """Shows return, steps a second and time left; a context manager.

    Args:
        interval: seconds between two lines where the output is no terminal.
    """

    def __init__(self, name: str, total_steps: int, *, console: Console | None = None, interval: float = 10.0):
        self.console = console or Console(highlight=False, soft_wrap=True)
        self.name = name
        self.total_steps = total_steps
        self.interval = interval
        self._last = -float("inf")
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[text]}"),
            console=self.console,
            disable=not self.console.is_terminal,
        )
        self._task = self._progress.add_task(name, total=total_steps, text="")

    def __enter__(self) -> "Display":
        self._progress.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._progress.stop()

    def show(
        self, steps: int, mean_return: float | None, steps_per_second: float, warnings: dict[str, int] | None = None
    ) -> None:
        """Tell where the run stands; `mean_return` is None before the first episode ends.

        Args:
            warnings: the engine's counts, by name; those that are not zero are shown.
        """
        left = max(0, self.total_steps - steps) / steps_per_second
        shown = "  ..." if mean_return is None else f"{mean_return:.1f}"
        text = f"return {shown}  {steps_per_second:,.0f} steps/s  {_clock(left)} left"
        counted = warnings_text(warnings or {})
        text += f"  {counted}" if counted else ""
        if self.console.is_terminal:
            self._progress.update(self._task, completed=min(steps, self.total_steps), text=text)
        elif time.monotonic() - self._last >= self.interval or steps >= self.total_steps:
            self._last = time.monotonic()
            self.console.print(f"{self.name}  {steps:,} of {self.total_steps:,} steps  {text}")


def warnings_text(warnings: dict[str, int]) -> str:
    """The engine's counts that are not zero, by name; empty if all are."""
    counted = ", ".join(f"{count:,} {name}" for name, count in warnings.items() if count)
    return f"warnings: {counted}" if counted else ""


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
