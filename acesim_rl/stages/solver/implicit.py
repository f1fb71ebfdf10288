"""Acceleration with the smooth forces' derivative D by velocities taken implicitly (mj_implicitSkip).

The acceleration x solves (M - h D) x = M qacc. What is solved for is the change, (M - h D) (qacc - x) = -h D qacc, so
that qacc keeps its precision where it comes from large forces that cancel.
"""

from functools import cache

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.scheduler import accesses
from acesim_rl.stage import Stage, stage
from acesim_rl.stages.solver.dense import lanes_for, native
from acesim_rl.state import StateData

__all__ = ["implicit"]

_SOURCE = r"""
    float s[K], x[K];
    MATRIX(h);
    OWN_ROWS(q) s[q] = x[q] = 0.f;
    ROWS(q, i) x[q] = *wp::address(qacc, i, w);
    UNROLL for (int j = 0; j < NV; ++j) {
        const float xj = AT(x, j);
        OWN_ROWS(q) ENTRY(h, q, j) = 0.f;
        ROWS(q, i) {
            const float change = -timestep * *wp::address(qderiv, i, j, w);
            ENTRY(h, q, j) = *wp::address(M, j, i, w) + change;
            s[q] += change * xj;
        }
    }
    // elimination; not symmetric where Coriolis forces take part
    UNROLL for (int k = 0; k < NV; ++k) {
        float factor[K], column[K];
        OWN_ROWS(q) column[q] = ENTRY(h, q, k);
        const float inverse = 1.f / AT(column, k);
        OWN_ROWS(q) factor[q] = ROW_INDEX(q) > k ? column[q] * inverse : 0.f;
        UNROLL for (int j = k + 1; j < NV; ++j) {
            OWN_ROWS(q) column[q] = ENTRY(h, q, j);
            const float pivot = AT(column, k);
            OWN_ROWS(q) ENTRY(h, q, j) -= factor[q] * pivot;
        }
        const float sk = AT(s, k);
        OWN_ROWS(q) s[q] -= factor[q] * sk;
    }
    UNROLL for (int k = NV - 1; k >= 0; --k) {
        float column[K];
        OWN_ROWS(q) column[q] = ENTRY(h, q, k);
        const float solved = AT(s, k) / AT(column, k);
        OWN_ROWS(q) s[q] = ROW_INDEX(q) == k ? solved : ROW_INDEX(q) < k ? s[q] - column[q] * solved : s[q];
    }
    ROWS(q, i) *wp::address(qacc_euler, i, w) = x[q] - s[q];
"""


@cache
def implicit(nv: int) -> Stage:
    """The stage for models with nv degrees of freedom."""

    @accesses(reads=("M", "qderiv", "qacc"), writes=("qacc_euler",))
    @wp.func_native(native(nv, _SOURCE))
    def solve(
        M: wp.array3d[float],
        qderiv: wp.array3d[float],
        qacc: wp.array2d[float],
        qacc_euler: wp.array2d[float],
        timestep: float,
        w: int,
        lane: int,
    ): ...

    def implicit(m: ModelData, d: StateData, w: int, lane: int):
        solve(d.M, d.qderiv, d.qacc, d.qacc_euler, m.timestep[0, w], w, lane)

    return stage("world", module=f"acesim_rl.implicit.nv{nv}", lanes=lanes_for(nv))(implicit)
