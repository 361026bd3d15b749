"""Events of runs as they are kept in memory: all of them as they came, in little room."""

import tracemalloc
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.core.stamps import format_stamp, from_milliseconds
from shared.domain.cost.runs.run_events import RunEvent, RunEvents, Step
from shared.domain.events.batch_events import BatchEvent
from shared.domain.tasks.tasks import FAILURE, SUCCESS

_AT = 1_700_000_000_000
_STEPS: Sequence[Step] = ("start", "end", "requeue")
_KINDS = {"start": "TaskStartEvent", "end": "TaskCompleteEvent", "requeue": "TaskRequeueEvent"}
_MANY, _BYTES = 20_000, 250  # of events of a task each, which take 420 bytes as tuples
_nodes = st.tuples(st.sampled_from(["p", "Pool"]), st.sampled_from(["a", "b", "node"]))
_numbers = st.integers(0, (1 << 32) - 1)
_results = st.sampled_from([SUCCESS, FAILURE])


def _event(kind: str, at: int, job: str, task: str, **properties: Any) -> BatchEvent:
    pool, node = properties.pop("place", ("p", "a"))
    return BatchEvent(from_milliseconds(at), kind, job, task, pool, node, properties, b"")


def _of(one: RunEvent, job: str, task: str) -> BatchEvent:
    begin = "scheduledTime" if one.step == "start" else "startTime"
    run = {begin: format_stamp(from_milliseconds(one.start)), "retryCount": one.retries}
    run |= {"endTime": format_stamp(from_milliseconds(one.end))} if one.step != "start" else {}
    run |= {"result": "failure" if one.result == FAILURE else "success"}
    several = {"numberOfInstances": one.instances}
    more = {"executionInfo": run, "requiredSlots": one.slots, "multiInstanceSettings": several, "place": one.node}
    return _event(_KINDS[one.step], one.at, job, task, **more)


@st.composite
def _runs(draw: st.DrawFn) -> RunEvent:
    step = draw(st.sampled_from(_STEPS))
    at, start = _AT + draw(_numbers), _AT + draw(_numbers)
    end = 0 if step == "start" else _AT + draw(_numbers)
    numbers = draw(_numbers), draw(_numbers.filter(bool)), draw(_nodes), draw(_numbers.filter(bool))
    return RunEvent(at, step, start, end, draw(_results), *numbers)


@given(st.lists(st.tuples(st.sampled_from(["j", "K"]), st.sampled_from(["t", "U"]), _runs()), max_size=12))
def test_events_of_each_task_are_kept_as_they_came(given_events: list[tuple[str, str, RunEvent]]) -> None:
    events = RunEvents()
    events.take(_of(one, job, task) for job, task, one in given_events)
    for job in ("j", "K"):
        own = [(task.lower(), one) for name, task, one in given_events if name == job]
        found = events.of_job(job.lower())
        assert found == {task: [one for name, one in own if name == task] for task, _ in own}
        latest = max((one.at for _, one in own), default=0)
        assert not events.has_since(job.lower(), latest + 1)
        assert events.has_since(job.lower(), latest) == bool(own)


@pytest.mark.parametrize("odd", [1 << 32, 1 << 80, -1, True, "3", None, 2.5])
def test_numbers_that_no_run_has_count_as_unknown(odd: Any) -> None:
    events, several = RunEvents(), {"numberOfInstances": odd}
    run = {"retryCount": odd}
    events.take(
        [_event("TaskFailEvent", _AT, "j", "t", executionInfo=run, requiredSlots=odd, multiInstanceSettings=several)]
    )
    (one,) = events.of_job("j")["t"]
    assert (one.retries, one.slots, one.instances) == (0, 1, 1)


def test_many_events_take_few_bytes_each() -> None:
    run = {"startTime": format_stamp(from_milliseconds(_AT)), "endTime": format_stamp(from_milliseconds(_AT + 1))}

    def made() -> Iterator[BatchEvent]:
        for number in range(_MANY):
            yield _event("TaskCompleteEvent", _AT + number, "j", f"task-{number}", executionInfo=run)

    events = RunEvents()
    tracemalloc.start()
    try:
        events.take(made())
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert events.count == _MANY
    assert held < _MANY * _BYTES
