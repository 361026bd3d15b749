"""All runs of a task from events and its cached state: each once, with its end as far as anything shows it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.core.keys import key_of
from shared.domain.core.stamps import format_stamp, from_milliseconds
from shared.domain.cost.runs.run_events import RunEvent, RunEvents, instances_of
from shared.domain.cost.runs.task_attempts import TaskRun, attempts
from shared.domain.events.batch_events import BatchEvent
from shared.domain.tasks.tasks import ACTIVE, COMPLETED, FAILURE, PREPARING, RUNNING, SUCCESS, Task
from shared.domain.timeline.timeline import Node

_ZERO = 1_700_000_000_000
_A, _B = ("p", "a"), ("p", "b")
_NOW = 10_000_000  # seconds after _ZERO that no test's run lasts


def _started(at: float, node: Node = _A, retries: int = 0) -> RunEvent:
    moment = _time(at)
    return RunEvent(moment + 300, "start", moment, 0, SUCCESS, retries, 1, node)


def _ended(start: float, end: float, node: Node = _A, retries: int = 0, result: int = SUCCESS) -> RunEvent:
    return RunEvent(_time(end) + 300, "end", _time(start), _time(end), result, retries, 1, node)


def _requeued(at: float, node: Node = _A, start: float | None = None) -> RunEvent:
    return RunEvent(_time(at), "requeue", _time(start) if start else 0, 0, SUCCESS, 0, 1, node)


def _time(seconds: float) -> int:
    return _ZERO + round(seconds * 1000)


def _cached(state: int, start: float = 0, end: float = 0, moved: float = 0, **more: Any) -> Task:
    times = {"start": _time(start) if start else 0, "end": _time(end) if end else 0, "transition": _time(moved or end)}
    return Task("t", state, **{"node": _A, **times, **more})


def _runs(
    events: list[RunEvent], task: Task | None, known: float = _NOW, ends: Mapping[int, float] = MappingProxyType({})
) -> list[tuple[float, float | None, str]]:
    found = _found(events, task, known, ends)
    return [(_since(run.start), None if run.end is None else _since(run.end), outcome) for run, outcome, _ in found]


def _found(events: list[RunEvent], task: Task | None, known: float, ends: Mapping[int, float]) -> list[TaskRun]:
    return list(attempts(events, task, _time(known), {number: _time(end) for number, end in ends.items()}.get))


def _bounded(events: list[RunEvent], task: Task | None, ends: Mapping[int, float] = MappingProxyType({})) -> list[bool]:
    return [one.is_bounded for one in _found(events, task, _NOW, ends)]


def _since(time: int) -> float:
    return (time - _ZERO) / 1000


def test_runs_that_failed_are_retried_and_end_with_the_next_start() -> None:
    events = [_started(10), _started(52, retries=1), _ended(52, 90, retries=1)]
    task = _cached(COMPLETED, 52, 90, result=SUCCESS, retries=1)
    expected = [(10, 52, "retried"), (52, 90, "succeeded")]
    assert _runs(events, task) == expected
    assert _runs(events[::-1], None) == expected
    assert _runs(events[:2], task) == expected
    assert _runs(events[:1], task) == expected


def test_a_retried_run_ended_when_a_poll_saw_its_task_wait() -> None:
    events = [_started(10), _started(52, retries=1), _ended(52, 90, retries=1)]
    assert _runs(events, None, ends={0: 40}) == [(10, 40, "retried"), (52, 90, "succeeded")]
    assert _bounded(events, None, {0: 40}) == [False, False]
    assert _bounded(events, None) == [True, False]
    assert _runs(events, None, ends={0: 53}) == [(10, 52, "retried"), (52, 90, "succeeded")]  # another clock
    assert _bounded(events, None, {0: 53}) == [False, False]
    for other in (5, 60):  # that of an earlier or a later task of this id
        assert _runs(events, None, ends={0: other}) == [(10, 52, "retried"), (52, 90, "succeeded")]
        assert _bounded(events, None, {0: other}) == [True, False]


def test_the_latest_run_ended_when_a_poll_saw_its_task_wait_even_if_it_is_gone_or_was_ended_since() -> None:
    terminated = _cached(COMPLETED, moved=80, end=80, result=FAILURE, retries=1)
    for task in (None, terminated, _cached(PREPARING, moved=60, retries=1)):
        assert _runs([_started(10)], task, ends={0: 40}) == [(10, 40, "retried")]
        assert _bounded([_started(10)], task, {0: 40}) == [False]
        assert _runs([_started(50)], task, ends={0: 40}) != [(50, 40, "retried")]
    for retries, outcome in ((1, "retried"), (0, "interrupted")):
        assert _runs([_started(10)], terminated._replace(retries=retries)) == [(10, 80, outcome)]
        assert _bounded([_started(10)], terminated._replace(retries=retries)) == [True]
    reactivated = _cached(COMPLETED, 10, 60, result=FAILURE, retries=3)
    assert _runs([_started(100)], reactivated) == [(10, 60, "failed"), (100, None, "running")]


def test_a_run_without_length_is_one_run_and_the_next_start_at_that_moment_another() -> None:
    events = [_started(10), RunEvent(_time(10) + 300, "end", _time(10), _time(10), SUCCESS, 0, 1, _A)]
    assert _runs(events, None) == [(10, 10, "succeeded")]
    requeued = [_started(10), _requeued(40), _started(40, _B)._replace(at=_time(40)), _ended(40, 60, _B)]
    assert _runs(requeued, None) == [(10, 40, "interrupted"), (40, 60, "succeeded")]


def test_a_requeue_ends_a_run_where_its_event_says_so() -> None:
    events = [_started(10), _requeued(40), _started(100, _B), _ended(100, 160, _B)]
    assert _runs(events, None) == [(10, 40, "interrupted"), (100, 160, "succeeded")]
    assert _runs([_requeued(40, start=10)], _cached(ACTIVE, moved=40)) == [(10, 40, "interrupted")]


def test_a_task_that_waits_again_ended_its_run_when_its_state_changed() -> None:
    assert _runs([_started(10)], _cached(ACTIVE, moved=70)) == [(10, 70, "interrupted")]
    assert _runs([_started(10)], _cached(PREPARING, moved=71, retries=1)) == [(10, 71, "retried")]
    assert _runs([_started(10)], _cached(ACTIVE, 10, moved=70, retries=1)) == [(10, 70, "retried")]


def test_a_run_without_any_end_counts_only_where_it_surely_lasts() -> None:
    assert _runs([_started(10)], _cached(RUNNING, 10)) == [(10, None, "running")]
    assert _runs([_started(10)], None, known=5) == [(10, None, "running")]
    assert _runs([_started(10)], _cached(ACTIVE, moved=5)) == [(10, None, "running")]
    assert _runs([_started(10)], None, known=600) == []  # a task that was deleted since
    assert _runs([_started(10), _started(300, _B), _ended(300, 310, _B)], None) == [(300, 310, "succeeded")]


def test_an_event_that_comes_before_the_poll_ends_a_run_that_the_cache_has_running() -> None:
    events = [_started(10), _ended(10, 60, result=FAILURE)]
    assert _runs(events, _cached(RUNNING, 10)) == [(10, 60, "failed")]


def test_both_events_of_a_failure_and_one_without_a_start_are_one_run() -> None:
    end = _ended(10, 60, result=FAILURE)
    assert _runs([_started(10), end, end], None) == [(10, 60, "failed")]
    assert _runs([end], None) == [(10, 60, "failed")]
    never = RunEvent(_time(80), "end", 0, _time(80), FAILURE, 0, 1, ("", ""))
    assert _runs([_started(10), _requeued(40), never], None) == [(10, 40, "interrupted")]


def test_a_start_whose_time_is_only_that_of_its_event_is_the_cached_one() -> None:
    vague = _started(10)._replace(start=0, at=_time(13))
    assert _runs([vague], _cached(COMPLETED, 10, 60, result=SUCCESS)) == [(10, 60, "succeeded")]


@dataclass(frozen=True)
class _Life:
    """A task's runs, and the events of all of them."""

    runs: list[tuple[float, float, str]]
    events: list[RunEvent]
    last: Task


@st.composite
def _lives(draw: st.DrawFn) -> _Life:
    at, retries, runs, events = 100.0, 0, list[tuple[float, float, str]](), list[RunEvent]()
    task = _cached(ACTIVE, moved=1)
    for number in range(draw(st.integers(1, 6))):
        start, node = at + draw(st.integers(1, 300)), ("p", f"n{number % 3}")
        how = draw(st.sampled_from(("retried", "interrupted", "succeeded", "failed")))
        end = start + draw(st.integers(how == "interrupted", 5000))  # its requeue is logged after its start
        events.append(_started(start, node, retries))
        if how == "interrupted":
            events.append(_requeued(end, node))
        elif how != "retried":
            result = SUCCESS if how == "succeeded" else FAILURE
            events.append(_ended(start, end, node, retries, result))
            task = _cached(COMPLETED, start, end, result=result, retries=retries, node=node)
        runs.append((start, end, how))
        at, retries = end, retries + (how == "retried")
        if how in {"retried", "interrupted"}:
            task = _cached(ACTIVE, moved=end, retries=retries)
        else:
            break
    return _Life(runs, events, task)


@given(_lives(), st.randoms(use_true_random=False))
def test_all_runs_of_a_life_are_found_once_in_any_order_of_events(life: _Life, chance: Any) -> None:
    events = life.events[:]
    chance.shuffle(events)
    found = _runs(events, life.last)
    assert [(start, outcome) for start, _, outcome in found] == [(start, outcome) for start, _, outcome in life.runs]
    following = [run[0] for run in life.runs[1:]]
    for (_, shown, outcome), (_, true, _), then in zip(found, life.runs, [*following, None], strict=True):
        assert shown == (then if outcome == "retried" and then else true)
    for (_, end, _), (start, _, _) in pairwise(found):
        assert end is not None
        assert end <= start
    ends = dict(enumerate(end for _, end, outcome in life.runs if outcome == "retried"))
    assert _runs(events, life.last, ends=ends) == life.runs
    assert not any(_bounded(events, life.last, ends))


@given(_lives(), st.sets(st.integers(0, 12)))
def test_runs_never_overlap_whichever_events_are_missing(life: _Life, missing: set[int]) -> None:
    events = [event for number, event in enumerate(life.events) if number not in missing]
    found = _runs(events, life.last)
    for (_, end, _), (start, _, _) in pairwise(found):
        assert end is not None
        assert end <= start


@pytest.mark.parametrize("result", ["Failure", "failure", "Success", None])
def test_events_are_read_as_the_log_has_them(result: str | None) -> None:
    at = datetime(2026, 11, 3, 10, tzinfo=UTC)
    info = {"startTime": format_stamp(at), "endTime": format_stamp(at + timedelta(seconds=9)), "retryCount": 2}
    properties = {"requiredSlots": 3, "executionInfo": {**info, "result": result}}
    ids = ("Job:1", "T", "Pool", "n1")
    found = RunEvents()
    found.take(BatchEvent(at, kind, *ids, properties, b"") for kind in ("TaskCompleteEvent", "PoolResizeStartEvent"))
    assert found.names == {key_of("job:1"): "Job:1"}
    (event,) = found.of_job(key_of("job:1"))["t"]
    assert from_milliseconds(event.start) == at
    assert (event.end - event.start, event.slots, event.retries, event.node) == (9000, 3, 2, ("Pool", "n1"))
    assert event.result == (FAILURE if result and result.lower() == "failure" else SUCCESS)


@pytest.mark.parametrize(
    ("settings", "instances"),
    [({"numberOfInstances": 4}, 4), ({"NumberOfInstances": 1}, 1), ({"numberOfInstances": 0}, 1), (None, 1)],
)
def test_any_event_of_a_task_says_on_how_many_nodes_it_runs(settings: dict[str, int] | None, instances: int) -> None:
    at = datetime(2026, 11, 3, 10, tzinfo=UTC)
    found = RunEvents()
    for properties in ({"multiInstanceSettings": settings}, {}):
        found.take([BatchEvent(at, "TaskStartEvent", "job", "t", "pool", "n1", properties, b"")])
    assert instances_of(found.of_job(key_of("job"))["t"]) == instances
    assert instances_of([]) == 1
