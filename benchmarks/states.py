"""States that robots reach under random actions, by MuJoCo in float64: what every comparison starts from."""

from dataclasses import dataclass

import mujoco
import numpy as np

__all__ = ["States", "reached_states"]


@dataclass(frozen=True)
class States:
    """`qpos` [n, nq], `qvel` [n, nv] and `ctrl` [n, nu], float32."""

    qpos: np.ndarray
    qvel: np.ndarray
    ctrl: np.ndarray

    def __len__(self) -> int:
        return len(self.qpos)

    def tiled(self, count: int) -> "States":
        """As many states as asked for, repeating these."""
        index = np.arange(count) % len(self)
        return States(self.qpos[index], self.qvel[index], self.ctrl[index])


def reached_states(mj: mujoco.MjModel, count: int, seed: int = 0) -> States:
    """States after 20 to 150 steps of random actions from a perturbed start, spread over many runs."""
    rng = np.random.default_rng(seed)
    data = mujoco.MjData(mj)
    low, high = mj.actuator_ctrlrange.T
    found = []
    while len(found) < count:
        mujoco.mj_resetData(mj, data)
        mujoco.mj_integratePos(mj, data.qpos, rng.uniform(-0.1, 0.1, mj.nv), 1.0)
        data.qvel[:] = rng.normal(0.0, 0.1, mj.nv)
        for step in range(150):
            if step % 5 == 0:
                data.ctrl[:] = rng.uniform(low, high)
            if step >= 20 and step % 26 == 0:
                found.append((data.qpos.copy(), data.qvel.copy(), data.ctrl.copy()))
            mujoco.mj_step(mj, data)
    columns = zip(*found[:count], strict=True)
    return States(*(np.array(column, dtype=np.float32) for column in columns))
