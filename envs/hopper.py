"""Hopper: a flat one-legged robot that learns to hop forward."""

import warp as wp

from acesim_rl.envs.base import Task, TaskData, conclude, control_cost, observe_joints, restart
from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.state import StateData

__all__ = ["Hopper"]


@wp.struct
class HopperParameters:
    forward_reward_weight: float
    ctrl_cost_weight: float
    healthy_reward: float
    terminate_when_unhealthy: bool
    healthy_state_min: float
    healthy_state_max: float
    healthy_z_min: float
    healthy_z_max: float
    healthy_angle_min: float
    healthy_angle_max: float
    reset_noise_scale: float
    skip: int


@stage("world")
def before(m: ModelData, d: StateData, t: TaskData, p: HopperParameters, w: int):
    t.before[0, w] = d.qpos[0, w]


@stage("world")
def observe(m: ModelData, d: StateData, t: TaskData, p: HopperParameters, w: int):
    observe_joints(m, d, t, p.skip, 10.0, w)
    t.place[0, w] = d.qpos[0, w]
    t.place[1, w] = d.qpos[1, w] - m.qpos0[1, w]


@stage("world")
def evaluate(m: ModelData, d: StateData, t: TaskData, p: HopperParameters, w: int):
    z = d.qpos[1, w]
    angle = d.qpos[2, w]
    healthy = z > p.healthy_z_min and z < p.healthy_z_max
    healthy = healthy and angle > p.healthy_angle_min and angle < p.healthy_angle_max
    for i in range(2, m.nq):
        healthy = healthy and d.qpos[i, w] > p.healthy_state_min and d.qpos[i, w] < p.healthy_state_max
    for i in range(m.nv):
        healthy = healthy and d.qvel[i, w] > p.healthy_state_min and d.qvel[i, w] < p.healthy_state_max

    x_velocity = (d.qpos[0, w] - t.before[0, w]) / t.dt
    forward = p.forward_reward_weight * x_velocity
    survive = wp.where(healthy, p.healthy_reward, 0.0)
    ctrl_cost = control_cost(m, d, p.ctrl_cost_weight, w)
    t.terms[0, w] = x_velocity
    t.terms[1, w] = forward
    t.terms[2, w] = -ctrl_cost
    t.terms[3, w] = survive
    conclude(t, forward + survive - ctrl_cost, p.terminate_when_unhealthy and not healthy, w)


@stage("world")
def reset(m: ModelData, d: StateData, t: TaskData, p: HopperParameters, w: int):
    if t.done[w]:
        restart(m, d, t, p.reset_noise_scale, False, w)


class Hopper(Task):
    """A torso on one leg with a foot hops in a plane, along x. Same task as Gymnasium's ``Hopper-v5``.

    Actions: torques between -1 and 1 (the motors' gear makes 200 N m of them).

    === ====== ===============
    Num Hinge  Joint
    === ====== ===============
    0   thigh  ``thigh_joint``
    1   leg    ``leg_joint``
    2   foot   ``foot_joint``
    === ====== ===============

    Observations: 11 numbers.

    ===== ================================================ ======
    Num   Value                                            Unit
    ===== ================================================ ======
    0     height of the torso (``rootz``)                  m
    1     pitch of the torso (``rooty``)                   rad
    2-4   angles of thigh, leg and foot                    rad
    5, 6  velocity of the torso along x and z, clipped     m/s
          to 10
    7-10  angular velocities of torso, thigh, leg, foot,   rad/s
          clipped to 10
    ===== ================================================ ======

    With ``exclude_current_positions_from_observation=False`` the torso's x comes first.

    Reward: ``reward_forward + reward_survive + reward_ctrl``, each in ``info``:

    - ``reward_forward``: ``forward_reward_weight`` times the mean x velocity over the step;
    - ``reward_survive``: ``healthy_reward`` where healthy;
    - ``reward_ctrl``: minus ``ctrl_cost_weight`` times the squared norm of the action.

    Termination: where unhealthy, if ``terminate_when_unhealthy``. Healthy is, all bounds open: every position and
    velocity but x and z in ``healthy_state_range``, the torso's height in ``healthy_z_range`` and its pitch in
    ``healthy_angle_range``. Truncation after 1,000 steps.

    Start: the model's initial state plus uniform noise of size ``reset_noise_scale``.

    Args:
        xml_file: MJCF text, a path, or a file of Gymnasium's.
        frame_skip: Physics steps in a step of the environment.
        default_camera_config: Attributes of the camera that renders.
        forward_reward_weight: Weight of the forward reward.
        ctrl_cost_weight: Weight of the control cost.
        healthy_reward: Reward of a step that ends healthy.
        terminate_when_unhealthy: End the episode of an unhealthy robot.
        healthy_state_range: Bounds of every position and velocity but the torso's x and z.
        healthy_z_range: Bounds of the torso's height [m].
        healthy_angle_range: Bounds of the torso's pitch [rad].
        reset_noise_scale: Size of the noise in the initial state.
        exclude_current_positions_from_observation: Leave out the torso's x.
    """

    before, observe, evaluate, reset = before, observe, evaluate, reset
    place = ("x_position", "z_distance_from_origin")
    terms = ("x_velocity", "reward_forward", "reward_ctrl", "reward_survive")

    def __init__(
        self,
        xml_file: str = "hopper.xml",
        frame_skip: int = 4,
        default_camera_config: dict | None = None,
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 1e-3,
        healthy_reward: float = 1.0,
        terminate_when_unhealthy: bool = True,
        healthy_state_range: tuple[float, float] = (-100.0, 100.0),
        healthy_z_range: tuple[float, float] = (0.7, float("inf")),
        healthy_angle_range: tuple[float, float] = (-0.2, 0.2),
        reset_noise_scale: float = 5e-3,
        exclude_current_positions_from_observation: bool = True,
    ):
        camera = {"trackbodyid": 2, "distance": 3.0, "lookat": (0.0, 0.0, 1.15), "elevation": -20.0}
        camera = camera if default_camera_config is None else default_camera_config
        super().__init__(xml_file, frame_skip, reset_noise_scale=reset_noise_scale, camera=camera)
        p = self.parameters = HopperParameters()
        p.forward_reward_weight = forward_reward_weight
        p.ctrl_cost_weight = ctrl_cost_weight
        p.healthy_reward = healthy_reward
        p.terminate_when_unhealthy = terminate_when_unhealthy
        p.healthy_state_min, p.healthy_state_max = healthy_state_range
        p.healthy_z_min, p.healthy_z_max = healthy_z_range
        p.healthy_angle_min, p.healthy_angle_max = healthy_angle_range
        p.reset_noise_scale = reset_noise_scale
        p.skip = int(exclude_current_positions_from_observation)
        self.num_obs -= p.skip
