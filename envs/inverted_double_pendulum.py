"""InvertedDoublePendulum: a cart that learns to balance two poles, one on the other."""

import warp as wp

from acesim_rl.envs.base import Task, TaskData, conclude, restart
from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.state import StateData

__all__ = ["InvertedDoublePendulum"]


@wp.struct
class InvertedDoublePendulumParameters:
    healthy_reward: float
    reset_noise_scale: float
    tip_body: int
    tip_position: wp.vec3  # in the body's frame


@stage("world")
def observe(m: ModelData, d: StateData, t: TaskData, p: InvertedDoublePendulumParameters, w: int):
    poles = m.nq - 1
    t.obs[0, w] = d.qpos[0, w]
    for i in range(poles):
        t.obs[1 + i, w] = wp.sin(d.qpos[1 + i, w])
        t.obs[1 + poles + i, w] = wp.cos(d.qpos[1 + i, w])
    for i in range(m.nv):
        t.obs[1 + 2 * poles + i, w] = wp.clamp(d.qvel[i, w], -10.0, 10.0)
    t.obs[1 + 2 * poles + m.nv, w] = wp.clamp(d.qfrc_constraint[0, w], -10.0, 10.0)


@stage("world")
def evaluate(m: ModelData, d: StateData, t: TaskData, p: InvertedDoublePendulumParameters, w: int):
    tip = d.xpos[p.tip_body, w] + wp.quat_rotate(d.xquat[p.tip_body, w], p.tip_position)
    x = tip[0]
    height = tip[2]
    terminated = height <= 1.0
    v1 = d.qvel[1, w]
    v2 = d.qvel[2, w]
    survive = wp.where(terminated, 0.0, p.healthy_reward)
    distance_penalty = 0.01 * x * x + (height - 2.0) * (height - 2.0)
    velocity_penalty = 1.0e-3 * v1 * v1 + 5.0e-3 * v2 * v2
    t.terms[0, w] = survive
    t.terms[1, w] = -distance_penalty
    t.terms[2, w] = -velocity_penalty
    conclude(t, survive - distance_penalty - velocity_penalty, terminated, w)


@stage("world")
def reset(m: ModelData, d: StateData, t: TaskData, p: InvertedDoublePendulumParameters, w: int):
    if t.done[w]:
        restart(m, d, t, p.reset_noise_scale, True, w)
        d.qfrc_constraint[0, w] = 0.0  # the noise does not reach the rail's ends


class InvertedDoublePendulum(Task):
    """A cart on a rail balances two poles, one on the other. Same task as Gymnasium's ``InvertedDoublePendulum-v5``.

    Actions: the force on the cart along the rail (``slider``), between -1 and 1 (times the motor's gear, 500 N).

    Observations: 9 numbers.

    ===== ==================================================== ======
    Num   Value                                                Unit
    ===== ==================================================== ======
    0     position of the cart                                 m
    1, 2  sines of the angles: cart to pole, pole to pole      1
    3, 4  cosines of these angles                              1
    5     velocity of the cart, clipped to 10                  m/s
    6, 7  angular velocities of the poles, clipped to 10       rad/s
    8     force of the rail's ends on the cart, clipped to 10  N
    ===== ==================================================== ======

    Reward: ``reward_survive + distance_penalty + velocity_penalty``, each in ``info``, with x and height those of the
    tip of the second pole (at the last force evaluation, as in Gymnasium) and v the poles' angular velocities:

    - ``reward_survive``: ``healthy_reward`` for a step that does not end the episode;
    - ``distance_penalty``: -(0.01 x² + (height - 2)²);
    - ``velocity_penalty``: -(0.001 v₁² + 0.005 v₂²).

    Termination: where the tip is at most 1 m high. Truncation after 1,000 steps.

    Start: the model's initial state, plus uniform noise in the positions and normal noise in the velocities, both
    scaled by ``reset_noise_scale``.

    Args:
        xml_file: MJCF text, a path, or a file of Gymnasium's.
        frame_skip: Physics steps in a step of the environment.
        default_camera_config: Attributes of the camera that renders.
        healthy_reward: Reward of a step that ends upright.
        reset_noise_scale: Size of the noise in the initial state.
    """

    observe, evaluate, reset = observe, evaluate, reset
    terms = ("reward_survive", "distance_penalty", "velocity_penalty")
    normal_velocity = True

    def __init__(
        self,
        xml_file: str = "inverted_double_pendulum.xml",
        frame_skip: int = 5,
        default_camera_config: dict | None = None,
        healthy_reward: float = 10.0,
        reset_noise_scale: float = 0.1,
    ):
        camera = {"trackbodyid": 0, "distance": 4.1225, "lookat": (0.0, 0.0, 0.1225)}
        camera = camera if default_camera_config is None else default_camera_config
        super().__init__(xml_file, frame_skip, reset_noise_scale=reset_noise_scale, camera=camera)
        p = self.parameters = InvertedDoublePendulumParameters()
        p.healthy_reward = healthy_reward
        p.reset_noise_scale = reset_noise_scale
        p.tip_body = int(self.mj.site_bodyid[0])
        p.tip_position = wp.vec3(*self.mj.site_pos[0])
        self.num_obs = 1 + 2 * (self.mj.nq - 1) + self.mj.nv + 1
        # The margin of the rail's ends begins at 0.98 m: only larger noise makes a force in the first observation.
        self.forward_on_reset = reset_noise_scale > 0.98
