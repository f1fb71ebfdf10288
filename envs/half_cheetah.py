"""HalfCheetah: a flat two-legged robot that learns to run."""

import warp as wp

from acesim_rl.envs.base import Task, TaskData, conclude, control_cost, observe_joints, restart
from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.state import StateData

__all__ = ["HalfCheetah"]


@wp.struct
class HalfCheetahParameters:
    forward_reward_weight: float
    ctrl_cost_weight: float
    reset_noise_scale: float
    skip: int


@stage("world")
def before(m: ModelData, d: StateData, t: TaskData, p: HalfCheetahParameters, w: int):
    t.before[0, w] = d.qpos[0, w]


@stage("world")
def observe(m: ModelData, d: StateData, t: TaskData, p: HalfCheetahParameters, w: int):
    observe_joints(m, d, t, p.skip, wp.inf, w)
    t.place[0, w] = d.qpos[0, w]


@stage("world")
def evaluate(m: ModelData, d: StateData, t: TaskData, p: HalfCheetahParameters, w: int):
    x_velocity = (d.qpos[0, w] - t.before[0, w]) / t.dt
    forward = p.forward_reward_weight * x_velocity
    ctrl_cost = control_cost(m, d, p.ctrl_cost_weight, w)
    t.terms[0, w] = x_velocity
    t.terms[1, w] = forward
    t.terms[2, w] = -ctrl_cost
    conclude(t, forward - ctrl_cost, False, w)


@stage("world")
def reset(m: ModelData, d: StateData, t: TaskData, p: HalfCheetahParameters, w: int):
    if t.done[w]:
        restart(m, d, t, p.reset_noise_scale, True, w)


class HalfCheetah(Task):
    """A torso with a back and a front leg runs in a plane, along x. Same task as Gymnasium's ``HalfCheetah-v5``.

    Actions: torques between -1 and 1 (times the motors' gear, 30 to 120 N m).

    === ============ ==========
    Num Hinge        Joint
    === ============ ==========
    0   back thigh   ``bthigh``
    1   back shin    ``bshin``
    2   back foot    ``bfoot``
    3   front thigh  ``fthigh``
    4   front shin   ``fshin``
    5   front foot   ``ffoot``
    === ============ ==========

    Observations: 17 numbers.

    ====== ====================================================== ======
    Num    Value                                                  Unit
    ====== ====================================================== ======
    0      height of the torso (``rootz``)                        m
    1      pitch of the torso (``rooty``)                         rad
    2-7    angles of the six hinges, in the order of the actions  rad
    8, 9   velocity of the torso along x and z                    m/s
    10     angular velocity of the torso                          rad/s
    11-16  velocities of the six hinges                           rad/s
    ====== ====================================================== ======

    With ``exclude_current_positions_from_observation=False`` the torso's x comes first.

    Reward: ``reward_forward + reward_ctrl``, each in ``info``:

    - ``reward_forward``: ``forward_reward_weight`` times the mean x velocity over the step;
    - ``reward_ctrl``: minus ``ctrl_cost_weight`` times the squared norm of the action.

    Termination: never. Truncation after 1,000 steps.

    Start: the model's initial state, plus uniform noise in the positions and normal noise in the velocities, both
    scaled by ``reset_noise_scale``.

    Args:
        xml_file: MJCF text, a path, or a file of Gymnasium's.
        frame_skip: Physics steps in a step of the environment.
        default_camera_config: Attributes of the camera that renders.
        forward_reward_weight: Weight of the forward reward.
        ctrl_cost_weight: Weight of the control cost.
        reset_noise_scale: Size of the noise in the initial state.
        exclude_current_positions_from_observation: Leave out the torso's x.
    """

    before, observe, evaluate, reset = before, observe, evaluate, reset
    place = ("x_position",)
    terms = ("x_velocity", "reward_forward", "reward_ctrl")
    normal_velocity = True

    def __init__(
        self,
        xml_file: str = "half_cheetah.xml",
        frame_skip: int = 5,
        default_camera_config: dict | None = None,
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 0.1,
        reset_noise_scale: float = 0.1,
        exclude_current_positions_from_observation: bool = True,
    ):
        camera = {"distance": 4.0} if default_camera_config is None else default_camera_config
        super().__init__(xml_file, frame_skip, reset_noise_scale=reset_noise_scale, camera=camera)
        p = self.parameters = HalfCheetahParameters()
        p.forward_reward_weight = forward_reward_weight
        p.ctrl_cost_weight = ctrl_cost_weight
        p.reset_noise_scale = reset_noise_scale
        p.skip = int(exclude_current_positions_from_observation)
        self.num_obs -= p.skip
