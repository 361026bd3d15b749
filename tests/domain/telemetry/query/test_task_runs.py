"""The time ranges of a task's own telemetry, and the runs that share a stay on a node."""

from datetime import UTC, datetime, timedelta

import pytest

from shared.domain.tasks.tasks import ACTIVE, COMPLETED, RUNNING, Task
from shared.domain.telemetry.query.task_runs import NodeInterval, TaskAffinity, attempts_of, run_of, tie_of
from shared.domain.telemetry.records.labels import Identity
from shared.domain.timeline.timeline import Run

NODE = ("pool", "n1")
SECOND = timedelta(seconds=1)


def at(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def task(state: int, start: int = 0, end: int = 0, transition: int = 0) -> Task:
    return Task("t", state, start=start * 1000, end=end * 1000, transition=transition * 1000, node=NODE)


def test_a_run_ends_when_the_task_did_and_lasts_while_it_runs() -> None:
    assert run_of(task(ACTIVE)) is None
    running, done = run_of(task(RUNNING, start=5, transition=5)), run_of(task(COMPLETED, start=5, end=9, transition=9))
    requeued = run_of(task(ACTIVE, start=5, transition=7)._replace(retries=2, requeues=1))
    assert running
    assert done
    assert requeued
    assert (running.start, running.end, running.earlier) == (at(5), None, 0)
    assert (done.end, requeued.end, requeued.earlier) == (at(9), at(7), 3)


def test_a_requested_range_is_bounded_by_the_run() -> None:
    run, open_run = run_of(task(COMPLETED, start=5, end=9)), run_of(task(RUNNING, start=5))
    assert run
    assert open_run
    assert run.clipped(None, None, at(100)) == (at(5), at(9))
    assert run.clipped(at(1), at(7), at(100)) == (at(5), at(7))
    assert run.clipped(at(6), at(20), at(100)) == (at(6), at(9))
    assert open_run.clipped(None, None, at(100)) == (at(5), at(100))
    since, until = open_run.clipped(None, None, at(2))  # its node's clock is ahead
    assert since == at(5) < until


@pytest.mark.parametrize(
    ("whose", "tie"),
    [
        (Identity(), TaskAffinity.NODE),
        (Identity(job="J"), TaskAffinity.NODE),
        (Identity(job="J", task="T"), TaskAffinity.TASK),
        (Identity(task="t"), TaskAffinity.TASK),
        (Identity(job="other", task="t"), None),
        (Identity(job="j", task="other"), None),
    ],
)
def test_a_session_is_the_tasks_the_nodes_or_anothers(whose: Identity, tie: TaskAffinity | None) -> None:
    assert tie_of(whose, "j", "t") is tie


def test_runs_share_a_stay_that_have_time_on_the_node_in_it() -> None:
    stay = NodeInterval(NODE, 10, 20)
    runs = [
        Run(0, "before", 10, 1, 1, NODE), Run(0, "into", 11, 1, 1, NODE), Run(19, "out", 30, 1, 1, NODE),
        Run(20, "after", 30, 1, 1, NODE), Run(5, "open", None, 0, 1, NODE), Run(12, "else", 13, 1, 1, ("pool", "n2")),
    ]  # fmt: skip
    assert [run.task for run in stay.shared_by(runs)] == ["into", "out", "open"]


def test_attempts_are_named_once_each() -> None:
    assert attempts_of([Identity(attempt="1"), Identity(), Identity(attempt="0"), Identity(attempt="1")]) == ["0", "1"]
