"""What the engine does not simulate, and what is wrong, is said in one clear line."""

import re
from pathlib import Path

import gymnasium
import mujoco
import numpy as np
import pytest

from acesim_rl import Model, Scene, Simulation
from acesim_rl.mjcf import UnsupportedError
from refused_models import REFUSED, leg

ASSETS = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"


def test_what_a_refusal_names():
    """All refusals: test_feature_models.py."""
    models = {feature.name: feature.xml for feature in REFUSED}
    for model, words in (
        (models["ellipsoid"], "type 'ellipsoid' that can collide.*plane, sphere, capsule, cylinder, box"),
        (models["capsule-ellipsoid, pair"], "types 'capsule' and 'ellipsoid' is not supported.*capsule-box"),
        (leg(motor="<adhesion body='leg' ctrlrange='0 1'/>"), "actuator '0': trntype 'body'.*joint, .*tendon, site"),
        (leg(option="noslip_iterations='2'"), "XML string: option: noslip_iterations 2 is not supported; supported: "),
        (leg(flag="autoreset='disable'"), "flag autoreset='disable'.*'disable' of constraint, limit, contact"),
    ):
        with pytest.raises(UnsupportedError, match=words):
            Model.from_mjcf(model)
    with pytest.raises(UnsupportedError, match="my robot: option: noslip_iterations 3"):
        Model.from_mujoco(mujoco.MjModel.from_xml_string(leg(option="noslip_iterations='3'")), name="my robot")


HARMLESS = [
    leg(extra="<keyframe><key qpos='1'/></keyframe><sensor><jointpos joint='hip'/><touch site='tip'/></sensor>"),
    leg(extra="<custom><numeric name='a' data='1'/><text name='b' data='c'/></custom>"),
    leg(world="<camera/><light pos='0 0 3'/><geom type='box' size='.1 .1 .1' contype='0' conaffinity='0'/>"),
    leg(option="magnetic='1 2 3' actuatorgroupdisable='1'", motor="<motor joint='hip' group='2'/>"),
    leg(option="o_margin='1' o_solref='.1 1'"),  # only with flag override
    leg(geom="fluidshape='ellipsoid'"),  # only in a fluid
    leg(motor="", body="sleep='allowed'"),  # only with flag sleep
]


@pytest.mark.parametrize("model", HARMLESS)
def test_harmless(model):
    assert Model.from_mjcf(model).nv == 1


def test_gymnasiums_files():
    for file in ASSETS.glob("*.xml"):
        assert Model.from_mjcf(file).nv > 0


def test_files_and_xml(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such MJCF file"):
        Model.from_mjcf(tmp_path / "robot.xml")
    with pytest.raises(FileNotFoundError, match=r"robot\.xml: no such MJCF file"):
        Simulation(tmp_path / "robot.xml")
    with pytest.raises(ValueError, match=r"no robot named 'spot'; known: ant, .*, or give the path of an MJCF file"):
        Model.from_mjcf("spot")
    assert Model.from_mjcf("hopper").nq == Model.from_mjcf("Hopper-v5").nq == 6
    for text in ("<mujoco><worldbody>", "<mujoco><worldbody><geom siz='1'/></worldbody></mujoco>", "no xml"):
        file = tmp_path / "bad.xml"
        file.write_text(text)
        with pytest.raises(ValueError, match=r"bad\.xml: not a valid MJCF model: ") as error:
            Model.from_mjcf(file)
        assert "\n" not in str(error.value)


def test_scenes():
    with pytest.raises(ValueError, match=r"no robot named 'spot'; known: ant, half_cheetah, .*path of an MJCF file"):
        Scene([("spot", 4)])
    for count in (0, -3, 2.5):
        with pytest.raises(ValueError, match=f"ant: a group needs a whole number of worlds, at least 1, got {count}"):
            Scene([("ant", count)])
    with pytest.raises(ValueError, match="nworld is 4, but a Scene says itself how many worlds it has"):
        Simulation(Scene([("ant", 2)]), 4, device="cpu")
    with pytest.raises(ValueError, match="at least one group"):
        Scene([])
    with pytest.raises(ValueError, match="unknown scheduler 'best'"):
        Simulation(leg(), scheduler="best", device="cpu")
    with pytest.raises(ValueError, match="known: ace, serial, graph, ace-sw"):
        Simulation(leg(), scheduler="fast", device="cpu")
    with pytest.raises(ValueError, match="n is -1; expected a number of time steps"):
        Simulation(leg(), device="cpu").step(-1)
    with pytest.raises(ValueError, match="window is 0; expected a whole number, at least 1"):
        Simulation(leg(), scheduler="ace-sw", device="cpu", window=0)


def test_per_world_fields():
    with pytest.raises(ValueError, match=r"'geom_colour' is not a numeric field; there are: .*geom_friction"):
        Model.from_mjcf(leg(), per_world=["geom_colour"])
    for structure in ("geom_condim", "jnt_type", "nq"):
        with pytest.raises(ValueError, match=f"'{structure}' is not a numeric field"):
            Model.from_mjcf(leg(), per_world=[structure])
    group = Simulation(Model.from_mjcf(leg(), per_world=["body_mass"]), 3, device="cpu").groups[0]
    with pytest.raises(
        ValueError, match=r"'gravity' is shared by all worlds; .*per_world.*\(per world now: body_mass, "
    ):
        group.parameters.set("gravity", (0.0, 0.0, -1.0))
    with pytest.raises(ValueError, match=r"'body_mass': expected values that broadcast to \(3, 2\) .*, got \(3, 5\)"):
        group.parameters.set("body_mass", np.ones((3, 5)))
    with pytest.raises(ValueError, match=r"'mass' is not a numeric field; there are: .*body_mass"):
        group.parameters.set("mass", 1.0)


def test_state():
    state = Simulation(leg(), 3, device="cpu").groups[0].state
    with pytest.raises(KeyError, match="no state field 'pos'; there are: qpos, qvel"):
        state.get("pos")
    for values, worlds, shape in ((np.zeros((2, 1)), None, (3, 1)), (np.zeros(4), None, (3, 1)), ([1, 2], [0], (1, 1))):
        words = f"'qpos': expected values that broadcast to {shape} [worlds, items...], got {np.shape(values)}"
        with pytest.raises(ValueError, match=re.escape(words)):
            state.set("qpos", values, worlds)
    for worlds in ([3], -1, [True, False], [0.5]):
        with pytest.raises(ValueError, match="worlds are numbered 0 to 2, got"):
            state.set("qpos", 0.0, worlds)
        with pytest.raises(ValueError, match="worlds are numbered 0 to 2, got"):
            state.reset(worlds)
