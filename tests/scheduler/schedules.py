"""Kernels and random programs for the tests, in one Warp module."""

import numpy as np
import warp as wp

from acesim_rl.scheduler import call, launch

wp.config.enable_backward = False

DEVICES = (["cpu"] if wp.is_cpu_available() else []) + (["cuda:0"] if wp.is_cuda_available() else [])
ROWS, WORLDS = 12, 6


@wp.struct
class Pair:
    source: wp.array2d(dtype=float)
    target: wp.array2d(dtype=float)


@wp.func
def later(value: float, work: int):
    """The value, after some work."""
    for _i in range(work):
        value = value * 1.0000001
    return value


@wp.kernel
def blend(p: Pair, first: int, factor: float, work: int):
    i, w = wp.tid()
    w += first
    p.target[i, w] = 0.5 * p.target[i, w] + later(p.source[i, w], work) * factor


@wp.kernel
def copy(source: wp.array2d(dtype=float), target: wp.array2d(dtype=float), first: int, work: int):
    i, w = wp.tid()
    w += first
    target[i, w] = later(source[i, w], work) + 1.0


@wp.kernel
def total(source: wp.array2d(dtype=float), sums: wp.array(dtype=float), first: int):
    """Adds all rows of a world, in order."""
    w = wp.tid() + first
    for i in range(source.shape[0]):
        sums[w] = 0.5 * sums[w] + source[i, w]


@wp.kernel
def sift(source: wp.array2d(dtype=float), target: wp.array2d(dtype=float), first: int, parity: int, work: int):
    """Of the worlds only the even or the odd ones."""
    i, w = wp.tid()
    w += first
    if w % 2 == parity:
        target[i, w] = 0.5 * target[i, w] + later(source[i, w], work)


@wp.kernel
def fill(target: wp.array(dtype=float), value: float, work: int):
    i = wp.tid()
    target[i] = later(value, work)


class Buffers:
    """One allocation with everything in it: rows of worlds, then sums; equal contents at the start."""

    def __init__(self, device, world_outermost=False):
        values = np.random.default_rng(0).standard_normal(ROWS * WORLDS + WORLDS).astype(np.float32)
        self.device = device
        self.all = wp.array(values, dtype=float, device=device)
        rows = self.all[: ROWS * WORLDS]
        self.rows = rows.reshape((WORLDS, ROWS)).transpose() if world_outermost else rows.reshape((ROWS, WORLDS))
        self.sums = self.all[ROWS * WORLDS :]

    def bits(self):
        return self.all.numpy().tobytes()


def operations(buffers, program):
    """Operations of a program: a list of (kind, source row, target row, rows, lanes or None, work)."""
    device = buffers.device
    for number, (kind, source, target, count, lanes, work) in enumerate(program):
        count = min(count, ROWS - source, ROWS - target, abs(source - target) or count)  # no overlap inside a launch
        x, y = buffers.rows[source : source + count], buffers.rows[target : target + count]
        first, last = lanes or (0, WORLDS)
        options = {"device": device, "lanes": lanes, "name": f"{kind}{number}"}
        if kind == "blend":
            pair = Pair()
            pair.source, pair.target = x, y
            yield launch(blend, (count, last - first), [pair, first, 0.25 + number, work], **options)
        elif kind == "copy":
            yield launch(copy, (count, last - first), [x], [y, first, work], **options)
        elif kind == "sift":
            part = ("parity", number % 2)
            options |= {"lanes": (first, last), "part": part}
            yield launch(sift, (count, last - first), [x], [y, first, part[1], work], **options)
        elif kind == "total":
            yield launch(total, last - first, [x], [buffers.sums, first], **options)
        elif kind == "fill":
            row = buffers.all[target * 5 : target * 5 + 4]  # cuts across rows and worlds
            yield launch(fill, 4, [], [row, float(number), work], device=device)
        elif kind == "torch":
            a, b = wp.to_torch(x), wp.to_torch(y)
            yield call(torch_blend(a, b, 0.1 * number), reads=[a, b], writes=[b], device=device)


def torch_blend(source, target, factor):
    def work():
        target.mul_(0.5).add_(source.clone(), alpha=factor)

    return work
