"""Reacher: a flat arm of two links that learns to touch a target."""

import numpy as np
import warp as wp

from acesim_rl.envs.base import Task, TaskData, body_position, conclude, control_cost, restart
from acesim_rl.envs.draws import uniform
from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.state import StateData

__all__ = ["Reacher"]


@wp.struct
class ReacherParameters:
    reward_dist_weight: float
    reward_control_weight: float
    fingertip: int
    target: int


@stage("world")
def observe(m: ModelData, d: StateData, t: TaskData, p: ReacherParameters, w: int):
    for i in range(2):
        t.obs[i, w] = wp.cos(d.qpos[i, w])
        t.obs[2 + i, w] = wp.sin(d.qpos[i, w])
        t.obs[m.nq + 2 + i, w] = d.qvel[i, w]
        t.obs[m.nq + 4 + i, w] = d.xpos[p.fingertip, w][i] - d.xpos[p.target, w][i]
    for i in range(2, m.nq):
        t.obs[2 + i, w] = d.qpos[i, w]


@stage("world")
def evaluate(m: ModelData, d: StateData, t: TaskData, p: ReacherParameters, w: int):
    distance = p.reward_dist_weight * wp.length(d.xpos[p.fingertip, w] - d.xpos[p.target, w])
    ctrl_cost = control_cost(m, d, p.reward_control_weight, w)
    t.terms[0, w] = -distance
    t.terms[1, w] = -ctrl_cost
    conclude(t, -distance - ctrl_cost, False, w)


@wp.func
def draw_goal(t: TaskData, first: int, w: int) -> wp.vec2:
    """A point in the open disc of radius 0.2 m: draws from a square until one lies in it."""
    goal = wp.vec2(0.2, 0.2)
    index = first
    while wp.length(goal) >= 0.2:
        x = uniform(t.seed[w], w, t.episode[w], index)
        y = uniform(t.seed[w], w, t.episode[w], index + 1)
        goal = wp.vec2(0.4 * x - 0.2, 0.4 * y - 0.2)
        index += 2
    return goal


@stage("world")
def reset(m: ModelData, d: StateData, t: TaskData, p: ReacherParameters, w: int):
    if t.done[w]:
        goal = draw_goal(t, m.nq + 2 * m.nv, w)
        restart(m, d, t, 0.1, False, w)
        for i in range(2):
            d.qpos[m.nq - 2 + i, w] = goal[i]
        for i in range(m.nv):
            d.qvel[i, w] = wp.where(i < m.nv - 2, 0.05 * d.qvel[i, w], 0.0)
        d.xpos[p.fingertip, w] = body_position(m, d, p.fingertip, w)
        d.xpos[p.target, w] = body_position(m, d, p.target, w)


class Reacher(Task):
    """An arm of two links in a plane moves its tip to a target. Same task as Gymnasium's ``Reacher-v5``.

    Actions: torques at the two hinges, between -1 and 1 (the motors' gear makes 200 N m of them).

    === ============================ ==========
    Num Hinge                        Joint
    === ============================ ==========
    0   shoulder, at the root        ``joint0``
    1   elbow, between the links     ``joint1``
    === ============================ ==========

    Observations: 10 numbers.

    ====== ================================================ ======
    Num    Value                                            Unit
    ====== ================================================ ======
    0, 1   cosines of the two angles                        1
    2, 3   sines of the two angles                          1
    4, 5   x and y of the target                            m
    6, 7   velocities of the two hinges                     rad/s
    8, 9   x and y from the target to the tip               m
    ====== ================================================ ======

    Reward: ``reward_dist + reward_ctrl``, each in ``info``:

    - ``reward_dist``: minus ``reward_dist_weight`` times the distance of tip and target. As in Gymnasium the positions
      are those of the last force evaluation (the last Runge-Kutta substage), here and in the observation;
    - ``reward_ctrl``: minus ``reward_control_weight`` times the squared norm of the action.

    Termination: never. Truncation after 50 steps.

    Start: the model's initial state, plus uniform noise of up to 0.1 rad in the angles and 0.005 rad/s in their
    velocities; the target uniformly in a disc of radius 0.2 m around the root, at rest.

    Args:
        xml_file: MJCF text, a path, or a file of Gymnasium's; it needs bodies ``fingertip`` and ``target``.
        frame_skip: Physics steps in a step of the environment.
        default_camera_config: Attributes of the camera that renders.
        reward_dist_weight: Weight of the distance.
        reward_control_weight: Weight of the control cost.
    """

    observe, evaluate, reset = observe, evaluate, reset
    terms = ("reward_dist", "reward_ctrl")
    max_episode_steps = 50

    def __init__(
        self,
        xml_file: str = "reacher.xml",
        frame_skip: int = 2,
        default_camera_config: dict | None = None,
        reward_dist_weight: float = 1.0,
        reward_control_weight: float = 1.0,
    ):
        camera = {"trackbodyid": 0} if default_camera_config is None else default_camera_config
        super().__init__(xml_file, frame_skip, camera=camera)
        p = self.parameters = ReacherParameters()
        p.reward_dist_weight = reward_dist_weight
        p.reward_control_weight = reward_control_weight
        p.fingertip = self.mj.body("fingertip").id
        p.target = self.mj.body("target").id
        self.num_obs = self.mj.nq + 6

    def initial_state(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """State that begins an episode, drawn as Gymnasium draws it: qpos [nq], then qvel [nv]."""
        qpos = self.mj.qpos0 + rng.uniform(low=-0.1, high=0.1, size=self.mj.nq)
        goal = np.full(2, np.inf)
        while np.linalg.norm(goal) >= 0.2:
            goal = rng.uniform(low=-0.2, high=0.2, size=2)
        qpos[-2:] = goal
        qvel = rng.uniform(low=-0.005, high=0.005, size=self.mj.nv)
        qvel[-2:] = 0.0
        return qpos, qvel
