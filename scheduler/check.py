"""Debug mode: run operations one by one and verify what they say they read and write.

Each operation runs twice from the same memory. Bytes that the first run changed outside of the declared writes are
undeclared writes. For the second run everything outside of the declared reads is poisoned, each array in a way of its
own; where its results differ, the operation read what it did not declare. (An undeclared copy between equal arrays of
booleans, or of integers with no more than two values, may pass: there are not enough wrong values.) Operations must
therefore give the same result when run again, which is true of kernels and of torch work without state of its own.
Slow: for tests, at small sizes.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import warp as wp

from acesim_rl.scheduler.operation import Operation, Segment, segments_of

__all__ = ["AccessViolation", "check"]


class AccessViolation(AssertionError):
    """An operation touched memory that it did not declare."""


def check(operations: Iterable[Operation], arrays: Mapping[str, Any] | None = None) -> int:
    """Run `operations` in order, verifying each; returns how many were run.

    `arrays` names the arrays (`wp.array` or `torch.Tensor`) to watch; by default all that the operations were given,
    declared or not. Memory ends as a serial run leaves it. Raises AccessViolation at the first undeclared access.
    """
    if arrays is not None:
        watched = _outermost(arrays)
    count = 0
    for operation in operations:
        if arrays is None:
            watched = _outermost(operation.arrays)
        _check(operation, watched)
        count += 1
    return count


def _check(operation: Operation, watched: "list[_Watched]") -> None:
    before = [array.bytes() for array in watched]
    _run(operation)
    clean = [array.bytes() for array in watched]
    for array, old, new in zip(watched, before, clean, strict=True):
        stray = (old != new) & ~array.mask(operation.writes)
        if stray.any():
            raise AccessViolation(
                f"operation '{operation.name}' wrote to '{array.name}' outside of its declared writes "
                f"({array.where(stray)}); declare the write, or widen its segment"
            )
    poisons = [array.poison(old, ~array.mask(operation.reads)) for array, old in zip(watched, before, strict=True)]
    for array, poison in zip(watched, poisons, strict=True):
        array.restore(poison)
    _run(operation)
    poisoned = [array.bytes() for array in watched]
    for array, state in zip(watched, clean, strict=True):
        array.restore(state)
    for array, old, new, poison, result in zip(watched, before, clean, poisons, poisoned, strict=True):
        untouched = (new == old) & (result == poison)
        differs = (new != result) & ~untouched
        if differs.any():
            culprits = _culprits(operation, watched, before, clean)
            raise AccessViolation(
                f"operation '{operation.name}' read {culprits} without declaring it: its result in '{array.name}' "
                "changes with values outside of its declared reads; declare the read, or widen its segment"
            )


def _culprits(operation, watched, before, clean) -> str:
    """Which arrays were read undeclared: poison them one at a time."""
    names = []
    for suspect in watched:
        poisons = []
        for array, old in zip(watched, before, strict=True):
            mask = ~array.mask(operation.reads) if array is suspect else np.zeros(len(old), bool)
            poisons.append(array.poison(old, mask))
            array.restore(poisons[-1])
        _run(operation)
        for array, old, new, poison in zip(watched, before, clean, poisons, strict=True):
            result = array.bytes()
            if ((new != result) & ~((new == old) & (result == poison))).any():
                names.append(f"'{suspect.name}'")
                break
    for array, state in zip(watched, clean, strict=True):
        array.restore(state)
    return ", ".join(sorted(names)) or "something"


def _run(operation: Operation) -> None:
    operation.start()
    wp.synchronize_device(operation.device)


def _outermost(arrays: Mapping[str, Any]) -> "list[_Watched]":
    """Arrays to watch, without those that lie inside another one."""
    found = [_Watched(name, array, k) for k, (name, array) in enumerate(arrays.items()) if array is not None]
    found = [watched for watched in found if watched.segment.stop > watched.segment.start]
    found.sort(key=lambda watched: watched.segment.start - watched.segment.stop)
    kept: list[_Watched] = []
    for watched in found:
        inside = (
            k.segment.device == watched.segment.device
            and k.segment.start <= watched.segment.start
            and watched.segment.stop <= k.segment.stop
            for k in kept
        )
        if not any(inside):
            kept.append(watched)
    return kept


class _Watched:
    """The bytes of one array, from its first to its last."""

    def __init__(self, name: str, array: Any, number: int):
        self.name = name
        self.number = number
        """By which the poisons of arrays differ: else a copy of an equal array would look like an array left alone."""
        self.array = array
        self.segment = segments_of(array)
        if isinstance(array, wp.array):
            self.shape, self.strides = array.shape, array.strides
            self.item = wp.types.type_size_in_bytes(array.dtype)
            scalar = getattr(array.dtype, "_wp_scalar_type_", array.dtype)
            self.dtype = np.dtype(wp.dtype_to_numpy(scalar) if isinstance(scalar, type) else np.uint8)
        else:
            self.item = array.element_size()
            self.shape = tuple(array.shape)
            self.strides = tuple(stride * self.item for stride in array.stride())
            self.dtype = array.detach().new_zeros(0, device="cpu").numpy().dtype
        size = self.segment.stop - self.segment.start
        self._memory: Any = wp.array(ptr=self.segment.start, dtype=wp.uint8, shape=(size,), device=self.segment.device)

    def bytes(self) -> np.ndarray:
        return self._memory.numpy().copy()

    def restore(self, state: np.ndarray) -> None:
        self._memory.assign(state)
        wp.synchronize_device(self.segment.device)

    def mask(self, segments: Iterable[Segment]) -> np.ndarray:
        """Which bytes lie in any of the segments."""
        mask = np.zeros(self.segment.stop - self.segment.start, bool)
        for segment in segments:
            if segment.device != self.segment.device:
                continue
            same = segment.start == self.segment.start and segment.stop == self.segment.stop
            if segment.lanes is not None and same and self.strides and segment.stride == self.strides[-1]:
                elements = self._elements(mask)
                elements[..., segment.lanes[0] : segment.lanes[1], :] = True
            else:
                start, stop = segment.start - self.segment.start, segment.stop - self.segment.start
                mask[max(0, start) : max(0, stop)] = True
        return mask

    def _elements(self, state: np.ndarray) -> np.ndarray:
        """View of the bytes as [shape..., bytes of an element]."""
        return np.lib.stride_tricks.as_strided(state, (*self.shape, self.item), (*self.strides, 1))

    def poison(self, state: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """A copy of `state` with the bytes in `mask` made wrong: NaN, with the number of the array in it; for integers,
        which may be indices, other values of the same array, so that the wrong index is still a legal one."""
        poisoned = state.copy()
        usable = len(state) - len(state) % self.dtype.itemsize
        values = state[:usable].view(self.dtype)
        if self.dtype.kind == "f":
            # all bits but the number's: NaN in each precision, half has room for nine bits of the number
            wrong = np.full(values.shape, -1 - self.number % 512, f"i{self.dtype.itemsize}")
        elif self.dtype.kind == "b":
            wrong = ~values
        else:
            known, place = np.unique(values, return_inverse=True)
            turn = 1 + self.number % max(1, len(known) - 1)  # never a whole one
            wrong = known[(place + turn) % len(known)] if len(known) > 1 else values ^ values.dtype.type(1)
        poisoned[:usable][mask[:usable]] = wrong.view(np.uint8)[mask[:usable]]
        return poisoned

    def where(self, mask: np.ndarray) -> str:
        """The first elements in the mask, as indices."""
        hit = self._elements(mask).any(axis=-1)
        indices = [str(tuple(int(i) for i in index)) for index in np.argwhere(hit)[:3]]
        return f"{int(hit.sum())} elements, first {', '.join(indices)}" if indices else f"{int(mask.sum())} bytes"
