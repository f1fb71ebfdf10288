"""Newton's method and conjugate gradients for all kinds of rows (mj_solNewton, mj_solCG).

As in `newton`, but equality rows pull both ways, rows of friction loss pull with a bounded force, and the rows of an
elliptic cone act together: where the force lies inside of the cone they are quadratic ('bottom'), where it would lie
beyond the polar cone they do nothing ('top'), and in between the cost is that of the distance to the cone ('middle').
There the cost is not quadratic, so Newton's method ends by its gradient.
"""

from functools import cache

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.scheduler import accesses
from acesim_rl.stage import Stage, stage
from acesim_rl.stages.solver.dense import lanes_for, native
from acesim_rl.state import StateData

__all__ = ["primal"]

_ROWS = r"""
    #define ROW(a, r) wp::address(a, 0, w)[r]  // a world's rows lie together: see arrays.py
    #define EACH_CHUNK(c) LOOP for (int c = 0; c * LANES < nefc; ++c)
    #define JACOBIAN_TIMES(v, y) \
        const float* row = wp::address(J, c * LANES + k, 0, w); \
        DOT(y, q, i, LOAD(row + i) * v[q])
    #define DIM(r) (has_cones && (r) >= nequality + nfriction ? ROW(cone, r) : 0)
    const bool has_cones = {HAS_CONES};
    enum { NOTHING, QUADRATIC, LINEAR, MIDDLE };
    // Which part of its cost row r is in at jar + a jv; for the first row of a cone: that of the cone
    auto part_of = [&](int r, float a) {
        const float y = ROW(jar, r) + a * ROW(jv, r);
        if (r < nequality) return (int)QUADRATIC;
        if (r < nequality + nfriction)
            return (int)(wp::abs(y) * ROW(D, r) < ROW(friction, r) ? QUADRATIC : LINEAR);
        const int dim = DIM(r);
        if (dim == 0) return (int)(y < 0.f ? QUADRATIC : NOTHING);
        float tt = 0.f;
        for (int j = 1; j < dim; ++j) {
            const float u = ROW(friction, r + j) * (ROW(jar, r + j) + a * ROW(jv, r + j));
            tt += u * u;
        }
        const float mu = ROW(friction, r), n = mu * y, t = wp::sqrt(tt);
        return (int)(n >= mu * t ? NOTHING : mu * n + t <= 0.f ? QUADRATIC : MIDDLE);
    };
    // Force of row r, and its weight in the Hessian (0 in the middle of a cone)
    auto force_of = [&](int r, float& weight) {
        const int dim = DIM(r), head = dim < 0 ? r + dim : r;
        const int part = part_of(head, 0.f);
        const float y = ROW(jar, r), d = ROW(D, r);
        weight = part == QUADRATIC ? d : 0.f;
        if (part == QUADRATIC) return -d * y;
        if (part == LINEAR) return y < 0.f ? ROW(friction, r) : -ROW(friction, r);
        if (part == NOTHING) return 0.f;
        const float mu = ROW(friction, head), n = mu * ROW(jar, head);
        float tt = 0.f;
        for (int j = 1; j < ROW(cone, head); ++j) {
            const float u = ROW(friction, head + j) * ROW(jar, head + j);
            tt += u * u;
        }
        const float t = wp::sqrt(tt), pull = ROW(D, head) / (mu * (1.f + mu * mu)) * (mu * t - n);
        return r == head ? pull : -pull * ROW(friction, r) * ROW(friction, r) * y / t;
    };
    // First and second derivative by a of the cost of row r (the first of a cone: of the cone) at jar + a jv
    auto add_derivatives = [&](int r, float a, float& slope, float& curvature) {
        const int dim = DIM(r);
        if (dim < 0) return;
        const int part = part_of(r, a);
        const float v = ROW(jv, r), y = ROW(jar, r) + a * v;
        if (part == QUADRATIC) {
            LOOP for (int j = r; j < r + wp::max(dim, 1); ++j) {
                const float dv = ROW(D, j) * ROW(jv, j);
                slope += dv * (ROW(jar, j) + a * ROW(jv, j));
                curvature += dv * ROW(jv, j);
            }
        } else if (part == LINEAR) {
            slope += y < 0.f ? -ROW(friction, r) * v : ROW(friction, r) * v;
        } else if (part == MIDDLE) {
            float uu = 0.f, uv = 0.f, vv = 0.f;
            for (int j = 1; j < dim; ++j) {
                const float f = ROW(friction, r + j), vj = f * ROW(jv, r + j), uj = f * ROW(jar, r + j) + a * vj;
                uu += uj * uj;
                uv += uj * vj;
                vv += vj * vj;
            }
            const float mu = ROW(friction, r), t = wp::sqrt(uu), t1 = uv / t, t2 = wp::max(vv - t1 * t1, 0.f) / t;
            const float d = ROW(D, r) / (mu * mu * (1.f + mu * mu)), gap = mu * (y - t), gap1 = mu * (v - t1);
            slope += d * gap * gap1;
            curvature += d * (gap1 * gap1 - gap * mu * t2);
        }
    };
"""

_START = r"""
    float x[K], g0[K], s[K];
    READ_MATRIX(m, M)
    MATRIX(h);
    OWN_ROWS(q) x[q] = g0[q] = s[q] = 0.f;
    ROWS(q, i) {
        x[q] = *wp::address(qacc, i, w);
        g0[q] = *wp::address(qfrc_smooth, i, w);
    }
    UNROLL for (int j = 0; j < NV; ++j) OWN_ROWS(q) ENTRY(h, q, j) = ENTRY(m, q, j);
    EACH_CHUNK(c) ROWS_OF(c, k) {
        JACOBIAN_TIMES(x, y)
        if (lane == k) {
            ROW(jar, c * LANES + k) = y - ROW(aref, c * LANES + k);
            ROW(jv, c * LANES + k) = 0.f;
        }
    }
    {ONCE}
    float last_residual = 1e30f;
    int iteration = 0;
    LOOP for (; iteration < iterations; ++iteration) {
        SYNC
        float mx[K], g[K];
        OWN_ROWS(q) mx[q] = -g0[q];
        UNROLL for (int j = 0; j < NV; ++j) {
            const float xj = AT(x, j);
            OWN_ROWS(q) mx[q] += ENTRY(m, q, j) * xj;
        }
        OWN_ROWS(q) g[q] = mx[q];
        {RESTART}
        bool curved = false;  // some cone's cost is not quadratic
        EACH_CHUNK(c) {
            float own_force = 0.f, own_weight = 0.f;
            int own_middle = 0;
            if (OWN(c)) {
                own_force = force_of(INDEX(c), own_weight);
                own_middle = DIM(INDEX(c)) > 0 && part_of(INDEX(c), 0.f) == MIDDLE;
            }
            ROWS_OF(c, k) {
                const float force = LANE_VALUE(own_force, k), weight = LANE_VALUE(own_weight, k);
                if (force != 0.f || weight != 0.f) {
                    const float* source = wp::address(J, c * LANES + k, 0, w);
                    float row[K];
                    OWN_ROWS(q) row[q] = 0.f;
                    ROWS(q, i) row[q] = LOAD(source + i);
                    OWN_ROWS(q) g[q] -= force * row[q];
                    {ADD_ROW}
                }
                if (has_cones && LANE_VALUE(own_middle, k)) {
                    curved = true;
                    {ADD_CONE}
                }
            }
        }
        DOT(residual, q, i, g[q] * g[q])
        DOT(scale, q, i, g0[q] * g0[q] + (g[q] - mx[q]) * (g[q] - mx[q]))
        if (residual <= 1e-14f * scale) break;
        if (residual <= 1e-10f * scale && residual > {SLOW}f * last_residual) break;  // as far as rounding lets it
        last_residual = residual;
        {DIRECTION}
        EACH_CHUNK(c) ROWS_OF(c, k) {
            JACOBIAN_TIMES(s, y)
            if (lane == k) ROW(jv, c * LANES + k) = y;
        }
        SYNC
        {LAST}
        float a = 1.f, low = 0.f, high = 1e10f;
        if (!last) {
            // exact line search: the root of the derivative
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
                EACH_CHUNK(c) if (OWN(c)) add_derivatives(INDEX(c), a, first_derivative, second_derivative);
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
        OWN_ROWS(q) x[q] += a * s[q];
        SYNC
        EACH_CHUNK(c) if (OWN(c)) {
            ROW(jar, INDEX(c)) += a * ROW(jv, INDEX(c));
            ROW(jv, INDEX(c)) = 0.f;
        }
        if (last) { ++iteration; break; }
    }
    SYNC
    float total[K];
    OWN_ROWS(q) total[q] = 0.f;
    EACH_CHUNK(c) {
        float own = 0.f, weight;
        if (OWN(c)) ROW(efc_force, INDEX(c)) = own = force_of(INDEX(c), weight);
        ROWS_OF(c, k) {
            const float f = LANE_VALUE(own, k);
            const float* row = wp::address(J, c * LANES + k, 0, w);
            ROWS(q, i) total[q] += LOAD(row + i) * f;
        }
    }
    ROWS(q, i) {
        *wp::address(qacc, i, w) = x[q];
        *wp::address(qfrc_constraint, i, w) = total[q];
    }
    if (lane == 0) *wp::address(niter, 0, w) = iteration;
"""

_ADD_ROW = r"""
                    if (weight != 0.f) UNROLL for (int j = 0; j < NV; ++j) {
                        const float dj = weight * AT(row, j);
                        OWN_ROWS(q) ENTRY(h, q, j) += row[q] * dj;
                    }
"""

# Hessian of d/2 (n - mu t)^2, n = mu y_0, t = |u|, u_j = f_j y_j: d times the outer product of the gap's gradient, and
# the gap times the curvature of t, which is f_j f_k (delta_jk - u_j u_k / t^2) / t
_ADD_CONE = r"""
                    const int head = c * LANES + k, dim = ROW(cone, head);
                    const float mu = ROW(friction, head);
                    float along[6], factor[6], rows[6][K], tt = 0.f;
                    for (int j = 1; j < dim; ++j) {
                        factor[j] = ROW(friction, head + j);
                        along[j] = factor[j] * ROW(jar, head + j);
                        tt += along[j] * along[j];
                    }
                    const float t = wp::sqrt(tt), gap = mu * (ROW(jar, head) - t);
                    const float d = ROW(D, head) / (mu * mu * (1.f + mu * mu)), bend = -d * gap * mu / t;
                    factor[0] = 1.f;
                    for (int j = 0; j < dim; ++j) {
                        const float* source = wp::address(J, head + j, 0, w);
                        OWN_ROWS(q) rows[j][q] = 0.f;
                        ROWS(q, i) rows[j][q] = LOAD(source + i) * factor[j];
                        if (j > 0) along[j] /= t;
                    }
                    float gradient[K], turn[K];
                    OWN_ROWS(q) turn[q] = 0.f;
                    for (int j = 1; j < dim; ++j) OWN_ROWS(q) turn[q] += along[j] * rows[j][q];
                    OWN_ROWS(q) gradient[q] = mu * (rows[0][q] - turn[q]);
                    UNROLL for (int j = 0; j < NV; ++j) {
                        const float dj = d * AT(gradient, j), bj = -bend * AT(turn, j);
                        OWN_ROWS(q) ENTRY(h, q, j) += gradient[q] * dj + turn[q] * bj;
                    }
                    for (int e = 1; e < dim; ++e) UNROLL for (int j = 0; j < NV; ++j) {
                        const float bj = bend * AT(rows[e], j);
                        OWN_ROWS(q) ENTRY(h, q, j) += rows[e][q] * bj;
                    }
"""

_NEWTON = {
    "ONCE": "",
    "RESTART": "UNROLL for (int j = 0; j < NV; ++j) OWN_ROWS(q) ENTRY(h, q, j) = ENTRY(m, q, j);",
    "ADD_ROW": _ADD_ROW,
    "ADD_CONE": _ADD_CONE,
    "SLOW": "0.25",
    "DIRECTION": "OWN_ROWS(q) s[q] = -g[q];\n{CHOLESKY}\n{SOLVE}",
    # a full step that changes no row's part ends at the minimum
    "LAST": r"""
        bool changed = curved;
        EACH_CHUNK(c) if (OWN(c) && DIM(INDEX(c)) >= 0)
            changed |= part_of(INDEX(c), 0.f) != part_of(INDEX(c), 1.f)
                || (part_of(INDEX(c), 0.f) == LINEAR
                    && (ROW(jar, INDEX(c)) < 0.f) != (ROW(jar, INDEX(c)) + ROW(jv, INDEX(c)) < 0.f));
        const bool last = !ANY(changed);
    """,
}
_CG = {
    "ONCE": "{CHOLESKY}\n    float step[K], z_before[K], before = 0.f;\n    OWN_ROWS(q) step[q] = z_before[q] = 0.f;",
    "RESTART": "",
    "ADD_ROW": "",
    "ADD_CONE": "",
    "SLOW": "4.",
    # Polak-Ribiere, preconditioned by M
    "DIRECTION": r"""
        OWN_ROWS(q) s[q] = g[q];
        {SOLVE}
        DOT(now, q, i, g[q] * s[q])
        DOT(rest, q, i, g[q] * (s[q] - z_before[q]))
        const float keep = before > 0.f ? wp::max(rest / before, 0.f) : 0.f;
        before = now;
        DOT(uphill, q, i, g[q] * (keep * step[q] - s[q]))
        OWN_ROWS(q) {
            z_before[q] = s[q];
            s[q] = step[q] = (uphill < 0.f ? keep * step[q] : 0.f) - s[q];
        }
    """,
    "LAST": "const bool last = false;",
}  # fmt: skip


@cache
def primal(nv: int, method: str, cones: bool = False) -> Stage:
    """The solver for models with nv degrees of freedom, with elliptic cones or without; method: `newton` or `cg`."""
    body = _ROWS + _START
    for name, text in (_NEWTON if method == "newton" else _CG).items():
        body = body.replace("{" + name + "}", text if cones or name != "ADD_CONE" else "")
    body = body.replace("{HAS_CONES}", str(int(cones)))

    @accesses(
        reads=("M", "J", "D", "aref", "friction", "cone", "jar", "jv", "qfrc_smooth", "qacc"),
        writes=("jar", "jv", "efc_force", "qacc", "qfrc_constraint", "niter"),
    )
    @wp.func_native(native(nv, body))
    def solve(
        M: wp.array3d[float],
        J: wp.array3d[float],
        D: wp.array2d[float],
        aref: wp.array2d[float],
        friction: wp.array2d[float],
        cone: wp.array2d[int],
        jar: wp.array2d[float],
        jv: wp.array2d[float],
        efc_force: wp.array2d[float],
        qfrc_smooth: wp.array2d[float],
        qacc: wp.array2d[float],
        qfrc_constraint: wp.array2d[float],
        niter: wp.array2d[int],
        nefc: int,
        nequality: int,
        nfriction: int,
        iterations: int,
        ls_iterations: int,
        w: int,
        lane: int,
    ): ...

    def primal(m: ModelData, d: StateData, w: int, lane: int):
        solve(
            d.M, d.efc_J, d.efc_D, d.efc_aref, d.efc_friction, d.efc_cone, d.efc_jar, d.efc_jv, d.efc_force,
            d.qfrc_smooth, d.qacc, d.qfrc_constraint, d.solver_niter, d.nefc[0, w], m.nequality_row, m.nfriction,
            m.iterations, m.ls_iterations, w, lane,
        )  # fmt: skip

    primal.__name__ = method
    module = f"acesim_rl.solver.{method}{'.cones' if cones else ''}.nv{nv}"
    return stage("world", module=module, lanes=lanes_for(nv))(primal)
