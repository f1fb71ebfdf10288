"""Joint damping taken implicitly by the Euler integrator (mj_EulerSkip).

The acceleration x solves (M + h B) x = M qacc. What is solved for is the change: (M + h B) (qacc - x) = h B qacc, so
that qacc keeps its precision where it comes from large forces that cancel.
"""

from functools import cache

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.scheduler import accesses
from acesim_rl.stage import Stage, stage
from acesim_rl.stages.solver.dense import lanes_for, native
from acesim_rl.state import StateData

__all__ = ["euler_damping"]

_SOURCE = r"""
    float s[K];
    MATRIX(h);
    OWN_ROWS(q) s[q] = 0.f;
    UNROLL for (int j = 0; j < NV; ++j) {
        OWN_ROWS(q) ENTRY(h, q, j) = 0.f;
        ROWS(q, i) {
            ENTRY(h, q, j) = *wp::address(M, j, i, w);
            if (i == j) {
                s[q] = timestep * *wp::address(dof_damping, i, w);
                ENTRY(h, q, j) += s[q];
            }
        }
    }
    ROWS(q, i) s[q] *= *wp::address(qacc, i, w);
    {CHOLESKY}
    {SOLVE}
    ROWS(q, i) *wp::address(qacc_euler, i, w) = *wp::address(qacc, i, w) - s[q];
"""


@cache
def euler_damping(nv: int) -> Stage:
    """The stage for models with nv degrees of freedom."""

    @accesses(reads=("M", "dof_damping", "qacc"), writes=("qacc_euler",))
    @wp.func_native(native(nv, _SOURCE))
    def solve(
        M: wp.array3d[float],
        dof_damping: wp.array2d[float],
        qacc: wp.array2d[float],
        qacc_euler: wp.array2d[float],
        timestep: float,
        w: int,
        lane: int,
    ): ...

    def euler_damping(m: ModelData, d: StateData, w: int, lane: int):
        solve(d.M, m.dof_damping, d.qacc, d.qacc_euler, m.timestep[0, w], w, lane)

    return stage("world", module=f"acesim_rl.solver.nv{nv}", lanes=lanes_for(nv))(euler_damping)
