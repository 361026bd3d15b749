"""Which nodes on which tasks of jobs fail are shown at their pool."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from shared.domain.core.stamps import to_milliseconds
from shared.domain.jobs.jobs import COMPLETED, Job, JobFacts
from shared.domain.jobs.snapshots import JobSnapshot
from shared.domain.nodes.failing_nodes import FailingNode, FailingNodes
from shared.domain.reports.failing_nodes import failing_nodes_of_jobs, on_pool
from shared.domain.tasks.tasks import TaskCounts

_NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
_DAY = timedelta(days=1)
_NODE = FailingNode(("Pool", "tvm-1"), 12, 10, 0.5, 3, 1, 1e-6)
_OTHER = _NODE._replace(place=("other", "tvm-1"))
_JOB = Job(
    JobFacts("job", _NOW - _DAY, "active", _NOW - _DAY, pool_id="Pool"),
    JobSnapshot("g", _NOW, "delta", TaskCounts(completed=40, failed=12), _NOW, _NOW, _NOW),
    failing_nodes=FailingNodes(to_milliseconds(_NOW), 12, (_NODE, _OTHER)),
)


def _shown(job: Job, *, now: datetime = _NOW) -> list[FailingNode]:
    return [one for found in on_pool(failing_nodes_of_jobs([job]), "pool", now) for one in found.found.nodes]


def _ended(ago: timedelta) -> Job:
    return replace(_JOB, facts=replace(_JOB.facts, state=COMPLETED, state_transition_time=_NOW - ago))


def test_nodes_of_the_pool_are_shown_and_those_of_others_are_not() -> None:
    assert _shown(_JOB) == [_NODE]
    assert _shown(replace(_JOB, failing_nodes=None)) == []
    assert _shown(replace(_JOB, deleted_at=_NOW)) == []


def test_a_job_that_ended_is_shown_for_a_day() -> None:
    assert _shown(_ended(timedelta(hours=23))) == [_NODE]
    assert _shown(_ended(_DAY)) == []


def test_nodes_of_an_older_look_are_shown_for_half_an_hour_after_more_tasks_failed() -> None:
    assert _JOB.failing_nodes
    older = replace(_JOB, failing_nodes=_JOB.failing_nodes._replace(failed=11))
    assert _shown(_JOB, now=_NOW + timedelta(hours=5)) == [_NODE]
    assert _shown(older, now=_NOW + timedelta(minutes=29)) == [_NODE]
    assert _shown(older, now=_NOW + timedelta(minutes=31)) == []
