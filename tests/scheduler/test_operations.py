"""Segments and what counts as a conflict."""

import numpy as np
import pytest
import torch
import warp as wp
from schedules import DEVICES, Buffers, Pair, blend, copy

from acesim_rl.scheduler import Segment, call, conflict, launch, segments_of


def test_conflicts():
    a = Segment(0, 100)
    assert conflict(a, Segment(99, 120)) and not conflict(a, Segment(100, 120))
    assert not conflict(a, Segment(0, 100, device="cuda:0"))
    left, right = Segment(0, 100, (0, 8), stride=4), Segment(0, 100, (8, 16), stride=4)
    assert not conflict(left, right) and conflict(left, left) and conflict(left, a)
    assert conflict(left, Segment(0, 100, (7, 9), stride=4))
    assert conflict(left, Segment(0, 96, (8, 16), stride=4)), "lanes of arrays of other shapes cannot be compared"
    assert conflict(left, Segment(0, 100, (8, 16), stride=20)), "nor lanes of other axes"


def test_parts_of_one_partition_are_apart():
    lanes = {"lanes": (0, 8), "stride": 4}
    even, odd = (Segment(0, 100, part=("parity", k), **lanes) for k in (0, 1))
    assert not conflict(even, odd) and conflict(even, even) and conflict(even, Segment(0, 100, **lanes))
    assert conflict(even, Segment(0, 100, part=("rows", 1), **lanes)), "of another partition nothing is known"
    assert conflict(even, odd._replace(stride=20)), "lanes of another axis are other memory"
    assert conflict(even, odd._replace(start=2, stop=102)), "nor do lanes of an array that overlaps agree"


def test_extents(any_device):
    array = wp.zeros((4, 6), dtype=wp.vec3, device=any_device)
    whole = segments_of(array)
    assert (whole.start, whole.stop - whole.start, whole.device) == (array.ptr, 4 * 6 * 12, any_device)
    part = segments_of(array[1:3, 2:4])
    assert (part.start - array.ptr, part.stop - array.ptr) == ((6 + 2) * 12, (2 * 6 + 4) * 12)
    assert segments_of(array.transpose())[:2] == whole[:2]
    tensor = torch.zeros(5, 7, device=any_device.replace("cuda:0", "cuda"))
    assert segments_of(tensor[:, 2]).stop - segments_of(tensor).start == (4 * 7 + 3) * 4
    assert segments_of(wp.to_torch(array)) == whole
    empty = segments_of(wp.zeros((0, 6), dtype=float, device=any_device))
    assert not conflict(empty, whole) and empty.start == empty.stop


def test_lanes_only_where_the_last_axis_is_the_worlds(any_device):
    lanes = (2, 4)
    zeros = lambda shape: wp.zeros(shape, dtype=float, device=any_device)  # noqa: E731
    assert segments_of(zeros((3, 6)), lanes).lanes == lanes
    assert segments_of(zeros((3, 6)).transpose(), lanes).lanes is None  # 3 is shorter than the lanes
    assert segments_of(zeros((3, 1)), lanes).lanes is None
    assert segments_of(zeros((3, 6)), lanes, worlds=5).lanes is None
    shared = wp.array(ptr=zeros(3).ptr, shape=(3, 6), strides=(4, 0), dtype=float, device=any_device)
    assert segments_of(shared, lanes).lanes is None


def test_launch_derives_segments_of_struct_fields(any_device):
    buffers = Buffers(any_device)
    pair = Pair()
    pair.source, pair.target = buffers.rows[0:2], buffers.rows[2:4]
    operation = launch(blend, (2, 3), [pair, 1, 1.0, 0], device=any_device, lanes=(1, 4))
    assert operation.reads == (segments_of(pair.source, (1, 4)), segments_of(pair.target, (1, 4)))
    assert operation.writes == (segments_of(pair.target, (1, 4)),)
    assert set(operation.arrays) == {"p.source", "p.target"}
    pair.source = None
    assert len(launch(blend, (2, 3), [pair, 1, 1.0, 0], device=any_device).reads) == 1


def test_an_empty_grid_does_nothing(any_device):
    buffers = Buffers(any_device)
    operation = launch(copy, (0, 6), [buffers.rows[0:1]], [buffers.rows[1:2], 0, 0], device=any_device)
    before = buffers.bits()
    operation.start()
    assert buffers.bits() == before and not operation.writes


def test_call_takes_tensors_arrays_and_segments(any_device):
    tensor = torch.zeros(3, device=any_device.replace("cuda:0", "cuda"))
    array = wp.zeros(2, dtype=int, device=any_device)
    operation = call(lambda: tensor.add_(1.0), [array], [tensor, Segment(0, 8)], device=any_device, name="add")
    operation.start()
    assert tensor.tolist() == [1.0] * 3
    assert operation.writes == (segments_of(tensor), Segment(0, 8))
    with pytest.raises(TypeError, match=r"expected a wp.array or torch.Tensor, was given list"):
        call(lambda: None, [[1, 2]], device=any_device)


def test_other_kinds_of_arrays_are_refused():
    if "cpu" in DEVICES:
        rows = np.zeros((1, 6), np.float32)
        with pytest.raises(TypeError, match=r"copy: 'source' is a ndarray; expected a wp\.array or torch\.Tensor"):
            launch(copy, (1, 6), [rows], [wp.zeros((1, 6), dtype=float, device="cpu"), 0, 0], device="cpu")
