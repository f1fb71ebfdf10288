"""Where a body is, from positions alone, is where the forward pass puts it."""

import numpy as np
import warp as wp

from acesim_rl import Model, program, stages
from acesim_rl.envs.base import body_position
from acesim_rl.model import ModelData
from acesim_rl.simulation import Group
from acesim_rl.stage import load, stage
from acesim_rl.state import StateData

TREE = """<mujoco><worldbody><body pos='0 0 1' euler='10 20 30'><joint type='slide' axis='1 1 0' ref='.2'/>
<joint axis='0 1 1' pos='.1 .2 0'/><joint axis='1 0 0' pos='0 .1 .3' ref='20'/><geom size='.1'/>
<body pos='.1 .2 .3' euler='0 40 0'><joint type='ball' pos='.1 0 .2'/><geom size='.1'/>
<body pos='.3 0 0'><geom size='.1'/></body></body></body>
<body pos='1 0 0'><freejoint/><geom size='.1'/><body pos='0 .2 0'><joint axis='1 1 1'/><geom size='.1'/></body></body>
<body mocap='true' pos='0 1 0'><geom size='.1' contype='0' conaffinity='0'/><body pos='.2 0 .1'>
<geom size='.1' contype='0' conaffinity='0'/></body></body></worldbody></mujoco>"""


@stage("body")
def place(m: ModelData, d: StateData, b: int, w: int):
    d.subtree_com[b, w] = body_position(m, d, b, w)


def test_body_position():
    model = Model.from_mjcf(TREE)
    group = Group("tree", model, 20, wp.get_device("cpu"))
    rng = np.random.default_rng(0)
    for name in ("qpos", "mocap_pos", "mocap_quat"):
        group.state.set(name, rng.normal(size=group.state.get(name).shape))
    load([*stages.GENERIC, place], group.device)
    for operation in group.emit(list(program.forward(model))[:-1]):
        operation.start()
    for operation in group.operations(place):
        operation.start()
    np.testing.assert_allclose(group.state.get("subtree_com")[:, 1:], group.state.get("xpos")[:, 1:], atol=1e-5)
