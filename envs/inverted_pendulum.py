"""InvertedPendulum: a cart that learns to balance a pole."""

import warp as wp

from acesim_rl.envs.base import Task, TaskData, conclude, observe_joints, restart
from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.state import StateData

__all__ = ["InvertedPendulum"]


@wp.struct
class InvertedPendulumParameters:
    reset_noise_scale: float


@stage("world")
def observe(m: ModelData, d: StateData, t: TaskData, p: InvertedPendulumParameters, w: int):
    observe_joints(m, d, t, 0, wp.inf, w)


@stage("world")
def evaluate(m: ModelData, d: StateData, t: TaskData, p: InvertedPendulumParameters, w: int):
    upright = wp.abs(d.qpos[1, w]) <= 0.2
    for i in range(m.nq):
        upright = upright and wp.isfinite(d.qpos[i, w])
    for i in range(m.nv):
        upright = upright and wp.isfinite(d.qvel[i, w])
    survive = wp.where(upright, 1.0, 0.0)
    t.terms[0, w] = survive
    conclude(t, survive, not upright, w)


@stage("world")
def reset(m: ModelData, d: StateData, t: TaskData, p: InvertedPendulumParameters, w: int):
    if t.done[w]:
        restart(m, d, t, p.reset_noise_scale, False, w)


class InvertedPendulum(Task):
    """A cart on a rail balances a pole. Same task as Gymnasium's ``InvertedPendulum-v5``.

    Actions: the force on the cart along the rail (``slider``), between -3 and 3 (times the motor's gear, 100 N).

    Observations: 4 numbers.

    === ============================ ======
    Num Value                        Unit
    === ============================ ======
    0   position of the cart         m
    1   angle of the pole            rad
    2   velocity of the cart         m/s
    3   angular velocity of the pole rad/s
    === ============================ ======

    Reward: 1 for a step that does not end the episode (``reward_survive`` in ``info``).

    Termination: where the pole is more than 0.2 rad off the vertical, or the state is not finite. Truncation after
    1,000 steps.

    Start: the model's initial state plus uniform noise of size ``reset_noise_scale``.

    Args:
        xml_file: MJCF text, a path, or a file of Gymnasium's.
        frame_skip: Physics steps in a step of the environment.
        default_camera_config: Attributes of the camera that renders.
        reset_noise_scale: Size of the noise in the initial state.
    """

    observe, evaluate, reset = observe, evaluate, reset
    terms = ("reward_survive",)

    def __init__(
        self,
        xml_file: str = "inverted_pendulum.xml",
        frame_skip: int = 2,
        default_camera_config: dict | None = None,
        reset_noise_scale: float = 0.01,
    ):
        camera = {"trackbodyid": 0, "distance": 2.04} if default_camera_config is None else default_camera_config
        super().__init__(xml_file, frame_skip, reset_noise_scale=reset_noise_scale, camera=camera)
        self.parameters = InvertedPendulumParameters()
        self.parameters.reset_noise_scale = reset_noise_scale
