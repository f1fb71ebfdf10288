"""Impedance and reference acceleration of a constraint row (MuJoCo's modeling chapter, 'Solver parameters')."""

import warp as wp

from acesim_rl.model import ModelData

__all__ = ["impedance", "spring_damper", "vec5"]

vec5 = wp.types.vector(length=5, dtype=float)


@wp.func
def ratio_power(x: float, y: float, power: float) -> float:
    if power == 1.0:  # MuJoCo's default, without the cost of pow
        return x / y
    return wp.pow(x / y, power)


@wp.func
def impedance(solimp: vec5, pos: float) -> float:
    """d(r) of solimp = (dmin, dmax, width, midpoint, power)."""
    low = wp.clamp(solimp[0], 1.0e-4, 0.9999)
    high = wp.clamp(solimp[1], 1.0e-4, 0.9999)
    width = solimp[2]
    if width <= 1.0e-15:
        return 0.5 * (low + high)
    middle = wp.clamp(solimp[3], 1.0e-4, 0.9999)
    power = wp.max(solimp[4], 1.0)
    x = wp.min(wp.abs(pos) / width, 1.0)
    y = x
    if power > 1.0 and x < 1.0:
        if x <= middle:
            y = x * ratio_power(x, middle, power - 1.0)
        else:
            y = 1.0 - (1.0 - x) * ratio_power(1.0 - x, 1.0 - middle, power - 1.0)
    return low + y * (high - low)


@wp.func
def spring_damper(m: ModelData, solref: wp.vec2, solimp: vec5, w: int) -> wp.vec2:
    """Stiffness k and damping b of the reference acceleration -b vel - k d(r) r.

    solref is (time constant, damping ratio), or (-stiffness, -damping) where negative.
    """
    high = wp.clamp(solimp[1], 1.0e-4, 0.9999)
    if solref[0] <= 0.0:
        return wp.vec2(-solref[0] / (high * high), -solref[1] / high)
    time = solref[0]
    if m.refsafe != 0:
        time = wp.max(time, 2.0 * m.timestep[0, w])
    k = 1.0 / wp.max(high * high * time * time * solref[1] * solref[1], 1.0e-15)
    return wp.vec2(k, 2.0 / wp.max(high * time, 1.0e-15))
