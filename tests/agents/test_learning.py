"""The command line trains a robot on the real simulator."""

import json

import pytest
import torch

import train
from acesim_rl.agents import load_policy


def test_the_inverted_pendulum_learns_to_balance(tmp_path):
    folder = tmp_path / "run"
    assert train.main(["--env", "inverted_pendulum", "--device", "cpu", "--run-dir", str(folder)]) == 0
    assert json.loads((folder / "summary.json").read_text())["mean_return"] >= 900


@pytest.mark.parametrize("device", ["cpu", *(["cuda"] if torch.cuda.is_available() else [])])
def test_two_runs_of_an_ant_end_with_the_same_weights(tmp_path, device):
    def weights(name):
        folder = tmp_path / name
        options = ["--num-envs", "128", "--total-steps", "16384", "--horizon", "32", "--hidden", "32", "32"]
        assert train.main(["--env", "ant", "--device", device, "--run-dir", str(folder), *options]) == 0
        return load_policy(folder).state_dict()

    first, second = weights("first"), weights("second")
    assert all(torch.equal(first[name], second[name]) for name in first)
