"""The step of one group: its stages in order. Order is data: the scheduler finds out what can run side by side."""

from collections.abc import Iterator

from acesim_rl import stages
from acesim_rl.model import Model
from acesim_rl.stage import Stage

__all__ = ["Call", "forward", "rne_post_constraint", "step"]

Call = tuple[Stage, tuple]
"""A stage and its scalar arguments."""


def step(model: Model) -> Iterator[Call]:
    """One time step (mj_step): afterwards derived values are those of the last forward pass."""
    yield stages.check_state, ()
    if model.is_rk4:
        for phase in range(4):
            yield from forward(model)
            if phase == 0:
                yield stages.check_acc, ()
            yield stages.runge_kutta, (phase,)
    else:
        yield from forward(model)
        if model.euler_damping:
            yield stages.euler_damping(model.nv), ()
        yield stages.check_acc, ()
        yield stages.euler, (int(model.euler_damping),)


def forward(model: Model) -> Iterator[Call]:
    """From positions, velocities and controls to accelerations (mj_forward)."""
    yield stages.limit_need, ()
    yield stages.kinematics, ()
    yield stages.subtree_com, ()
    yield stages.cinert, ()
    yield stages.cdof, ()
    for collide in stages.COLLISION:
        yield collide, ()
    yield stages.crb, ()
    yield stages.mass_matrix, ()
    yield stages.passive, ()
    yield stages.actuation, ()
    yield stages.com_vel, ()
    yield stages.qfrc_smooth, ()
    yield stages.count_rows, ()
    yield stages.limit_rows, ()
    yield stages.contact_rows, ()
    yield stages.newton(model.nv), ()


def rne_post_constraint(model: Model) -> Iterator[Call]:
    """Contact forces on bodies, for those who read `cfrc_ext`."""
    yield stages.cfrc_ext, ()
