"""The order in which PGS visits constraint rows: random, but the same in every solve."""

import numpy as np

__all__ = ["visiting_orders"]


def visiting_orders(most: int, iterations: int) -> np.ndarray:
    """Orders for every number of rows below or at `most`, as MuJoCo's.

    Each iteration shuffles the order of the last one (Fisher and Yates, from the end), with a PCG32 generator that
    starts from state 1, increment 1, in each solve. So an order depends on nothing but the number of rows and of the
    iteration.

    Returns:
        Rows, int32 [iterations * most * (most + 1) / 2]: for n rows from `iterations * n * (n - 1) / 2` on, n for each
        iteration.
    """
    sizes = np.arange(most + 1)
    order = np.tile(sizes, (most + 1, 1))  # row n: that of n rows
    random = np.ones(most + 1, np.uint64)
    visits = np.zeros((most + 1, iterations, most), np.int32)
    for iteration in range(iterations):
        for i in range(most - 1, 0, -1):  # all sizes at once, those that have a row i
            n = sizes[i + 1 :]
            state = random[n]
            bits = (((state >> np.uint64(18)) ^ state) >> np.uint64(27)).astype(np.uint32)
            turn = (state >> np.uint64(59)).astype(np.uint32)
            random[n] = state * np.uint64(6364136223846793005) + np.uint64(1)
            turned = (bits >> turn) | (bits << ((np.uint32(32) - turn) & np.uint32(31)))
            j = (turned % np.uint32(i + 1)).astype(int)
            order[n, i], order[n, j] = order[n, j], order[n, i]
        visits[:, iteration] = order[:, :most]
    return np.concatenate([visits[n, :, :n].ravel() for n in sizes])
