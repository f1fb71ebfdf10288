"""Grasp: a claw that learns to close on a ball and to carry it to a target."""

import numpy as np
import warp as wp

from acesim_rl.envs.base import Task, TaskData, conclude, control_cost, restart
from acesim_rl.envs.draws import uniform
from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.state import StateData

__all__ = ["Grasp"]

HAND, BALL, TARGET = 0, 6, 13  # where they begin in qpos
HAND_JOINTS = 6
BALL_VELOCITY = 6  # in qvel
CENTRE = wp.constant(wp.vec3(0.0, 0.0, -0.09))  # of the closed fingers, from the hand [m]
UNDER = wp.constant(wp.vec3(0.0, 0.0, -0.02))  # where the finger tips should be, from the ball's centre [m]
START = 0.12  # m, farthest that the ball starts from the middle, along x and along y
REACH = 0.15  # the same of the target
LOWEST, HIGHEST = 0.2, 0.4  # m, heights of targets


@wp.struct
class GraspParameters:
    reach_reward_weight: float
    close_reward_weight: float
    carry_reward_weight: float
    hit_reward: float
    target_radius: float
    ctrl_cost_weight: float
    workspace: float
    reset_noise_scale: float
    ball_radius: float
    finger: int  # the first of three
    ball: int
    tip: wp.vec3  # in the frame of a finger


@wp.func
def position(d: StateData, first: int, w: int) -> wp.vec3:
    return wp.vec3(d.qpos[first, w], d.qpos[first + 1, w], d.qpos[first + 2, w])


@wp.func
def closeness(distance: float) -> float:
    """1 at no distance, a half at 11 cm, 0 far away."""
    return 1.0 - wp.tanh(5.0 * distance)


@stage("world")
def observe(m: ModelData, d: StateData, t: TaskData, p: GraspParameters, w: int):
    hand = position(d, HAND, w)
    ball = position(d, BALL, w)
    to_ball = ball - hand - CENTRE
    to_target = position(d, TARGET, w) - ball
    for i in range(HAND_JOINTS):
        t.obs[i, w] = d.qpos[i, w]
        t.obs[HAND_JOINTS + 6 + i, w] = d.qvel[i, w]
    for k in range(3):
        t.obs[HAND_JOINTS + k, w] = to_ball[k]
        t.obs[HAND_JOINTS + 3 + k, w] = to_target[k]
        t.obs[2 * HAND_JOINTS + 6 + k, w] = d.qvel[BALL_VELOCITY + k, w]
    t.place[0, w] = wp.length(to_ball)
    t.place[1, w] = wp.length(to_target)


@stage("world")
def evaluate(m: ModelData, d: StateData, t: TaskData, p: GraspParameters, w: int):
    ball = position(d, BALL, w)
    to_ball = wp.length(ball - position(d, HAND, w) - CENTRE)
    to_target = wp.length(position(d, TARGET, w) - ball)
    close = float(0.0)
    for k in range(3):
        b = p.finger + k
        tip = d.xpos[b, w] + wp.quat_rotate(d.xquat[b, w], p.tip)
        close += closeness(wp.length(tip - d.xpos[p.ball, w] - UNDER)) / 3.0
    reach = p.reach_reward_weight * closeness(to_ball)
    close = p.close_reward_weight * close
    lifted = wp.clamp((ball[2] - p.ball_radius) / 0.03, 0.0, 1.0)
    carry = p.carry_reward_weight * lifted * closeness(to_target)
    hit = wp.where(to_target < p.target_radius, p.hit_reward, 0.0)
    ctrl_cost = control_cost(m, d, p.ctrl_cost_weight, w)
    t.terms[0, w] = reach
    t.terms[1, w] = close
    t.terms[2, w] = carry
    t.terms[3, w] = hit
    t.terms[4, w] = -ctrl_cost
    lost = not (wp.abs(ball[0]) < p.workspace and wp.abs(ball[1]) < p.workspace)
    conclude(t, reach + close + carry + hit - ctrl_cost, lost, w)


@wp.func
def draw(t: TaskData, index: int, low: float, high: float, w: int) -> float:
    return low + (high - low) * uniform(t.seed[w], w, t.episode[w], index)


@stage("world")
def reset(m: ModelData, d: StateData, t: TaskData, p: GraspParameters, w: int):
    if t.done[w]:
        first = m.nq + 2 * m.nv
        x = draw(t, first, -START, START, w)
        y = draw(t, first + 1, -START, START, w)
        target_x = draw(t, first + 2, -REACH, REACH, w)
        target_y = draw(t, first + 3, -REACH, REACH, w)
        target_z = draw(t, first + 4, LOWEST, HIGHEST, w)
        restart(m, d, t, p.reset_noise_scale, False, w)
        for i in range(HAND_JOINTS, m.nq):
            d.qpos[i, w] = m.qpos0[i, w]
        for i in range(HAND_JOINTS, m.nv):
            d.qvel[i, w] = 0.0
        d.qpos[BALL, w] = x
        d.qpos[BALL + 1, w] = y
        d.qpos[TARGET, w] = target_x
        d.qpos[TARGET + 1, w] = target_y
        d.qpos[TARGET + 2, w] = target_z


class Grasp(Task):
    """A claw of three fingers goes to a ball on the floor, closes on it and carries it to a target in the air.

    Our own task (``acesim_rl/Grasp-v0``), after the workload of that name in Brax.

    Actions: forces and torques between -1 and 1, times the motors' gear.

    ======= ============================ ================================ ==========
    Num     Motor                        Joint                            Gear
    ======= ============================ ================================ ==========
    0-2     hand along x, y, z           ``hand_x``, ``hand_y``, ``_z``   10 N
    3-5     three fingers                ``finger1``, ``2``, ``3``        0.5 N m
    ======= ============================ ================================ ==========

    Observations: 21 numbers.

    ======= ====================================================== ==========
    Num     Value                                                  Unit
    ======= ====================================================== ==========
    0-2     position of the hand                                   m
    3-5     angles of the fingers; positive ones close the claw    rad
    6-8     from the claw's centre (9 cm below the hand) to the    m
            ball
    9-11    from the ball to the target                            m
    12-14   velocity of the hand                                   m/s
    15-17   velocities of the fingers                              rad/s
    18-20   velocity of the ball                                   m/s
    ======= ====================================================== ==========

    Reward: ``reward_reach + reward_close + reward_carry + reward_hit + reward_ctrl``, each in ``info``, with
    ``near(x) = 1 - tanh(5 x)`` of a distance in metres:

    - ``reward_reach``: ``reach_reward_weight`` times ``near`` of the claw's centre and the ball's;
    - ``reward_close``: ``close_reward_weight`` times the mean ``near`` of the finger tips and a point 2 cm below the
      ball's centre, where the last force evaluation had them;
    - ``reward_carry``: ``carry_reward_weight`` times ``near`` of ball and target, where the ball is 3 cm or more off
      the floor, and in proportion where it is less;
    - ``reward_hit``: ``hit_reward`` where the ball's centre is within ``target_radius`` of the target;
    - ``reward_ctrl``: minus ``ctrl_cost_weight`` times the squared norm of the action.

    ``info`` has ``ball_distance`` (claw's centre to ball) and ``target_distance`` (ball to target) too.

    Termination: where the ball is ``workspace`` or more from the middle, along x or y. Truncation after 250 steps.

    Start: the hand in its initial position, with uniform noise of size ``reset_noise_scale`` in the positions and
    velocities of its joints; the ball at rest on the floor, up to 0.12 m from the middle along x and y; the target
    up to 0.15 m from it, 0.2 m to 0.4 m high.

    Args:
        xml_file: MJCF text or a path: a robot with the joints and bodies of ``grasp.xml``, in its order.
        frame_skip: Physics steps in a step of the environment.
        default_camera_config: Attributes of the camera that renders.
        reach_reward_weight: Weight of the claw's way to the ball.
        close_reward_weight: Weight of the fingers' way to the ball.
        carry_reward_weight: Weight of the ball's way to the target.
        hit_reward: Reward of a step that ends with the ball at the target.
        target_radius: How close that is [m].
        ctrl_cost_weight: Weight of the control cost.
        workspace: How far the ball may roll [m].
        reset_noise_scale: Size of the noise in the initial state of the hand.
    """

    observe, evaluate, reset = observe, evaluate, reset
    place = ("ball_distance", "target_distance")
    terms = ("reward_reach", "reward_close", "reward_carry", "reward_hit", "reward_ctrl")
    max_episode_steps = 250

    def __init__(
        self,
        xml_file: str = "grasp.xml",
        frame_skip: int = 5,
        default_camera_config: dict | None = None,
        reach_reward_weight: float = 0.5,
        close_reward_weight: float = 0.5,
        carry_reward_weight: float = 4.0,
        hit_reward: float = 2.0,
        target_radius: float = 0.05,
        ctrl_cost_weight: float = 0.001,
        workspace: float = 0.4,
        reset_noise_scale: float = 0.01,
    ):
        camera = {"distance": 1.2, "lookat": (0.0, 0.0, 0.2), "elevation": -20.0}
        camera = camera if default_camera_config is None else default_camera_config
        super().__init__(xml_file, frame_skip, reset_noise_scale=reset_noise_scale, camera=camera)
        p = self.parameters = GraspParameters()
        p.reach_reward_weight = reach_reward_weight
        p.close_reward_weight = close_reward_weight
        p.carry_reward_weight = carry_reward_weight
        p.hit_reward = hit_reward
        p.target_radius = target_radius
        p.ctrl_cost_weight = ctrl_cost_weight
        p.workspace = workspace
        p.reset_noise_scale = reset_noise_scale
        p.ball_radius = float(self.mj.geom("ball").size[0])
        p.finger = self.mj.body("finger1").id
        p.ball = self.mj.body("ball").id
        p.tip = wp.vec3(0.035, 0.0, -0.12)
        self.num_obs = 2 * HAND_JOINTS + 9

    def initial_state(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """State that begins an episode: qpos [nq], then qvel [nv]."""
        qpos, qvel = self.mj.qpos0.copy(), np.zeros(self.mj.nv)
        scale = self.reset_noise_scale
        qpos[:HAND_JOINTS] += rng.uniform(-scale, scale, HAND_JOINTS)
        qvel[:HAND_JOINTS] = rng.uniform(-scale, scale, HAND_JOINTS)
        qpos[BALL : BALL + 2] = rng.uniform(-START, START, 2)
        qpos[TARGET : TARGET + 2] = rng.uniform(-REACH, REACH, 2)
        qpos[TARGET + 2] = rng.uniform(LOWEST, HIGHEST)
        return qpos, qvel
