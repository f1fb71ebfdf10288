"""Each feature of MuJoCo, one small model, step by step along a trajectory of MuJoCo's own; and what is refused."""

import re
from pathlib import Path

import pytest

from acesim_rl import Model, Simulation
from acesim_rl.mjcf import UnsupportedError
from feature_models import SIMULATED
from features import FEATURES, mujoco_fields, our_fields, trajectory, worst_error
from refused_models import REFUSED

PAGE = Path(__file__).parents[2] / "docs" / "features.md"


def names(features) -> list[str]:
    return [f"{feature.chapter}: {feature.name}" for feature in features]


@pytest.mark.parametrize("feature", SIMULATED, ids=names(SIMULATED))
def test_simulated(feature):
    model = Model.from_mjcf(feature.xml)
    states = trajectory(model.mj, feature.spread, feature.speed)
    exact, ours = mujoco_fields(model.mj, states), our_fields(model, states)
    wrong = (ours["counts"] != exact["counts"]).any(axis=1)
    assert not wrong.any(), f"other contacts or rows in state {wrong.argmax()} and {wrong.sum()} in all"
    error = worst_error(feature, ours, exact)
    assert error <= feature.tolerance, f"relative error {error:.1e}, allowed {feature.tolerance:.0e}"


@pytest.mark.parametrize("feature", REFUSED, ids=names(REFUSED))
def test_refused(feature, tmp_path):
    """Naming the file and the element."""
    file = tmp_path / "robot.xml"
    file.write_text(feature.xml)
    with pytest.raises(UnsupportedError, match=re.escape(f"robot.xml: {feature.refused}")) as error:
        Simulation(file, 1, device="cpu", sensors=True)
    assert "is not supported; supported: " in str(error.value) or "give a body a joint" in str(error.value)


def test_page():
    """docs/features.md has all features and no others; its figures are those of the last time it was written."""
    assert len(set(names(FEATURES))) == len(FEATURES)
    found, chapter = [], ""
    for line in PAGE.read_text().splitlines():
        chapter = line.removeprefix("## ") if line.startswith("## ") else chapter
        if line.startswith("| ") and not line.startswith(("| feature ", "| --- ")):
            found.append(f"{chapter}: {line.split(' | ')[0].removeprefix('| ')}")
    order = list(dict.fromkeys(feature.chapter for feature in FEATURES))
    assert found == names(sorted(FEATURES, key=lambda feature: order.index(feature.chapter))), (
        "run python benchmarks/features.py"
    )
