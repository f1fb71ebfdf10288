"""What a kernel reads and writes, derived from the syntax tree of its source.

Arrays are named by paths from the kernel's parameters: `x` for an array parameter, `d.qpos` for a field of a
`wp.struct` parameter `d`. The walk follows calls of `wp.func` functions, local names for arrays (`x = d.qpos`), views
(`row = d.M[i]`) and `wp.static(f)(...)`. It is flow-insensitive and errs on the safe side: where an array escapes into
something that the walk does not understand, it counts as read and written. Memory that Warp reaches through handles
(meshes, volumes, hash grids) has no path and is not seen.
"""

import weakref
from collections.abc import Iterable
from typing import Any

import warp as wp

from acesim_rl.scheduler.walk import NOTHING, Access, AccessError, Summary, Walk, arrays_in, overloads, place_of

__all__ = ["Access", "AccessError", "access_of", "accesses"]

_declared: "weakref.WeakKeyDictionary[Any, Access]" = weakref.WeakKeyDictionary()
_summaries: "weakref.WeakKeyDictionary[Any, dict[tuple, Summary]]" = weakref.WeakKeyDictionary()


def accesses(reads: Iterable[str] = (), writes: Iterable[str] = ()):
    """Declare which array parameters a native function reads and writes.

    Goes above `@wp.func_native`: `@accesses(reads=("M", "J"), writes=("qacc",))`. A path into a struct parameter is
    written `d.qpos`. A parameter that is read and written appears in both.
    """
    access = Access(frozenset(reads), frozenset(writes))

    def declare(function):
        if not isinstance(function, wp.Function):
            raise AccessError(f"@accesses goes above @wp.func_native, it was given {function!r}")
        parameters = [argument.label for argument in function.adj.args]
        for path in access.reads | access.writes:
            if path.split(".")[0] not in parameters:
                raise AccessError(f"@accesses of '{function.key}': no parameter {path!r}, only {', '.join(parameters)}")
        _declared[function] = access
        return function

    return declare


def access_of(kernel: "wp.Kernel | wp.Function") -> Access:
    """Paths that a kernel (or `wp.func`) reads and writes, from its parameters on."""
    if isinstance(kernel, wp.Function):
        parts = [_summary(overload, kernel).access for overload in overloads(kernel)]
        return Access(frozenset().union(*(p.reads for p in parts)), frozenset().union(*(p.writes for p in parts)))
    if not isinstance(kernel, wp.Kernel):
        raise AccessError(f"expected a Warp kernel or function, was given {kernel!r}")
    return _summary(kernel, kernel).access


def _summary(function, head, generic: tuple = ()) -> Summary:
    """Summary of a kernel or of one overload of `head`, cached; `generic` says what its `Any` parameters are given."""
    known = _summaries.setdefault(function, {})
    if generic not in known:
        is_native = getattr(function, "native_snippet", None) is not None
        known[generic] = (
            _native_summary(function, head) if is_native else Walk(function, dict(generic), _summary).summary()
        )
    return known[generic]


def _native_summary(function: wp.Function, head: wp.Function) -> Summary:
    parameters = {argument.label: argument.type for argument in function.adj.args}
    access = _declared.get(function) or _declared.get(head)
    if access is None:
        arrays = [path for label, kind in parameters.items() for path in arrays_in(place_of(label, kind))]
        if arrays:
            raise AccessError(
                f"native function '{function.key}' is given arrays ({', '.join(arrays)}) but does not say what it "
                "touches; put @accesses(reads=(...), writes=(...)) above its @wp.func_native"
            )
        access = Access(frozenset(), frozenset())
    return Summary(parameters, access, NOTHING)
