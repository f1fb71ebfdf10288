"""Joint damping taken implicitly by the Euler integrator (mj_EulerSkip)."""

from functools import cache

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.scheduler import accesses
from acesim_rl.stage import Stage, stage
from acesim_rl.stages.solver.dense import CHOLESKY_SOLVE, epilogue, lanes_for, prelude
from acesim_rl.state import StateData

__all__ = ["euler_damping"]

_SOURCE = r"""
    float s[K];
    MATRIX(h);
    OWN_ROWS(q) s[q] = 0.f;
    ROWS(q, i) s[q] = *wp::address(qfrc_smooth, i, w) + *wp::address(qfrc_constraint, i, w);
    UNROLL for (int j = 0; j < NV; ++j) {
        OWN_ROWS(q) ENTRY(h, q, j) = 0.f;
        ROWS(q, i) {
            ENTRY(h, q, j) = *wp::address(M, j, i, w);
            if (i == j) ENTRY(h, q, j) += timestep * *wp::address(dof_damping, i, w);
        }
    }
    {CHOLESKY_SOLVE}
    ROWS(q, i) *wp::address(qacc_euler, i, w) = s[q];
"""


@cache
def euler_damping(nv: int) -> Stage:
    """Acceleration that solves (M + h B) x = qfrc_smooth + qfrc_constraint, for nv degrees of freedom."""

    @accesses(reads=("M", "dof_damping", "qfrc_smooth", "qfrc_constraint"), writes=("qacc_euler",))
    @wp.func_native(prelude(nv) + _SOURCE.replace("{CHOLESKY_SOLVE}", CHOLESKY_SOLVE) + epilogue())
    def solve(
        M: wp.array3d[float],
        dof_damping: wp.array2d[float],
        qfrc_smooth: wp.array2d[float],
        qfrc_constraint: wp.array2d[float],
        qacc_euler: wp.array2d[float],
        timestep: float,
        w: int,
        lane: int,
    ): ...

    def euler_damping(m: ModelData, d: StateData, w: int, lane: int):
        solve(
            d.M, m.dof_damping, d.qfrc_smooth, d.qfrc_constraint, d.qacc_euler, m.timestep[0, w], w, lane
        )  # fmt: skip

    return stage("world", module=f"acesim_rl.solver.nv{nv}", lanes=lanes_for(nv))(euler_damping)
