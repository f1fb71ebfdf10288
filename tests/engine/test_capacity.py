"""There is room for all contacts and rows that a world can have, so none is dropped."""

import mujoco
import numpy as np
import pytest
import warp as wp
from test_collisions import GEOMS, MARGIN, random_quat

from acesim_rl import Model, program, stages
from acesim_rl.pairs import PAIR_TYPES
from acesim_rl.scene import ROBOTS, asset_path
from acesim_rl.scheduler import launch
from acesim_rl.simulation import Group, with_kin
from acesim_rl.stage import load
from acesim_rl.state import WARNINGS

UNTOUCHED = -77


def run(group: Group, calls) -> None:
    load([*stages.GENERIC, *with_kin(stage for stage, _ in calls)], group.device)
    for operation in group.emit(calls):
        operation.start()


def overlapping(model: Model, nworld: int, seed: int = 0) -> Group:
    """Worlds in which free bodies lie within each other, in any pose and in aligned ones, after a forward pass."""
    group, rng = Group("model", model, nworld, wp.get_device("cpu")), np.random.default_rng(seed)
    qpos = group.state.get("qpos")
    for w in range(nworld):
        for j in np.flatnonzero(model.mj.jnt_type == mujoco.mjtJoint.mjJNT_FREE):
            adr = model.mj.jnt_qposadr[j]
            how = ("anyhow", "aligned", "almost aligned")[w % 3]
            qpos[w, adr : adr + 3] = rng.uniform(-0.2, 0.2, 3) if w % 2 else rng.choice([-0.1, 0.0, 0.1], 3)
            qpos[w, adr + 3 : adr + 7] = random_quat(rng, how)
    group.state.set("qpos", qpos)
    run(group, list(program.forward(model))[:-1])  # all but the solver
    return group


@pytest.mark.parametrize("name", PAIR_TYPES)
def test_a_pair_fills_its_own_slots_and_no_others(name):
    """Whatever the poses: each of its slots is written, whether there is a contact or not, and none of another pair."""
    first, second = (GEOMS[kind] for kind in name.split("_"))
    still = f"<geom {first} margin='{MARGIN}'/>"
    bodies = f"<body><freejoint/><geom {second}/></body>" * 2
    model = Model.from_mjcf(f"<mujoco><worldbody>{still}{bodies}</worldbody></mujoco>")
    group = overlapping(model, 1200)
    collide = next(stage for stage in stages.COLLISION if stage.over == f"pair:{name}")
    start, count = model.items(collide.over)
    width = PAIR_TYPES[name][2]
    assert count >= 2
    for pair in range(start, start + count):
        for field in ("contact_dist", "row_need"):
            group.state.set(field, UNTOUCHED)
        inputs = [group._packed(group.m), group._packed(group.d), pair, 1, 0, group.nworld]
        launch(collide.kernel(group.device), (1,), inputs=inputs, device=group.device).start()
        own = np.zeros(model.nslot, bool)
        own[model.pairs.slot[pair] :][:width] = True
        dist, need = group.state.get("contact_dist"), group.state.get("row_need")[:, 2 * model.nlimit :]
        np.testing.assert_array_equal(dist != UNTOUCHED, np.broadcast_to(own, dist.shape))
        np.testing.assert_array_equal(need != UNTOUCHED, np.broadcast_to(own, dist.shape))
        assert (need[:, own] <= model.slot_rows[own]).all() and (need[:, own] > 0).any()
    assert not any(counts.any() for counts in group.state.warnings.values()), WARNINGS["contact_full"]


CROWD = "".join(
    f"<body pos='0 0 {k / 100}'><freejoint/><geom {geom} condim='{condim}'/></body>"
    for k, (geom, condim) in enumerate(zip((GEOMS[g] for g in GEOMS if g != "plane"), (1, 3, 4, 6), strict=True))
)
EVERYTHING = f"""<mujoco><option cone='{{cone}}'/><worldbody><geom {GEOMS["plane"]} condim='1'/>{CROWD}
<body name='a' pos='0 0 .1'><joint name='ja' type='slide' axis='0 0 1' range='-1 1' margin='5' frictionloss='1'/>
<joint name='jb' type='ball' range='0 60' margin='5'/><geom name='ga' {GEOMS["box"]} condim='6'/>
<body name='b'><joint name='jc' range='-30 30' margin='5' frictionloss='1'/><geom name='gb' size='.1'/></body></body>
<body name='c'><joint name='jd' axis='1 0 0'/><geom name='gc' {GEOMS["box"]}/></body></worldbody>
<tendon><fixed name='ta' range='-1 1' margin='5' frictionloss='1'><joint joint='ja' coef='1'/></fixed>
<fixed name='tb'><joint joint='jd' coef='1'/></fixed></tendon>
<contact><pair geom1='ga' geom2='gc' condim='6'/><pair geom1='gb' geom2='gc' condim='4'/></contact>
<equality><connect body1='a' body2='c' anchor='0 0 0'/><weld body1='b' body2='c'/><joint joint1='ja' joint2='jd'/>
<tendon tendon1='ta' tendon2='tb'/></equality></mujoco>"""


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_rows_of_everything_at_once(cone):
    """All limits and all slots in use: the rows fill the capacity, each once, and random states stay within it."""
    model = Model.from_mjcf(EVERYTHING.format(cone=cone))
    assert model.nequality_row == 3 + 6 + 1 + 1 and model.nfriction == 3 and model.nlimit == 4
    assert all(
        model.pairs.ranges[name][1] for name in PAIR_TYPES if name not in ("cylinder_cylinder", "capsule_capsule")
    )
    assert {*model.pairs.slot_condim} == {1, 3, 4, 6} and (model.pairs.explicit >= 0).sum() == 2
    group = overlapping(model, 60)
    nefc = group.state.get("nefc")
    assert 0.2 * model.nrow < nefc.max() <= model.nrow and group.state.get("ncon").max() <= model.nslot
    full = np.concatenate([np.ones(2 * model.nlimit, int), model.slot_rows])
    group.state.set("row_need", full)
    for field in ("efc_D", "efc_aref", "contact_row"):
        group.state.set(field, UNTOUCHED)
    rows = (
        stages.count_rows, stages.equality_rows, stages.friction_rows, stages.limit_rows, stages.contact_rows_general
    )  # fmt: skip
    run(group, [(stage, ()) for stage in rows])
    assert (group.state.get("nefc") == model.nrow).all() and (group.state.get("ncon") == model.nslot).all()
    for field in ("efc_D", "efc_aref"):
        assert (group.state.get(field) != UNTOUCHED).all(), field
    before = model.nequality_row + model.nfriction + 2 * model.nlimit
    starts = before + np.cumsum([0, *model.slot_rows])
    assert starts[-1] == model.nrow
    np.testing.assert_array_equal(group.state.get("contact_row"), np.tile(starts[:-1], (60, 1)))


def test_capacity_of_the_robots():
    """As much as the most that MuJoCo can have: every pair with all its contacts, every limit on both sides."""
    for name in ROBOTS:
        model = Model.from_mjcf(asset_path(name))
        mj, pairs = model.mj, model.pairs
        widths = np.concatenate([np.full(pairs.ranges[kind][1], PAIR_TYPES[kind][2]) for kind in PAIR_TYPES])
        order = np.argsort(pairs.slot)
        np.testing.assert_array_equal(pairs.slot[order], np.cumsum([0, *widths[order]])[:-1])
        assert model.nslot == widths.sum()
        contacts = np.bincount(pairs.slot_pair, minlength=len(widths))
        np.testing.assert_array_equal(contacts, widths)
        pyramid = np.where(pairs.slot_condim > 1, 2 * pairs.slot_condim - 2, 1)
        rows = pairs.slot_condim if mj.opt.cone == mujoco.mjtCone.mjCONE_ELLIPTIC else pyramid
        most = mj.neq * 6 + mj.nv + mj.ntendon + 2 * (mj.njnt + mj.ntendon) + rows.sum()
        assert 2 * model.nlimit + rows.sum() <= model.nrow <= most
