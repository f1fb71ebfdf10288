"""The loss against a calculation by hand, and the update's parts."""

import math

import pytest
import torch

from acesim_rl.agents.config import PPOConfig
from acesim_rl.agents.policy import Policy
from acesim_rl.agents.ppo import METRICS, PPO, ppo_loss
from acesim_rl.agents.rollout import Rollout

CONFIG = PPOConfig(clip_range=0.2, value_coef=0.5, entropy_coef=0.01)


def loss(config=CONFIG, **changes):
    inputs = {
        "log_prob": torch.tensor([math.log(1.5), math.log(0.5), math.log(1.1)]),
        "value": torch.tensor([1.0, 2.0, 3.0]),
        "entropy": torch.tensor(2.0),
        "old_log_prob": torch.zeros(3),
        "old_value": torch.tensor([1.0, 1.0, 1.0]),
        "advantage": torch.tensor([1.0, -1.0, 2.0]),
        "target": torch.tensor([0.0, 2.0, 1.0]),
    }
    return ppo_loss(**(inputs | changes), config=config)


def test_loss_by_hand():
    total, metrics = loss()
    # ratios 1.5, 0.5, 1.1: the first two are cut to 1.2 and 0.8, where the objective would gain by going further
    policy_loss = -(1.2 * 1 + 0.8 * -1 + 1.1 * 2) / 3
    value_loss = 0.5 * (1**2 + 0**2 + 2**2) / 3
    kl = (0.5 - math.log(1.5) - 0.5 - math.log(0.5) + 0.1 - math.log(1.1)) / 3
    expected = dict(zip(METRICS, [policy_loss, value_loss, 2.0, kl, 2 / 3], strict=True))
    assert dict(zip(METRICS, metrics.tolist(), strict=True)) == pytest.approx(expected, rel=1e-5)
    assert total.item() == pytest.approx(policy_loss + 0.5 * value_loss - 0.01 * 2.0, rel=1e-6)


def test_clipped_ratios_have_no_gradient():
    log_prob = torch.tensor([math.log(1.5), math.log(1.1)], requires_grad=True)
    total, _ = loss(
        log_prob=log_prob,
        **{n: torch.ones(2) for n in ("value", "old_value", "advantage", "target")},
        old_log_prob=torch.zeros(2),
    )
    total.backward()
    assert log_prob.grad.tolist() == pytest.approx([0.0, -1.1 / 2])


def test_value_clipping_keeps_the_larger_error():
    config = PPOConfig(value_clip=0.5)
    # near the old value 1: 1, 1.5, 1.5; the errors to 0, 2, 1 are 1, 0.5, 0.5 against 1, 0, 2 unclipped
    assert loss(config)[1][METRICS.index("value_loss")].item() == pytest.approx(0.5 * (1 + 0.25 + 4) / 3)


def make_ppo(device="cpu", **options) -> tuple[PPO, Rollout]:
    torch.manual_seed(0)
    config = PPOConfig(horizon=8, hidden=(16,), **options)
    generator = torch.Generator(device).manual_seed(0)
    policy = Policy(3, -torch.ones(2), torch.ones(2), config).to(device)
    rollout = Rollout(8, 6, 3, 2, torch.device(device))
    rollout.obs.copy_(torch.randn(8, 6, 3))
    rollout.final_obs.copy_(torch.randn(8, 6, 3))
    rollout.actions.copy_(torch.randn(8, 6, 2) * 0.4)
    rollout.rewards.copy_(-rollout.actions.square().sum(-1))
    return PPO(policy, config, 48, generator), rollout


def test_adaptive_learning_rate_follows_the_divergence():
    ppo, _ = make_ppo(learning_rate=1e-3, target_kl=0.01)
    for kl, expected in [(0.001, 1.5e-3), (0.01, 1.5e-3), (0.05, 1e-3)]:
        ppo._adapt_learning_rate(torch.tensor(kl))
        assert ppo.learning_rate.item() == pytest.approx(expected)


def test_linear_learning_rate_falls_with_progress():
    ppo, rollout = make_ppo(schedule="linear", learning_rate=1e-3)
    ppo.update(rollout, progress=0.75)
    assert ppo.learning_rate.item() == pytest.approx(2.5e-4)


def test_updates_move_the_mean_towards_rewarded_actions():
    ppo, rollout = make_ppo(schedule="constant", learning_rate=1e-2, gamma=0.0)
    rollout.rewards.copy_(-(rollout.actions - 0.3).square().sum(-1))
    before = ppo.policy.actor(ppo.policy.normalize(rollout.obs)).mean()
    for _ in range(5):
        ppo.update(rollout)
    assert ppo.policy.actor(ppo.policy.normalize(rollout.obs)).mean() > before + 0.05


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
def test_captured_update_gives_the_bits_of_the_eager_one():
    captured, rollout = make_ppo("cuda")
    eager, _ = make_ppo("cuda")
    eager._step = eager._gradient_step
    for ppo in (captured, eager):
        for _ in range(3):
            ppo.update(rollout)
    for one, other in zip(captured.policy.parameters(), eager.policy.parameters(), strict=True):
        assert torch.equal(one, other)
