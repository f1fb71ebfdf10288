"""Which geom pairs can touch: MuJoCo's filters, applied once when a model is built."""

from dataclasses import dataclass

import mujoco
import numpy as np

__all__ = ["PAIR_TYPES", "CandidatePairs", "candidate_pairs"]

PLANE, SPHERE, CAPSULE = (
    int(mujoco.mjtGeom.mjGEOM_PLANE),
    int(mujoco.mjtGeom.mjGEOM_SPHERE),
    int(mujoco.mjtGeom.mjGEOM_CAPSULE),
)

PAIR_TYPES = {
    "plane_sphere": (PLANE, SPHERE, 1),
    "plane_capsule": (PLANE, CAPSULE, 2),
    "sphere_sphere": (SPHERE, SPHERE, 1),
    "sphere_capsule": (SPHERE, CAPSULE, 1),
    "capsule_capsule": (CAPSULE, CAPSULE, 2),
}
"""Name of a pair type: the two geom types, and the most contacts of such a pair."""


@dataclass(frozen=True)
class CandidatePairs:
    """Pairs sorted by type, and their contact slots."""

    geom1: np.ndarray
    geom2: np.ndarray
    slot: np.ndarray
    """First contact slot of each pair."""
    slot_pair: np.ndarray
    slot_condim: np.ndarray
    ranges: dict[str, tuple[int, int]]
    """First pair and number of pairs of each type."""


def candidate_pairs(mj: mujoco.MjModel) -> CandidatePairs:
    """All pairs that pass the contype/conaffinity, same-body, parent-child and exclude filters."""
    excluded = set(mj.exclude_signature.tolist())
    found: dict[str, list[tuple[int, int]]] = {name: [] for name in PAIR_TYPES}
    by_types = {(a, b): name for name, (a, b, _) in PAIR_TYPES.items()}
    for i in range(mj.ngeom):
        for j in range(i + 1, mj.ngeom):
            if _can_touch(mj, i, j, excluded):
                g1, g2 = (i, j) if mj.geom_type[i] <= mj.geom_type[j] else (j, i)
                types = int(mj.geom_type[g1]), int(mj.geom_type[g2])
                if types != (PLANE, PLANE):
                    found[by_types[types]].append((g1, g2))
    pairs = [pair for of_type in found.values() for pair in of_type]
    width = [PAIR_TYPES[name][2] for name, of_type in found.items() for _ in of_type]
    condim = [_condim(mj, *pair) for pair in pairs]
    starts = np.cumsum([0] + [len(of_type) for of_type in found.values()])
    table = np.array(pairs, int).reshape(-1, 2)
    return CandidatePairs(
        geom1=table[:, 0],
        geom2=table[:, 1],
        slot=np.cumsum([0, *width])[:-1],
        slot_pair=np.repeat(np.arange(len(pairs)), width),
        slot_condim=np.repeat(np.array(condim, int), width),
        ranges={name: (int(starts[k]), len(found[name])) for k, name in enumerate(found)},
    )


def _condim(mj: mujoco.MjModel, g1: int, g2: int) -> int:
    first, second = int(mj.geom_priority[g1]), int(mj.geom_priority[g2])
    if first == second:
        return int(max(mj.geom_condim[g1], mj.geom_condim[g2]))
    return int(mj.geom_condim[g1 if first > second else g2])


def _can_touch(mj: mujoco.MjModel, i: int, j: int, excluded: set[int]) -> bool:
    if mj.opt.disableflags & (mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT):
        return False
    if not (mj.geom_contype[i] & mj.geom_conaffinity[j] or mj.geom_contype[j] & mj.geom_conaffinity[i]):
        return False
    body1, body2 = int(mj.geom_bodyid[i]), int(mj.geom_bodyid[j])
    weld1, weld2 = int(mj.body_weldid[body1]), int(mj.body_weldid[body2])
    if weld1 == weld2:
        return False
    signatures = {(body1 << 16) + body2, (body2 << 16) + body1}
    if signatures & excluded:
        return False
    if mj.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_FILTERPARENT:
        return True
    parent1 = int(mj.body_weldid[mj.body_parentid[weld1]])
    parent2 = int(mj.body_weldid[mj.body_parentid[weld2]])
    return not (weld1 != 0 and weld2 != 0 and (weld1 == parent2 or weld2 == parent1))
