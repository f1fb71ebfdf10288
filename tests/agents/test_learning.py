"""The command line trains a robot on the real simulator."""

import json
import time

import train


def test_the_inverted_pendulum_learns_to_balance_in_less_than_a_minute(tmp_path):
    begin = time.perf_counter()
    folder = tmp_path / "run"
    assert train.main(["--env", "inverted_pendulum", "--device", "cpu", "--run-dir", str(folder)]) == 0
    assert json.loads((folder / "summary.json").read_text())["mean_return"] >= 900
    assert time.perf_counter() - begin < 60
