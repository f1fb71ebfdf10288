"""Small dense linear algebra, shared out over the lanes of a world; source text for native functions.

On the GPU `LANES` neighbouring threads serve one world. Lane l keeps the entries l, l + LANES, ... of a vector and
those rows of a matrix in its registers, and gets the others' by shuffles. On the CPU there is one lane, which keeps
everything, and the same text compiles to plain loops.

    OWN_ROWS(q)     loop over the lane's own entries, by local number; ROW_INDEX(q) is their index
    ROWS(q, i)      the same, entries past the end left out
    ENTRY(a, q, j)  column j of own row q; on the CPU columns lie together, so that loops over q are vectorized
    READ_MATRIX(a, A)       declares a = the world's matrix A, symmetric: the lanes read a row of it side by side
    AT(v, k)        entry k of a shared-out vector
    LOAD(p)         *p, of memory that the function does not write
    SUM(x)          x summed over the lanes, in a fixed order
    SYNC            what a lane has written, the others read from here on
    DOT(sum, q, i, term)    declares sum = the sum of a term over all entries, in a fixed order
    MA(a, b, c)     a b + c, rounded once on the GPU: the same bits in every kernel that computes it
    EVERYWHERE(all, v)      declares all[NV] = a shared-out vector, whole in every lane
    LOAD_VECTOR(t, p)       declares t[NV] = what lies at p (whole rows of 16 words), whole in every lane that asks
    PRODUCT(y, t, all)      declares y = the inner product of two such vectors: no lane waits for another
    INDEX(c)        constraint rows go through in chunks, one row for each lane: the lane's row of chunk c
    OWN(c)          whether there is such a row, of nefc
    ROWS_OF(c, k)   loop over the rows of a chunk; their index is c * LANES + k
    HELD(c, most)   loop over chunks, most at most, whose rows' numbers lie in registers
    PICK(x, v, r)   declares x = row r's number of those held, in the lane whose row it is
    PUT(v, r, x)    sets it, likewise; IS_OWN(r): whether this is the lane
    TURNS for       a loop over rows that take turns; HOLD_ORDER(turns, order), TURN(r, turns, k): the k-th in turn
    FACTOR(h, i, k) entry of a factored matrix, whole in every lane
    SKIP(idle)      on to the next of a loop where there is nothing to add; the GPU rather adds zeros than branches
"""

import re

from acesim_rl.arrays import lanes_for

__all__ = ["lanes_for", "native"]

PRELUDE = r"""
#if defined(__CUDA_ARCH__)
    const int NV = {nv}, LANES = {lanes}, K = (NV + LANES - 1) / LANES;
    const unsigned mask = LANES == 32 ? 0xffffffffu : ((1u << (LANES & 31)) - 1u) << (threadIdx.x & 31 & ~(LANES - 1));
    #define UNROLL _Pragma("unroll")
    #define LOOP _Pragma("unroll 1")
    #define LOAD(p) __ldg(p)
    #define AT(v, k) __shfl_sync(mask, (v)[(k) / LANES], (k) % LANES, LANES)
    #define LANE_VALUE(x, k) __shfl_sync(mask, (x), (k), LANES)
    #define SUM(x) UNROLL for (int o_ = LANES / 2; o_ > 0; o_ >>= 1) x += __shfl_xor_sync(mask, x, o_, LANES);
    #define ANY(x) (__ballot_sync(mask, (x)) & mask)
    #define SYNC __syncwarp(mask);
    #define ENTRY(a, q, j) (a)[q][j]
    #define MATRIX(a) float a[K][NV]
    #define MA(a, b, c) __fmaf_rn((a), (b), (c))
    #define EVERYWHERE(all, v) float all[NV]; UNROLL for (int j_ = 0; j_ < NV; ++j_) all[j_] = AT(v, j_);
    #define LOAD_VECTOR(t, p) float t[(NV + 3) / 4 * 4]; { \
        const float4* p_ = (const float4*)(p); \
        UNROLL for (int j_ = 0; j_ < (NV + 3) / 4; ++j_) { \
            const float4 four_ = __ldg(p_ + j_); \
            t[4 * j_] = four_.x; t[4 * j_ + 1] = four_.y; t[4 * j_ + 2] = four_.z; t[4 * j_ + 3] = four_.w; \
        } \
    }
    #define HELD(c, most) UNROLL for (int c = 0; c < (most) && c * LANES < nefc; ++c)
    #define PICK(x, v, r) auto x = (v)[0]; \
        UNROLL for (int c_ = 1; c_ < (int)(sizeof(v) / 4); ++c_) { \
            const auto other_ = (v)[c_];  /* else the compiler reads where the row says, and that from memory */ \
            x = (r) / LANES == c_ ? other_ : x; \
        }
    #define PUT(v, r, x) \
        UNROLL for (int c_ = 0; c_ < (int)(sizeof(v) / 4); ++c_) { \
            const auto old_ = (v)[c_]; \
            (v)[c_] = c_ * LANES + lane == (r) ? (x) : old_; \
        }
    #define IS_OWN(r) ((r) % LANES == lane)
    #define TURNS _Pragma("unroll 4")
    #define HOLD_ORDER(turns, order) int turns[C]; HELD(c, C) turns[c] = LOAD((order) + wp::min(INDEX(c), nefc - 1));
    #define TURN(r, turns, k) PICK(r##_, turns, k) const int r = LANE_VALUE(r##_, (k) % LANES);
    #define FACTOR(h, i, k) __shfl_sync(mask, (h)[(i) / LANES][k], (i) % LANES, LANES)
    #define SKIP(idle)
#else
    const int NV = {nv}, LANES = 1, K = (NV + 7) / 8 * 8;  // whole vector registers
    #define UNROLL
    #define LOOP
    #define LOAD(p) (*(p))
    #define AT(v, k) (v)[k]
    #define LANE_VALUE(x, k) (x)
    #define SUM(x)
    #define ANY(x) (x)
    #define SYNC
    #define ENTRY(a, q, j) (a)[j][q]
    #define MATRIX(a) float a[NV][K]
    #define MA(a, b, c) ((a) * (b) + (c))
    #define EVERYWHERE(all, v) const float* all = v;
    #define LOAD_VECTOR(t, p) const float* t = (p);
    #define HELD(c, most) for (int c = 0; c < nefc; ++c)
    #define PICK(x, v, r) const float x = (v)[r];
    #define PUT(v, r, x) (v)[r] = (x);
    #define IS_OWN(r) true
    #define TURNS
    #define HOLD_ORDER(turns, order) const int* turns = order;
    #define TURN(r, turns, k) const int r = (turns)[k];
    #define FACTOR(h, i, k) (h)[k][i]
    #define SKIP(idle) if (idle) continue;
#endif
    #define INDEX(c) ((c) * LANES + lane)
    #define OWN(c) (INDEX(c) < nefc)
    #define ROWS_OF(c, k) for (int k = 0, stop_ = wp::min(LANES, nefc - (c) * LANES); k < stop_; ++k)
    #define PRODUCT(y, t, all) float y; { \
        float part_[4] = {0.f, 0.f, 0.f, 0.f}; \
        UNROLL for (int j_ = 0; j_ < NV; ++j_) part_[j_ & 3] = MA((t)[j_], (all)[j_], part_[j_ & 3]); \
        y = (part_[0] + part_[1]) + (part_[2] + part_[3]); \
    }
    #define OWN_ROWS(q) UNROLL for (int q = 0; q < K; ++q)
    #define ROW_INDEX(q) (lane + (q) * LANES)
    #define ROWS(q, i) UNROLL for (int q = 0, i = lane; q < K; ++q, i += LANES) if (i < NV)
    #define READ_MATRIX(a, A) MATRIX(a); \
        UNROLL for (int j_ = 0; j_ < NV; ++j_) { \
            const float* row_ = wp::address(A, j_, 0, w); \
            OWN_ROWS(q_) ENTRY(a, q_, j_) = 0.f; \
            ROWS(q_, i_) ENTRY(a, q_, j_) = LOAD(row_ + i_); \
        }
    #define DOT(sum, q, i, term) float sum; { \
        float part_[4] = {0.f, 0.f, 0.f, 0.f}; \
        ROWS(q, i) part_[q & 3] += term; \
        sum = (part_[0] + part_[1]) + (part_[2] + part_[3]); \
    } SUM(sum)
"""

CHOLESKY = r"""
    // h = L D L^T in place (L below its diagonal of ones and, transposed, above; the diagonal keeps 1 / D_kk)
    UNROLL for (int k = 0; k < NV; ++k) {
        float column[K];
        OWN_ROWS(q) column[q] = ENTRY(h, q, k);
        const float inverse = 1.f / AT(column, k);
        UNROLL for (int j = k + 1; j < NV; ++j) {
            const float other = AT(column, j) * inverse;
            OWN_ROWS(q) {
                const float below = MA(-column[q], other, ENTRY(h, q, j));
                ENTRY(h, q, j) = ROW_INDEX(q) > k ? below : ROW_INDEX(q) == k ? other : ENTRY(h, q, j);
            }
        }
        OWN_ROWS(q) {
            const float scaled = ROW_INDEX(q) == k ? inverse : column[q] * inverse;
            ENTRY(h, q, k) = ROW_INDEX(q) >= k ? scaled : ENTRY(h, q, k);
        }
    }
"""

SOLVE = r"""
    // s = h^-1 s, with h = L D L^T from above
    UNROLL for (int k = 0; k < NV; ++k) {
        const float solved = AT(s, k);
        OWN_ROWS(q) s[q] = ROW_INDEX(q) > k ? MA(-ENTRY(h, q, k), solved, s[q]) : s[q];
    }
    UNROLL for (int k = 0; k < NV; ++k) OWN_ROWS(q) s[q] *= ROW_INDEX(q) == k ? ENTRY(h, q, k) : 1.f;
    UNROLL for (int k = NV - 1; k > 0; --k) {
        const float solved = AT(s, k);
        OWN_ROWS(q) s[q] = ROW_INDEX(q) < k ? MA(-ENTRY(h, q, k), solved, s[q]) : s[q];
    }
"""


def native(nv: int, body: str) -> str:
    """Source of a native function: `body` with the macros above, which all are forgotten after it, its own too.

    In it {CHOLESKY} stands for the factorization of h, and {SOLVE} for solving with the factors.
    """
    text = (PRELUDE + body).replace("{CHOLESKY}", CHOLESKY).replace("{SOLVE}", SOLVE)
    text = text.replace("{lanes}", str(lanes_for(nv))).replace("{nv}", str(nv))
    return text + "".join(f"    #undef {name}\n" for name in dict.fromkeys(re.findall(r"#define (\w+)", text)))
