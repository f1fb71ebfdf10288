"""Which geom pairs can touch: MuJoCo's filters, applied once when a model is built."""

from collections.abc import Iterator
from dataclasses import dataclass

import mujoco
import numpy as np

__all__ = ["PAIR_TYPES", "CandidatePairs", "candidate_pairs", "touching_geoms"]

PLANE, SPHERE, CAPSULE, CYLINDER, BOX = (
    int(getattr(mujoco.mjtGeom, f"mjGEOM_{name}")) for name in ("PLANE", "SPHERE", "CAPSULE", "CYLINDER", "BOX")
)

PAIR_TYPES = {
    "plane_sphere": (PLANE, SPHERE, 1),
    "plane_capsule": (PLANE, CAPSULE, 2),
    "plane_cylinder": (PLANE, CYLINDER, 4),
    "plane_box": (PLANE, BOX, 4),
    "sphere_sphere": (SPHERE, SPHERE, 1),
    "sphere_capsule": (SPHERE, CAPSULE, 1),
    "capsule_capsule": (CAPSULE, CAPSULE, 2),
    "sphere_cylinder": (SPHERE, CYLINDER, 1),
    "capsule_cylinder": (CAPSULE, CYLINDER, 2),
    "sphere_box": (SPHERE, BOX, 1),
    "capsule_box": (CAPSULE, BOX, 2),
    "box_box": (BOX, BOX, 8),
    "cylinder_cylinder": (CYLINDER, CYLINDER, 4),
    "cylinder_box": (CYLINDER, BOX, 4),
}
"""Name of a pair type: the two geom types, and the most contacts of such a pair."""


@dataclass(frozen=True)
class CandidatePairs:
    """Pairs sorted by type, and their contact slots, which are in the order of MuJoCo's contacts."""

    geom1: np.ndarray
    geom2: np.ndarray
    explicit: np.ndarray
    """Index of each pair in the model's contact pairs; -1 where its geoms' own parameters count."""
    slot: np.ndarray
    """First contact slot of each pair."""
    slot_pair: np.ndarray
    slot_condim: np.ndarray
    ranges: dict[str, tuple[int, int]]
    """First pair and number of pairs of each type."""


def candidate_pairs(mj: mujoco.MjModel) -> CandidatePairs:
    """The model's explicit pairs, and all that pass the contype/conaffinity, same-body, parent and exclude filters."""
    found: dict[str, list[tuple[int, int]]] = {name: [] for name in PAIR_TYPES}
    by_types = {(a, b): name for name, (a, b, _) in PAIR_TYPES.items()}
    for g1, g2 in touching_geoms(mj):
        found[by_types[int(mj.geom_type[g1]), int(mj.geom_type[g2])]].append((g1, g2))
    pairs = [pair for of_type in found.values() for pair in of_type]
    width = [PAIR_TYPES[name][2] for name, of_type in found.items() for _ in of_type]
    explicit = _explicit(mj)
    index = [explicit.get(pair, -1) for pair in pairs]
    condim = [int(mj.pair_dim[e]) if e >= 0 else _condim(mj, *pair) for e, pair in zip(index, pairs, strict=True)]
    starts = np.cumsum([0] + [len(of_type) for of_type in found.values()])
    table = np.array(pairs, int).reshape(-1, 2)
    order = np.array(sorted(range(len(pairs)), key=lambda p: (sorted(mj.geom_bodyid[table[p]]), pairs[p])), int)
    slot = np.zeros(len(pairs), int)
    slot[order] = np.cumsum([0, *(width[p] for p in order)])[:-1]
    return CandidatePairs(
        geom1=table[:, 0],
        geom2=table[:, 1],
        explicit=np.array(index, int),
        slot=slot,
        slot_pair=np.repeat(order, [width[p] for p in order]),
        slot_condim=np.repeat([condim[p] for p in order], [width[p] for p in order]),
        ranges={name: (int(starts[k]), len(found[name])) for k, name in enumerate(found)},
    )


def touching_geoms(mj: mujoco.MjModel) -> Iterator[tuple[int, int]]:
    """Pairs of geoms that can touch, whether the engine has their pair of types or not; the smaller type first."""
    if mj.opt.disableflags & (mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT):
        return
    explicit = _explicit(mj)
    excluded = set(mj.exclude_signature.tolist())
    for i in range(mj.ngeom):
        for j in range(i + 1, mj.ngeom):
            g1, g2 = _by_type(mj, i, j)
            can = (g1, g2) in explicit or _can_touch(mj, i, j, excluded)
            if can and mj.geom_type[g2] != PLANE:  # planes pass through each other
                yield g1, g2


def _explicit(mj: mujoco.MjModel) -> dict[tuple[int, int], int]:
    """Index of the contact pair of two geoms."""
    return {_by_type(mj, int(mj.pair_geom1[p]), int(mj.pair_geom2[p])): p for p in range(mj.npair)}


def _by_type(mj: mujoco.MjModel, i: int, j: int) -> tuple[int, int]:
    """The geom with the smaller type first, and then the one with the smaller number."""
    return (i, j) if (mj.geom_type[i], i) <= (mj.geom_type[j], j) else (j, i)


def _condim(mj: mujoco.MjModel, g1: int, g2: int) -> int:
    first, second = int(mj.geom_priority[g1]), int(mj.geom_priority[g2])
    if first == second:
        return int(max(mj.geom_condim[g1], mj.geom_condim[g2]))
    return int(mj.geom_condim[g1 if first > second else g2])


def _can_touch(mj: mujoco.MjModel, i: int, j: int, excluded: set[int]) -> bool:
    if not (mj.geom_contype[i] & mj.geom_conaffinity[j] or mj.geom_contype[j] & mj.geom_conaffinity[i]):
        return False
    body1, body2 = int(mj.geom_bodyid[i]), int(mj.geom_bodyid[j])
    weld1, weld2 = int(mj.body_weldid[body1]), int(mj.body_weldid[body2])
    if weld1 == weld2 or (mj.body_dofnum[weld1] == 0 and mj.body_dofnum[weld2] == 0):
        return False  # one body, or two that do not move or are moved by mocap
    signatures = {(body1 << 16) + body2, (body2 << 16) + body1}
    if signatures & excluded:
        return False
    if mj.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_FILTERPARENT:
        return True
    parent1 = int(mj.body_weldid[mj.body_parentid[weld1]])
    parent2 = int(mj.body_weldid[mj.body_parentid[weld2]])
    return not (weld1 != 0 and weld2 != 0 and (weld1 == parent2 or weld2 == parent1))
