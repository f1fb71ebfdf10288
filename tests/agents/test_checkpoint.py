"""Checkpoints are whole or absent, and loading one runs no code."""

import os

import pytest
import torch

from acesim_rl.agents import load_policy
from acesim_rl.agents.checkpoint import FILE, load_checkpoint, save_checkpoint
from acesim_rl.agents.config import UsageError


def test_a_failed_write_leaves_the_old_checkpoint(tmp_path):
    state = {"policy": {}, "config": {}, "steps": 1}
    save_checkpoint(tmp_path, state)
    with pytest.raises(Exception, match="pickle"):
        save_checkpoint(tmp_path, state | {"unsaveable": lambda: None})
    assert load_checkpoint(tmp_path) == state
    assert os.listdir(tmp_path) == [FILE]


def test_code_in_a_checkpoint_is_refused(tmp_path):
    class Trap:
        def __reduce__(self):
            return (os.mkdir, (str(tmp_path / "sprung"),))

    torch.save({"policy": Trap()}, tmp_path / FILE)
    with pytest.raises(UsageError, match="not a readable checkpoint"):
        load_checkpoint(tmp_path)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("content", [None, b"", b"not a checkpoint"])
def test_a_missing_or_broken_checkpoint_is_named(tmp_path, content):
    if content is not None:
        (tmp_path / FILE).write_bytes(content)
    with pytest.raises(UsageError, match=str(tmp_path)):
        load_checkpoint(tmp_path)


def test_a_policy_loads_in_one_line_and_acts_as_the_trained_one(trainer):
    run = trainer(total_steps=200)
    run.run()
    obs = torch.randn(5, 4)
    assert torch.equal(load_policy(run.folder)(obs), run.policy(obs))
