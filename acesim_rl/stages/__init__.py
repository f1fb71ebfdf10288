"""The physics: files of stages, which acesim_rl/program.py strings together.

In the order of the step: checks, kinematics, inertia, collision, mass_matrix, passive, polynomial, tendon, gravcomp,
actuation or actuator, bias, fluid, constraint, solver, sensor, derivative, integrate. For those who ask, after it:
rne_post_constraint, internal. What stages share: joints, spatial, sites, zones.
"""

from acesim_rl.stages.actuation import actuation
from acesim_rl.stages.actuator import activation, actuator_force, qfrc_actuator, transmission
from acesim_rl.stages.bias import com_vel, qfrc_smooth
from acesim_rl.stages.checks import check_acc, check_state
from acesim_rl.stages.collision import COLLISION, COMMON, RARE_COLLISION
from acesim_rl.stages.constraint import (
    cfrc_ext_equality,
    contact_rows,
    contact_rows_general,
    count_rows,
    equality_rows,
    friction_rows,
    limit_need,
    limit_rows,
)  # fmt: skip
from acesim_rl.stages.derivative import (
    actuator_derivative,
    bias_derivative,
    coriolis_derivative,
    fluid_derivative,
    passive_derivative,
)  # fmt: skip
from acesim_rl.stages.fluid import fluid_force, fluid_passive
from acesim_rl.stages.gravcomp import gravcomp
from acesim_rl.stages.inertia import cdof, cinert, subtree_com
from acesim_rl.stages.integrate import euler, runge_kutta
from acesim_rl.stages.internal import cacc, cfrc_int, energy, subtree_vel
from acesim_rl.stages.kinematics import geom_poses, kinematics
from acesim_rl.stages.mass_matrix import crb, mass_matrix
from acesim_rl.stages.passive import passive
from acesim_rl.stages.polynomial import polynomial_passive
from acesim_rl.stages.rne_post_constraint import cfrc_ext
from acesim_rl.stages.sensor import SENSORS, sensor
from acesim_rl.stages.solver import (
    BINS,
    count_bins,
    euler_damping,
    implicit,
    islands,
    keep_warmstart,
    lanes_for,
    newton,
    pgs,
    pgs_many,
    primal,
)  # fmt: skip
from acesim_rl.stages.tendon import tendon, tendon_passive

__all__ = [
    "BINS",
    "COLLISION",
    "GENERIC",
    "OPTIONAL",
    "SENSORS",
    "activation",
    "actuation",
    "actuator_derivative",
    "actuator_force",
    "bias_derivative",
    "cacc",
    "cdof",
    "cfrc_ext",
    "cfrc_ext_equality",
    "cfrc_int",
    "check_acc",
    "check_state",
    "cinert",
    "com_vel",
    "contact_rows",
    "contact_rows_general",
    "coriolis_derivative",
    "count_bins",
    "count_rows",
    "crb",
    "energy",
    "equality_rows",
    "euler",
    "euler_damping",
    "fluid_derivative",
    "fluid_force",
    "fluid_passive",
    "friction_rows",
    "geom_poses",
    "gravcomp",
    "implicit",
    "islands",
    "keep_warmstart",
    "kinematics",
    "lanes_for",
    "limit_need",
    "limit_rows",
    "mass_matrix",
    "newton",
    "passive",
    "passive_derivative",
    "pgs",
    "pgs_many",
    "polynomial_passive",
    "primal",
    "qfrc_actuator",
    "qfrc_smooth",
    "runge_kutta",
    "sensor",
    "subtree_com",
    "subtree_vel",
    "tendon",
    "tendon_passive",
    "transmission",
]  # fmt: skip

GENERIC = (
    check_state, kinematics, geom_poses, subtree_com, cinert, cdof, crb, mass_matrix, com_vel, passive, actuation,
    qfrc_smooth, *COMMON, limit_need, count_rows, limit_rows, contact_rows, keep_warmstart, check_acc, euler,
    runge_kutta, cfrc_ext,
)  # fmt: skip
"""Stages that serve every model: compiled once, together. Solvers are compiled for each number of dofs."""

OPTIONAL = (
    (equality_rows, friction_rows, contact_rows_general, cfrc_ext_equality),
    (polynomial_passive, fluid_force, fluid_passive, gravcomp, tendon, tendon_passive),
    (transmission, actuator_force, qfrc_actuator, activation),
    (passive_derivative, actuator_derivative, fluid_derivative, coriolis_derivative, bias_derivative),
    (cacc, cfrc_int, subtree_vel, energy, sensor),
    *RARE_COLLISION,
)
"""Stages that some models need, compiled together where one of them is needed."""
