"""PPO over batches of worlds: policies, rollouts, the training loop and its checkpoints.

from acesim_rl.agents import load_policy
policy = load_policy("runs/ant")
action = policy(observation)
"""

from acesim_rl.agents.checkpoint import load_policy

__all__ = ["load_policy"]
