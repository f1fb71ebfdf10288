"""Newton's method on the constrained acceleration (mj_solNewton; MuJoCo's computation chapter, 'Solvers').

The acceleration minimises 1/2 (x - x_smooth)^T M (x - x_smooth) + sum over rows of 1/2 D min(0, J x - aref)^2, which is
quadratic between changes of the set of active rows. So a full step that leaves the set as it was ends at the minimum.
"""

from functools import cache

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.scheduler import accesses
from acesim_rl.stage import Stage, stage
from acesim_rl.stages.solver.dense import CHOLESKY_SOLVE, SOLVE, epilogue, lanes_for, prelude
from acesim_rl.state import StateData

__all__ = ["newton"]

_SOURCE = r"""
    #define ROW(a, r) wp::address(a, 0, w)[r]  // a world's rows lie together: see arrays.py
    float x[K], g0[K];
    MATRIX(m);
    OWN_ROWS(q) x[q] = g0[q] = 0.f;
    ROWS(q, i) {
        x[q] = *wp::address(qacc, i, w);
        g0[q] = *wp::address(qfrc_smooth, i, w);
    }
    UNROLL for (int j = 0; j < NV; ++j) {
        const float* row = wp::address(M, j, 0, w);  // symmetric: the lanes read a row side by side
        OWN_ROWS(q) ENTRY(m, q, j) = 0.f;
        ROWS(q, i) ENTRY(m, q, j) = LOAD(row + i);
    }
    // rows go through in chunks: lane l looks after row first + l of a chunk
    #define CHUNKS LOOP for (int first = 0; first < nefc; first += LANES)
    #define EACH_ROW(k) for (int k = 0, stop = wp::min(LANES, nefc - first); k < stop; ++k)
    #define OWN (first + lane < nefc)
    #define JACOBIAN_TIMES(v, y) \
        const float* row = wp::address(J, first + k, 0, w); \
        DOT(y, q, i, LOAD(row + i) * v[q])

    CHUNKS EACH_ROW(k) {
        const float* row = wp::address(J, first + k, 0, w);
        double y = 0.;
        ROWS(q, i) y += (double)LOAD(row + i) * x[q];
        SUM(y)
        if (lane == k) ROW(jar, first + k) = (float)(y - ROW(aref, first + k));
    }
    int iteration = 0;
    LOOP for (; iteration < iterations; ++iteration) {
        float mx[K], g[K], s[K];
        double sum[K];
        MATRIX(h);
        OWN_ROWS(q) sum[q] = -g0[q];
        UNROLL for (int j = 0; j < NV; ++j) OWN_ROWS(q) ENTRY(h, q, j) = ENTRY(m, q, j);
        UNROLL for (int j = 0; j < NV; ++j) {
            const float xj = AT(x, j);
            OWN_ROWS(q) sum[q] += (double)ENTRY(m, q, j) * xj;
        }
        OWN_ROWS(q) mx[q] = (float)sum[q];
        // gradient and Hessian of the active rows
        CHUNKS {
            const float own_jar = OWN ? ROW(jar, first + lane) : 0.f;
            const float own_d = OWN ? ROW(D, first + lane) : 0.f;
            EACH_ROW(k) {
                const float y = LANE_VALUE(own_jar, k);
                const float d = LANE_VALUE(own_d, k);
                if (y < 0.f) {
                    const float* source = wp::address(J, first + k, 0, w);
                    float row[K];
                    OWN_ROWS(q) row[q] = 0.f;
                    ROWS(q, i) row[q] = LOAD(source + i);
                    OWN_ROWS(q) sum[q] += (double)(d * y) * row[q];
                    UNROLL for (int j = 0; j < NV; ++j) {
                        const float dj = d * AT(row, j);
                        OWN_ROWS(q) ENTRY(h, q, j) += row[q] * dj;
                    }
                }
            }
        }
        OWN_ROWS(q) g[q] = (float)sum[q];
        DOT(residual, q, i, g[q] * g[q])
        DOT(force, q, i, g0[q] * g0[q] + (g[q] - mx[q]) * (g[q] - mx[q]))
        if (residual <= 1e-14f * force) break;

        OWN_ROWS(q) s[q] = -g[q];
        {CHOLESKY_SOLVE}
        CHUNKS EACH_ROW(k) {
            JACOBIAN_TIMES(s, y)
            if (lane == k) ROW(jv, first + k) = y;
        }
        // a full step that changes no row's side ends at the minimum
        bool changed = false;
        CHUNKS if (OWN) {
            const float before = ROW(jar, first + lane);
            changed |= (before < 0.f) != (before + ROW(jv, first + lane) < 0.f);
        }
        const bool last = !ANY(changed);
        float a = 1.f, low = 0.f, high = 1e10f;
        if (!last) {
            // exact line search: the root of the derivative, slope + a curvature + the sum over active rows
            float ms[K];
            OWN_ROWS(q) ms[q] = 0.f;
            UNROLL for (int j = 0; j < NV; ++j) {
                const float sj = AT(s, j);
                OWN_ROWS(q) ms[q] += ENTRY(m, q, j) * sj;
            }
            DOT(slope, q, i, s[q] * mx[q])
            DOT(curvature, q, i, s[q] * ms[q])
            LOOP for (int search = 0; search < ls_iterations; ++search) {
                float first_derivative = 0.f, second_derivative = 0.f;
                CHUNKS if (OWN) {
                    const float v = ROW(jv, first + lane);
                    const float y = ROW(jar, first + lane) + a * v;
                    if (y < 0.f) {
                        const float dv = ROW(D, first + lane) * v;
                        first_derivative += dv * y;
                        second_derivative += dv * v;
                    }
                }
                SUM(first_derivative) SUM(second_derivative)
                first_derivative += slope + a * curvature;
                second_derivative += curvature;
                if (first_derivative < 0.f) low = a; else high = a;
                float next = a - first_derivative / second_derivative;
                if (next <= low || next >= high) next = high < 1e10f ? 0.5f * (low + high) : next;
                const float change = wp::abs(next - a);
                a = next;
                if (change <= 1e-6f * wp::abs(a)) break;
            }
        }
        if (last) {
            // against rounding: solve once more, for what the step leaves of the gradient
            UNROLL for (int j = 0; j < NV; ++j) {
                const double sj = AT(s, j);
                OWN_ROWS(q) sum[q] += ENTRY(m, q, j) * sj;
            }
            CHUNKS {
                const float own_jar = OWN ? ROW(jar, first + lane) : 0.f;
                const float own_pull = OWN ? ROW(D, first + lane) * ROW(jv, first + lane) : 0.f;
                EACH_ROW(k) {
                    const float y = LANE_VALUE(own_jar, k);
                    const double pull = LANE_VALUE(own_pull, k);
                    const float* row = wp::address(J, first + k, 0, w);
                    if (y < 0.f) ROWS(q, i) sum[q] += pull * LOAD(row + i);
                }
            }
            OWN_ROWS(q) { x[q] += s[q]; s[q] = -(float)sum[q]; }
            {SOLVE}
        }
        OWN_ROWS(q) x[q] += a * s[q];
        CHUNKS if (OWN) ROW(jar, first + lane) += a * ROW(jv, first + lane);
        if (last) { ++iteration; break; }
    }
    float force[K];
    OWN_ROWS(q) force[q] = 0.f;
    CHUNKS {
        float own = 0.f;
        if (OWN) {
            own = -ROW(D, first + lane) * wp::min(ROW(jar, first + lane), 0.f);
            ROW(efc_force, first + lane) = own;
        }
        EACH_ROW(k) {
            const float f = LANE_VALUE(own, k);
            const float* row = wp::address(J, first + k, 0, w);
            ROWS(q, i) force[q] += LOAD(row + i) * f;
        }
    }
    ROWS(q, i) {
        *wp::address(qacc, i, w) = x[q];
        *wp::address(qfrc_constraint, i, w) = force[q];
    }
    if (lane == 0) *wp::address(niter, 0, w) = iteration;
"""


@cache
def newton(nv: int) -> Stage:
    """The solver for models with nv degrees of freedom."""
    body = prelude(nv) + _SOURCE.replace("{CHOLESKY_SOLVE}", CHOLESKY_SOLVE).replace("{SOLVE}", SOLVE)
    snippet = body + epilogue("ROW", "CHUNKS", "EACH_ROW", "OWN", "JACOBIAN_TIMES")

    @accesses(
        reads=("M", "J", "D", "aref", "jar", "jv", "qfrc_smooth", "qacc"),
        writes=("jar", "jv", "efc_force", "qacc", "qfrc_constraint", "niter"),
    )
    @wp.func_native(snippet)
    def solve(
        M: wp.array3d[float],
        J: wp.array3d[float],
        D: wp.array2d[float],
        aref: wp.array2d[float],
        jar: wp.array2d[float],
        jv: wp.array2d[float],
        efc_force: wp.array2d[float],
        qfrc_smooth: wp.array2d[float],
        qacc: wp.array2d[float],
        qfrc_constraint: wp.array2d[float],
        niter: wp.array2d[int],
        nefc: int,
        iterations: int,
        ls_iterations: int,
        w: int,
        lane: int,
    ): ...

    def newton(m: ModelData, d: StateData, w: int, lane: int):
        solve(
            d.M, d.efc_J, d.efc_D, d.efc_aref, d.efc_jar, d.efc_jv, d.efc_force, d.qfrc_smooth, d.qacc,
            d.qfrc_constraint, d.solver_niter, d.nefc[0, w], m.iterations, m.ls_iterations, w, lane,
        )  # fmt: skip

    return stage("world", module=f"acesim_rl.solver.nv{nv}", lanes=lanes_for(nv))(newton)
