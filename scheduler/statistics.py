"""What a scheduler counts."""

from collections.abc import Hashable
from dataclasses import dataclass, field

__all__ = ["Program", "Statistics"]

PROGRAMS = 64
"""Programs that are counted one by one: those run last. A key may be new in each run."""


@dataclass
class Program:
    """How many operations the runs of one program had."""

    runs: int = 0
    total: int = 0
    fewest: int = 0
    most: int = 0
    variants: int = 0
    """Traces recorded of it: one for each decision, and another where one was dropped."""

    def as_dict(self) -> dict:
        return {
            "runs": self.runs,
            "fewest": self.fewest,
            "most": self.most,
            "mean": self.total / max(1, self.runs),
            "variants": self.variants,
        }


@dataclass
class Statistics:
    """Counters of one scheduler, from its creation on."""

    operations: int = 0
    """Operations executed, replays included."""
    runs: int = 0
    launches: int = 0
    """What the host started: operations one by one, or graphs."""
    graphs: int = 0
    """CUDA graphs built."""
    chain: int = 0
    """Sum over runs of the operations on the longest chain of dependencies."""
    entries: int = 0
    """Operations that entered the window."""
    occupancy: int = 0
    """Sum over entries of the operations in the window."""
    busy: float = 0.0
    """Seconds spent in operations, all workers together (CPU)."""
    wall: float = 0.0
    """Seconds spent in runs (CPU)."""
    dependencies: dict[str, int] = field(
        default_factory=lambda: {"read_after_write": 0, "write_after_read": 0, "write_after_write": 0}
    )
    """Dependencies found at entry, by kind."""
    programs: dict[Hashable, Program] = field(default_factory=dict)
    """By key, the one run last at the end."""

    def note(self, key: Hashable, operations: int, recorded: bool) -> None:
        """Count a run of a program; `recorded`: its trace was not there before."""
        program = self.programs.pop(key, None) or Program(fewest=operations)
        self.programs[key] = program
        program.runs += 1
        program.total += operations
        program.fewest = min(program.fewest, operations)
        program.most = max(program.most, operations)
        program.variants += recorded
        if len(self.programs) > PROGRAMS:
            del self.programs[next(iter(self.programs))]

    def as_dict(self, hits: int, misses: int) -> dict:
        return {
            "operations": self.operations,
            "runs": self.runs,
            "launches": self.launches,
            "graphs": self.graphs,
            "trace_hits": hits,
            "trace_misses": misses,
            "window_occupancy": self.occupancy / max(1, self.entries),
            "average_parallelism": self.operations / max(1, self.chain),
            "measured_parallelism": self.busy / self.wall if self.wall else None,
            "dependencies": dict(self.dependencies),
            "programs": {str(key): program.as_dict() for key, program in self.programs.items()},
        }
