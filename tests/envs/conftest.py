"""Environments that the tests share: each is made once, kernels are compiled once."""

from functools import cache

import pytest
import torch

from acesim_rl.envs import BatchEnv

torch.set_num_threads(1)


@pytest.fixture(scope="session")
def batch():
    """``batch(task, num_envs, **options)``: a BatchEnv on the CPU, the same one for the same arguments."""

    @cache
    def make(task: str, num_envs: int, **options) -> BatchEnv:
        return BatchEnv(task, num_envs, device="cpu", **options)

    return make
