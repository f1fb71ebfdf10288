"""All schedulers give the bits of `serial`."""

import json
import threading
import time

import pytest
import torch
import warp as wp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schedules import DEVICES, ROWS, WORLDS, Buffers, copy, operations

from acesim_rl.scheduler import Scheduler, call, create, launch, pick
from acesim_rl.scheduler.window import Trace

VARIANTS = [
    (device, name, options)
    for device in DEVICES
    for name, options in [
        *([("graph", {})] if device != "cpu" else []),
        ("ace-sw", {"window": 1, "workers": 2}),
        ("ace-sw", {"window": 5, "workers": 3}),
        ("ace-sw", {"window": 64, "workers": 1}),
        ("ace-sw", {"window": 64, "workers": 2}),
    ]
]
SCHEDULERS = [create(name, device, **options) for device, name, options in VARIANTS]
ROW = st.integers(0, ROWS - 1)
LANES = st.none() | st.tuples(st.integers(0, WORLDS - 2), st.integers(1, WORLDS)).filter(lambda r: r[0] < r[1])
KIND = st.sampled_from(["blend", "copy", "total", "fill", "torch", "sift"])
OPERATION = st.tuples(KIND, ROW, ROW, st.integers(1, 3), LANES, st.sampled_from([0, 0, 20_000]))
PROGRAM = st.lists(OPERATION, min_size=12, max_size=40)


def serial_bits(device, world_outermost, program, runs):
    buffers = Buffers(device, world_outermost)
    scheduler = create("serial", device)
    for _ in range(runs):
        scheduler.run("program", lambda: operations(buffers, program))
    return buffers.bits()


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(program=PROGRAM, world_outermost=st.booleans())
def test_random_programs(program, world_outermost):
    """First run, second run (captures on CUDA), replay; and the same without a key."""
    for device in DEVICES:
        expected = serial_bits(device, world_outermost, program, 3)
        for scheduler in (s for s in SCHEDULERS if s.device.alias == device):
            for key in (object(), None):
                buffers = Buffers(device, world_outermost)
                for _ in range(3):
                    scheduler.run(key, lambda buffers=buffers: operations(buffers, program))
                assert buffers.bits() == expected, (scheduler.name, scheduler.window, scheduler.workers, key)


@given(program=PROGRAM, world_outermost=st.booleans())
@settings(max_examples=60, deadline=None)
def test_dependencies_are_exact(program, world_outermost):
    """The reduced graph orders every conflicting pair and, by its direct edges, no other."""
    from acesim_rl.scheduler import conflict

    trace = Trace()
    for operation in operations(Buffers(DEVICES[0], world_outermost), program):
        trace.link(trace.add(operation))
    reachable = []
    for node in trace.nodes:
        reachable.append(set().union(*({d.index} | reachable[d.index] for d in node.dependencies)))
        direct = {d.index for d in node.dependencies}
        assert not any(d in reachable[e] for d in direct for e in direct), "an edge that others imply"
        for earlier in trace.nodes[: node.index]:
            a, b = earlier.operation, node.operation
            pairs = [(x, y) for x in a.writes for y in b.reads + b.writes] + [(x, y) for x in a.reads for y in b.writes]
            if any(conflict(x, y) for x, y in pairs):
                assert earlier.index in reachable[node.index]
            else:
                assert earlier.index not in direct


@pytest.fixture(params=[i for i, v in enumerate(VARIANTS) if v[2].get("workers") != 1])
def scheduler(request) -> Scheduler:
    return SCHEDULERS[request.param]


def test_submit_and_flush(scheduler):
    program = [("copy", i % 3, 3 + i % 4, 2, (i % 3, i % 3 + 2), 1000) for i in range(40)]
    device = scheduler.device.alias
    buffers = Buffers(device)
    for operation in operations(buffers, program):
        scheduler.submit(operation)
    scheduler.flush()
    assert buffers.bits() == serial_bits(device, False, program, 1)


def test_a_known_key_is_replayed_without_emission(scheduler):
    buffers = Buffers(scheduler.device.alias)
    calls = []

    def emit():
        calls.append(1)
        return operations(buffers, [("copy", 0, 1, 1, None, 0), ("copy", 1, 2, 1, None, 0)])

    before = scheduler.statistics()
    for _ in range(4):
        scheduler.run("replayed", emit)
    after = scheduler.statistics()
    assert len(calls) == 1
    assert after["trace_hits"] - before["trace_hits"] == 3
    assert after["trace_misses"] - before["trace_misses"] == 1
    assert after["operations"] - before["operations"] == 8
    assert f"scheduler {scheduler.name} on {scheduler.device.alias}" in scheduler.report()


def test_decisions_choose_the_trace_and_are_counted(any_device):
    """A program runs as it was decided; the report says how its operations varied."""
    scheduler = create("serial", any_device)
    buffers = Buffers(any_device)
    emitted = []

    def emit(count):
        emitted.append(count)
        return operations(buffers, [("copy", 0, 1, 1, None, 0)] * count)

    for count in (2, 3, 2, 2, 5):
        scheduler.run("step", lambda count=count: emit(count), decisions=(count,))
    assert emitted == [2, 3, 5]
    expected = {"runs": 5, "fewest": 2, "most": 5, "mean": 2.8, "variants": 3}
    assert scheduler.statistics()["programs"] == {"step": expected}
    assert "5 runs of 2 to 5 (2.8 on average) operations, 3 variants" in scheduler.report()


def test_what_is_told_of_many_programs_stays_short(any_device):
    scheduler = create("serial", any_device)
    for number in range(100):
        scheduler.run(("a program of its own", number), lambda: ())
        scheduler.run("step", lambda: ())
    programs, report = scheduler.statistics()["programs"], scheduler.report()
    assert len(programs) == 64 and programs["step"]["runs"] == 100 and "('a program of its own', 99)" in programs
    assert "  step         100 runs of 0 operations\n" in report and len(report.splitlines()) < 20
    assert ") 1 runs of 0 operations" in report and "others       56 more programs, run less often" in report


def test_traces_are_dropped_least_recently_used_first(any_device):
    scheduler = create("serial", any_device)
    scheduler.traces.capacity = 2
    emitted = []
    for key in ["a", "b", "a", "c", "a", "b"]:
        scheduler.run(key, lambda key=key: emitted.append(key) or ())
    assert emitted == ["a", "b", "c", "b"]
    assert (scheduler.traces.hits, scheduler.traces.misses, len(scheduler.traces)) == (2, 4, 2)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_an_error_reaches_the_caller_and_the_scheduler_lives_on(workers):
    scheduler = create("ace-sw", "cpu", workers=workers)
    values = torch.zeros(4)
    healthy = True

    def add(i):
        def work():
            if i == 20 and not healthy:
                raise ArithmeticError("operation 20")
            values[i % 4] += 1.0

        return call(work, reads=[values[i % 4]], writes=[values[i % 4]], device="cpu")

    def emit():
        return (add(i) for i in range(40))

    for key in ("seen", "unseen", None):
        healthy = True
        if key == "seen":
            scheduler.run(key, emit)
        healthy = False
        with pytest.raises(ArithmeticError, match="operation 20"):
            scheduler.run(key, emit)
        healthy = True
        values.zero_()
        scheduler.run(key, emit)
        assert values.tolist() == [10.0] * 4


def test_an_error_in_emission_or_an_interrupt_leaves_the_scheduler_usable():
    scheduler = create("ace-sw", "cpu", workers=2)
    values = torch.zeros(1)

    def operation():
        return call(lambda: values.add_(1.0), writes=[values], reads=[values], device="cpu")

    def broken():
        yield operation()
        raise KeyboardInterrupt

    for key in ("a", None):
        with pytest.raises(KeyboardInterrupt):
            scheduler.run(key, broken)
        values.zero_()
        scheduler.run(key, lambda: [operation(), operation()])
        assert values.item() == 2.0
    scheduler.close()


def test_independent_operations_run_side_by_side():
    """Both calls wait for each other: only two workers at once can finish them."""
    scheduler = create("ace-sw", "cpu", workers=2)
    barrier = threading.Barrier(2, timeout=10)
    a, b = torch.zeros(1), torch.zeros(1)

    def emit():
        return [call(barrier.wait, writes=[array], device="cpu") for array in (a, b)]

    for _ in range(3):
        scheduler.run("both", emit)
    statistics = scheduler.statistics()
    assert statistics["average_parallelism"] == 2.0
    assert "available    2.00 operations side by side, by the longest chain" in scheduler.report()
    assert "of 2 workers busy on average" in scheduler.report()
    assert sum(statistics["dependencies"].values()) == 0


def test_the_window_bounds_how_far_ahead_it_looks():
    """With one place in the window the second operation cannot start before the first has ended."""
    scheduler = create("ace-sw", "cpu", workers=2, window=1)
    order = []

    def emit():
        for i in range(4):
            array = torch.zeros(1)
            yield call(lambda i=i: (time.sleep(0.01 * (4 - i)), order.append(i)), writes=[array], device="cpu")

    scheduler.run("key", emit)
    assert order == [0, 1, 2, 3]
    assert scheduler.statistics()["window_occupancy"] == 1.0


@pytest.mark.parametrize("option", ["window", "workers"])
@pytest.mark.parametrize("value", [0, -1, 1.5])
def test_what_nothing_could_run_with_is_refused(option, value):
    with pytest.raises(ValueError, match=f"{option} is {value}; expected a whole number, at least 1"):
        create("ace-sw", "cpu", **{option: value})


def test_graph_needs_cuda():
    with pytest.raises(ValueError, match=r"'graph' makes CUDA graphs, device 'cpu' has none"):
        create("graph", "cpu")
    with pytest.raises(ValueError, match=r"unknown scheduler 'ace'; known: serial, graph, ace-sw; 'ace' is a choice"):
        create("ace", "cpu")


def test_pick_is_a_fixed_rule(monkeypatch):
    import acesim_rl.scheduler as package

    monkeypatch.setattr(package, "usable_cores", lambda: 2)
    assert [pick("cpu", worlds) for worlds in (1, 127, 128, 4096)] == ["serial", "serial", "ace-sw", "ace-sw"]
    monkeypatch.setattr(package, "usable_cores", lambda: 1)
    assert pick("cpu", 4096) == "serial"


def test_timeline(any_device, tmp_path):
    program = [("copy", 0, 1, 1, None, 0), ("total", 1, 1, 1, None, 0)]
    for scheduler in (create("serial", any_device), create("ace-sw", any_device, workers=2)):
        buffers = Buffers(any_device)
        scheduler.timeline.start()
        for _ in range(2):
            scheduler.run("key", lambda b=buffers: operations(b, program))
        scheduler.timeline.stop()
        events = json.loads(scheduler.timeline.save(tmp_path / "trace.json").read_text())["traceEvents"]
        names = [e["name"] for e in events]  # on CUDA the second run of `ace-sw` is one graph
        assert set(names) == {"copy0", "total1"} and names.count("copy0") == names.count("total1")
        assert all(e["dur"] >= 0 for e in events)


@pytest.mark.skipif(not wp.is_cuda_available(), reason="CUDA graphs need CUDA")
@pytest.mark.parametrize("name", ["graph", "ace-sw"])
class TestCapture:
    def test_operations_that_cannot_be_captured_split_the_graph(self, name):
        scheduler = create(name, "cuda:0")
        buffers = Buffers("cuda:0")
        seen = []

        def emit():
            x = buffers.rows
            yield launch(copy, (1, WORLDS), [x[0:1]], [x[1:2], 0, 0], device="cuda:0")
            yield call(lambda: seen.append(1), reads=[x], device="cuda:0", capturable=False)
            yield launch(copy, (1, WORLDS), [x[1:2]], [x[2:3], 0, 0], device="cuda:0")

        for _ in range(4):
            scheduler.run("key", emit)
        assert len(seen) == 4
        assert scheduler.statistics()["graphs"] == 2
        rows = buffers.rows.numpy()
        assert (rows[2] == rows[0] + 2.0).all()

    def test_inside_an_outer_capture(self, name):
        program = [("copy", i % 3, 3 + i % 4, 2, None, 0) for i in range(12)]
        scheduler, buffers = create(name, "cuda:0"), Buffers("cuda:0")
        list(operations(buffers, program))
        with wp.ScopedCapture(device="cuda:0", force_module_load=False) as capture:
            scheduler.run("key", lambda: operations(buffers, program))
        for _ in range(3):
            wp.capture_launch(capture.graph)
        assert buffers.bits() == serial_bits("cuda:0", False, program, 3)
