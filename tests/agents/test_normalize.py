"""Running moments against the moments of all data at once."""

import torch

from acesim_rl.agents.normalize import RunningMoments


def test_moments_of_batches_are_those_of_all_data():
    torch.manual_seed(0)
    data = torch.randn(300, 7, 3) * torch.tensor([0.1, 1.0, 50.0]) + torch.tensor([5.0, 0.0, -20.0])
    moments = RunningMoments((3,))
    for batch in data.split([100, 50, 150]):
        moments.update(batch)
    flat = data.flatten(0, 1)
    torch.testing.assert_close(moments.mean, flat.mean(0))
    torch.testing.assert_close(moments.var, flat.var(0, correction=0))
    assert moments.count == 2100


def test_normalize_cuts_and_denormalize_is_its_inverse():
    moments = RunningMoments((), limit=2.0)
    moments.update(torch.tensor([3.0, 5.0]))
    assert moments.normalize(torch.tensor(100.0)) == 2.0
    torch.testing.assert_close(moments.denormalize(moments.normalize(torch.tensor(4.5))), torch.tensor(4.5))


def test_disabled_moments_stay_at_zero_and_one():
    moments = RunningMoments((), enabled=False)
    moments.update(torch.tensor([3.0, 5.0]))
    assert (moments.mean, moments.var, moments.count) == (0, 1, 0)
