"""Spring and damper forces of joints (mj_passive)."""

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.stages.joints import BALL, FREE, get_quat, rotation_vector
from acesim_rl.state import StateData

__all__ = ["passive"]


@stage("joint")
def passive(m: ModelData, d: StateData, j: int, w: int):
    """Damping of each dof of joint j; spring towards qpos_spring."""
    dof = m.jnt_dofadr[j]
    adr = m.jnt_qposadr[j]
    stiffness = m.jnt_stiffness[j, w]
    kind = m.jnt_type[j]
    if kind == FREE or kind == BALL:
        if kind == FREE:
            for k in range(wp.static(3)):
                spring = stiffness * (d.qpos[adr + k, w] - m.qpos_spring[adr + k, w])
                d.qfrc_passive[dof + k, w] = -spring - m.dof_damping[dof + k, w] * d.qvel[dof + k, w]
            dof = dof + 3
            adr = adr + 3
        turn = wp.vec3(0.0, 0.0, 0.0)
        if stiffness != 0.0:
            rest = get_quat(m.qpos_spring, adr, w)
            turn = stiffness * rotation_vector(wp.quat_inverse(rest) * wp.normalize(get_quat(d.qpos, adr, w)))
        for k in range(wp.static(3)):
            d.qfrc_passive[dof + k, w] = -turn[k] - m.dof_damping[dof + k, w] * d.qvel[dof + k, w]
    else:
        spring = stiffness * (d.qpos[adr, w] - m.qpos_spring[adr, w])
        d.qfrc_passive[dof, w] = -spring - m.dof_damping[dof, w] * d.qvel[dof, w]
