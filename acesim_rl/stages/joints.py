"""Joint types, and quaternions inside qpos (MuJoCo keeps them w, x, y, z; Warp x, y, z, w)."""

import mujoco
import warp as wp

__all__ = ["BALL", "FREE", "HINGE", "SLIDE", "get_quat", "rotate", "rotation_vector", "set_quat"]

FREE = wp.constant(int(mujoco.mjtJoint.mjJNT_FREE))
BALL = wp.constant(int(mujoco.mjtJoint.mjJNT_BALL))
SLIDE = wp.constant(int(mujoco.mjtJoint.mjJNT_SLIDE))
HINGE = wp.constant(int(mujoco.mjtJoint.mjJNT_HINGE))


@wp.func
def get_quat(qpos: wp.array2d[float], adr: int, w: int) -> wp.quat:
    """Not of unit length if a user wrote it so; zero counts as no rotation."""
    quat = wp.quat(qpos[adr + 1, w], qpos[adr + 2, w], qpos[adr + 3, w], qpos[adr, w])
    if wp.length_sq(quat) < 1.0e-30:
        return wp.quat_identity()
    return quat


@wp.func
def set_quat(qpos: wp.array2d[float], adr: int, w: int, quat: wp.quat):
    qpos[adr, w] = quat[3]
    qpos[adr + 1, w] = quat[0]
    qpos[adr + 2, w] = quat[1]
    qpos[adr + 3, w] = quat[2]


@wp.func
def rotate(quat: wp.quat, v: wp.vec3) -> wp.vec3:
    """v turned. Rounding of a unit quaternion goes in with the sine of the angle only; `wp.quat_rotate` loses more."""
    imaginary = wp.vec3(quat[0], quat[1], quat[2])
    t = 2.0 * wp.cross(imaginary, v)
    return v + quat[3] * t + wp.cross(imaginary, t)


@wp.func
def rotation_vector(quat: wp.quat) -> wp.vec3:
    """Axis times angle of a unit quaternion, angle within [-pi, pi] (mju_quat2Vel over one second)."""
    imaginary = wp.vec3(quat[0], quat[1], quat[2])
    sine = wp.length(imaginary)
    angle = 2.0 * wp.atan2(sine, quat[3])
    if angle > wp.pi:
        angle = angle - 2.0 * wp.pi
    if sine > 1.0e-14:
        return imaginary * (angle / sine)
    return wp.vec3(0.0, 0.0, 0.0)
