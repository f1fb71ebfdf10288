import pytest
from schedules import DEVICES


@pytest.fixture(params=DEVICES)
def any_device(request):
    return request.param
