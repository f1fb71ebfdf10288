"""The benchmark commands run, in small; what they measure is no test's business."""

import json

import pytest

import bins
import schedulers
import soak


def test_schedulers(tmp_path):
    path, plot = tmp_path / "rows.json", tmp_path / "rows.png"
    options = schedulers.Options("hopper,swimmer", "64", "cpu", steps=2, repeats=1, json=path, plot=plot)
    schedulers.main(options)
    assert [row["scheduler"] for row in json.loads(path.read_text())] == ["serial", "ace-sw", "ace"]
    assert plot.stat().st_size > 1000


def test_bins(tmp_path, capsys):
    bins.main(bins.Options("hopper", "8", "cpu", steps=2, repeats=1, json=tmp_path / "rows.json"))
    assert "times_as_fast" in capsys.readouterr().out


def test_soak(tmp_path):
    log = tmp_path / "soak.log"
    soak.main(soak.Options("hopper", "6_400", num_envs=32, device="cpu", every=0.0, log=log))
    assert "hopper: done, nothing found" in log.read_text()


@pytest.mark.parametrize(
    ("env", "steps", "message"),
    [
        ("hopper,ant", "100", "--steps 100: expected a positive number for each of 2 robots"),
        ("hopper", "0", "--steps 0: expected a positive number"),
        ("hopper", "many", "invalid literal"),
        ("hoper", "100", "did you mean 'hopper'"),
    ],
)
def test_soak_refuses_a_mistake_at_once(env, steps, message):
    with pytest.raises(SystemExit, match=message):
        soak.main(soak.Options(env, steps, num_envs=32, device="cpu"))


def test_soak_finds_what_is_not_finite(monkeypatch, tmp_path):
    step = soak.BatchEnv.step

    def broken(env, action):
        result = step(env, action)
        env.reward[3] = float("nan")
        return result

    monkeypatch.setattr(soak.BatchEnv, "step", broken)
    with pytest.raises(SystemExit):
        soak.main(soak.Options("hopper", "6_400", num_envs=32, device="cpu", log=tmp_path / "soak.log"))
    assert "FOUND a number that is not finite" in (tmp_path / "soak.log").read_text()
