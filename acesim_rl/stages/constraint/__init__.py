"""Constraint rows: joint limits and contacts (mj_makeConstraint; MuJoCo's computation chapter, 'Constraint model')."""

from acesim_rl.stages.constraint.contact import contact_rows
from acesim_rl.stages.constraint.limit import limit_rows
from acesim_rl.stages.constraint.rows import number_rows

__all__ = ["contact_rows", "limit_rows", "number_rows"]
