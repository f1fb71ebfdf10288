"""Random models against MuJoCo: combinations of features that nobody thought of."""

import pytest
from compare import assert_matches
from random_models import random_model


@pytest.mark.parametrize("nv", [1, 2, 3, 6, 9, 14])
def test_random_models(nv):
    touching = 0  # the bound of 5e-4 is that of opposing forces a thousand times their sum
    for seed in range(10):
        theirs = assert_matches(
            random_model(100 * nv + seed, nv), runs=4, steps=3, spread=0.2, seed=seed, smooth=1e-5, constrained=5e-4
        )
        touching += theirs.counts[:, 0].any()
    assert touching >= 3
