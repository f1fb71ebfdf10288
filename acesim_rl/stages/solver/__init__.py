"""Dense solves with one world's matrices in registers: the constraint solver, and Euler's implicit damping."""

from acesim_rl.stages.solver.bins import BINS, count_bins
from acesim_rl.stages.solver.dense import lanes_for
from acesim_rl.stages.solver.euler_damping import euler_damping
from acesim_rl.stages.solver.implicit import implicit
from acesim_rl.stages.solver.islands import islands
from acesim_rl.stages.solver.newton import newton
from acesim_rl.stages.solver.pgs import keep_warmstart, pgs
from acesim_rl.stages.solver.pgs_many import pgs_many
from acesim_rl.stages.solver.primal import primal

__all__ = [
    "BINS",
    "count_bins",
    "euler_damping",
    "implicit",
    "islands",
    "keep_warmstart",
    "lanes_for",
    "newton",
    "pgs",
    "pgs_many",
    "primal",
]
