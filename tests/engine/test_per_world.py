"""Numeric fields with a value for each world: the physics is that of MuJoCo models with those values."""

import mujoco
import numpy as np
import pytest
from compare import SMOOTH, errors, reference, simulate

from acesim_rl import Model, Simulation
from acesim_rl.model_data import DERIVED, NUMERIC_FIELDS
from acesim_rl.parameters import Parameters

FIELDS = tuple(name for name in NUMERIC_FIELDS if name not in DERIVED)
RARE = (
    "jnt_stiffnesspoly", "dof_dampingpoly", "dof_frictionloss", "dof_solref", "dof_solimp", "tendon_frictionloss",
    "tendon_solref_fri", "tendon_solimp_fri", "eq_data", "eq_solref", "eq_solimp",
    *(name for name in FIELDS if name.startswith("pair_")),
)  # fmt: skip
"""With these, other stages and another solver take over."""
COMMON = tuple(name for name in FIELDS if name not in RARE)


def robot(other: bool, rare: bool = False) -> mujoco.MjModel:
    """One of two models that differ in every numeric field: a body on slides and a ball joint, with an arm."""

    def a(one, two):
        return two if other else one

    higher = a(" .02 .03", " .03 .02") if rare else ""
    loss, constraints = "", ""
    if rare:
        solref, solimp = a("='.02 1'", "='.03 .9'"), a("='.9 .95 .001 .5 2'", "='.8 .9 .002 .4 1'")
        loss = f"frictionloss='{a(0.01, 0.02)}' solreffriction{solref} solimpfriction{solimp}"
        friction = a("1 1 .1 .1 .1", ".5 .6 .2 .2 .2")
        constraints = (
            f"<equality><tendon tendon1='t' polycoef='{a(0.1, 0.2)}' solref{solref} solimp{solimp}/></equality>"
            f"<contact><pair geom1='floor' geom2='arm' margin='{a(0, 0.01)}' gap='{a(0, 0.01)}' solref{solref}"
            f" solimp{solimp} friction='{friction}'/></contact>"
        )

    return mujoco.MjModel.from_xml_string(f"""<mujoco>
    <option timestep='{a(0.002, 0.003)}' gravity='{a("0 0 -9.81", "1 2 -5")}'
      density='{a(10, 20)}' viscosity='{a(0.1, 0.2)}' wind='{a("0 0 0", "1 2 3")}' magnetic='{a("0 0 1", "1 2 3")}'/>
    <default><joint {loss} damping='{a(0.1, 0.3)}{higher}' armature='{a(0.01, 0.02)}'/></default>
    <worldbody>
    <geom name='floor' type='plane' size='5 5 .1' friction='{a(1, 0.5)}'
      solref='{a(".02 1", ".03 .8")}' solmix='{a(1, 2)}'
      solimp='{a(".9 .95 .001 .5 2", ".8 .9 .002 .4 1")}' margin='{a(0, 0.01)}' gap='{a(0, 0.01)}'
      pos='{a("0 0 0", "0 0 .01")}' quat='{a("1 0 0 0", ".99 .1 0 0")}'/>
    <body pos='{a("0 0 .1", ".1 0 .12")}' gravcomp='{a(0.1, 0.2)}'>
      <joint type='slide' axis='1 0 0'/><joint type='slide'/><joint type='ball' pos='{a("0 0 0", "0 0 .02")}'/>
      <inertial pos='{a("0 0 0", ".02 .01 -.03")}' quat='{a("1 0 0 0", ".9 .2 .1 .3")}' mass='{a(1, 1.5)}'
        diaginertia='{a(".01 .01 .01", ".012 .013 .014")}'/>
      <geom size='{a(0.1, 0.12)}' pos='{a("0 0 0", ".01 .02 .03")}'/>
      <body pos='{a(".2 0 0", ".25 .02 .01")}' quat='{a("1 0 0 0", ".9 .1 .2 .3")}'>
        <joint name='j' axis='{a("0 1 0", ".2 .9 .1")}' pos='{a("0 0 0", ".02 .01 .03")}' range='{a("-6 6", "-3 8")}'
          margin='{a(0.01, 0.02)}' stiffness='{a(1, 2)}{higher}' ref='{a(0, 5)}' springref='{a(0, 3)}'
          actuatorfrcrange='{a("-3 3", "-2 4")}'
          solreflimit='{a(".02 1", ".03 .9")}' solimplimit='{a(".9 .95 .001 .5 2", ".8 .9 .002 .4 1")}'/>
        <geom name='arm' type='capsule' size='{a(0.05, 0.06)} {a(0.1, 0.12)}' quat='{a("1 0 0 0", ".9 .1 .2 .3")}'
          pos='{a("0 0 0", ".03 0 0")}'/>
        <site name='s' size='{a(0.1, 0.2)}' pos='{a("0 0 0", ".03 0 0")}' quat='{a("1 0 0 0", ".9 .1 .2 .3")}'/>
      </body>
    </body></worldbody>
    <actuator><general joint='j' gear='{a(3, 4)}' gainprm='{a(1, 2)}' ctrlrange='{a("-1 1", "-.5 .8")}'
      forcerange='{a("-.7 .7", "-.5 .6")}'/>
      <general tendon='t' dyntype='filter' dynprm='{a(1, 2)}' actrange='{a("-1 1", "-2 2")}' biastype='affine'
        biasprm='{a("0 0 0", "1 2 3")}'/><motor site='s' gear='1 2 3 .1 .2 .3'/></actuator>
    <tendon><fixed name='t' {loss} range='{a("-.1 .1", "-.05 .08")}' margin='{a(0.01, 0.02)}'
      solreflimit='{a(".02 1", ".03 .9")}' solimplimit='{a(".9 .95 .001 .5 2", ".8 .9 .002 .4 1")}'
      stiffness='{a("1 2 3", "2 3 4")}' damping='{a(".1 .2 .3", ".2 .3 .4")}' springlength='{a(0.1, 0.2)}'>
      <joint joint='j' coef='{a(1, 2)}'/></fixed></tendon>
    <sensor><jointpos joint='j' cutoff='{a(0.1, 0.2)}'/></sensor>{constraints}</mujoco>""")


def test_the_two_models_differ_in_every_field():
    one, two = Model(robot(False, rare=True)), Model(robot(True, rare=True))
    for name in NUMERIC_FIELDS:
        assert not np.array_equal(one.numbers(name), two.numbers(name)), name


@pytest.mark.parametrize("order", [COMMON, FIELDS[::-1]], ids=["in order", "all, backwards"])
def test_all_fields_at_once(order):
    """Worlds 0 to 23 as the first model, the others as the second: set from the first, field by field."""
    models = [robot(other, rare=order is not COMMON) for other in (False, True)]
    parts = [reference(mj, runs=8, steps=3, spread=0.1, speed=1.0, seed=k) for k, mj in enumerate(models)]
    ours, counts = simulate(
        Model(models[0], per_world=order), parts, change=lambda group: give(group.parameters, models[1], order)
    )
    for k, (theirs, mine) in enumerate(zip(parts, ours, strict=True)):
        np.testing.assert_array_equal(counts[k], theirs.counts)
        assert theirs.counts.min(axis=0).tolist() != theirs.counts.max(axis=0).tolist()
        for field, error in errors(mine, theirs).items():
            assert error.max() < (3e-6 if field in SMOOTH else 2e-4), f"model {k}: {field}: {error.max():.1e}"


def give(parameters: Parameters, mj: mujoco.MjModel, names) -> None:
    """Set fields of the second half of the worlds to a model's."""
    half = range(parameters.nworld // 2, parameters.nworld)
    for name in names:
        parameters.set(name, parameters.model.numbers(name, mj), half)
    for name in DERIVED:  # as mj_setConst derives them, from several fields
        np.testing.assert_allclose(parameters.get(name)[half[0]], parameters.model.numbers(name, mj), rtol=1e-5)
        np.testing.assert_array_equal(parameters.get(name)[0], parameters.model.numbers(name))


@pytest.mark.parametrize("scheduler", ["serial", "ace-sw"])
def test_changes_need_no_new_trace(scheduler, any_device):
    """Masses and friction change between steps; each world goes on as one that had its values from the start."""
    fields = ("body_mass", "geom_friction", "gravity", "timestep")
    nworld = 96
    model = Model(robot(False), per_world=fields)
    factors = np.linspace(0.5, 2.0, nworld)
    values = {name: factors.reshape(-1, *[1] * model.numbers(name).ndim) * model.numbers(name) for name in fields}

    def run(early: bool) -> tuple[np.ndarray, Simulation]:
        simulation = Simulation(model, nworld, device=any_device, scheduler=scheduler)
        group = simulation.groups[0]
        if not early:  # as another set of worlds, and with other steps before
            simulation.step(3)
            for name in fields[::-1]:
                group.parameters.set(name, 0.5 * values[name])
            simulation.step(3)
            group.state.reset()
        for name in fields:
            group.parameters.set(name, values[name])
        group.state.set("ctrl", 0.5)
        simulation.step(10)
        return np.hstack([group.state.get("qpos"), group.state.get("qvel"), group.state.get("time")]), simulation

    (first, _), (second, simulation) = run(True), run(False)
    np.testing.assert_array_equal(first, second)
    assert len(np.unique(first[:, 0])) == nworld
    statistics = simulation.scheduler.statistics()
    assert (statistics["trace_misses"], statistics["trace_hits"]) == (1, 15)
    assert statistics["graphs"] in (0, 1)


def test_a_field_of_some_worlds():
    group = Simulation(Model(robot(False), per_world=["geom_friction"]), 4, device="cpu").groups[0]
    before = group.parameters.get("geom_friction")
    assert before.shape == (4, 3, 3)
    group.parameters.set("geom_friction", (0.1, 0.2, 0.3), [1, 3])
    after = group.parameters.get("geom_friction")
    np.testing.assert_array_equal(after[[0, 2]], before[[0, 2]])
    np.testing.assert_allclose(after[[1, 3]], np.broadcast_to((0.1, 0.2, 0.3), (2, 3, 3)))
    np.testing.assert_array_equal(group.m.geom_friction.numpy().swapaxes(0, 1), after)
    assert group.parameters.get("body_mass").shape == (4, 3)  # shared ones can be read


def test_worlds_are_reset_to_their_own_initial_state():
    group = Simulation(Model(robot(False), per_world=["qpos0"]), 3, device="cpu").groups[0]
    qpos0 = group.model.qpos0 + np.arange(3)[:, None] * np.array([1, 1, 0, 0, 0, 0, 1], np.float32)
    group.parameters.set("qpos0", qpos0)
    group.state.reset([1, 2])
    np.testing.assert_array_equal(group.state.get("qpos"), qpos0)
