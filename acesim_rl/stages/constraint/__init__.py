"""Constraint rows: joint limits and contacts (mj_makeConstraint; MuJoCo's computation chapter, 'Constraint model')."""

from acesim_rl.stages.constraint.contact import contact_rows
from acesim_rl.stages.constraint.limit import limit_need, limit_rows
from acesim_rl.stages.constraint.rows import count_rows

__all__ = ["contact_rows", "count_rows", "limit_need", "limit_rows"]
