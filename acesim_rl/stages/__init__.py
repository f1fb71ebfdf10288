"""The physics, one file a stage, in the order of the step; acesim_rl/program.py strings them together."""

from acesim_rl.stages.actuation import actuation
from acesim_rl.stages.bias import com_vel, qfrc_smooth
from acesim_rl.stages.checks import check_acc, check_state
from acesim_rl.stages.collision import COLLISION
from acesim_rl.stages.constraint import contact_rows, count_rows, limit_need, limit_rows
from acesim_rl.stages.inertia import cdof, cinert, subtree_com
from acesim_rl.stages.integrate import euler, runge_kutta
from acesim_rl.stages.kinematics import kinematics
from acesim_rl.stages.mass_matrix import crb, mass_matrix
from acesim_rl.stages.passive import passive
from acesim_rl.stages.rne_post_constraint import cfrc_ext
from acesim_rl.stages.solver import euler_damping, newton

__all__ = [
    "COLLISION",
    "GENERIC",
    "actuation",
    "cdof",
    "cfrc_ext",
    "check_acc",
    "check_state",
    "cinert",
    "com_vel",
    "contact_rows",
    "count_rows",
    "crb",
    "euler",
    "euler_damping",
    "kinematics",
    "limit_need",
    "limit_rows",
    "mass_matrix",
    "newton",
    "passive",
    "qfrc_smooth",
    "runge_kutta",
    "subtree_com",
]  # fmt: skip

GENERIC = (
    check_state, kinematics, subtree_com, cinert, cdof, crb, mass_matrix, com_vel, passive, actuation, qfrc_smooth,
    *COLLISION, limit_need, count_rows, limit_rows, contact_rows, check_acc, euler, runge_kutta, cfrc_ext,
)  # fmt: skip
"""Stages that serve every model: compiled once, together. Solvers are compiled for each number of dofs."""
