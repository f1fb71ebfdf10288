"""Operations: what is scheduled, and the memory segments that say which may run side by side."""

import ctypes
import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import warp as wp

from acesim_rl.scheduler.access import access_of
from acesim_rl.scheduler.walk import place_of
from acesim_rl.scheduler.warp_private import pack_cpu_arguments

__all__ = ["Operation", "Packed", "Segment", "call", "conflict", "launch", "segments_of"]


class Segment(NamedTuple):
    """A stretch of memory: bytes [start, stop) of a device, or of it only a slice of an array's last axis.

    With the world index innermost, a slice of worlds is not one stretch of memory; `lanes=(first, last)` says it:
    of the array that fills [start, stop), the entries with first <= last index < last.
    """

    start: int
    stop: int
    lanes: tuple[int, int] | None = None
    device: str = "cpu"
    stride: int = 0
    """Bytes between neighbours of the last axis; lanes and parts are compared between equal ones only."""
    part: tuple[str, int] | None = None
    """Of those lanes only a part, which the data decide: a partition's name, and the part's number. Operations on
    different parts of one partition promise to touch different lanes."""


def conflict(a: Segment, b: Segment) -> bool:
    """Whether two segments share memory, as far as their description tells."""
    if a.start >= b.stop or b.start >= a.stop or a.device != b.device:
        return False
    if a.lanes is None or b.lanes is None or a.start != b.start or a.stop != b.stop or a.stride != b.stride:
        return True
    if a.part and b.part and a.part[0] == b.part[0] and a.part[1] != b.part[1]:
        return False
    return a.lanes[0] < b.lanes[1] and b.lanes[0] < a.lanes[1]


def segments_of(
    array: Any,
    lanes: tuple[int, int] | None = None,
    worlds: int | None = None,
    part: tuple[str, int] | None = None,
) -> Segment:
    """The segment of a `wp.array` or `torch.Tensor`: its byte extent, or of it the entries `lanes` of its last axis.

    Lanes, and which `part` of them, are dropped, and the array taken whole, where the last axis is no world axis: it
    is missing, of length 1, shorter than the lanes, of stride 0 (shared by all worlds), or, if `worlds` is given, not
    that long.
    An empty array gives an empty segment, which conflicts with nothing.
    """
    if isinstance(array, wp.array):
        start, shape, strides = array.ptr or 0, array.shape, array.strides
        item, device = wp.types.type_size_in_bytes(array.dtype), str(array.device)
    elif hasattr(array, "data_ptr"):
        item, device = array.element_size(), str(array.device)
        start, shape, strides = array.data_ptr(), tuple(array.shape), tuple(s * item for s in array.stride())
    else:
        raise TypeError(f"expected a wp.array or torch.Tensor, was given {type(array).__name__}")
    if 0 in shape or not start:
        return Segment(0, 0, None, device)
    stop = start + item + sum((length - 1) * stride for length, stride in zip(shape, strides, strict=True))
    if lanes is None or not shape or shape[-1] == 1 or strides[-1] == 0 or shape[-1] < lanes[1]:
        return Segment(start, stop, None, device)
    if worlds is not None and shape[-1] != worlds:
        return Segment(start, stop, None, device)
    return Segment(start, stop, (lanes[0], lanes[1]), device, strides[-1], part)


class Packed:
    """A struct in device memory: a kernel takes `wp.array[Struct]` and reads its element 0.

    A struct of many arrays is kilobytes; by value they would be parameters of every launch, which costs a GPU
    microseconds each. Give it to `launch` like any argument. The struct's arrays are taken as they are now.
    """

    def __init__(self, struct: Any, device: Any):
        self.struct = struct
        self.array: wp.array = wp.array([struct], dtype=struct._cls, device=device)


class Operation:
    """One launch of one kernel, or one call of a function that does or enqueues work, with what it reads and writes."""

    __slots__ = ("_given", "_kept", "capturable", "device", "enqueue", "invoke", "name", "reads", "writes")

    def __init__(
        self,
        name: str,
        device: str,
        reads: Iterable[Segment],
        writes: Iterable[Segment],
        *,
        invoke: Callable[[], Any] | None = None,
        enqueue: Callable[[Any], Any] | None = None,
        capturable: bool = True,
        given: Mapping[str, Any] | None = None,
        kept: Any = None,
    ):
        self.name = name
        self.device = device
        self.reads = tuple(dict.fromkeys(s for s in reads if s.stop > s.start))
        self.writes = tuple(dict.fromkeys(s for s in writes if s.stop > s.start))
        self.invoke = invoke
        """Runs the operation here and now (CPU)."""
        self.enqueue = enqueue
        """Enqueues the operation on a stream (CUDA)."""
        self.capturable = capturable
        """Whether it may be recorded into a CUDA graph; if not, a graph ends before it and another begins after."""
        self._given = given or {}
        self._kept = kept

    @property
    def arrays(self) -> dict[str, Any]:
        """All arrays that the operation was given, declared or not, by path (as `x`, `d.qpos`)."""
        return {path: value for given in self._given.items() for path, value in _leaves(*given) if _is_array(value)}

    def start(self, stream: "wp.Stream | None" = None) -> None:
        """Run the operation (CPU) or enqueue it on `stream`, or on the device's current stream (CUDA)."""
        if self.enqueue is not None:
            self.enqueue(stream)
        elif self.invoke is not None:
            self.invoke()

    def __repr__(self) -> str:
        return f"Operation({self.name!r}, {len(self.reads)} reads, {len(self.writes)} writes, {self.device})"


def launch(
    kernel: wp.Kernel,
    dim: int | Sequence[int],
    inputs: Sequence = (),
    outputs: Sequence = (),
    *,
    device: Any,
    name: str | None = None,
    lanes: tuple[int, int] | None = None,
    worlds: int | None = None,
    part: tuple[str, int] | None = None,
    block_dim: int = 64,
) -> Operation:
    """A recorded `wp.launch` as an operation; what it reads and writes is derived from the kernel's syntax tree.

    Arguments are those of `wp.launch`. They are packed once, here: structs are taken as they are now.
    `lanes=(first, last)` promises that the launch touches only these worlds of every array whose last axis is the
    world axis (see `segments_of`, which also explains `worlds`), and `part` that of these it touches only a part (see
    `Segment.part`).
    """
    device = wp.get_device(device)
    arguments = [*inputs, *outputs]
    plain = [value.array if isinstance(value, Packed) else value for value in arguments]
    command = wp.launch(kernel, dim, plain, device=device, record_cmd=True, record_tape=False, block_dim=block_dim)
    access = access_of(kernel)
    values = {}
    for argument, value in zip(kernel.adj.args, arguments, strict=True):
        place = place_of(argument.label, argument.type)
        if place is not None and place.packed and not isinstance(value, Packed):
            raise TypeError(
                f"{kernel.key}: '{argument.label}' is an array of structs that hold arrays; expected a Packed"
            )
        values[argument.label] = value.struct if isinstance(value, Packed) else value

    def segments(paths: Iterable[str]) -> list[Segment]:
        found = []
        for path, value in chain.from_iterable(_leaves(p, _resolve(values, p)) for p in sorted(paths)):
            if _is_array(value):
                found.append(segments_of(value, lanes, worlds, part))
            elif isinstance(value, np.ndarray | wp.indexedarray):  # else None, or a plain value of a generic parameter
                kind = type(value).__name__
                raise TypeError(f"{kernel.key}: '{path}' is a {kind}; expected a wp.array or torch.Tensor (wrap it)")
        return found

    reads, writes = segments(access.reads), segments(access.writes)
    name = name or kernel.key
    if command is None:  # an empty grid
        return Operation(name, device.alias, (), (), invoke=_nothing, enqueue=_nothing)
    if device.is_cpu:
        return Operation(name, device.alias, reads, writes, invoke=_direct(command), given=values, kept=command)
    return Operation(name, device.alias, reads, writes, enqueue=command.launch, given=values, kept=command)


def call(
    function: Callable[[], Any],
    reads: Iterable[Any] = (),
    writes: Iterable[Any] = (),
    *,
    device: Any,
    name: str | None = None,
    capturable: bool = True,
) -> Operation:
    """A plain callable as an operation: torch work, or anything else, with the arrays that it reads and writes.

    `reads` and `writes` hold tensors, Warp arrays or segments. On CUDA, `function()` is called with the operation's
    stream as Warp's and torch's current stream, and may be recorded into a CUDA graph: it must then do the same work
    on the same memory each time (`capturable=False` if it cannot). On the CPU it may be called in another thread,
    where torch's thread-local modes (`no_grad`) are not those of the caller: set them inside.
    """
    device = wp.get_device(device)
    label = name or str(getattr(function, "__name__", type(function).__name__))
    reads, writes = tuple(reads), tuple(writes)
    given = {f"reads[{i}]": item for i, item in enumerate(reads)}
    given |= {f"writes[{i}]": item for i, item in enumerate(writes)}
    reads = [item if isinstance(item, Segment) else segments_of(item) for item in reads]
    writes = [item if isinstance(item, Segment) else segments_of(item) for item in writes]
    if device.is_cpu:
        return Operation(label, device.alias, reads, writes, invoke=function, capturable=capturable, given=given)

    def enqueue(stream):
        stream = stream or device.stream
        with wp.ScopedStream(stream, sync_enter=False):
            torch = sys.modules.get("torch")
            if torch is None or not torch.cuda.is_available():
                function()
            else:
                with torch.cuda.stream(wp.stream_to_torch(stream)):
                    function()

    return Operation(label, device.alias, reads, writes, enqueue=enqueue, capturable=capturable, given=given)


def _nothing(stream=None):
    pass


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """A value, or where it is a struct all values in it, with their paths."""
    if wp.types.is_struct(value):
        for name, field in vars(value).items():
            if name != "_ctype":
                yield from _leaves(f"{path}.{name}", field)
    else:
        yield path, value


def _is_array(value: Any) -> bool:
    return isinstance(value, wp.array) or hasattr(value, "data_ptr")


def _resolve(values: dict[str, Any], path: str) -> Any:
    root, *fields = path.split(".")
    return functools.reduce(lambda value, field: getattr(value, field, None), fields, values[root])


def _direct(command: wp.Launch) -> Callable[[], Any]:
    """The launch as one call into compiled code: Warp packs the arguments again at each launch, this does it once.

    It also passes by Warp's recording of CPU launches (`wp.ScopedCapture` on the CPU).
    """
    if command.block_dim != 1:
        return command.launch
    packed, _ = pack_cpu_arguments(command.kernel, command.hooks, command.params, False)
    return functools.partial(command.hooks.forward, ctypes.byref(command.bounds), ctypes.byref(packed))
