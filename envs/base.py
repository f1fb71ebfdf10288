"""What every task shares: its memory on the device, its Python side, and device functions to write tasks with."""

from pathlib import Path

import gymnasium
import numpy as np
import warp as wp

from acesim_rl.envs.draws import standard_normal, uniform
from acesim_rl.model import Model, ModelData
from acesim_rl.stages import cdof, cinert, com_vel, kinematics, subtree_com, tendon
from acesim_rl.state import StateData

__all__ = ["Task", "TaskData", "body_position", "conclude", "control_cost", "observe_joints", "refresh", "restart"]

_FREE, _BALL, _SLIDE = 0, 1, 2  # mjtJoint
_kinematics, _subtree_com, _cinert = kinematics.function, subtree_com.function, cinert.function
_cdof, _com_vel, _tendon = cdof.function, com_vel.function, tendon.function


@wp.struct
class TaskData:
    """A task's memory on the device; the last axis is the world.

    A step has two instances that share everything but ``obs`` and ``place``: one for the state in which the step
    ended, one for the state in which the next step begins (that of a new episode where one ended).
    """

    obs: wp.array2d[float]
    """Observation, shape [num_obs, nworld]; in memory one row a world."""
    place: wp.array2d[float]
    """Values that ``info`` has after a reset too, shape [len(task.place), nworld]."""
    terms: wp.array2d[float]
    """Values that ``info`` has after a step only, shape [len(task.terms), nworld]."""
    reward: wp.array[float]
    """Reward of the step, shape [nworld]."""
    terminated: wp.array[wp.bool]
    """The step ended in a terminal state, shape [nworld]."""
    truncated: wp.array[wp.bool]
    """The step reached the time limit, shape [nworld]."""
    done: wp.array[wp.bool]
    """Worlds that the reset stage resets, shape [nworld]."""
    bad_state: wp.array[wp.bool]
    """The engine reset the world during the step, shape [nworld]; see ``conclude``."""
    was_reset: wp.array2d[int]
    """The state's own: 1 where the engine has reset the world since the last step, shape [1, nworld]."""
    before: wp.array2d[float]
    """What the task keeps from before the step, shape [task.num_before, nworld]."""
    elapsed: wp.array[int]
    """Steps since the reset, shape [nworld]."""
    episode: wp.array[int]
    """Episodes begun since seeding, shape [nworld]."""
    seed: wp.array[wp.int64]
    """Seed of each world, shape [nworld]."""
    max_episode_steps: int
    """Time limit [steps]."""
    dt: float
    """Duration of an environment step [s]."""


@wp.func
def observe_joints(m: ModelData, d: StateData, t: TaskData, skip: int, bound: float, w: int) -> int:
    """Observe ``qpos[skip:]``, then ``qvel`` clipped to ``[-bound, bound]``; returns the next free index."""
    for i in range(skip, m.nq):
        t.obs[i - skip, w] = d.qpos[i, w]
    for i in range(m.nv):
        t.obs[m.nq - skip + i, w] = wp.clamp(d.qvel[i, w], -bound, bound)
    return m.nq - skip + m.nv


@wp.func
def control_cost(m: ModelData, d: StateData, weight: float, w: int) -> float:
    """``weight`` times the squared norm of the action."""
    total = float(0.0)
    for i in range(m.nu):
        total += d.ctrl[i, w] * d.ctrl[i, w]
    return weight * total


@wp.func
def conclude(t: TaskData, reward: float, terminated: bool, w: int):
    """Store how a step ended, and whether the episode did: the last line of a task's ``evaluate``.

    Where the engine has reset the world, because its state was not finite or too large, the episode ends: terminated,
    and with reward 0, as what the task makes of the jump means nothing.
    """
    elapsed = t.elapsed[w] + 1
    truncated = elapsed >= t.max_episode_steps
    bad_state = t.was_reset[0, w] != 0
    t.was_reset[0, w] = 0
    t.bad_state[w] = bad_state
    t.elapsed[w] = elapsed
    t.reward[w] = wp.where(bad_state, 0.0, reward)
    t.terminated[w] = terminated or bad_state
    t.truncated[w] = truncated
    t.done[w] = terminated or bad_state or truncated


@wp.func
def restart(m: ModelData, d: StateData, t: TaskData, noise: float, normal: bool, w: int):
    """Begin an episode: the model's initial state plus noise, uniform in ``qpos``, uniform or normal in ``qvel``."""
    seed = t.seed[w]
    episode = t.episode[w]
    for i in range(m.nq):
        d.qpos[i, w] = m.qpos0[i, w] + noise * (2.0 * uniform(seed, w, episode, i) - 1.0)
    for i in range(m.nv):
        if normal:
            d.qvel[i, w] = noise * standard_normal(seed, w, episode, m.nq + 2 * i)
        else:
            d.qvel[i, w] = noise * (2.0 * uniform(seed, w, episode, m.nq + 2 * i) - 1.0)
        d.qacc[i, w] = 0.0  # the warm start
    for i in range(m.nu):
        d.ctrl[i, w] = 0.0
    for i in range(m.na):
        d.act[i, w] = 0.0
    d.time[0, w] = 0.0
    d.was_reset[0, w] = 0
    t.episode[w] = episode + 1
    t.elapsed[w] = 0


@wp.func
def body_position(m: ModelData, d: StateData, body: int, w: int) -> wp.vec3:
    """Position of a body's frame from ``qpos`` (and mocap) alone: mj_kinematics for one body of one world.

    It walks up the tree and writes nothing: for values that are to be newer than ``xpos`` is after a step.
    """
    p = wp.vec3(0.0, 0.0, 0.0)
    b = body
    while b > 0:
        last = m.body_jntadr[b] + m.body_jntnum[b] - 1
        floating = bool(False)
        for n in range(m.body_jntnum[b]):
            j = last - n
            a = m.jnt_qposadr[j]
            axis = m.jnt_axis[j, w]
            anchor = m.jnt_pos[j, w]
            kind = m.jnt_type[j]
            if kind == _FREE:
                turn = wp.normalize(wp.quat(d.qpos[a + 4, w], d.qpos[a + 5, w], d.qpos[a + 6, w], d.qpos[a + 3, w]))
                p = wp.vec3(d.qpos[a, w], d.qpos[a + 1, w], d.qpos[a + 2, w]) + wp.quat_rotate(turn, p)
                floating = True
            elif kind == _BALL:
                turn = wp.normalize(wp.quat(d.qpos[a + 1, w], d.qpos[a + 2, w], d.qpos[a + 3, w], d.qpos[a, w]))
                p = anchor + wp.quat_rotate(turn, p - anchor)
            elif kind == _SLIDE:
                p += axis * (d.qpos[a, w] - m.qpos0[a, w])
            else:
                p = anchor + wp.quat_rotate(wp.quat_from_axis_angle(axis, d.qpos[a, w] - m.qpos0[a, w]), p - anchor)
        mocap = m.body_mocapid[b]
        if mocap >= 0:
            p = d.mocap_pos[mocap, w] + wp.quat_rotate(wp.normalize(d.mocap_quat[mocap, w]), p)
        elif not floating:
            p = m.body_pos[b, w] + wp.quat_rotate(m.body_quat[b, w], p)
        b = m.body_parentid[b]
    return p


@wp.func
def refresh(m: ModelData, d: StateData, w: int):
    """What is derived from positions and velocities of one world, up to ``cinert``, ``cvel`` and the tendons."""
    for b in range(1, m.nbody):
        _kinematics(m, d, b, w)
    for i in range(m.tree_root.shape[0]):
        _subtree_com(m, d, i, w)
    for b in range(1, m.nbody):
        _cinert(m, d, b, w)
    for j in range(m.njnt):
        _cdof(m, d, j, w)
    for b in range(1, m.nbody):
        _com_vel(m, d, b, w)
    for i in range(m.ntendon):
        _tendon(m, d, i, w)


class Task:
    """Base of the tasks: a robot, what is observed, what is rewarded, and how episodes begin and end.

    A subclass names its stage functions (each ``@stage("world")`` with the arguments
    ``m: ModelData, d: StateData, t: TaskData, p: <its parameters>, w: int``) in class attributes:

    - ``observe`` writes ``t.obs`` and ``t.place``;
    - ``evaluate`` writes ``t.terms`` and calls ``conclude``;
    - ``reset`` begins an episode where ``t.done`` (``restart`` does it with Gymnasium's noise), and refreshes what
      ``observe`` and ``before`` read of the values derived from the state: these are stale until the next step;
    - ``before`` (optional) runs ahead of the physics and keeps what ``evaluate`` compares with, in ``t.before``.

    The constructor sets ``num_obs`` and ``parameters``: a ``wp.struct`` instance of numbers that the stages read.
    """

    observe = None
    evaluate = None
    reset = None
    before = None
    place: tuple[str, ...] = ()
    """Names of the info values that a reset gives too."""
    terms: tuple[str, ...] = ()
    """Names of the info values that only a step gives."""
    vectors: dict[str, int] = {}  # noqa: RUF012
    """Info values that are several numbers, one row of ``t.place`` or ``t.terms`` each: how many."""
    num_before = 1
    """Numbers a world that ``before`` keeps."""
    normal_velocity = False
    """Reset noise in the velocity: normal, or else uniform."""
    contact_forces = False
    """The task reads ``cfrc_ext``: mj_rnePostConstraint runs at the end of a step."""
    forward_on_reset = False
    """The first observation reads values that ``reset`` does not refresh: a forward pass of all worlds after it."""
    carried: tuple[str, ...] = ("qpos", "qvel", "qacc", "time")
    """Fields of the state that the next step begins with (``qacc`` is the solver's warm start)."""
    max_episode_steps = 1000

    def __init__(
        self,
        model: str | Path | Model,
        frame_skip: int,
        *,
        reset_noise_scale: float = 0.0,
        camera: dict | None = None,
    ):
        if not isinstance(frame_skip, int | np.integer) or frame_skip < 1:
            raise ValueError(f"frame_skip is {frame_skip!r}; expected a whole number of physics steps, at least 1")
        self.model = model if isinstance(model, Model) else Model.from_mjcf(find_mjcf(model))
        self.mj = self.model.mj
        self.frame_skip = frame_skip
        self.reset_noise_scale = reset_noise_scale
        self.camera = camera
        self.num_obs = self.mj.nq + self.mj.nv
        self.parameters = None

    @property
    def dt(self) -> float:
        """Duration of an environment step [s]."""
        return self.mj.opt.timestep * self.frame_skip

    @property
    def action_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lowest and highest action, float32, shape [nu] each."""
        low, high = self.mj.actuator_ctrlrange.astype(np.float32).T
        limited = self.mj.actuator_ctrllimited.astype(bool)
        return np.where(limited, low, -np.inf).astype(np.float32), np.where(limited, high, np.inf).astype(np.float32)

    def initial_state(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """State that begins an episode, drawn as Gymnasium draws it: qpos [nq], then qvel [nv]."""
        scale = self.reset_noise_scale
        qpos = self.mj.qpos0 + rng.uniform(low=-scale, high=scale, size=self.mj.nq)
        if self.normal_velocity:
            return qpos, scale * rng.standard_normal(self.mj.nv)
        return qpos, rng.uniform(low=-scale, high=scale, size=self.mj.nv)


def find_mjcf(name: str | Path) -> str:
    """MJCF text or path from what ``xml_file`` may be: XML, a path, or the name of one of Gymnasium's files."""
    text = str(name)
    if text.lstrip().startswith("<"):
        return text
    own = Path(text).expanduser()
    homes = (Path(__file__).parent, Path(gymnasium.__file__).parent / "envs" / "mujoco")
    places = dict.fromkeys((own, *(home / "assets" / text for home in homes)))
    for path in places:
        if path.is_file():
            return str(path)
    raise FileNotFoundError(f"no MJCF file {text!r}: looked for {', '.join(map(str, places))}")
