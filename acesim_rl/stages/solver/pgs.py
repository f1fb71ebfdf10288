"""Projected Gauss-Seidel on the constraint forces (mj_solPGS; MuJoCo's computation chapter, 'Solvers').

The forces f minimise 1/2 f^T (A + R) f + f^T b within their bounds, with A = J M^-1 J^T and b = J qacc_smooth - aref.
As 50 iterations do not converge, everything that decides where they end follows MuJoCo (found by comparison): each
iteration visits the rows in a random order, of a generator (PCG) that starts anew in each solve; from the third
iteration on, forces are first moved on along their last change (Nesterov's momentum), until that points against what
the iteration then does; and iterations end when the cost falls by less than tolerance times trace(M).

Up to FORMED chunks of rows A + R is formed, and each lane keeps its rows' residuals up to date while the rows take
turns. Of more rows, of islands and of elliptic cones, see `pgs_many`.
"""

from functools import cache

import warp as wp

from acesim_rl.model import FORMED, ModelData
from acesim_rl.scheduler import accesses
from acesim_rl.stage import BLOCK_DIM, Stage, stage
from acesim_rl.stages.solver.bins import solver_stage
from acesim_rl.stages.solver.dense import lanes_for, native
from acesim_rl.stages.solver.pgs_many import END, begin, many
from acesim_rl.state import StateData

__all__ = ["keep_warmstart", "pgs"]

_FORMED = r"""
    // {chunks} chunks at most
    const int C = {rows} / LANES;
    float f[C], before[C], start[C], b[C], residual[C], diagonal_[C], inverse[C], low[C], high[C];
    #define EACH_CHUNK(c) HELD(c, C)
    #define JACOBIAN(r) wp::address(J, r, 0, w)
    LOOP for (int c = 0; c * LANES < nefc; ++c) {
        const int own = wp::min(INDEX(c), nefc - 1);
        LOAD_VECTOR(row, JACOBIAN(own))
        float s[NV];
        UNROLL for (int j = 0; j < NV; ++j) s[j] = row[j];
        // s = M^-1 row, each lane for its own row
        UNROLL for (int k = 0; k < NV; ++k)
            UNROLL for (int j = k + 1; j < NV; ++j) s[j] = MA(-FACTOR(h, j, k), s[k], s[j]);
        UNROLL for (int k = 0; k < NV; ++k) s[k] *= FACTOR(h, k, k);
        UNROLL for (int k = NV - 1; k > 0; --k)
            UNROLL for (int j = 0; j < k; ++j) s[j] = MA(-FACTOR(h, j, k), s[k], s[j]);
        LOOP for (int r = 0; r < nefc; ++r) {
            LOAD_VECTOR(other, JACOBIAN(r))
            PRODUCT(a, other, s)
            if (OWN(c)) A(r, own) = r == own ? a + 1.f / ROW(D, r) : a;
        }
    }
    {
        EVERYWHERE(all_smooth, smooth)
        EVERYWHERE(all_warm, warm)
        EACH_CHUNK(c) {
            const int own = wp::min(INDEX(c), nefc - 1);
            LOAD_VECTOR(row, JACOBIAN(own))
            PRODUCT(jx, row, all_smooth)
            PRODUCT(jw, row, all_warm)
            const float aref_ = ROW(aref, own), warm_ = -ROW(D, own) * (jw - aref_);
            b[c] = jx - aref_;
            low[c] = own < nequality ? -1e30f : own < nequality + nfriction ? -ROW(friction, own) : 0.f;
            high[c] = own >= nequality && own < nequality + nfriction ? ROW(friction, own) : 1e30f;
            f[c] = before[c] = use_warmstart && OWN(c) ? wp::clamp(warm_, low[c], high[c]) : 0.f;
            diagonal_[c] = A(own, own);
            inverse[c] = 1.f / diagonal_[c];
        }
    }
    // residual = (A + R) f + b
    #define RESIDUALS { \
        EACH_CHUNK(e) residual[e] = b[e]; \
        EACH_CHUNK(c) TURNS ROWS_OF(c, k) { \
            const float f_ = LANE_VALUE(f[c], k); \
            EACH_CHUNK(e) residual[e] = MA(A(c * LANES + k, INDEX(e)), f_, residual[e]); \
        } \
    }
    RESIDUALS
    float cost = 0.f;  // of the warm start; without forces it is 0
    EACH_CHUNK(c) if (OWN(c)) cost = MA(f[c], 0.5f * (residual[c] + b[c]), cost);
    SUM(cost)
    if (!(cost <= 0.f)) EACH_CHUNK(c) {
        f[c] = before[c] = 0.f;
        residual[c] = b[c];
    }
    DOT(trace, q, i, *wp::address(M, i, i, w))
    int since_restart = 0;
    const int* order_ = wp::address(orders, 0) + iterations * (nefc * (nefc - 1) / 2);
    LOOP for (; spent < iterations && nefc > 0; order_ += nefc) {
        HOLD_ORDER(turns, order_)
        const bool momentum = since_restart > 1;
        const float share = (since_restart - 1.f) / (since_restart + 2.f);
        EACH_CHUNK(c) {
            const float moved = MA(share, f[c] - before[c], f[c]);
            before[c] = f[c];
            if (momentum && OWN(c)) f[c] = wp::clamp(moved, low[c], high[c]);
            start[c] = f[c];
        }
        if (momentum) RESIDUALS
        ++spent;
        ++since_restart;
        float improvement = 0.f, against = 0.f;
        // all lanes compute as if it were their row's turn; what counts is what the lane finds whose row it is
        TURNS for (int k = 0; k < nefc; ++k) {
            TURN(r, turns, k)
            PICK(f_, f, r)
            PICK(residual_, residual, r)
            PICK(a, diagonal_, r)
            PICK(inverse_, inverse, r)
            PICK(low_, low, r)
            PICK(high_, high, r)
            const float next = wp::min(wp::max(MA(-residual_, inverse_, f_), low_), high_), own_change = next - f_;
            const float cheaper = MA(-own_change, MA(0.5f * own_change, a, residual_), improvement);
            improvement = IS_OWN(r) ? cheaper : improvement;
            PUT(f, r, next)
            const float change = LANE_VALUE(own_change, r % LANES);
            EACH_CHUNK(e) residual[e] = MA(A(r, INDEX(e)), change, residual[e]);
        }
        if (momentum) {
            EACH_CHUNK(c) if (OWN(c)) against = MA(start[c] - f[c], start[c] - before[c], against);
            SUM(against)
            if (against > 0.f) since_restart = 0;
        }
        SUM(improvement)
        if (improvement < tolerance * trace) break;
    }
    EACH_CHUNK(c) if (OWN(c)) ROW(force, INDEX(c)) = f[c];
"""

_FEW = r"""
    #if defined(__CUDA_ARCH__)
        __shared__ float formed_[{teams}][{rows} * {rows}];
        float* formed = formed_[threadIdx.x / LANES];
    #else
        float formed[{rows} * {rows}];
    #endif
    #define A(r, own) formed[(r) * {rows} + (own)]
    {
        {FORMED}
    }
"""
"""A variant for few rows."""

_REST = r"""
    if (nefc <= {rows}) {
        #define A(r, own) wp::address(AR, r, 0, w)[own]
        {FORMED}
    } else {
        {MANY}
    }
"""
"""Any number of rows."""


@cache
def pgs(nv: int, chunks: int | None = None) -> Stage:
    """The solver for models with nv degrees of freedom, without elliptic cones; for `chunks` see `solver_stage`."""
    few = chunks is not None
    rows = lanes_for(nv) * (chunks or FORMED)
    body = (_FEW if few else _REST).replace("{FORMED}", _FORMED).replace("{MANY}", many(cones=False))
    body = body.replace("{rows}", str(rows)).replace("{teams}", str(BLOCK_DIM // lanes_for(nv)))
    body = begin(cones=False) + body.replace("{chunks}", str(chunks or FORMED)) + END
    scratch = () if few else ("AR", "JM", "diagonal", "before", "start", "order")
    islands = () if few else ("efc_island", "dof_island")

    @accesses(
        reads=(
            "M", "J", "D", "aref", "friction", "qfrc_smooth", "qacc_warmstart", "orders", "force", *scratch, *islands,
        ),
        writes=("force", "qacc", "qfrc_constraint", "niter", *scratch),
    )  # fmt: skip
    @wp.func_native(native(nv, body))
    def solve(
        M: wp.array3d[float],
        J: wp.array3d[float],
        D: wp.array2d[float],
        aref: wp.array2d[float],
        friction: wp.array2d[float],
        efc_island: wp.array2d[int],
        dof_island: wp.array2d[int],
        qfrc_smooth: wp.array2d[float],
        qacc_warmstart: wp.array2d[float],
        orders: wp.array[int],
        AR: wp.array3d[float],
        JM: wp.array3d[float],
        diagonal: wp.array2d[float],
        before: wp.array2d[float],
        start: wp.array2d[float],
        order: wp.array2d[int],
        force: wp.array2d[float],
        qacc: wp.array2d[float],
        qfrc_constraint: wp.array2d[float],
        niter: wp.array2d[int],
        nefc: int,
        nequality: int,
        nfriction: int,
        iterations: int,
        tolerance: float,
        use_warmstart: int,
        w: int,
        lane: int,
    ): ...

    @wp.func
    def solve_world(m: ModelData, d: StateData, w: int, lane: int):
        solve(
            d.M, d.efc_J, d.efc_D, d.efc_aref, d.efc_friction, d.efc_island, d.dof_island, d.qfrc_smooth,
            d.qacc_warmstart, m.pgs_orders, d.efc_AR, d.efc_JM, d.efc_diagonal, d.efc_jar, d.efc_jv, d.efc_order,
            d.efc_force, d.qacc, d.qfrc_constraint, d.solver_niter, d.nefc[0, w], m.nequality_row, m.nfriction,
            m.iterations, m.tolerance, m.use_warmstart, w, lane,
        )  # fmt: skip

    return solver_stage(solve_world, "pgs", f"acesim_rl.solver.pgs.nv{nv}", lanes_for(nv), chunks)


@stage("dof")
def keep_warmstart(m: ModelData, d: StateData, i: int, w: int):
    """All phases of a step start their iterations from the acceleration that the last step ended with."""
    d.qacc_warmstart[i, w] = d.qacc[i, w]
