"""Pusher: an arm that learns to push a cylinder to a goal."""

import numpy as np
import warp as wp

from acesim_rl.envs.base import Task, TaskData, body_position, conclude, control_cost, restart
from acesim_rl.envs.draws import uniform
from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.state import StateData

__all__ = ["Pusher"]

ARM_JOINTS = 7
CLOSEST = 0.17  # m, of the object to the goal at the start


@wp.struct
class PusherParameters:
    reward_near_weight: float
    reward_dist_weight: float
    reward_control_weight: float
    tip: int
    object: int
    goal: int


@wp.func
def observe_body(d: StateData, t: TaskData, b: int, first: int, w: int):
    for k in range(3):
        t.obs[first + k, w] = d.xpos[b, w][k]


@stage("world")
def observe(m: ModelData, d: StateData, t: TaskData, p: PusherParameters, w: int):
    for i in range(ARM_JOINTS):
        t.obs[i, w] = d.qpos[i, w]
        t.obs[ARM_JOINTS + i, w] = d.qvel[i, w]
    observe_body(d, t, p.tip, 2 * ARM_JOINTS, w)
    observe_body(d, t, p.object, 2 * ARM_JOINTS + 3, w)
    observe_body(d, t, p.goal, 2 * ARM_JOINTS + 6, w)


@stage("world")
def evaluate(m: ModelData, d: StateData, t: TaskData, p: PusherParameters, w: int):
    near = p.reward_near_weight * wp.length(d.xpos[p.object, w] - d.xpos[p.tip, w])
    distance = p.reward_dist_weight * wp.length(d.xpos[p.object, w] - d.xpos[p.goal, w])
    ctrl_cost = control_cost(m, d, p.reward_control_weight, w)
    t.terms[0, w] = -distance
    t.terms[1, w] = -ctrl_cost
    t.terms[2, w] = -near
    conclude(t, -distance - ctrl_cost - near, False, w)


@wp.func
def draw_object(t: TaskData, first: int, w: int) -> wp.vec2:
    """A point of the table that is not too close to the goal, by the goal's coordinates."""
    place = wp.vec2(0.0, 0.0)
    index = first
    while wp.length(place) <= CLOSEST:
        x = uniform(t.seed[w], w, t.episode[w], index)
        y = uniform(t.seed[w], w, t.episode[w], index + 1)
        place = wp.vec2(0.3 * x - 0.3, 0.4 * y - 0.2)
        index += 2
    return place


@stage("world")
def reset(m: ModelData, d: StateData, t: TaskData, p: PusherParameters, w: int):
    if t.done[w]:
        place = draw_object(t, m.nq + 2 * m.nv, w)
        restart(m, d, t, 0.005, False, w)
        for i in range(m.nq):
            d.qpos[i, w] = m.qpos0[i, w]
        for i in range(2):
            d.qpos[m.nq - 4 + i, w] = place[i]
            d.qpos[m.nq - 2 + i, w] = 0.0
        for i in range(m.nv - 4, m.nv):
            d.qvel[i, w] = 0.0
        d.xpos[p.tip, w] = body_position(m, d, p.tip, w)
        d.xpos[p.object, w] = body_position(m, d, p.object, w)
        d.xpos[p.goal, w] = body_position(m, d, p.goal, w)


class Pusher(Task):
    """An arm of seven hinges pushes a cylinder over a table to a goal. Same task as Gymnasium's ``Pusher-v5``.

    Actions: torques at the seven hinges, between -2 and 2 N m.

    === ================= ==========================
    Num Hinge             Joint
    === ================= ==========================
    0   shoulder pan      ``r_shoulder_pan_joint``
    1   shoulder lift     ``r_shoulder_lift_joint``
    2   upper arm roll    ``r_upper_arm_roll_joint``
    3   elbow flex        ``r_elbow_flex_joint``
    4   forearm roll      ``r_forearm_roll_joint``
    5   wrist flex        ``r_wrist_flex_joint``
    6   wrist roll        ``r_wrist_roll_joint``
    === ================= ==========================

    Observations: 23 numbers.

    ======= =============================================== ======
    Num     Value                                           Unit
    ======= =============================================== ======
    0-6     angles of the seven hinges                      rad
    7-13    velocities of the seven hinges                  rad/s
    14-16   position of the hand (``tips_arm``)             m
    17-19   position of the cylinder (``object``)           m
    20-22   position of the goal (``goal``)                 m
    ======= =============================================== ======

    Reward: ``reward_dist + reward_ctrl + reward_near``, each in ``info``. As in Gymnasium the positions are those of
    the last force evaluation (the start of the last physics step), here and in the observation:

    - ``reward_dist``: minus ``reward_dist_weight`` times the distance of cylinder and goal;
    - ``reward_ctrl``: minus ``reward_control_weight`` times the squared norm of the action;
    - ``reward_near``: minus ``reward_near_weight`` times the distance of cylinder and hand.

    Termination: never. Truncation after 100 steps.

    Start: the arm in the model's initial position, with velocities uniform up to 0.005 rad/s; the cylinder at rest,
    uniformly in a rectangle of 0.3 m by 0.4 m beside the goal, more than 0.17 m from it.

    Args:
        xml_file: MJCF text, a path, or a file of Gymnasium's; it needs bodies ``tips_arm``, ``object`` and ``goal``.
        frame_skip: Physics steps in a step of the environment.
        default_camera_config: Attributes of the camera that renders.
        reward_near_weight: Weight of the distance of cylinder and hand.
        reward_dist_weight: Weight of the distance of cylinder and goal.
        reward_control_weight: Weight of the control cost.
    """

    observe, evaluate, reset = observe, evaluate, reset
    terms = ("reward_dist", "reward_ctrl", "reward_near")
    max_episode_steps = 100

    def __init__(
        self,
        xml_file: str = "pusher_v5.xml",
        frame_skip: int = 5,
        default_camera_config: dict | None = None,
        reward_near_weight: float = 0.5,
        reward_dist_weight: float = 1.0,
        reward_control_weight: float = 0.1,
    ):
        camera = {"trackbodyid": -1, "distance": 4.0} if default_camera_config is None else default_camera_config
        super().__init__(xml_file, frame_skip, camera=camera)
        p = self.parameters = PusherParameters()
        p.reward_near_weight = reward_near_weight
        p.reward_dist_weight = reward_dist_weight
        p.reward_control_weight = reward_control_weight
        p.tip = self.mj.body("tips_arm").id
        p.object = self.mj.body("object").id
        p.goal = self.mj.body("goal").id
        self.num_obs = 2 * ARM_JOINTS + 9

    def initial_state(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """State that begins an episode, drawn as Gymnasium draws it: qpos [nq], then qvel [nv]."""
        qpos = self.mj.qpos0.copy()
        place = np.zeros(2)
        while np.linalg.norm(place) <= CLOSEST:
            place = np.array([rng.uniform(low=-0.3, high=0.0), rng.uniform(low=-0.2, high=0.2)])
        qpos[-4:-2] = place
        qpos[-2:] = 0.0
        qvel = rng.uniform(low=-0.005, high=0.005, size=self.mj.nv)
        qvel[-4:] = 0.0
        return qpos, qvel
