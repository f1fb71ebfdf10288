"""How operations are spread over CUDA streams, with streams that only note what is ordered before what."""

from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schedules import DEVICES, Buffers, operations
from test_scheduling import PROGRAM

from acesim_rl.scheduler import Operation, ace_cuda
from acesim_rl.scheduler.timeline import Timeline
from acesim_rl.scheduler.window import Trace


class NotingEvent:
    def __init__(self, device):
        self.before = frozenset()


class NotingStream:
    """Knows which operations are ordered before whatever comes next on it."""

    waits = 0

    def __init__(self, device, is_capturing=False):
        self.before: set[int] = set()
        self.is_capturing = is_capturing

    def record_event(self, event):
        event.before = frozenset(self.before)

    def wait_event(self, event):
        NotingStream.waits += 1
        self.before |= event.before


@pytest.fixture(autouse=True, scope="module")
def _noting():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ace_cuda, "wp", SimpleNamespace(Stream=NotingStream, Event=NotingEvent))
        yield


def issue(trace, width, is_capturing=False):
    """What each operation is ordered after, what the origin stream is ordered after, and the waits that it took."""
    origin = NotingStream(None, is_capturing)
    streams = ace_cuda.Streams(None, width, Timeline())
    NotingStream.waits = 0
    streams.fork(origin)
    before = []
    for node in trace.nodes:

        def enqueue(stream, index=node.index):
            before.append(frozenset(stream.before))
            stream.before.add(index)

        node.operation = Operation(node.operation.name, "cuda:0", (), (), enqueue=enqueue)
        streams.issue(node, trace)
    streams.join()
    return before, origin.before, NotingStream.waits


def traced(program):
    trace = Trace()
    for operation in operations(Buffers(DEVICES[0]), program):
        trace.link(trace.add(operation))
    return trace


@given(program=PROGRAM, width=st.sampled_from([1, 2, 5, 16]))
@settings(max_examples=60, deadline=None)
def test_every_dependency_is_kept_and_all_is_joined(program, width):
    trace = traced(program)
    before, joined, _ = issue(trace, width)
    for node in trace.nodes:
        assert {d.index for d in node.dependencies} <= before[node.index]
    assert joined == set(range(len(trace.nodes)))


@given(program=PROGRAM, capturing=st.booleans())
@settings(max_examples=30, deadline=None)
def test_with_streams_to_spare_nothing_else_is_ordered(program, capturing):
    """While capturing there are always streams to spare: more are made."""
    trace = traced(program)
    before, _, _ = issue(trace, 1 if capturing else len(trace.nodes), capturing)
    ancestors: list[set[int]] = []
    for node in trace.nodes:
        ancestors.append(set().union(*({d.index} | ancestors[d.index] for d in node.dependencies)))
    assert before == ancestors


def test_a_chain_stays_on_its_stream():
    chains = [("copy", row, row, 1, None, 0) for _ in range(8) for row in range(4)]
    _, _, waits = issue(traced(chains), 16)
    assert waits == 4 + 4, "four forks, four joins, no event between"
