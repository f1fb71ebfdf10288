"""Sensors (mj_sensorPos, mj_sensorVel, mj_sensorAcc; MJCF's `sensor`)."""

import mujoco
import warp as wp

from acesim_rl.mjcf import SENSOR_TYPES
from acesim_rl.model import ModelData
from acesim_rl.stage import stage
from acesim_rl.stages.internal import subtree_centre
from acesim_rl.stages.joints import get_quat, rotate
from acesim_rl.stages.rne_post_constraint import contact_force
from acesim_rl.stages.sites import object_acc, object_body, object_pose, object_vel, site_pose
from acesim_rl.stages.zones import ray_meets_zone
from acesim_rl.state import StateData

__all__ = ["SENSORS", "sensor"]

MODULE = "acesim_rl.sensor"
SENSORS = {name: int(mujoco.mjtSensor.__members__[f"mjSENS_{name.upper()}"]) for name in SENSOR_TYPES}
"""Numbers of the types of sensors."""

TOUCH = wp.constant(SENSORS["touch"])
ACCELEROMETER = wp.constant(SENSORS["accelerometer"])
VELOCIMETER = wp.constant(SENSORS["velocimeter"])
GYRO = wp.constant(SENSORS["gyro"])
FORCE = wp.constant(SENSORS["force"])
TORQUE = wp.constant(SENSORS["torque"])
MAGNETOMETER = wp.constant(SENSORS["magnetometer"])
JOINTPOS = wp.constant(SENSORS["jointpos"])
JOINTVEL = wp.constant(SENSORS["jointvel"])
TENDONPOS = wp.constant(SENSORS["tendonpos"])
TENDONVEL = wp.constant(SENSORS["tendonvel"])
ACTUATORPOS = wp.constant(SENSORS["actuatorpos"])
ACTUATORVEL = wp.constant(SENSORS["actuatorvel"])
ACTUATORFRC = wp.constant(SENSORS["actuatorfrc"])
JOINTACTFRC = wp.constant(SENSORS["jointactfrc"])
BALLQUAT = wp.constant(SENSORS["ballquat"])
BALLANGVEL = wp.constant(SENSORS["ballangvel"])
FRAMEPOS = wp.constant(SENSORS["framepos"])
FRAMEQUAT = wp.constant(SENSORS["framequat"])
FRAMEXAXIS = wp.constant(SENSORS["framexaxis"])
FRAMEZAXIS = wp.constant(SENSORS["framezaxis"])
FRAMELINVEL = wp.constant(SENSORS["framelinvel"])
FRAMEANGVEL = wp.constant(SENSORS["frameangvel"])
FRAMELINACC = wp.constant(SENSORS["framelinacc"])
FRAMEANGACC = wp.constant(SENSORS["frameangacc"])
SUBTREECOM = wp.constant(SENSORS["subtreecom"])
SUBTREELINVEL = wp.constant(SENSORS["subtreelinvel"])
SUBTREEANGMOM = wp.constant(SENSORS["subtreeangmom"])
E_POTENTIAL = wp.constant(SENSORS["e_potential"])
E_KINETIC = wp.constant(SENSORS["e_kinetic"])
CLOCK = wp.constant(SENSORS["clock"])
POSITIVE = wp.constant(int(mujoco.mjtDataType.mjDATATYPE_POSITIVE))
REAL = wp.constant(int(mujoco.mjtDataType.mjDATATYPE_REAL))


@wp.func
def touch(m: ModelData, d: StateData, site: int, w: int) -> float:
    """Sum of the normal forces on the site's body whose line, outwards from the contact, meets the site's volume."""
    b = m.site_bodyid[site]
    pose = site_pose(m, d, site, w)
    total = float(0.0)
    for slot in range(m.nslot):
        if d.contact_row[slot, w] >= 0:
            p = m.slot_pair[slot]
            second = m.geom_bodyid[m.pair_geom2[p]] == b
            if second or m.geom_bodyid[m.pair_geom1[p]] == b:
                frame = d.contact_frame[slot, w]
                normal = wp.vec3(frame[0, 0], frame[0, 1], frame[0, 2])
                force = wp.dot(normal, contact_force(m, d, slot, w))
                if second:
                    normal = -normal
                if force > 0.0:
                    start = wp.transform_point(wp.transform_inverse(pose), d.contact_pos[slot, w])
                    along = rotate(wp.quat_inverse(wp.transform_get_rotation(pose)), normal)
                    if ray_meets_zone(m.site_type[site], m.site_size[site, w], start, along) != 0:
                        total += force
    return total


@wp.func
def scalar(m: ModelData, d: StateData, kind: int, i: int, w: int) -> float:
    """Value of a sensor that gives one number."""
    value = d.time[0, w]
    if kind == TOUCH:
        value = touch(m, d, i, w)
    elif kind == JOINTPOS:
        value = d.qpos[m.jnt_qposadr[i], w]
    elif kind == JOINTVEL:
        value = d.qvel[m.jnt_dofadr[i], w]
    elif kind == JOINTACTFRC:
        value = d.qfrc_actuator[m.jnt_dofadr[i], w]
    elif kind == TENDONPOS:
        value = d.ten_length[i, w]
    elif kind == TENDONVEL:
        value = d.ten_velocity[i, w]
    elif kind == ACTUATORPOS:
        value = d.actuator_length[i, w]
    elif kind == ACTUATORVEL:
        value = d.actuator_velocity[i, w]
    elif kind == ACTUATORFRC:
        value = d.actuator_force[i, w]
    elif kind == E_POTENTIAL:
        value = d.energy[0, w]
    elif kind == E_KINETIC:
        value = d.energy[1, w]
    return value


@wp.func
def site_vector(m: ModelData, d: StateData, kind: int, site: int, w: int) -> wp.vec3:
    """Value of a sensor that measures in the frame of its site."""
    b = m.site_bodyid[site]
    pose = site_pose(m, d, site, w)
    pos = wp.transform_get_translation(pose)
    value = m.magnetic[0, w]
    if kind == ACCELEROMETER:
        value = wp.spatial_bottom(object_acc(m, d, b, pos, w))
    elif kind == VELOCIMETER:
        value = wp.spatial_bottom(object_vel(m, d, b, pos, w))
    elif kind == GYRO:
        value = wp.spatial_top(d.cvel[b, w])
    elif kind == FORCE:
        value = wp.spatial_bottom(d.cfrc_int[b, w])
    elif kind == TORQUE:
        offset = pos - d.subtree_com[m.body_rootid[b], w]
        value = wp.spatial_top(d.cfrc_int[b, w]) - wp.cross(offset, wp.spatial_bottom(d.cfrc_int[b, w]))
    return rotate(wp.quat_inverse(wp.transform_get_rotation(pose)), value)


@wp.func
def frame_vector(m: ModelData, d: StateData, kind: int, s: int, w: int) -> wp.vec3:
    """Position, axis, velocity or acceleration of an object, in the world or in the frame of another object."""
    i = m.sensor_objid[s]
    b = object_body(m, m.sensor_objtype[s], i)
    pose = object_pose(m, d, m.sensor_objtype[s], i, w)
    pos = wp.transform_get_translation(pose)
    value = pos
    if kind >= FRAMEXAXIS and kind <= FRAMEZAXIS:
        axis = wp.vec3(0.0, 0.0, 0.0)
        axis[kind - FRAMEXAXIS] = 1.0
        value = rotate(wp.transform_get_rotation(pose), axis)
    elif kind == FRAMELINVEL:
        value = wp.spatial_bottom(object_vel(m, d, b, pos, w))
    elif kind == FRAMEANGVEL:
        value = wp.spatial_top(d.cvel[b, w])
    elif kind == FRAMELINACC:
        value = wp.spatial_bottom(object_acc(m, d, b, pos, w))
    elif kind == FRAMEANGACC:
        value = wp.spatial_top(d.cacc[b, w])
    ref = m.sensor_refid[s]
    if ref < 0:
        return value
    b = object_body(m, m.sensor_reftype[s], ref)
    pose = object_pose(m, d, m.sensor_reftype[s], ref, w)
    origin = wp.transform_get_translation(pose)
    turn = wp.spatial_top(d.cvel[b, w])
    if kind == FRAMEPOS:
        value = value - origin
    elif kind == FRAMELINVEL:
        value = value - wp.spatial_bottom(object_vel(m, d, b, origin, w)) - wp.cross(turn, pos - origin)
    elif kind == FRAMEANGVEL:
        value = value - turn
    return rotate(wp.quat_inverse(wp.transform_get_rotation(pose)), value)


@wp.func
def frame_quat(m: ModelData, d: StateData, s: int, w: int) -> wp.quat:
    """Orientation of an object, in the world or in the frame of another object."""
    quat = wp.transform_get_rotation(object_pose(m, d, m.sensor_objtype[s], m.sensor_objid[s], w))
    if m.sensor_refid[s] >= 0:
        pose = object_pose(m, d, m.sensor_reftype[s], m.sensor_refid[s], w)
        quat = wp.quat_inverse(wp.transform_get_rotation(pose)) * quat
    return quat


@wp.func
def within_cutoff(m: ModelData, s: int, value: float, w: int) -> float:
    cutoff = m.sensor_cutoff[s, w]
    if cutoff > 0.0 and m.sensor_datatype[s] == REAL:
        return wp.clamp(value, -cutoff, cutoff)
    if cutoff > 0.0 and m.sensor_datatype[s] == POSITIVE:
        return wp.min(value, cutoff)
    return value


@stage("sensor", module=MODULE)
def sensor(m: ModelData, d: StateData, s: int, w: int):
    """Value of a sensor, within its cutoff."""
    kind = m.sensor_type[s]
    i = m.sensor_objid[s]
    adr = m.sensor_adr[s]
    if m.sensor_dim[s] == 1:
        d.sensordata[adr, w] = within_cutoff(m, s, scalar(m, d, kind, i, w), w)
        return
    if m.sensor_dim[s] == 4:
        quat = wp.quat_identity()
        if kind == BALLQUAT:
            quat = wp.normalize(get_quat(d.qpos, m.jnt_qposadr[i], w))
        else:
            quat = frame_quat(m, d, s, w)
        d.sensordata[adr, w] = quat[3]
        for k in range(wp.static(3)):
            d.sensordata[adr + 1 + k, w] = quat[k]
        return
    value = wp.vec3(0.0, 0.0, 0.0)
    if kind <= MAGNETOMETER:
        value = site_vector(m, d, kind, i, w)
    elif kind == BALLANGVEL:
        dof = m.jnt_dofadr[i]
        value = wp.vec3(d.qvel[dof, w], d.qvel[dof + 1, w], d.qvel[dof + 2, w])
    elif kind == SUBTREECOM:
        value = subtree_centre(m, d, i, w)
    elif kind == SUBTREELINVEL:
        value = d.subtree_linvel[i, w]
    elif kind == SUBTREEANGMOM:
        value = d.subtree_angmom[i, w]
    else:
        value = frame_vector(m, d, kind, s, w)
    for k in range(wp.static(3)):
        d.sensordata[adr + k, w] = within_cutoff(m, s, value[k], w)
