"""Where the world axis lies in memory: the one place that knows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import warp as wp

__all__ = ["allocate", "lanes_for", "shared", "struct_fields", "vec10", "write_worlds"]

vec10 = wp.types.vector(length=10, dtype=float)
"""A spatial inertia as MuJoCo keeps it: xx yy zz xy xz yz of the inertia, mass times centre (3), mass."""


def allocate(
    items: int | tuple[int, ...], nworld: int, dtype, device: wp.Device, *, by_world: bool = False
) -> wp.array:
    """Zeros indexed [items..., world].

    On the GPU the world is innermost, so that neighbouring threads read neighbouring words; on the CPU outermost, so
    that a world's data lie together. What the lanes of one world read side by side (`by_world`: matrices, constraint
    rows) has the world outermost everywhere, and on the GPU is padded to whole stretches of 16 words.
    """
    items = (items,) if isinstance(items, int) else items
    if device.is_cuda and (not by_world or 0 in items):
        return wp.zeros((*items, nworld), dtype=dtype, device=device)
    padded = items
    if device.is_cuda:
        padded = (*items[:-1], -(-items[-1] // 16) * 16)
    block = wp.zeros((nworld, *padded), dtype=dtype, device=device)
    if padded != items:
        block = block[(slice(None),) * len(items) + (slice(items[-1]),)]
    return block.transpose((*range(1, len(items) + 1), 0))


def lanes_for(nv: int) -> int:
    """GPU threads that share one world's matrices; each looks after a row of a chunk of rows."""
    return 8 if nv <= 8 else 16 if nv <= 16 else 32


def shared(values: np.ndarray, nworld: int, dtype, device: wp.Device) -> wp.array:
    """Values [items] read as [item, world], the same for every world: the world axis has stride 0."""
    base: Any = wp.array(np.ascontiguousarray(values), dtype=dtype, device=device)
    view: Any = wp.array(
        ptr=base.ptr,
        dtype=dtype,
        shape=(base.shape[0], nworld),
        strides=(base.strides[0], 0),
        capacity=base.capacity,
        device=device,
    )
    view.owner = base  # keeps the memory alive
    return view


def write_worlds(whole: np.ndarray, values, worlds: Sequence[int] | None, name: str) -> np.ndarray:
    """Write into a host array [nworld, items...]: into all worlds (None), or those of some numbers or of a mask.

    Returns the numbers of the worlds written to.
    """
    chosen = np.arange(len(whole)) if worlds is None else np.atleast_1d(worlds)
    if chosen.dtype == bool and chosen.shape == (len(whole),):
        chosen = np.flatnonzero(chosen)
    if chosen.dtype.kind not in "iu" or (chosen.size and not 0 <= chosen.min() <= chosen.max() < len(whole)):
        raise ValueError(f"{name}: worlds are numbered 0 to {len(whole) - 1}, got {worlds}")
    shape = (len(chosen), *whole.shape[1:])
    try:
        whole[chosen] = np.broadcast_to(values, shape)
    except ValueError as error:
        raise ValueError(
            f"{name}: expected values that broadcast to {shape} [worlds, items...], got {np.shape(values)}"
        ) from error
    return chosen


def struct_fields(struct: Any) -> dict[str, Any]:
    """The fields of a `wp.struct`, by name; each has a `type`."""
    return struct.vars
