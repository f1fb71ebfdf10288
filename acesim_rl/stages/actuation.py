"""Motors on joints (mj_fwdActuation)."""

import warp as wp

from acesim_rl.model_data import CTRL_LIMITED, FORCE_LIMITED, ModelData
from acesim_rl.stage import stage
from acesim_rl.state import StateData

__all__ = ["actuation"]


@stage("dof")
def actuation(m: ModelData, d: StateData, i: int, w: int):
    """Force of the motors that act on dof i: gain times clamped control, clamped, times gear."""
    total = float(0.0)
    for k in range(m.dof_actuator_start[i], m.dof_actuator_start[i + 1]):
        u = m.dof_actuator[k]
        ctrl = d.ctrl[u, w]
        if (m.actuator_flags[u] & CTRL_LIMITED) != 0:
            ctrl = wp.clamp(ctrl, m.actuator_ctrlrange[u, w][0], m.actuator_ctrlrange[u, w][1])
        force = m.actuator_gainprm[u, w][0] * ctrl
        if (m.actuator_flags[u] & FORCE_LIMITED) != 0:
            force = wp.clamp(force, m.actuator_forcerange[u, w][0], m.actuator_forcerange[u, w][1])
        gear = m.actuator_gear[u, w]
        d.actuator_force[u, w] = force
        total += gear[m.dof_actuator_gear[k]] * force
    d.qfrc_actuator[i, w] = total
