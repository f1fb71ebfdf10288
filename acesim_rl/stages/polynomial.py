"""Springs and dampers whose stiffness and damping are polynomials: `stiffness='k0 k1 k2'`, `damping='c0 c1 c2'`.

The force of a spring stretched by x is -(k0 + k1 x + k2 x^2) x; that of a damper at speed v, -(c0 + c1 |v| + c2 v^2) v.
"""

import warp as wp

from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.stages.joints import BALL, FREE, get_quat, rotation_vector
from acesim_rl.state import StateData

__all__ = ["higher", "higher_energy", "higher_slope", "polynomial_passive"]


@wp.func
def higher(poly: wp.vec2, x: float) -> float:
    """What the higher terms add to the stiffness or damping."""
    return poly[0] * x + poly[1] * x * x


@wp.func
def higher_slope(poly: wp.vec2, x: float) -> float:
    """What they add to the derivative of the force."""
    return 2.0 * poly[0] * x + 3.0 * poly[1] * x * x


@wp.func
def higher_energy(poly: wp.vec2, x: float) -> float:
    """What they add to the energy of a spring."""
    return x * x * x * (poly[0] / 3.0 + 0.25 * poly[1] * x)


@stage("joint", module="acesim_rl.passive")
def polynomial_passive(m: ModelData, d: StateData, j: int, w: int):
    """What the higher terms add to the joint's passive force."""
    poly = m.jnt_stiffnesspoly[j, w]
    dof = m.jnt_dofadr[j]
    adr = m.jnt_qposadr[j]
    kind = m.jnt_type[j]
    stop = dof + 1
    if kind == FREE or kind == BALL:
        first = dof
        if kind == FREE:
            shift = wp.vec3(0.0, 0.0, 0.0)
            for k in range(wp.static(3)):
                shift[k] = d.qpos[adr + k, w] - m.qpos_spring[adr + k, w]
            stiffness = higher(poly, wp.length(shift))
            for k in range(wp.static(3)):
                d.qfrc_passive[dof + k, w] = d.qfrc_passive[dof + k, w] - stiffness * shift[k]
            first = dof + 3
            adr = adr + 3
        rest = get_quat(m.qpos_spring, adr, w)
        turn = rotation_vector(wp.quat_inverse(rest) * wp.normalize(get_quat(d.qpos, adr, w)))
        turn = higher(poly, wp.length(turn)) * turn
        for k in range(wp.static(3)):
            d.qfrc_passive[first + k, w] = d.qfrc_passive[first + k, w] - turn[k]
        stop = first + 3
    else:
        stretch = d.qpos[adr, w] - m.qpos_spring[adr, w]
        d.qfrc_passive[dof, w] = d.qfrc_passive[dof, w] - higher(poly, stretch) * stretch
    for k in range(dof, stop):
        vel = d.qvel[k, w]
        d.qfrc_passive[k, w] = d.qfrc_passive[k, w] - higher(m.dof_dampingpoly[k, w], wp.abs(vel)) * vel
