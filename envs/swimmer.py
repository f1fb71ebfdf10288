"""Swimmer: a chain of three links that learns to swim."""

import warp as wp

from acesim_rl.envs.base import Task, TaskData, conclude, control_cost, observe_joints, restart
from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.state import StateData

__all__ = ["Swimmer"]


@wp.struct
class SwimmerParameters:
    forward_reward_weight: float
    ctrl_cost_weight: float
    reset_noise_scale: float
    skip: int


@stage("world")
def before(m: ModelData, d: StateData, t: TaskData, p: SwimmerParameters, w: int):
    t.before[0, w] = d.qpos[0, w]
    t.before[1, w] = d.qpos[1, w]


@stage("world")
def observe(m: ModelData, d: StateData, t: TaskData, p: SwimmerParameters, w: int):
    observe_joints(m, d, t, p.skip, wp.inf, w)
    x = d.qpos[0, w]
    y = d.qpos[1, w]
    t.place[0, w] = x
    t.place[1, w] = y
    t.place[2, w] = wp.sqrt(x * x + y * y)


@stage("world")
def evaluate(m: ModelData, d: StateData, t: TaskData, p: SwimmerParameters, w: int):
    x_velocity = (d.qpos[0, w] - t.before[0, w]) / t.dt
    y_velocity = (d.qpos[1, w] - t.before[1, w]) / t.dt
    forward = p.forward_reward_weight * x_velocity
    ctrl_cost = control_cost(m, d, p.ctrl_cost_weight, w)
    t.terms[0, w] = x_velocity
    t.terms[1, w] = y_velocity
    t.terms[2, w] = forward
    t.terms[3, w] = -ctrl_cost
    conclude(t, forward - ctrl_cost, False, w)


@stage("world")
def reset(m: ModelData, d: StateData, t: TaskData, p: SwimmerParameters, w: int):
    if t.done[w]:
        restart(m, d, t, p.reset_noise_scale, False, w)


class Swimmer(Task):
    """A chain of three links swims in a plane, along x, by the drag of the water. Gymnasium's ``Swimmer-v5``.

    Actions: torques at the two hinges, between -1 and 1 (the motors' gear makes 150 N m of them).

    === ======================= ==============
    Num Hinge                   Joint
    === ======================= ==============
    0   head to middle          ``motor1_rot``
    1   middle to tail          ``motor2_rot``
    === ======================= ==============

    Observations: 8 numbers.

    ====== ==================================================== ======
    Num    Value                                                Unit
    ====== ==================================================== ======
    0      angle of the head (``free_body_rot``)                rad
    1, 2   angles of the two hinges                             rad
    3, 4   velocity of the head along x and y                   m/s
    5      angular velocity of the head                         rad/s
    6, 7   velocities of the two hinges                         rad/s
    ====== ==================================================== ======

    With ``exclude_current_positions_from_observation=False`` the head's x and y come first.

    Reward: ``reward_forward + reward_ctrl``, each in ``info``:

    - ``reward_forward``: ``forward_reward_weight`` times the mean x velocity of the head over the step;
    - ``reward_ctrl``: minus ``ctrl_cost_weight`` times the squared norm of the action.

    Termination: never. Truncation after 1,000 steps.

    Start: the model's initial state plus uniform noise of size ``reset_noise_scale``.

    Args:
        xml_file: MJCF text, a path, or a file of Gymnasium's.
        frame_skip: Physics steps in a step of the environment.
        default_camera_config: Attributes of the camera that renders.
        forward_reward_weight: Weight of the forward reward.
        ctrl_cost_weight: Weight of the control cost.
        reset_noise_scale: Size of the noise in the initial state.
        exclude_current_positions_from_observation: Leave out the head's x and y.
    """

    before, observe, evaluate, reset = before, observe, evaluate, reset
    place = ("x_position", "y_position", "distance_from_origin")
    terms = ("x_velocity", "y_velocity", "reward_forward", "reward_ctrl")
    num_before = 2

    def __init__(
        self,
        xml_file: str = "swimmer.xml",
        frame_skip: int = 4,
        default_camera_config: dict | None = None,
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 1e-4,
        reset_noise_scale: float = 0.1,
        exclude_current_positions_from_observation: bool = True,
    ):
        super().__init__(xml_file, frame_skip, reset_noise_scale=reset_noise_scale, camera=default_camera_config)
        p = self.parameters = SwimmerParameters()
        p.forward_reward_weight = forward_reward_weight
        p.ctrl_cost_weight = ctrl_cost_weight
        p.reset_noise_scale = reset_noise_scale
        p.skip = 2 if exclude_current_positions_from_observation else 0
        self.num_obs -= p.skip
