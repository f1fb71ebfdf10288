"""Stable-Baselines3's PPO on our environments as they are."""

import gymnasium
import numpy as np
import pytest

sb3 = pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is optional: pip install stable-baselines3")


@pytest.mark.parametrize("name", ["Hopper-v5", "Reacher-v5", "Grasp-v0"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_ppo_trains(name):
    env = gymnasium.make(f"acesim_rl/{name}")
    model = sb3.PPO("MlpPolicy", env, n_steps=128, batch_size=64, n_epochs=2, seed=0, device="cpu")
    before = model.policy.mlp_extractor.policy_net[0].weight.detach().clone()
    model.learn(384)
    assert model.num_timesteps == 384
    assert (model.policy.mlp_extractor.policy_net[0].weight != before).any()
    assert np.isfinite([episode["r"] for episode in model.ep_info_buffer]).all() and model.ep_info_buffer
    action, _ = model.predict(env.reset(seed=0)[0], deterministic=True)
    assert env.action_space.contains(action)
