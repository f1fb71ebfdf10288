"""Newton's method on the constrained acceleration (mj_solNewton; MuJoCo's computation chapter, 'Solvers').

The acceleration minimises 1/2 (x - x_smooth)^T M (x - x_smooth) + sum over rows of 1/2 D min(0, J x - aref)^2, which is
quadratic between changes of the set of active rows. So a full step that leaves the set as it was ends at the minimum.

The words in capitals are macros: `dense` lists them.
"""

from functools import cache

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.scheduler import accesses
from acesim_rl.stage import Stage
from acesim_rl.stages.solver.bins import solver_stage
from acesim_rl.stages.solver.dense import lanes_for, native
from acesim_rl.state import StateData

__all__ = ["newton"]

_SOURCE = r"""
    #define ROW(a, r) wp::address(a, 0, w)[r]  // a world's rows lie together: see arrays.py
    #define JACOBIAN(r) wp::address(J, r, 0, w)
    {CHUNKS}
    float x[K], g0[K];
    READ_MATRIX(m, M)
    OWN_ROWS(q) x[q] = g0[q] = 0.f;
    ROWS(q, i) {
        x[q] = *wp::address(qacc, i, w);
        g0[q] = *wp::address(qfrc_smooth, i, w);
    }
    {
        EVERYWHERE(all, x)
        EACH_CHUNK(c) if (OWN(c)) {
            LOAD_VECTOR(row, JACOBIAN(INDEX(c)))
            PRODUCT(y, row, all)
            JAR(c) = y - ROW(aref, INDEX(c));
        }
    }
    int iteration = 0;
    LOOP for (; iteration < iterations; ++iteration) {
        float mx[K], g[K], s[K];
        MATRIX(h);
        OWN_ROWS(q) mx[q] = -g0[q];
        UNROLL for (int j = 0; j < NV; ++j) OWN_ROWS(q) ENTRY(h, q, j) = ENTRY(m, q, j);
        UNROLL for (int j = 0; j < NV; ++j) {
            const float xj = AT(x, j);
            OWN_ROWS(q) mx[q] = MA(ENTRY(m, q, j), xj, mx[q]);
        }
        OWN_ROWS(q) g[q] = mx[q];
        // gradient and Hessian of the active rows
        EACH_CHUNK(c) {
            const float own_jar = OWN(c) ? JAR(c) : 0.f;
            const float own_d = OWN(c) && own_jar < 0.f ? DIAGONAL(c) : 0.f;
            LOOP ROWS_OF(c, k) {
                const float y = LANE_VALUE(own_jar, k);
                const float d = LANE_VALUE(own_d, k);
                SKIP(y >= 0.f)
                const float* source = JACOBIAN(c * LANES + k);
                LOAD_VECTOR(row, source)
                float own[K];
                OWN_ROWS(q) own[q] = 0.f;
                ROWS(q, i) own[q] = LOAD(source + i);
                OWN_ROWS(q) own[q] *= d;
                OWN_ROWS(q) g[q] = MA(own[q], y, g[q]);
                UNROLL for (int j = 0; j < NV; ++j) OWN_ROWS(q) ENTRY(h, q, j) = MA(own[q], row[j], ENTRY(h, q, j));
            }
        }
        DOT(residual, q, i, g[q] * g[q])
        DOT(force, q, i, MA(g0[q], g0[q], (g[q] - mx[q]) * (g[q] - mx[q])))
        if (residual <= 1e-14f * force) break;

        OWN_ROWS(q) s[q] = -g[q];
        {CHOLESKY}
        {SOLVE}
        // a full step that changes no row's side ends at the minimum
        bool changed = false;
        {
            EVERYWHERE(all, s)
            EACH_CHUNK(c) if (OWN(c)) {
                LOAD_VECTOR(row, JACOBIAN(INDEX(c)))
                PRODUCT(y, row, all)
                JV(c) = y;
                changed |= (JAR(c) < 0.f) != (JAR(c) + y < 0.f);
            }
        }
        const bool last = !ANY(changed);
        float a = 1.f, low = 0.f, high = 1e10f;
        if (!last) {
            // exact line search: the root of the derivative, slope + a curvature + the sum over active rows
            float ms[K];
            OWN_ROWS(q) ms[q] = 0.f;
            UNROLL for (int j = 0; j < NV; ++j) {
                const float sj = AT(s, j);
                OWN_ROWS(q) ms[q] = MA(ENTRY(m, q, j), sj, ms[q]);
            }
            DOT(slope, q, i, s[q] * mx[q])
            DOT(curvature, q, i, s[q] * ms[q])
            LOOP for (int search = 0; search < ls_iterations; ++search) {
                float first_derivative = 0.f, second_derivative = 0.f;
                EACH_CHUNK(c) if (OWN(c)) {
                    const float v = JV(c), y = MA(a, v, JAR(c));
                    const float dv = y < 0.f ? DIAGONAL(c) * v : 0.f;
                    first_derivative = MA(dv, y, first_derivative);
                    second_derivative = MA(dv, v, second_derivative);
                }
                SUM(first_derivative) SUM(second_derivative)
                first_derivative += MA(a, curvature, slope);
                second_derivative += curvature;
                if (first_derivative < 0.f) low = a; else high = a;
                float next = a - first_derivative / second_derivative;
                if (next <= low || next >= high) next = high < 1e10f ? 0.5f * (low + high) : next;
                const float change = wp::abs(next - a);
                a = next;
                if (change <= 1e-6f * wp::abs(a)) break;
            }
        }
        OWN_ROWS(q) x[q] = MA(a, s[q], x[q]);
        if (!last) {
            EACH_CHUNK(c) if (OWN(c)) JAR(c) = MA(a, JV(c), JAR(c));
            continue;
        }
        // against rounding: solve once more, for what the step has left of the gradient
        double left[K];
        OWN_ROWS(q) left[q] = -g0[q];
        UNROLL for (int j = 0; j < NV; ++j) {
            const double xj = AT(x, j);
            OWN_ROWS(q) left[q] += ENTRY(m, q, j) * xj;
        }
        EVERYWHERE(all, x)
        EACH_CHUNK(c) {
            float own_pull = 0.f;
            if (OWN(c)) {
                LOAD_VECTOR(row, JACOBIAN(INDEX(c)))
                double y = -ROW(aref, INDEX(c));
                UNROLL for (int j = 0; j < NV; ++j) y += (double)row[j] * all[j];
                JAR(c) = (float)y;
                own_pull = wp::min(DIAGONAL(c) * JAR(c), 0.f);
            }
            LOOP ROWS_OF(c, k) {
                const double pull = LANE_VALUE(own_pull, k);
                SKIP(pull == 0.)
                const float* row = JACOBIAN(c * LANES + k);
                ROWS(q, i) left[q] += pull * LOAD(row + i);
            }
        }
        OWN_ROWS(q) s[q] = -(float)left[q];
        {SOLVE}
        OWN_ROWS(q) x[q] += s[q];
        {
            EVERYWHERE(change, s)
            EACH_CHUNK(c) if (OWN(c)) {
                LOAD_VECTOR(row, JACOBIAN(INDEX(c)))
                PRODUCT(y, row, change)
                JAR(c) += y;
            }
        }
        ++iteration;
        break;
    }
    float force[K];
    OWN_ROWS(q) force[q] = 0.f;
    EACH_CHUNK(c) {
        float own = 0.f;
        if (OWN(c)) ROW(efc_force, INDEX(c)) = own = -DIAGONAL(c) * wp::min(JAR(c), 0.f);
        LOOP ROWS_OF(c, k) {
            const float f = LANE_VALUE(own, k);
            const float* row = JACOBIAN(c * LANES + k);
            ROWS(q, i) force[q] = MA(LOAD(row + i), f, force[q]);
        }
    }
    ROWS(q, i) {
        *wp::address(qacc, i, w) = x[q];
        *wp::address(qfrc_constraint, i, w) = force[q];
    }
    if (lane == 0) *wp::address(niter, 0, w) = iteration;
"""

_FEW = r"""
    float own_D[{chunks}], own_jar_[{chunks}], own_jv[{chunks}];
    #define EACH_CHUNK(c) HELD(c, {chunks})
    #define DIAGONAL(c) own_D[c]
    #define JAR(c) own_jar_[c]
    #define JV(c) own_jv[c]
    EACH_CHUNK(c) if (OWN(c)) own_D[c] = ROW(D, INDEX(c));
"""
"""What belongs to a row stays in registers."""

_MANY = r"""
    #define EACH_CHUNK(c) LOOP for (int c = 0; c * LANES < nefc; ++c)
    #define DIAGONAL(c) ROW(D, INDEX(c))
    #define JAR(c) ROW(jar, INDEX(c))
    #define JV(c) ROW(jv, INDEX(c))
"""
"""Any number of rows."""


@cache
def newton(nv: int, chunks: int | None = None) -> Stage:
    """The solver for models with nv degrees of freedom.

    With `chunks`, the variant for worlds of that many chunks of rows: the stage takes a chunk's rows. Without, the one
    for any number of rows, in the worlds that no emitted variant takes: it takes the emitted variants, as bits, and a
    chunk's rows. All give the same bits.
    """
    few = chunks is not None
    held = _FEW.replace("{chunks}", f"({chunks} * {lanes_for(nv)} / LANES)") if few else _MANY
    scratch = () if few else ("jar", "jv")

    @accesses(
        reads=("M", "J", "D", "aref", "qfrc_smooth", "qacc", *scratch),
        writes=("efc_force", "qacc", "qfrc_constraint", "niter", *scratch),
    )
    @wp.func_native(native(nv, _SOURCE.replace("{CHUNKS}", held)))
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

    @wp.func
    def solve_world(m: ModelData, d: StateData, w: int, lane: int):
        solve(
            d.M, d.efc_J, d.efc_D, d.efc_aref, d.efc_jar, d.efc_jv, d.efc_force, d.qfrc_smooth, d.qacc,
            d.qfrc_constraint, d.solver_niter, d.nefc[0, w], m.iterations, m.ls_iterations, w, lane,
        )  # fmt: skip

    return solver_stage(solve_world, "newton", f"acesim_rl.solver.nv{nv}", lanes_for(nv), chunks)
