"""What the engine's tests share."""

import pytest
import warp as wp

wp.config.quiet = True

DEVICES = ["cpu", *(["cuda"] if wp.is_cuda_available() else [])]


@pytest.fixture(params=DEVICES)
def any_device(request) -> str:
    return request.param
