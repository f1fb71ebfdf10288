"""Projected Gauss-Seidel where A is not formed: for many rows, for islands, and for elliptic cones.

The acceleration x = qacc_smooth + M^-1 J^T f is kept up to date, so that row r's residual is J_r x - aref_r + R_r f_r.
All is done for each island by itself, with its own part of M. The rows of an elliptic cone are visited together: first
the force is scaled, then the tangential part is found for that normal force. For the method see `pgs`.
"""

from functools import cache

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.scheduler import accesses
from acesim_rl.stage import Stage, stage
from acesim_rl.stages.solver.dense import lanes_for, native
from acesim_rl.state import StateData

__all__ = ["END", "begin", "many", "pgs_many"]

_BEGIN = r"""
    #define ROW(a, r) wp::address(a, 0, w)[r]  // a world's rows lie together: see arrays.py
    #define EACH_ROW(r) LOOP for (int r = 0; r < nefc; ++r)
    #define JACOBIAN_TIMES(v, y, r) \
        const float* row_ = wp::address(J, r, 0, w); \
        DOT(y, q, i, LOAD(row_ + i) * v[q])
    #define MOVE(x, r, change) { \
        const float* row_ = wp::address(JM, r, 0, w); \
        ROWS(q, i) x[q] += row_[i] * (change); \
    }
    #define BOUNDED(r, f) \
        ((r) < nequality ? (f) : (r) < nequality + nfriction \
            ? wp::clamp((f), -ROW(friction, r), ROW(friction, r)) : wp::max((f), 0.f))
    #define DIM(r) ({HAS_CONES} && (r) >= nequality + nfriction ? {CONE_ROW} : 0)
    float smooth[K], warm[K], total[K];
    READ_MATRIX(h, M)
    OWN_ROWS(q) smooth[q] = warm[q] = total[q] = 0.f;
    {CHOLESKY}
    {
        float s[K];
        OWN_ROWS(q) s[q] = 0.f;
        ROWS(q, i) {
            s[q] = *wp::address(qfrc_smooth, i, w);
            warm[q] = *wp::address(qacc_warmstart, i, w);
        }
        {SOLVE}
        OWN_ROWS(q) smooth[q] = s[q];
        {  // once more, for what rounding has left over
            double left[K];
            OWN_ROWS(q) left[q] = 0.;
            ROWS(q, i) left[q] = *wp::address(qfrc_smooth, i, w);
            UNROLL for (int j = 0; j < NV; ++j) {
                const float* row = wp::address(M, j, 0, w);
                const double xj = AT(smooth, j);
                ROWS(q, i) left[q] -= LOAD(row + i) * xj;
            }
            OWN_ROWS(q) s[q] = (float)left[q];
            {SOLVE}
        }
        OWN_ROWS(q) smooth[q] += s[q];
    }
    int spent = 0;  // iterations
"""
"""The acceleration without constraints, and the factors of M in h."""

_MANY = r"""
    // Lanes share out the dofs. What belongs to a row is the same number in all lanes, and all of them write it; each
    // reads what it wrote itself, with a SYNC between reading a number and writing it anew (shuffles order no memory).
    // One lane alone writes the order of the rows.
    const bool split = dof_island.shape[0] > 0;  // else all rows are one island, 0
    int tree[K];
    OWN_ROWS(q) tree[q] = 0;
    if (split) ROWS(q, i) tree[q] = *wp::address(dof_island, i, w);
    float x[K];
    OWN_ROWS(q) x[q] = smooth[q];
    // M^-1 J^T, the diagonal of A + R, and the violations of the warm start
    EACH_ROW(r) {
        const float* row = wp::address(J, r, 0, w);
        float own[K], s[K];
        OWN_ROWS(q) own[q] = 0.f;
        ROWS(q, i) own[q] = LOAD(row + i);
        OWN_ROWS(q) s[q] = own[q];
        {SOLVE}
        float* out = wp::address(JM, r, 0, w);
        ROWS(q, i) out[i] = s[q];
        DOT(a, q, i, own[q] * s[q])
        DOT(jar, q, i, own[q] * warm[q])
        ROW(diagonal, r) = a + 1.f / ROW(D, r);
        ROW(start, r) = jar - ROW(aref, r);
        {BLOCKS}
    }
    // the forces that it gives
    EACH_ROW(r) {
        const int dim = DIM(r);
        if (dim < 0) continue;
        float f[6];
        f[0] = BOUNDED(r, -ROW(D, r) * ROW(start, r));
        if (dim > 0) {
            float tt = 0.f;
            for (int j = 1; j < dim; ++j) {
                const float u = ROW(friction, r + j) * ROW(start, r + j);
                tt += u * u;
            }
            const float mu = ROW(friction, r), n = mu * ROW(start, r), t = wp::sqrt(tt);
            const float pull = ROW(D, r) / (mu * (1.f + mu * mu)) * (mu * t - n);
            const bool bottom = mu * n + t <= 0.f, top = n >= mu * t;
            f[0] = top ? 0.f : bottom ? f[0] : pull;
            for (int j = 1; j < dim; ++j) {
                const float y = ROW(start, r + j), c = ROW(friction, r + j);
                f[j] = top ? 0.f : bottom ? -ROW(D, r + j) * y : -pull * c * c * y / t;
            }
        }
        for (int j = 0; j < wp::max(dim, 1); ++j) {
            const float force_j = use_warmstart ? f[j] : 0.f;
            ROW(force, r + j) = ROW(before, r + j) = force_j;
            MOVE(x, r + j, force_j)
        }
    }
    float cost = 0.f;  // of the warm start; without forces it is 0
    EACH_ROW(r) {
        const float f = ROW(force, r);
        if (f == 0.f) continue;
        const float* row = wp::address(J, r, 0, w);
        DOT(jx, q, i, LOAD(row + i) * (x[q] + smooth[q]))
        cost += f * (0.5f * (jx + f / ROW(D, r)) - ROW(aref, r));
    }
    if (!(cost <= 0.f)) {
        SYNC
        EACH_ROW(r) ROW(force, r) = ROW(before, r) = 0.f;
        OWN_ROWS(q) x[q] = smooth[q];
    }
    #define IN(r) (!split || ROW(efc_island, r) == island)
    LOOP for (int island = 0; island < (split ? NV : 1); ++island) {
        int blocks = 0;  // cones, and rows outside of them; `order` gets the first row of each
        SYNC
        EACH_ROW(r) if (DIM(r) >= 0 && IN(r)) {
            if (lane == 0) ROW(order, blocks) = r;
            ++blocks;
        }
        if (blocks == 0) continue;
        DOT(trace, q, i, tree[q] == island ? *wp::address(M, i, i, w) : 0.f)
        unsigned long long random = 1;
        int iteration = 0, since_restart = 0;
        LOOP for (; iteration < iterations;) {
            SYNC
            LOOP for (int i = blocks - 1; i > 0; --i) {
                const unsigned int bits = (unsigned int)(((random >> 18) ^ random) >> 27);
                const unsigned int turn = (unsigned int)(random >> 59);
                random = random * 6364136223846793005ull + 1ull;
                const int j = (int)(((bits >> turn) | (bits << ((32u - turn) & 31u))) % (unsigned int)(i + 1));
                if (lane == 0) {
                    const int other = ROW(order, i);
                    ROW(order, i) = ROW(order, j);
                    ROW(order, j) = other;
                }
            }
            SYNC
            const bool momentum = since_restart > 1;
            if (momentum) OWN_ROWS(q) x[q] = tree[q] == island ? smooth[q] : x[q];
            const float share = (since_restart - 1.f) / (since_restart + 2.f);
            EACH_ROW(r) {
                const int dim = DIM(r);
                if (dim < 0 || !IN(r)) continue;
                float f[6], moved[6], tt = 0.f;
                for (int j = 0; j < wp::max(dim, 1); ++j) {
                    f[j] = moved[j] = ROW(force, r + j);
                    if (!momentum) continue;
                    moved[j] += share * (f[j] - ROW(before, r + j));
                    const float u = j > 0 ? moved[j] / ROW(friction, r + j) : 0.f;
                    tt += u * u;
                }
                SYNC
                if (momentum) moved[0] = BOUNDED(r, moved[0]);
                const float t = wp::sqrt(tt), scale = t > moved[0] ? moved[0] / t : 1.f;  // back into the cone
                for (int j = 0; j < wp::max(dim, 1); ++j) {
                    if (momentum && j > 0) moved[j] *= scale;
                    if (momentum) MOVE(x, r + j, moved[j])
                    ROW(before, r + j) = f[j];
                    ROW(start, r + j) = ROW(force, r + j) = moved[j];
                }
            }
            ++iteration;
            ++since_restart;
            float improvement = 0.f, against = 0.f;
            LOOP for (int k = 0; k < blocks; ++k) {
                const int r = ROW(order, k), dim = DIM(r);
                {CONE}
                const float a = ROW(diagonal, r), f = ROW(force, r);
                JACOBIAN_TIMES(x, jx, r)
                const float residual = jx - ROW(aref, r) + f / ROW(D, r);
                const float next = BOUNDED(r, f - residual / a);
                const float change = next - f;
                if (change == 0.f) continue;
                improvement -= change * (0.5f * change * a + residual);
                SYNC
                ROW(force, r) = next;
                MOVE(x, r, change)
            }
            if (momentum) {
                EACH_ROW(r) if (IN(r)) against += (ROW(start, r) - ROW(force, r)) * (ROW(start, r) - ROW(before, r));
                if (against > 0.f) since_restart = 0;
            }
            if (improvement < tolerance * trace) break;
        }
        spent = wp::max(spent, iteration);
    }
"""

END = r"""
    SYNC  // each force is written by one lane
    EACH_ROW(r) {
        const float f = ROW(force, r);
        const float* row = wp::address(J, r, 0, w);
        ROWS(q, i) total[q] = MA(LOAD(row + i), f, total[q]);
    }
    {
        float s[K];
        OWN_ROWS(q) s[q] = total[q];
        {SOLVE}
        ROWS(q, i) {
            *wp::address(qacc, i, w) = smooth[q] + s[q];
            *wp::address(qfrc_constraint, i, w) = total[q];
        }
    }
    if (lane == 0) *wp::address(niter, 0, w) = spent;
"""
"""From forces to accelerations, after the iterations."""

_BLOCKS = r"""
        const int dim = DIM(r), head = dim < 0 ? r + dim : r;
        if (dim != 0) {
            wp::address(block, r, 0, w)[r - head] = ROW(diagonal, r);
            LOOP for (int c = head; c < r; ++c) {
                const float* other = wp::address(J, c, 0, w);
                DOT(across, q, i, LOAD(other + i) * s[q])
                wp::address(block, r, 0, w)[c - head] = wp::address(block, c, 0, w)[r - head] = across;
            }
        }
"""
"""The diagonal blocks of A + R, of cones."""

_CONE = r"""
    if (dim > 0) {
        float f[6], old[6], residual[6];
        for (int j = 0; j < dim; ++j) old[j] = f[j] = ROW(force, r + j);
        for (int j = 0; j < dim; ++j) {
            JACOBIAN_TIMES(x, jx, r + j)
            residual[j] = jx - ROW(aref, r + j) + old[j] / ROW(D, r + j);
        }
        #define A(j, c) wp::address(block, r + (j), 0, w)[c]
        if (f[0] < 1e-15f) {
            f[0] = wp::max(0.f, f[0] - residual[0] / A(0, 0));
            for (int j = 1; j < dim; ++j) f[j] = 0.f;
        } else {  // along the ray through the force
            float slope = 0.f, curvature = 0.f;
            for (int j = 0; j < dim; ++j) {
                slope += f[j] * residual[j];
                for (int c = 0; c < dim; ++c) curvature += f[j] * A(j, c) * f[c];
            }
            if (curvature >= 1e-15f) {
                const float scale = wp::max(0.f, 1.f - slope / curvature);
                for (int j = 0; j < dim; ++j) f[j] *= scale;
            }
        }
        if (f[0] < 1e-15f) {
            for (int j = 1; j < dim; ++j) f[j] = 0.f;
        } else {
            // tangential forces y_j c_j that minimise the cost with |y| <= f_0: y = -(S + lambda)^-1 b, with lambda by
            // Newton's method, not always to the end; so what lies on the bound is put there
            const int size = dim - 1;
            double S[5][5], b[5], y[5], z[5], lambda = 0., length_sq = 1.;
            for (int j = 0; j < size; ++j) {
                const double scale = ROW(friction, r + 1 + j);
                b[j] = residual[j + 1] + A(j + 1, 0) * (f[0] - old[0]);
                for (int c = 0; c < size; ++c) {
                    b[j] -= A(j + 1, c + 1) * old[c + 1];
                    S[j][c] = scale * A(j + 1, c + 1) * ROW(friction, r + 1 + c);
                }
                b[j] *= scale;
            }
            LOOP for (int search = 0; search < 20; ++search) {
                double L[5][5];
                for (int j = 0; j < size; ++j) {
                    for (int c = 0; c <= j; ++c) {
                        double sum = S[j][c] + (j == c ? lambda : 0.);
                        for (int e = 0; e < c; ++e) sum -= L[j][e] * L[c][e];
                        L[j][c] = j == c ? wp::sqrt(wp::max(sum, 1e-30)) : sum / L[c][c];
                    }
                    y[j] = -b[j];
                    for (int e = 0; e < j; ++e) y[j] -= L[j][e] * y[e];
                    y[j] /= L[j][j];
                }
                double yy = 0., zz = 0.;
                for (int j = size - 1; j >= 0; --j) {
                    for (int e = j + 1; e < size; ++e) y[j] -= L[e][j] * y[e];
                    y[j] /= L[j][j];
                    yy += y[j] * y[j];
                }
                const double radius = (double)f[0] * f[0];
                length_sq = yy;
                if (yy - radius < 1e-10) break;
                for (int j = 0; j < size; ++j) {  // the derivative of |y|^2 is -2 |L^-1 y|^2
                    z[j] = y[j];
                    for (int e = 0; e < j; ++e) z[j] -= L[j][e] * z[e];
                    z[j] /= L[j][j];
                    zz += z[j] * z[j];
                }
                const double more = (yy - radius) / (2. * zz);
                if (more < 1e-10) break;
                lambda += more;
            }
            const double onto = lambda > 0. ? wp::sqrt((double)f[0] * f[0] / length_sq) : 1.;
            for (int j = 0; j < size; ++j) f[j + 1] = (float)(onto * y[j] * ROW(friction, r + 1 + j));
        }
        for (int j = 0; j < dim; ++j) {
            float half = residual[j];
            for (int c = 0; c < dim; ++c) half += 0.5f * A(j, c) * (f[c] - old[c]);
            improvement -= (f[j] - old[j]) * half;
        }
        SYNC
        for (int j = 0; j < dim; ++j) {
            ROW(force, r + j) = f[j];
            MOVE(x, r + j, f[j] - old[j])
        }
        continue;
    }
"""


def begin(cones: bool) -> str:
    """What comes before the iterations."""
    return _BEGIN.replace("{HAS_CONES}", str(int(cones))).replace("{CONE_ROW}", "ROW(cone, r)" if cones else "0")


def many(cones: bool) -> str:
    """The iterations where A is not formed."""
    return _MANY.replace("{BLOCKS}", _BLOCKS if cones else "").replace("{CONE}", _CONE if cones else "")


@cache
def pgs_many(nv: int, cones: bool) -> Stage:
    """The solver for models with nv degrees of freedom, with elliptic cones or without."""

    @accesses(
        reads=(
            "M", "J", "D", "aref", "friction", "qfrc_smooth", "qacc_warmstart", "JM", "diagonal", "before", "start",
            "order", "force", "cone", "block", "efc_island", "dof_island",
        ),
        writes=("JM", "block", "diagonal", "before", "start", "order", "force", "qacc", "qfrc_constraint", "niter"),
    )  # fmt: skip
    @wp.func_native(native(nv, begin(cones) + many(cones) + END))
    def solve(
        M: wp.array3d[float],
        J: wp.array3d[float],
        D: wp.array2d[float],
        aref: wp.array2d[float],
        friction: wp.array2d[float],
        cone: wp.array2d[int],
        efc_island: wp.array2d[int],
        dof_island: wp.array2d[int],
        qfrc_smooth: wp.array2d[float],
        qacc_warmstart: wp.array2d[float],
        JM: wp.array3d[float],
        block: wp.array3d[float],
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

    def pgs(m: ModelData, d: StateData, w: int, lane: int):
        solve(
            d.M, d.efc_J, d.efc_D, d.efc_aref, d.efc_friction, d.efc_cone, d.efc_island, d.dof_island, d.qfrc_smooth,
            d.qacc_warmstart, d.efc_JM, d.efc_block, d.efc_diagonal, d.efc_jar, d.efc_jv, d.efc_order, d.efc_force,
            d.qacc, d.qfrc_constraint, d.solver_niter, d.nefc[0, w], m.nequality_row, m.nfriction, m.iterations,
            m.tolerance, m.use_warmstart, w, lane,
        )  # fmt: skip

    module = f"acesim_rl.solver.pgs.{'cones' if cones else 'islands'}.nv{nv}"
    return stage("world", module=module, lanes=lanes_for(nv))(pgs)
