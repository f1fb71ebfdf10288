"""HumanoidStandup: a robot with arms and legs that lies on its back and learns to stand up."""

from acesim_rl.envs.base import TaskData, conclude, control_cost
from acesim_rl.envs.humanoid import HumanoidParameters, HumanoidTask, impact_cost, observe_humanoid, place_tendons
from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.state import StateData

__all__ = ["HumanoidStandup"]


@stage("world")
def observe(m: ModelData, d: StateData, t: TaskData, p: HumanoidParameters, w: int):
    observe_humanoid(m, d, t, p, w)
    t.place[0, w] = d.qpos[0, w]
    t.place[1, w] = d.qpos[1, w]
    t.place[2, w] = d.qpos[2, w] - m.qpos0[2, w]
    place_tendons(m, d, t, 3, w)


@stage("world")
def evaluate(m: ModelData, d: StateData, t: TaskData, p: HumanoidParameters, w: int):
    up = d.qpos[2, w] / m.timestep[0, w]
    ctrl_cost = control_cost(m, d, p.ctrl_cost_weight, w)
    impact = impact_cost(m, d, p, w)
    t.terms[0, w] = up
    t.terms[1, w] = -ctrl_cost
    t.terms[2, w] = -impact
    conclude(t, up - ctrl_cost - impact + 1.0, False, w)


class HumanoidStandup(HumanoidTask):
    """A robot that lies on its back stands up. Same task as Gymnasium's ``HumanoidStandup-v5``.

    Actions and observations: those of ``Humanoid`` (see its tables), of the same robot lying down.

    Reward: ``reward_linup + reward_quadctrl + reward_impact + 1``, the three in ``info``:

    - ``reward_linup``: the height of the torso at the end of the step, divided by the time step of the physics;
    - ``reward_quadctrl``: minus ``ctrl_cost_weight`` times the squared norm of the action;
    - ``reward_impact``: minus ``impact_cost_weight`` times the squared norm of the contact forces, clipped to
      ``impact_cost_range``.

    ``info`` has ``tendon_length`` and ``tendon_velocity`` of the two tendons between hip and knee, too.

    Termination: never. Truncation after 1,000 steps.

    Start: the model's initial state plus uniform noise of size ``reset_noise_scale``.

    Args:
        xml_file: MJCF text, a path, or a file of Gymnasium's.
        frame_skip: Physics steps in a step of the environment.
        default_camera_config: Attributes of the camera that renders.
        uph_cost_weight: Without effect, as in Gymnasium.
        ctrl_cost_weight: Weight of the control cost.
        impact_cost_weight: Weight of the cost of contact forces.
        impact_cost_range: Bounds that the cost of contact forces is clipped to.
        reset_noise_scale: Size of the noise in the initial state.
        exclude_current_positions_from_observation: Leave out the torso's x and y.
        include_cinert_in_observation: Observe the inertias of the bodies.
        include_cvel_in_observation: Observe the velocities of the bodies.
        include_qfrc_actuator_in_observation: Observe the torques of the motors.
        include_cfrc_ext_in_observation: Observe the contact forces.
    """

    observe, evaluate = observe, evaluate
    place = ("x_position", "y_position", "z_distance_from_origin", "tendon_length", "tendon_velocity")
    terms = ("reward_linup", "reward_quadctrl", "reward_impact")

    def __init__(
        self,
        xml_file: str = "humanoidstandup.xml",
        frame_skip: int = 5,
        default_camera_config: dict | None = None,
        uph_cost_weight: float = 1.0,
        ctrl_cost_weight: float = 0.1,
        impact_cost_weight: float = 0.5e-6,
        impact_cost_range: tuple[float, float] = (float("-inf"), 10.0),
        reset_noise_scale: float = 1e-2,
        exclude_current_positions_from_observation: bool = True,
        include_cinert_in_observation: bool = True,
        include_cvel_in_observation: bool = True,
        include_qfrc_actuator_in_observation: bool = True,
        include_cfrc_ext_in_observation: bool = True,
    ):
        camera = {"trackbodyid": 1, "distance": 4.0, "lookat": (0.0, 0.0, 0.8925), "elevation": -20.0}
        super().__init__(
            xml_file,
            frame_skip,
            camera if default_camera_config is None else default_camera_config,
            ctrl_cost_weight,
            impact_cost_weight,
            impact_cost_range,
            reset_noise_scale,
            exclude_current_positions_from_observation,
            include_cinert_in_observation,
            include_cvel_in_observation,
            include_qfrc_actuator_in_observation,
            include_cfrc_ext_in_observation,
        )
