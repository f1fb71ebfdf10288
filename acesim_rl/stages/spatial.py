"""Spatial algebra about the centre of mass of a body's tree; vectors are (rotation, translation), (torque, force).

Featherstone, Rigid Body Dynamics Algorithms, chapter 2.
"""

import warp as wp

from acesim_rl.arrays import vec10

__all__ = ["cross_force", "cross_motion", "inertia_times", "spatial_inertia"]


@wp.func
def spatial_inertia(mass: float, inertia: wp.vec3, frame: wp.quat, offset: wp.vec3) -> vec10:
    """Inertia about a point, of a body whose centre lies at `offset` from it with principal axes `frame`."""
    R = wp.quat_to_matrix(frame)
    I = R * wp.diag(inertia) * wp.transpose(R)
    I = I + mass * (wp.dot(offset, offset) * wp.identity(n=3, dtype=float) - wp.outer(offset, offset))
    h = mass * offset
    return vec10(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2], h[0], h[1], h[2], mass)


@wp.func
def inertia_times(I: vec10, v: wp.spatial_vector) -> wp.spatial_vector:
    """Momentum (angular, linear) of a motion."""
    a = wp.spatial_top(v)
    l = wp.spatial_bottom(v)
    h = wp.vec3(I[6], I[7], I[8])
    angular = wp.vec3(
        I[0] * a[0] + I[3] * a[1] + I[4] * a[2],
        I[3] * a[0] + I[1] * a[1] + I[5] * a[2],
        I[4] * a[0] + I[5] * a[1] + I[2] * a[2],
    )
    return wp.spatial_vector(angular + wp.cross(h, l), I[9] * l - wp.cross(h, a))


@wp.func
def cross_motion(v: wp.spatial_vector, s: wp.spatial_vector) -> wp.spatial_vector:
    """Rate of change of a motion s that is carried along by the motion v."""
    a = wp.spatial_top(v)
    return wp.spatial_vector(
        wp.cross(a, wp.spatial_top(s)),
        wp.cross(a, wp.spatial_bottom(s)) + wp.cross(wp.spatial_bottom(v), wp.spatial_top(s)),
    )


@wp.func
def cross_force(v: wp.spatial_vector, f: wp.spatial_vector) -> wp.spatial_vector:
    """Rate of change of a force or momentum f that is carried along by the motion v."""
    a = wp.spatial_top(v)
    return wp.spatial_vector(
        wp.cross(a, wp.spatial_top(f)) + wp.cross(wp.spatial_bottom(v), wp.spatial_bottom(f)),
        wp.cross(a, wp.spatial_bottom(f)),
    )
