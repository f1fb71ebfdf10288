"""Small dense linear algebra, shared out over the lanes of a world; source text for native functions.

On the GPU `LANES` neighbouring threads serve one world. Lane l keeps the entries l, l + LANES, ... of a vector and
those rows of a matrix in its registers, and gets the others' by shuffles. On the CPU there is one lane, which keeps
everything, and the same text compiles to plain loops.

    ROWS(q, i)      loop over the lane's own entries: q their local number, i their index
    AT(v, k)        entry k of a shared-out vector
    SUM(x)          x summed over the lanes, in a fixed order
"""

__all__ = ["CHOLESKY_SOLVE", "PRELUDE", "epilogue", "lanes_for", "prelude"]

PRELUDE = r"""
#if defined(__CUDA_ARCH__)
    const int LANES = {lanes};
    const unsigned mask = LANES == 32 ? 0xffffffffu : ((1u << (LANES & 31)) - 1u) << (threadIdx.x & 31 & ~(LANES - 1));
    #define UNROLL _Pragma("unroll")
    #define AT(v, k) __shfl_sync(mask, (v)[(k) / LANES], (k) % LANES, LANES)
    #define LANE_VALUE(x, k) __shfl_sync(mask, (x), (k), LANES)
    #define SUM(x) UNROLL for (int o_ = LANES / 2; o_ > 0; o_ >>= 1) x += __shfl_xor_sync(mask, x, o_, LANES);
    #define ANY(x) (__ballot_sync(mask, (x)) & mask)
#else
    const int LANES = 1;
    #define UNROLL
    #define AT(v, k) (v)[k]
    #define LANE_VALUE(x, k) (x)
    #define SUM(x)
    #define ANY(x) (x)
#endif
    const int NV = {nv};
    const int K = (NV + LANES - 1) / LANES;
    #define ROWS(q, i) UNROLL for (int q = 0, i = lane; q < K; ++q, i += LANES) if (i < NV)
"""

CHOLESKY_SOLVE = r"""
    // h = L L^T in place (the lower triangle; the diagonal keeps 1 / L_kk), then s = h^-1 s
    UNROLL for (int k = 0; k < NV; ++k) {
        float column[K];
        UNROLL for (int q = 0; q < K; ++q) column[q] = h[q][k];
        const float inverse = 1.f / wp::sqrt(AT(column, k));
        ROWS(q, i) { column[q] = (i == k) ? inverse : column[q] * inverse; h[q][k] = column[q]; }
        UNROLL for (int j = k + 1; j < NV; ++j) {
            const float other = AT(column, j);
            ROWS(q, i) if (i >= j) h[q][j] -= column[q] * other;
        }
    }
    UNROLL for (int k = 0; k < NV; ++k) {
        ROWS(q, i) if (i == k) s[q] *= h[q][k];
        const float solved = AT(s, k);
        ROWS(q, i) if (i > k) s[q] -= h[q][k] * solved;
    }
    UNROLL for (int k = NV - 1; k >= 0; --k) {
        float below = 0.f;
        ROWS(q, i) if (i > k) below += h[q][k] * s[q];
        SUM(below)
        ROWS(q, i) if (i == k) s[q] = (s[q] - below) * h[q][k];
    }
"""

_EPILOGUE = "UNROLL AT LANE_VALUE SUM ANY ROWS"


def lanes_for(nv: int) -> int:
    """GPU threads that share one world."""
    return 8 if nv <= 8 else 16 if nv <= 16 else 32


def prelude(nv: int) -> str:
    """Macros and sizes."""
    return PRELUDE.replace("{lanes}", str(lanes_for(nv))).replace("{nv}", str(nv))


def epilogue(*macros: str) -> str:
    """Forget the macros, also the caller's own."""
    return "".join(f"\n    #undef {name}" for name in (*_EPILOGUE.split(), *macros)) + "\n"
