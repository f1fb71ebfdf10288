"""train.py and play.py: what they accept, and one clear line for what they do not."""

import json
import signal
from pathlib import Path

import pytest
from cartpole import CartPoleBatch

import play
import train
from acesim_rl import envs
from acesim_rl.agents.checkpoint import FILE, load_checkpoint, save_checkpoint
from acesim_rl.simulation import StrictError

SHORT = ["--env", "Inverted-Pendulum", "--num-envs", "8", "--total-steps", "600", "--horizon", "16"]


@pytest.fixture(autouse=True)
def _cartpoles(cartpoles, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_train_resume_and_play(capsys):
    assert train.main(SHORT) == 0
    assert "return" in (output := capsys.readouterr().out) and "scheduler serial: 1 operation" in output
    assert "left  warnings: 2 bad_qvel\n" in output and "the engine's warnings: 2 bad_qvel\n" in output
    assert train.main(["--resume", "runs/inverted_pendulum", "--total-steps", "1000"]) == 0
    with open("runs/inverted_pendulum/summary.json") as file:
        assert json.load(file)["steps"] == 1024
    assert train.main(["--env", "inverted_pendulum", "--resume", "runs/inverted_pendulum"]) == 0  # nothing left to do
    capsys.readouterr()
    assert play.main(["--run-dir", "runs/inverted_pendulum", "--episodes", "3"]) == 0
    assert "(3 episodes)\nthe engine's warnings: 2 bad_qvel\n" in capsys.readouterr().out


def test_a_strict_run_stops_at_a_warning(capsys, monkeypatch):
    def step(env, action):
        assert env.strict
        raise StrictError("hopper, world 3: bad_qacc: an acceleration was not finite")

    monkeypatch.setattr(CartPoleBatch, "step", step)
    assert train.main([*SHORT, "--strict"]) == 1
    assert_one_line(capsys, "stopped in update 1 (--strict): hopper, world 3: bad_qacc")


def test_a_run_that_diverges_stops_and_what_is_not_finite_is_not_played(capsys):
    assert train.main([*SHORT, "--run-dir", "mine", "--save-every", "1"]) == 0
    saved = load_checkpoint("mine")
    options = ["--learning-rate", "1e30", "--schedule", "constant", "--run-dir", "diverged"]
    assert train.main([*SHORT, *options]) == 1
    assert_one_line(capsys, "training diverged in update 1: ")
    assert not (Path("diverged") / FILE).exists()
    saved["policy"]["actor.0.weight"][0, 0] = float("nan")
    save_checkpoint(Path("mine"), saved)
    assert play.main(["--run-dir", "mine"]) == 2
    assert_one_line(capsys, "the checkpoint's weights are not finite")
    assert train.main(["--resume", "mine", "--total-steps", "1000"]) == 1
    assert load_checkpoint("mine")["steps"] == saved["steps"]


def test_every_hyperparameter_is_an_option_with_a_help_text(capsys):
    with pytest.raises(SystemExit) as stop:
        train.main(["--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert all(option in text for option in ("--clip-range", "--gae-lambda", "--hidden", "--scheduler", "--resume"))
    assert "Discount factor" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--spped", "3"], "--spped"),
        (["--num-envs", "many"], "many"),
        (["--num-envs", "0"], "--num-envs 0: expected a positive number"),
        (["--gamma", "1.5"], "--gamma 1.5: expected a number from 0 to 1"),
        (["--learning-rate", "nan"], "expected a positive number"),
        (["--minibatches", "9999999"], "an update has only"),
        (["--scheduler", "magic"], "magic"),
        (["--env", "antelope"], "known: ant, inverted_pendulum"),
        (["--env"], "--env"),
        (["--resume", "nowhere"], "nowhere: no checkpoint.pt there"),
        (["--run-dir", "/dev/null/run"], "/dev/null/run: cannot write there"),
    ],
)
def test_train_names_each_mistake_in_one_line(options, message, capsys):
    assert train.main([*SHORT, *options]) == 2
    assert_one_line(capsys, message)


def test_train_says_that_there_is_no_gpu(capsys, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert train.main([*SHORT, "--device", "cuda"]) == 2
    assert_one_line(capsys, "--device cuda: torch finds no CUDA GPU here")


def test_train_says_what_is_wrong_with_an_mjcf_file(capsys, monkeypatch):
    def refuse(*arguments, xml_file, **options):
        raise ValueError(f"{xml_file}:\n  XML Error: unrecognized element 'jiont'")

    monkeypatch.setitem(vars(envs), "BatchEnv", refuse)
    assert train.main([*SHORT, "--xml-file", "bad.xml"]) == 2
    assert_one_line(capsys, "bad.xml: XML Error: unrecognized element 'jiont'")


def test_train_refuses_a_model_without_actuators(capsys, monkeypatch):
    monkeypatch.setattr(CartPoleBatch, "num_actions", 0)
    assert train.main(SHORT) == 2
    assert_one_line(capsys, "the model has no actuators")
    assert not Path("runs").exists()


def test_no_memory_is_not_called_another_version(monkeypatch):
    def exhausted(*arguments):
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    assert train.main(SHORT) == 0
    monkeypatch.setattr("acesim_rl.agents.trainer.Rollout", exhausted)
    with pytest.raises(RuntimeError, match="can't allocate memory"):
        train.main(["--resume", "runs/inverted_pendulum", "--total-steps", "1000"])


def test_train_keeps_a_finished_run_and_refuses_to_resume_it_as_another(capsys):
    assert train.main([*SHORT, "--run-dir", "mine"]) == 0
    capsys.readouterr()
    assert train.main([*SHORT, "--run-dir", "mine"]) == 2
    assert_one_line(capsys, "continue it with --resume mine")
    assert train.main(["--env", "ant", "--resume", "mine"]) == 2
    assert_one_line(capsys, "that run has env inverted_pendulum, not ant")
    assert train.main(["--gamma", "0.5", "--resume", "mine"]) == 2
    assert_one_line(capsys, "that run has gamma 0.99, not 0.5")
    state = load_checkpoint("mine")
    for part, wrong in (("env", {}), ("config", state["config"] | {"colour": "red"})):
        save_checkpoint(Path("mine"), state | {part: wrong})
        assert train.main(["--resume", "mine", "--total-steps", "1000"]) == 2
        message = {"env": "the checkpoint is of another version", "config": "does not know: colour"}[part]
        assert_one_line(capsys, message)


def test_ctrl_c_exits_cleanly(capsys, monkeypatch):

    def once(self, action, step=CartPoleBatch.step):
        if not hasattr(self, "interrupted"):
            self.interrupted = True
            signal.raise_signal(signal.SIGINT)
        return step(self, action)

    monkeypatch.setattr(CartPoleBatch, "step", once)
    assert train.main(SHORT) == 130
    assert_one_line(capsys, "interrupted at step 128; saved, continue with --resume runs/inverted_pendulum")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--run-dir"),
        (["--run-dir", "nowhere"], "no checkpoint.pt there"),
        (["--run-dir", "nowhere", "--episodes", "0"], "--episodes 0: expected a positive number"),
    ],
)
def test_play_names_each_mistake_in_one_line(options, message, capsys):
    assert play.main(options) == 2
    assert_one_line(capsys, message)


def assert_one_line(capsys, message):
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and message in error
