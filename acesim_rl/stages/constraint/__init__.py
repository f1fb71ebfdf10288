"""Constraint rows: equality, friction loss, limits, contacts (mj_makeConstraint; MuJoCo's computation chapter,
'Constraint model')."""

from acesim_rl.stages.constraint.contact import contact_rows
from acesim_rl.stages.constraint.contact_general import contact_rows_general
from acesim_rl.stages.constraint.equality import cfrc_ext_equality, equality_rows
from acesim_rl.stages.constraint.friction import friction_rows
from acesim_rl.stages.constraint.limit import limit_need, limit_rows
from acesim_rl.stages.constraint.rows import count_rows

__all__ = [
    "cfrc_ext_equality", "contact_rows", "contact_rows_general", "count_rows", "equality_rows", "friction_rows",
    "limit_need", "limit_rows",
]  # fmt: skip
