"""Humanoid: a robot with arms and legs that learns to walk forward."""

import warp as wp

from acesim_rl.envs.base import Task, TaskData, conclude, control_cost, observe_joints, refresh, restart
from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.state import StateData

__all__ = ["Humanoid", "HumanoidParameters", "HumanoidTask", "impact_cost", "observe_humanoid", "place_tendons"]

ROOT_DOFS = 6


@wp.struct
class HumanoidParameters:
    """Numbers of this task and of HumanoidStandup."""

    forward_reward_weight: float
    ctrl_cost_weight: float
    impact_cost_weight: float
    impact_cost_min: float
    impact_cost_max: float
    healthy_reward: float
    terminate_when_unhealthy: bool
    healthy_z_min: float
    healthy_z_max: float
    reset_noise_scale: float
    skip: int
    observe_inertias: bool
    observe_velocities: bool
    observe_actuators: bool
    observe_forces: bool


@wp.func
def mass_centre(m: ModelData, d: StateData, w: int) -> wp.vec3:
    """Centre of mass of all bodies."""
    mass = float(0.0)
    moment = wp.vec3(0.0, 0.0, 0.0)
    for b in range(1, m.nbody):
        mass += m.body_mass[b, w]
        moment += m.body_mass[b, w] * d.xipos[b, w]
    return wp.vec3(moment[0] / mass, moment[1] / mass, moment[2] / mass)


@wp.func
def impact_cost(m: ModelData, d: StateData, p: HumanoidParameters, w: int) -> float:
    """Weighted squared norm of the contact forces, clipped."""
    squares = float(0.0)
    if p.impact_cost_weight != 0.0:
        for b in range(1, m.nbody):
            squares += wp.dot(d.cfrc_ext[b, w], d.cfrc_ext[b, w])
    return wp.clamp(p.impact_cost_weight * squares, p.impact_cost_min, p.impact_cost_max)


@wp.func
def place_tendons(m: ModelData, d: StateData, t: TaskData, row: int, w: int):
    """Lengths, then velocities of the tendons into ``t.place[row:]``."""
    for i in range(m.ntendon):
        t.place[row + i, w] = d.ten_length[i, w]
        t.place[row + m.ntendon + i, w] = d.ten_velocity[i, w]


@wp.func
def observe_humanoid(m: ModelData, d: StateData, t: TaskData, p: HumanoidParameters, w: int):
    n = observe_joints(m, d, t, p.skip, wp.inf, w)
    if p.observe_inertias:
        for b in range(1, m.nbody):
            for k in range(10):
                t.obs[n + 10 * (b - 1) + k, w] = d.cinert[b, w][k]
        n += 10 * (m.nbody - 1)
    if p.observe_velocities:
        for b in range(1, m.nbody):
            for k in range(6):
                t.obs[n + 6 * (b - 1) + k, w] = d.cvel[b, w][k]
        n += 6 * (m.nbody - 1)
    if p.observe_actuators:
        for i in range(ROOT_DOFS, m.nv):
            t.obs[n + i - ROOT_DOFS, w] = d.qfrc_actuator[i, w]
        n += m.nv - ROOT_DOFS
    if p.observe_forces:
        for b in range(1, m.nbody):
            for k in range(6):
                t.obs[n + 6 * (b - 1) + k, w] = d.cfrc_ext[b, w][k]


@stage("world")
def before(m: ModelData, d: StateData, t: TaskData, p: HumanoidParameters, w: int):
    centre = mass_centre(m, d, w)
    t.before[0, w] = centre[0]
    t.before[1, w] = centre[1]


@stage("world")
def observe(m: ModelData, d: StateData, t: TaskData, p: HumanoidParameters, w: int):
    observe_humanoid(m, d, t, p, w)
    x = d.qpos[0, w]
    y = d.qpos[1, w]
    t.place[0, w] = x
    t.place[1, w] = y
    place_tendons(m, d, t, 2, w)
    t.place[2 + 2 * m.ntendon, w] = wp.sqrt(x * x + y * y)


@stage("world")
def evaluate(m: ModelData, d: StateData, t: TaskData, p: HumanoidParameters, w: int):
    centre = mass_centre(m, d, w)
    x_velocity = (centre[0] - t.before[0, w]) / t.dt
    y_velocity = (centre[1] - t.before[1, w]) / t.dt
    healthy = d.qpos[2, w] > p.healthy_z_min and d.qpos[2, w] < p.healthy_z_max
    survive = wp.where(healthy, p.healthy_reward, 0.0)
    forward = p.forward_reward_weight * x_velocity
    ctrl_cost = control_cost(m, d, p.ctrl_cost_weight, w)
    contact_cost = impact_cost(m, d, p, w)
    t.terms[0, w] = x_velocity
    t.terms[1, w] = y_velocity
    t.terms[2, w] = survive
    t.terms[3, w] = forward
    t.terms[4, w] = -ctrl_cost
    t.terms[5, w] = -contact_cost
    conclude(t, forward + survive - ctrl_cost - contact_cost, p.terminate_when_unhealthy and not healthy, w)


@stage("world")
def reset(m: ModelData, d: StateData, t: TaskData, p: HumanoidParameters, w: int):
    if t.done[w]:
        restart(m, d, t, p.reset_noise_scale, False, w)
        refresh(m, d, w)
        for i in range(m.nv):
            d.qfrc_actuator[i, w] = 0.0
        for b in range(m.nbody):
            d.cfrc_ext[b, w] = wp.spatial_vector()


class HumanoidTask(Task):
    """What Humanoid and HumanoidStandup share: the robot, and what of it is observed."""

    reset = reset
    num_before = 2
    carried = (*Task.carried, "xipos")

    def __init__(
        self,
        xml_file: str,
        frame_skip: int,
        camera: dict,
        ctrl_cost_weight: float,
        impact_cost_weight: float,
        impact_cost_range: tuple[float, float],
        reset_noise_scale: float,
        exclude_current_positions_from_observation: bool,
        include_cinert_in_observation: bool,
        include_cvel_in_observation: bool,
        include_qfrc_actuator_in_observation: bool,
        include_cfrc_ext_in_observation: bool,
    ):
        super().__init__(xml_file, frame_skip, reset_noise_scale=reset_noise_scale, camera=camera)
        p = self.parameters = HumanoidParameters()
        p.ctrl_cost_weight = ctrl_cost_weight
        p.impact_cost_weight = impact_cost_weight
        p.impact_cost_min, p.impact_cost_max = impact_cost_range
        p.reset_noise_scale = reset_noise_scale
        p.skip = 2 if exclude_current_positions_from_observation else 0
        p.observe_inertias = include_cinert_in_observation
        p.observe_velocities = include_cvel_in_observation
        p.observe_actuators = include_qfrc_actuator_in_observation
        p.observe_forces = include_cfrc_ext_in_observation
        self.contact_forces = include_cfrc_ext_in_observation or impact_cost_weight != 0.0
        self.vectors = {"tendon_length": self.mj.ntendon, "tendon_velocity": self.mj.ntendon}
        bodies = self.mj.nbody - 1
        self.num_obs -= p.skip
        self.num_obs += bodies * (
            10 * include_cinert_in_observation + 6 * include_cvel_in_observation + 6 * include_cfrc_ext_in_observation
        )
        self.num_obs += (self.mj.nv - ROOT_DOFS) * include_qfrc_actuator_in_observation


class Humanoid(HumanoidTask):
    """A robot with a head, arms and legs walks in the direction of x. Same task as Gymnasium's ``Humanoid-v5``.

    Actions: torques at the 17 hinges, between -0.4 and 0.4 (times the motors' gear, 25 to 300 N m).

    ======= ========================================= ============================================
    Num     Hinges                                    Joints
    ======= ========================================= ============================================
    0-2     abdomen about y, z, x                     ``abdomen_y``, ``abdomen_z``, ``abdomen_x``
    3-5     right hip about x, z, y                   ``right_hip_x``, ``_z``, ``_y``
    6       right knee                                ``right_knee``
    7-9     left hip about x, z, y                    ``left_hip_x``, ``_z``, ``_y``
    10      left knee                                 ``left_knee``
    11-13   right shoulder (two axes), right elbow    ``right_shoulder1``, ``2``, ``right_elbow``
    14-16   left shoulder (two axes), left elbow      ``left_shoulder1``, ``2``, ``left_elbow``
    ======= ========================================= ============================================

    Observations: 348 numbers. The values from 45 on are those of the last force evaluation (the last Runge-Kutta
    substage), as Gymnasium reads them.

    ========= ================================================================== ==================
    Num       Value                                                              Unit
    ========= ================================================================== ==================
    0         height of the torso                                                m
    1-4       orientation of the torso, a quaternion w, x, y, z                  1
    5-21      angles of the 17 hinges, in the order of the model's joints (the   rad
              abdomen z, y, x; the rest as the actions)
    22-24     velocity of the torso along x, y, z                                m/s
    25-27     angular velocity of the torso, in its own frame                    rad/s
    28-44     velocities of the hinges, in the order of their angles             rad/s
    45-174    ``cinert`` of the 13 bodies: six numbers of the inertia about the  kg m^2, kg m, kg
              robot's centre of mass, three of the mass moment, the mass
    175-252   ``cvel`` of the bodies: angular velocity, then velocity            rad/s, m/s
    253-269   ``qfrc_actuator`` of the 17 hinges                                 N m
    270-347   ``cfrc_ext`` of the bodies: torque, then force                     N m, N
    ========= ================================================================== ==================

    With ``exclude_current_positions_from_observation=False`` the torso's x and y come first; each of the four
    ``include_..._in_observation=False`` leaves one block out.

    Reward: ``reward_survive + reward_forward + reward_ctrl + reward_contact``, each in ``info``:

    - ``reward_survive``: ``healthy_reward`` where healthy;
    - ``reward_forward``: ``forward_reward_weight`` times the mean x velocity of the centre of mass over the step,
      between its positions in the last force evaluations;
    - ``reward_ctrl``: minus ``ctrl_cost_weight`` times the squared norm of the action;
    - ``reward_contact``: minus ``contact_cost_weight`` times the squared norm of the contact forces, clipped to
      ``contact_cost_range``.

    ``info`` has ``tendon_length`` and ``tendon_velocity`` of the two tendons between hip and knee, too.

    Termination: where unhealthy, if ``terminate_when_unhealthy``. Healthy is a torso with its height in the open
    ``healthy_z_range``. Truncation after 1,000 steps.

    Start: the model's initial state plus uniform noise of size ``reset_noise_scale``.

    Args:
        xml_file: MJCF text, a path, or a file of Gymnasium's.
        frame_skip: Physics steps in a step of the environment.
        default_camera_config: Attributes of the camera that renders.
        forward_reward_weight: Weight of the forward reward.
        ctrl_cost_weight: Weight of the control cost.
        contact_cost_weight: Weight of the contact cost.
        contact_cost_range: Bounds that the contact cost is clipped to.
        healthy_reward: Reward of a step that ends healthy.
        terminate_when_unhealthy: End the episode of an unhealthy robot.
        healthy_z_range: Bounds of the torso's height [m].
        reset_noise_scale: Size of the noise in the initial state.
        exclude_current_positions_from_observation: Leave out the torso's x and y.
        include_cinert_in_observation: Observe the inertias of the bodies.
        include_cvel_in_observation: Observe the velocities of the bodies.
        include_qfrc_actuator_in_observation: Observe the torques of the motors.
        include_cfrc_ext_in_observation: Observe the contact forces.
    """

    before, observe, evaluate = before, observe, evaluate
    place = ("x_position", "y_position", "tendon_length", "tendon_velocity", "distance_from_origin")
    terms = ("x_velocity", "y_velocity", "reward_survive", "reward_forward", "reward_ctrl", "reward_contact")

    def __init__(
        self,
        xml_file: str = "humanoid.xml",
        frame_skip: int = 5,
        default_camera_config: dict | None = None,
        forward_reward_weight: float = 1.25,
        ctrl_cost_weight: float = 0.1,
        contact_cost_weight: float = 5e-7,
        contact_cost_range: tuple[float, float] = (float("-inf"), 10.0),
        healthy_reward: float = 5.0,
        terminate_when_unhealthy: bool = True,
        healthy_z_range: tuple[float, float] = (1.0, 2.0),
        reset_noise_scale: float = 1e-2,
        exclude_current_positions_from_observation: bool = True,
        include_cinert_in_observation: bool = True,
        include_cvel_in_observation: bool = True,
        include_qfrc_actuator_in_observation: bool = True,
        include_cfrc_ext_in_observation: bool = True,
    ):
        camera = {"trackbodyid": 1, "distance": 4.0, "lookat": (0.0, 0.0, 2.0), "elevation": -20.0}
        super().__init__(
            xml_file,
            frame_skip,
            camera if default_camera_config is None else default_camera_config,
            ctrl_cost_weight,
            contact_cost_weight,
            contact_cost_range,
            reset_noise_scale,
            exclude_current_positions_from_observation,
            include_cinert_in_observation,
            include_cvel_in_observation,
            include_qfrc_actuator_in_observation,
            include_cfrc_ext_in_observation,
        )
        p = self.parameters
        p.forward_reward_weight = forward_reward_weight
        p.healthy_reward = healthy_reward
        p.terminate_when_unhealthy = terminate_when_unhealthy
        p.healthy_z_min, p.healthy_z_max = healthy_z_range
