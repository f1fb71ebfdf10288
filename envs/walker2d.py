"""Walker2d: a flat two-legged robot that learns to walk forward."""

from acesim_rl.envs.base import Task
from acesim_rl.envs.hopper import HopperParameters, before, evaluate, observe, reset

__all__ = ["Walker2d"]


class Walker2d(Task):
    """A torso on two legs walks in a plane, along x. Same task as Gymnasium's ``Walker2d-v5``.

    Actions: torques between -1 and 1 (the motors' gear makes 100 N m of them).

    === ============ ====================
    Num Hinge        Joint
    === ============ ====================
    0   thigh        ``thigh_joint``
    1   leg          ``leg_joint``
    2   foot         ``foot_joint``
    3   left thigh   ``thigh_left_joint``
    4   left leg     ``leg_left_joint``
    5   left foot    ``foot_left_joint``
    === ============ ====================

    Observations: 17 numbers.

    ====== ====================================================== ======
    Num    Value                                                  Unit
    ====== ====================================================== ======
    0      height of the torso (``rootz``)                        m
    1      pitch of the torso (``rooty``)                         rad
    2-7    angles of the six hinges, in the order of the actions  rad
    8, 9   velocity of the torso along x and z, clipped to 10     m/s
    10     angular velocity of the torso, clipped to 10           rad/s
    11-16  velocities of the six hinges, clipped to 10            rad/s
    ====== ====================================================== ======

    With ``exclude_current_positions_from_observation=False`` the torso's x comes first.

    Reward: ``reward_forward + reward_survive + reward_ctrl``, each in ``info``:

    - ``reward_forward``: ``forward_reward_weight`` times the mean x velocity over the step;
    - ``reward_survive``: ``healthy_reward`` where healthy;
    - ``reward_ctrl``: minus ``ctrl_cost_weight`` times the squared norm of the action.

    Termination: where unhealthy, if ``terminate_when_unhealthy``. Healthy is a torso with its height in the open
    ``healthy_z_range`` and its pitch in the open ``healthy_angle_range``. Truncation after 1,000 steps.

    Start: the model's initial state plus uniform noise of size ``reset_noise_scale``.

    Args:
        xml_file: MJCF text, a path, or a file of Gymnasium's.
        frame_skip: Physics steps in a step of the environment.
        default_camera_config: Attributes of the camera that renders.
        forward_reward_weight: Weight of the forward reward.
        ctrl_cost_weight: Weight of the control cost.
        healthy_reward: Reward of a step that ends healthy.
        terminate_when_unhealthy: End the episode of an unhealthy robot.
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
        xml_file: str = "walker2d_v5.xml",
        frame_skip: int = 4,
        default_camera_config: dict | None = None,
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 1e-3,
        healthy_reward: float = 1.0,
        terminate_when_unhealthy: bool = True,
        healthy_z_range: tuple[float, float] = (0.8, 2.0),
        healthy_angle_range: tuple[float, float] = (-1.0, 1.0),
        reset_noise_scale: float = 5e-3,
        exclude_current_positions_from_observation: bool = True,
    ):
        camera = {"trackbodyid": 2, "distance": 4.0, "lookat": (0.0, 0.0, 1.15), "elevation": -20.0}
        camera = camera if default_camera_config is None else default_camera_config
        super().__init__(xml_file, frame_skip, reset_noise_scale=reset_noise_scale, camera=camera)
        p = self.parameters = HopperParameters()
        p.forward_reward_weight = forward_reward_weight
        p.ctrl_cost_weight = ctrl_cost_weight
        p.healthy_reward = healthy_reward
        p.terminate_when_unhealthy = terminate_when_unhealthy
        p.healthy_z_min, p.healthy_z_max = healthy_z_range
        p.healthy_angle_min, p.healthy_angle_max = healthy_angle_range
        # The other numbers may be anything, Hopper's range of them is the whole line.
        p.healthy_state_min, p.healthy_state_max = float("-inf"), float("inf")
        p.reset_noise_scale = reset_noise_scale
        p.skip = int(exclude_current_positions_from_observation)
        self.num_obs -= p.skip
