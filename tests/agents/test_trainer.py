"""Whole runs: repeatable, resumable and interruptible to the bit, and worth it."""

import json
import signal

import torch
from cartpole import CartPoleBatch

from acesim_rl.agents.checkpoint import load_checkpoint


def assert_same_bits(one, other):
    """Everything in two checkpoints is equal, but for what the clock and the run's folder put there."""
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for name in one.keys() - {"seconds", "config"}:
            assert_same_bits(one[name], other[name])
    elif isinstance(one, list):
        assert len(one) == len(other)
        for left, right in zip(one, other, strict=True):
            assert_same_bits(left, right)
    else:
        assert torch.equal(one, other) if isinstance(one, torch.Tensor) else one == other


def test_two_runs_with_one_seed_end_with_the_same_bits_and_another_seed_does_not(trainer):
    runs = [trainer("a"), trainer("b"), trainer("c", seed=1)]
    for run in runs:
        assert run.run()
    assert_same_bits(runs[0].state_dict(), runs[1].state_dict())
    assert not torch.equal(runs[0].policy.log_std, runs[2].policy.log_std)


def test_a_resumed_run_ends_with_the_bits_of_an_uninterrupted_one(trainer):
    whole = trainer("whole")
    whole.run()
    first = trainer("first", total_steps=8 * 16 * 2)
    first.run()
    second = trainer("first", load_checkpoint(first.folder))
    assert second.steps == first.steps == 256
    second.run()
    assert_same_bits(whole.state_dict(), second.state_dict())


def test_ctrl_c_saves_at_the_end_of_the_update_and_the_run_can_go_on(trainer):
    class Interrupting(CartPoleBatch):
        calls = 0

        def step(self, action):
            Interrupting.calls += 1
            if Interrupting.calls == 40:  # in the third update
                signal.raise_signal(signal.SIGINT)
            return super().step(action)

    stopped = trainer("stopped", env_class=Interrupting)
    assert not stopped.run()
    assert stopped.updates == 3
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    resumed = trainer("stopped", load_checkpoint(stopped.folder))
    resumed.run()
    whole = trainer("whole")
    whole.run()
    assert_same_bits(whole.state_dict(), resumed.state_dict())


def test_a_run_leaves_its_results_and_learns(trainer):
    run = trainer(num_envs=16, total_steps=30_000)
    run.run()
    names = {path.name for path in run.folder.iterdir()}
    assert names == {"config.json", "checkpoint.pt", "summary.json", "curve.png", "tensorboard"}
    summary = json.loads((run.folder / "summary.json").read_text())
    assert summary["steps"] >= 30_000 and summary["num_envs"] == 16 and summary["scheduler"] == "serial"
    assert summary["env_steps_per_second"] == summary["steps"] / summary["wall_seconds"]
    assert summary["reward_survive"] == summary["mean_return"] > 100
    assert summary["warnings"] == {"bad_qpos": 0, "bad_qvel": 2}
    assert summary["scheduler_stats"] == {"operations": 1}
