import subprocess
import sys

import pytest

from acesim_rl.envs import canonical, tasks


def test_importing_stays_light():
    code = "import sys, acesim_rl; print([m for m in ('warp', 'torch', 'mujoco') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_names_are_forgiven():
    for stem in tasks():
        assert canonical(stem) == stem
    for name in ("Ant-v5", "acesim_rl/Ant-v5", "ANT", "ant.xml"):
        assert canonical(name) == "ant"
    for name in ("HalfCheetah-v5", "half-cheetah", "Half_Cheetah", "halfcheetah"):
        assert canonical(name) == "half_cheetah"
    assert canonical("walker2d_v5.xml") == canonical("Walker2d-v5") == "walker2d"
    assert canonical("InvertedDoublePendulum-v5") == "inverted_double_pendulum"


def test_unknown_names_list_the_known_ones():
    with pytest.raises(ValueError, match=r"no environment named 'hoper' \(did you mean 'hopper'\?\); known: ant, half"):
        canonical("hoper")
