"""The debug mode catches planted undeclared accesses, and nothing else."""

import pytest
import torch
import warp as wp
from schedules import ROWS, WORLDS, Buffers, copy, operations

from acesim_rl.scheduler import AccessViolation, Operation, call, check, launch, segments_of
from acesim_rl.scheduler.access import accesses

KINDS = ["blend", "copy", "total", "fill", "torch"]


@accesses(reads=(), writes=("out",))  # planted: it also reads x, and adds to `out`
@wp.func_native("out.data[w] = out.data[w] + x.data[w] + 1.0f;")
def liar(x: wp.array(dtype=float), out: wp.array(dtype=float), w: int): ...


@wp.kernel
def lie(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    liar(x, out, wp.tid())


def test_honest_programs_pass_and_end_as_in_a_serial_run(any_device):
    program = [(kind, i % 3, i % 5, 2, lanes, 0) for i in range(3) for lanes in (None, (1, 3)) for kind in KINDS]
    buffers, serial = Buffers(any_device), Buffers(any_device)
    assert check(operations(buffers, program)) == len(program)
    assert check(operations(buffers, program), {"all": buffers.all}) == len(program)
    for _ in range(2):
        for operation in operations(serial, program):
            operation.start()
    assert buffers.bits() == serial.bits()


def test_an_undeclared_read(any_device):
    x, out = (wp.ones(4, dtype=float, device=any_device) for _ in range(2))
    with pytest.raises(AccessViolation, match=r"'lie' read 'out', 'x' without declaring it: its result in 'out'"):
        check([launch(lie, 4, [x], [out], device=any_device)])
    assert out.numpy().tolist() == [3.0] * 4


def test_an_undeclared_write(any_device):
    a, b = (torch.zeros(3, device=any_device.replace("cuda:0", "cuda")) for _ in range(2))
    operation = call(lambda: b.add_(1.0), reads=[b], writes=[a], name="stray", device=any_device)
    with pytest.raises(AccessViolation, match=r"'stray' wrote to 'b' outside .*3 elements, first \(0,\), \(1,\)"):
        check([operation], {"a": a, "b": b})


@pytest.mark.parametrize("world_outermost", [False, True])
def test_worlds_outside_of_the_lanes(any_device, world_outermost):
    buffers = Buffers(any_device, world_outermost)
    wide = launch(copy, (ROWS, WORLDS), [buffers.rows], [buffers.rows, 0, 0], device=any_device, lanes=(1, 3))
    with pytest.raises(AccessViolation, match=r"wrote to '.*' outside .*\(48 elements, first \(0, 0\), \(0, 3\)"):
        check([wide])


def test_an_undeclared_read_of_integers(any_device):
    index = torch.tensor([2, 2], dtype=torch.int32, device=any_device.replace("cuda:0", "cuda"))
    out = torch.zeros(2, device=index.device)
    honest = Operation("o", any_device, [segments_of(index)], [segments_of(out)], **_run(lambda: out.copy_(index)))
    silent = Operation("s", any_device, [], [segments_of(out)], **_run(lambda: out.copy_(index)))
    assert check([honest], {"index": index, "out": out}) == 1
    with pytest.raises(AccessViolation, match="'s' read 'index'"):
        check([silent], {"index": index, "out": out})


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64, torch.int32])
def test_an_undeclared_copy_of_equal_values(any_device, dtype):
    a, b = (torch.arange(4, device=any_device.replace("cuda:0", "cuda")).to(dtype) for _ in range(2))
    operation = call(lambda: a.copy_(b), reads=[], writes=[a], name="silent", device=any_device)
    with pytest.raises(AccessViolation, match="'silent' read 'b'"):
        check([operation], {"a": a, "b": b})
    assert a.tolist() == b.tolist() == [0, 1, 2, 3]


def _run(function):
    return {"invoke": function}
