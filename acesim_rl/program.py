"""The step of one group: its stages in order. Order is data: the scheduler finds out what can run side by side."""

from collections.abc import Callable, Iterator

import mujoco
import numpy as np

from acesim_rl import stages
from acesim_rl.model import Model
from acesim_rl.stage import Stage

__all__ = ["Call", "forward", "internal_forces", "rne_post_constraint", "sensors", "step"]

Call = tuple[Stage, tuple]
"""A stage and its scalar arguments."""


def step(model: Model, with_sensors: bool = False, bins: tuple[int, ...] = ()) -> Iterator[Call]:
    """One time step (mj_step): afterwards derived values are those of the last forward pass.

    Sensors are those of the state that the step begins with, as MuJoCo's. `bins` are those of the worlds' numbers of
    rows that get a solver variant of their own (see `stages.solver.bins`).
    """
    yield stages.check_state, ()
    if model.is_rk4:
        for phase in range(4):
            yield from forward(model, bins, again=phase > 0)
            if phase == 0:
                yield from sensors(model) if with_sensors else ()
                yield stages.check_acc, ()
            yield stages.runge_kutta, (phase,)
            if model.mj.na and model.has_actuation:
                yield stages.activation, (phase,)
    else:
        yield from forward(model, bins)
        yield from sensors(model) if with_sensors else ()
        if model.euler_damping and model.has_polynomials:
            yield stages.passive_derivative, (0,)
            yield stages.implicit(model.nv), ()
        elif model.euler_damping:
            yield stages.euler_damping(model.nv), ()
        if model.is_implicit:
            yield from derivatives(model)
            yield stages.implicit(model.nv), ()
        yield stages.check_acc, ()
        yield stages.euler, (int(model.euler_damping or model.is_implicit),)
        if model.mj.na and model.has_actuation:
            yield stages.activation, (-1,)


def forward(model: Model, bins: tuple[int, ...] = (), again: bool = False) -> Iterator[Call]:
    """From positions, velocities and controls to accelerations (mj_forward).

    `again`: in a later phase of a Runge-Kutta step, where PGS starts from what the last step ended with, as the first.
    """
    yield stages.limit_need, ()  # first, as it needs only qpos: it can run beside kinematics
    yield stages.kinematics, ()
    yield stages.geom_poses, ()
    yield stages.subtree_com, ()
    yield stages.cinert, ()
    yield stages.cdof, ()
    for collide in stages.COLLISION:
        if model.items(collide.over)[1]:
            yield collide, ()
    yield stages.crb, ()
    yield stages.mass_matrix, ()
    yield stages.passive, ()
    if model.has_polynomials:
        yield stages.polynomial_passive, ()
    if model.uses_tendons:
        yield stages.tendon, ()
    if model.has_tendon_forces:
        yield stages.tendon_passive, ()
    if model.has_gravcomp:
        yield stages.gravcomp, ()
    if model.has_actuation and model.only_motors:
        yield stages.actuation, ()
    elif model.has_actuation:
        yield stages.transmission, ()
        yield stages.actuator_force, ()
        yield stages.qfrc_actuator, ()
    yield stages.com_vel, ()
    if model.has_fluid:
        yield stages.fluid_force, ()
        yield stages.fluid_passive, ()
    yield stages.qfrc_smooth, ()
    yield stages.count_rows, ()  # of what row_need says; -1 is a contact in the gap: counted, but without rows
    if model.nequality_row:
        yield stages.equality_rows, ()
    if model.nfriction:
        yield stages.friction_rows, ()
    yield stages.limit_rows, ()
    yield (stages.contact_rows_general if model.general_contacts else stages.contact_rows), ()
    if model.solver == "pgs" and not again:
        yield stages.keep_warmstart, ()
    if model.plain_newton:
        yield from binned(stages.newton, model.nv, bins)  # solvers are compiled for a size, hence the nv
    elif model.plain_pgs:
        yield from binned(stages.pgs, model.nv, bins)
    elif model.solver == "pgs":
        if model.has_islands:
            yield stages.islands, ()
        yield stages.pgs_many(model.nv, model.has_cones), ()
    else:
        yield stages.primal(model.nv, model.solver, model.has_cones), ()


def binned(solver: Callable[..., Stage], nv: int, bins: tuple[int, ...]) -> Iterator[Call]:
    """The solver's variants for these bins of worlds, and the one for the rest."""
    chunk = stages.lanes_for(nv)
    for k in bins:
        yield solver(nv, k + 1), (k, chunk)
    yield solver(nv), (sum(1 << k for k in bins), chunk)


def derivatives(model: Model) -> Iterator[Call]:
    """Derivatives of the smooth forces by velocities; those of Coriolis forces where the integrator takes them."""
    yield stages.passive_derivative, (1,)
    if model.has_actuation and not model.only_motors:
        yield stages.actuator_derivative, ()
    if model.has_fluid:
        yield stages.fluid_derivative, ()
    if model.dof_coriolis.any():
        yield stages.coriolis_derivative, ()
        yield stages.bias_derivative, ()


def rne_post_constraint(model: Model) -> Iterator[Call]:
    """Contact forces on bodies, for those who read `cfrc_ext`."""
    yield stages.cfrc_ext, ()
    if model.nequality_row:
        yield stages.cfrc_ext_equality, ()


def internal_forces(model: Model) -> Iterator[Call]:
    """Accelerations of bodies and forces between them (mj_rnePostConstraint), for those who read `cacc`, `cfrc_int`."""
    yield from rne_post_constraint(model)
    yield stages.cacc, ()
    yield stages.cfrc_int, ()


def sensors(model: Model) -> Iterator[Call]:
    """Values of all sensors, after a forward pass, with no more than they need; MuJoCo's flag may turn them off."""
    mj = model.mj
    if mj.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_SENSOR or not mj.nsensor:
        return

    def has(*names: str) -> bool:
        return bool(np.isin([stages.SENSORS[name] for name in names], mj.sensor_type).any())

    if not model.uses_tendons and has("tendonpos", "tendonvel"):
        yield stages.tendon, ()
    if (model.only_motors or not model.has_actuation) and has("actuatorpos", "actuatorvel"):
        yield stages.transmission, ()
    if has("force", "torque"):
        yield from internal_forces(model)
    elif has("accelerometer", "framelinacc", "frameangacc"):
        yield stages.cacc, ()
    if has("subtreelinvel", "subtreeangmom"):
        yield stages.subtree_vel, ()
    if has("e_potential", "e_kinetic"):
        yield stages.energy, ()
    yield stages.sensor, ()
