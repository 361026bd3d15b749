"""Runs of a task before its latest, from events as documented by Batch."""

import json
from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any

from shared.domain.events.batch_events import BatchEvent
from shared.domain.events.event_records import parse_event
from shared.domain.telemetry.query.earlier_runs import earlier_runs
from shared.domain.telemetry.query.task_runs import TaskRun

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def at(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


def event(kind: str, minutes: float, node: str = "n1", version: int = 1, **info: Any) -> BatchEvent:
    """Returns an event logged at `minutes`; other times are in minutes, too."""
    execution = {
        name: f"{at(value):%Y-%m-%dT%H:%M:%S.%f}0Z" if "Time" in name else value for name, value in info.items()
    }
    properties: dict[str, Any] = {
        "jobId": "j",
        "id": "t",
        "nodeInfo": {"poolId": "pool", "nodeId": node},
        "executionInfo": execution,
    }
    properties["systemTaskVersion"] = version
    line = {
        "time": f"{at(minutes):%Y-%m-%dT%H:%M:%S.%f}0Z",
        "operationName": f"Task{kind}Event",
        "properties": properties,
    }
    return parse_event(json.dumps(line).encode())


def latest(minutes: float, node: str = "n1", earlier: int = 2) -> TaskRun:
    return TaskRun("pool", node, at(minutes), None, earlier)


def runs_of(events: list[BatchEvent], run: TaskRun) -> list[tuple[str, float, float, int]]:
    def minutes(moment: datetime | None) -> float:
        assert moment
        return (moment - NOON) / timedelta(minutes=1)

    found = {
        tuple((one.node, minutes(one.start), minutes(one.end), one.earlier) for one in earlier_runs(order, run))
        for order in ([*permutations(events)] if len(events) < 6 else [events, events[::-1]])
    }
    (only,) = found  # in any order
    return list(only)


def test_a_run_that_was_tried_again_lasts_until_the_next_one_begins() -> None:
    events = [
        event("Start", minutes, retryCount=number, scheduledTime=minutes) for number, minutes in enumerate((0, 5, 9))
    ]
    assert runs_of(events, latest(9.05)) == [("n1", 5, 9.05, 1), ("n1", 0, 5, 0)]


def test_tries_of_seconds_each_are_kept_apart() -> None:
    events = [event("Start", second / 60, scheduledTime=second / 60) for second in range(0, 12, 3)]
    assert [(start * 60, end * 60) for _, start, end, _ in runs_of(events, latest(9 / 60))] == [(6, 9), (3, 6), (0, 3)]


def test_the_end_of_the_latest_run_adds_no_other() -> None:
    events = [event("Start", minutes, scheduledTime=minutes) for minutes in (0, 5, 10)]
    events += [event("Complete", 15, startTime=10, endTime=15), event("Fail", 15, startTime=10, endTime=15)]
    assert runs_of(events, latest(10)) == [("n1", 5, 10, 1), ("n1", 0, 5, 0)]


def test_an_ends_times_count_and_are_one_run_with_its_start() -> None:
    events = [
        event("Start", 0, "n2"), event("Requeue", 4, "n2", startTime=0.5), event("Start", 7),
        event("Complete", 8, startTime=7.2, endTime=8), event("Fail", 8, startTime=7.2, endTime=8), event("Start", 20),
    ]  # fmt: skip
    assert runs_of(events, latest(20.1)) == [("n1", 7.2, 8, 1), ("n2", 0.5, 4, 0)]


def test_a_run_that_batch_retried_internally_is_one_on_the_same_node_too() -> None:
    """Batch doesn't count such a run."""
    events = [
        event("Start", 0, retryCount=0, scheduledTime=0),
        event("Start", 5, retryCount=0, scheduledTime=5, version=2),
        event("Start", 6, "n2", retryCount=0, scheduledTime=6, version=3),
    ]
    assert runs_of(events, latest(6.1, "n2", earlier=0)) == [("n1", 5, 6.1, 1), ("n1", 0, 5, 0)]
    assert [run.is_retried_internally for run in earlier_runs(events, latest(6.1, "n2", earlier=0))] == [True, True]


def test_runs_that_batch_does_not_count_are_those_on_other_nodes_or_that_ended() -> None:
    events = [event("Start", 0, "n2"), event("Start", 10, scheduledTime=10), event("Start", 40, scheduledTime=18)]
    assert runs_of(events, latest(40, earlier=0)) == [("n2", 0, 40, 0)]
    events += [event("Requeue", 14, startTime=10.5), event("Requeue", 9, "n2", startTime=0.5)]
    assert runs_of(events, latest(40, earlier=0)) == [("n1", 10.5, 14, 1), ("n2", 0.5, 9, 0)]


def test_the_latest_run_is_never_one_before_it() -> None:
    events = [
        event("Start", 3),
        event("Complete", 9, startTime=3.1, endTime=8),
        event("Fail", 9, startTime=3.1, endTime=8),
    ]
    assert runs_of(events, latest(3.1)) == []
    assert runs_of([], latest(3.1)) == []
    assert runs_of([event("ScheduleFail", 1), event("Start", 50, scheduledTime=50)], latest(3.1)) == []
    assert runs_of([event("Start", 20, scheduledTime=3)], latest(20, earlier=0)) == []
