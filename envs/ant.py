"""Ant: a four-legged robot that learns to walk forward."""

import warp as wp

from acesim_rl.envs.base import Task, TaskData, body_position, conclude, control_cost, observe_joints, restart
from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.state import StateData

__all__ = ["Ant"]


@wp.struct
class AntParameters:
    forward_reward_weight: float
    ctrl_cost_weight: float
    contact_cost_weight: float
    healthy_reward: float
    main_body: int
    terminate_when_unhealthy: bool
    healthy_z_min: float
    healthy_z_max: float
    contact_force_min: float
    contact_force_max: float
    reset_noise_scale: float
    skip: int
    observe_forces: bool


@stage("world")
def before(m: ModelData, d: StateData, t: TaskData, p: AntParameters, w: int):
    position = d.xpos[p.main_body, w]
    t.before[0, w] = position[0]
    t.before[1, w] = position[1]


@wp.func
def clipped_force(d: StateData, p: AntParameters, b: int, k: int, w: int) -> float:
    return wp.clamp(d.cfrc_ext[b, w][k], p.contact_force_min, p.contact_force_max)


@stage("world")
def observe(m: ModelData, d: StateData, t: TaskData, p: AntParameters, w: int):
    n = observe_joints(m, d, t, p.skip, wp.inf, w)
    if p.observe_forces:
        for b in range(1, m.nbody):
            for k in range(6):
                t.obs[n + 6 * (b - 1) + k, w] = clipped_force(d, p, b, k, w)
    x = d.qpos[0, w]
    y = d.qpos[1, w]
    t.place[0, w] = x
    t.place[1, w] = y
    t.place[2, w] = wp.sqrt(x * x + y * y)


@stage("world")
def evaluate(m: ModelData, d: StateData, t: TaskData, p: AntParameters, w: int):
    position = d.xpos[p.main_body, w]
    x_velocity = (position[0] - t.before[0, w]) / t.dt
    y_velocity = (position[1] - t.before[1, w]) / t.dt

    z = d.qpos[2, w]
    healthy = z >= p.healthy_z_min and z <= p.healthy_z_max
    for i in range(m.nq):
        healthy = healthy and wp.isfinite(d.qpos[i, w])
    for i in range(m.nv):
        healthy = healthy and wp.isfinite(d.qvel[i, w])

    squares = float(0.0)
    if p.contact_cost_weight != 0.0:
        for b in range(m.nbody):
            for k in range(6):
                force = clipped_force(d, p, b, k, w)
                squares += force * force

    forward = p.forward_reward_weight * x_velocity
    survive = wp.where(healthy, p.healthy_reward, 0.0)
    ctrl_cost = control_cost(m, d, p.ctrl_cost_weight, w)
    contact_cost = p.contact_cost_weight * squares
    t.terms[0, w] = x_velocity
    t.terms[1, w] = y_velocity
    t.terms[2, w] = forward
    t.terms[3, w] = -ctrl_cost
    t.terms[4, w] = -contact_cost
    t.terms[5, w] = survive
    conclude(t, forward + survive - ctrl_cost - contact_cost, p.terminate_when_unhealthy and not healthy, w)


@stage("world")
def reset(m: ModelData, d: StateData, t: TaskData, p: AntParameters, w: int):
    if t.done[w]:
        restart(m, d, t, p.reset_noise_scale, True, w)
        d.xpos[p.main_body, w] = body_position(m, d, p.main_body, w)
        if p.observe_forces:
            for b in range(m.nbody):
                d.cfrc_ext[b, w] = wp.spatial_vector()


class Ant(Task):
    """A torso on four legs of two links each walks in the direction of x. Same task as Gymnasium's ``Ant-v5``.

    Actions: torques at the eight hinges, between -1 and 1 (the motors' gear makes 150 N m of them).

    === ======================== ===========
    Num Hinge                    Joint
    === ======================== ===========
    0   back right hip           ``hip_4``
    1   back right knee          ``ankle_4``
    2   front left hip           ``hip_1``
    3   front left knee          ``ankle_1``
    4   front right hip          ``hip_2``
    5   front right knee         ``ankle_2``
    6   back left hip            ``hip_3``
    7   back left knee           ``ankle_3``
    === ======================== ===========

    Observations: 105 numbers.

    ======= ==================================================================== ==================
    Num     Value                                                                Unit
    ======= ==================================================================== ==================
    0       height of the torso                                                  m
    1-4     orientation of the torso, a quaternion w, x, y, z                    1
    5-12    angles: front left hip and knee, front right, back left, back right  rad
    13-15   velocity of the torso along x, y, z                                  m/s
    16-18   angular velocity of the torso, in its own frame                      rad/s
    19-26   velocities of the hinges, in the order of their angles               rad/s
    27-104  ``cfrc_ext`` of the 13 bodies: torque, then force, x, y, z,          N m, N
            clipped to ``contact_force_range``
    ======= ==================================================================== ==================

    With ``exclude_current_positions_from_observation=False`` the torso's x and y come first; with
    ``include_cfrc_ext_in_observation=False`` the forces are left out.

    Reward: ``reward_forward + reward_survive + reward_ctrl + reward_contact``, each in ``info``:

    - ``reward_forward``: ``forward_reward_weight`` times the mean x velocity of ``main_body`` over the step. As in
      Gymnasium the positions are those of the last force evaluation (the last Runge-Kutta substage);
    - ``reward_survive``: ``healthy_reward`` where healthy;
    - ``reward_ctrl``: minus ``ctrl_cost_weight`` times the squared norm of the action;
    - ``reward_contact``: minus ``contact_cost_weight`` times the squared norm of the clipped contact forces.

    Termination: where unhealthy, if ``terminate_when_unhealthy``. Healthy is a finite state with the torso's height in
    the closed ``healthy_z_range``. Truncation after 1,000 steps.

    Start: the model's initial state, plus uniform noise in the positions and normal noise in the velocities, both
    scaled by ``reset_noise_scale``.

    Args:
        xml_file: MJCF text, a path, or a file of Gymnasium's.
        frame_skip: Physics steps in a step of the environment.
        default_camera_config: Attributes of the camera that renders.
        forward_reward_weight: Weight of the forward reward.
        ctrl_cost_weight: Weight of the control cost.
        contact_cost_weight: Weight of the contact cost.
        healthy_reward: Reward of a step that ends healthy.
        main_body: Body whose motion is rewarded, by name or id.
        terminate_when_unhealthy: End the episode of an unhealthy robot.
        healthy_z_range: Lowest and highest healthy height of the torso [m].
        contact_force_range: Bounds that contact forces are clipped to.
        reset_noise_scale: Size of the noise in the initial state.
        exclude_current_positions_from_observation: Leave out the torso's x and y.
        include_cfrc_ext_in_observation: Observe the contact forces.
    """

    before, observe, evaluate, reset = before, observe, evaluate, reset
    place = ("x_position", "y_position", "distance_from_origin")
    terms = ("x_velocity", "y_velocity", "reward_forward", "reward_ctrl", "reward_contact", "reward_survive")
    num_before = 2
    normal_velocity = True
    carried = (*Task.carried, "xpos")

    def __init__(
        self,
        xml_file: str = "ant.xml",
        frame_skip: int = 5,
        default_camera_config: dict | None = None,
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 0.5,
        contact_cost_weight: float = 5e-4,
        healthy_reward: float = 1.0,
        main_body: int | str = 1,
        terminate_when_unhealthy: bool = True,
        healthy_z_range: tuple[float, float] = (0.2, 1.0),
        contact_force_range: tuple[float, float] = (-1.0, 1.0),
        reset_noise_scale: float = 0.1,
        exclude_current_positions_from_observation: bool = True,
        include_cfrc_ext_in_observation: bool = True,
    ):
        camera = {"distance": 4.0} if default_camera_config is None else default_camera_config
        super().__init__(xml_file, frame_skip, reset_noise_scale=reset_noise_scale, camera=camera)
        p = self.parameters = AntParameters()
        p.forward_reward_weight = forward_reward_weight
        p.ctrl_cost_weight = ctrl_cost_weight
        p.contact_cost_weight = contact_cost_weight
        p.healthy_reward = healthy_reward
        p.main_body = self.mj.body(main_body).id
        p.terminate_when_unhealthy = terminate_when_unhealthy
        p.healthy_z_min, p.healthy_z_max = healthy_z_range
        p.contact_force_min, p.contact_force_max = contact_force_range
        p.reset_noise_scale = reset_noise_scale
        p.skip = 2 if exclude_current_positions_from_observation else 0
        p.observe_forces = include_cfrc_ext_in_observation
        self.contact_forces = include_cfrc_ext_in_observation or contact_cost_weight != 0.0
        self.num_obs += 6 * (self.mj.nbody - 1) * include_cfrc_ext_in_observation - p.skip
