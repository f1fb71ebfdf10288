"""Dense solves with one world's matrices in registers: the constraint solver, and Euler's implicit damping."""

from acesim_rl.stages.solver.euler_damping import euler_damping
from acesim_rl.stages.solver.newton import newton

__all__ = ["euler_damping", "newton"]
