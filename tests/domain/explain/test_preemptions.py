"""Who took the slots of requeued tasks, as far as events show it."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from shared.domain.events.batch_events import BatchEvent
from shared.domain.explain.explanation import explain
from shared.domain.explain.preemptions import Requeue, requeues_of, with_takers
from shared.domain.findings.finding import Amount
from shared.domain.jobs.job_rules import JobRules
from tests.domain.explain.made_evidence import BUSY, MINUTE, NOW, PREEMPTED, evidence

MORE_URGENT = {"urgent": "Urgent", "more": "More"}
SECOND = timedelta(seconds=1)


def event(kind: str, job: str, node: str | None, at: datetime, task: str | None = "t", **run: Any) -> BatchEvent:
    return BatchEvent(at, kind, job, task, "pool", node, {"executionInfo": run}, bytes(12))


def requeued(task: str | None = "t", node: str | None = "n1", **run: Any) -> BatchEvent:
    return event("TaskRequeueEvent", "job", node, NOW, task, **run)


def started(job: str, node: str, after: timedelta) -> BatchEvent:
    return event("TaskStartEvent", job, node, NOW + after)


def test_only_requeues_of_running_tasks_that_no_user_asked_for_count() -> None:
    found = requeues_of([
        requeued("a", requeueCount=0), requeued("b"), requeued("asked", requeueCount=1), requeued("c", None),
        requeued(None), event("TaskStartEvent", "job", "n1", NOW),
    ])  # fmt: skip
    assert found == [Requeue("a", "n1", NOW), Requeue("b", "n1", NOW)]


@pytest.mark.parametrize(
    ("starts", "taker"),
    [
        ([started("URGENT", "N1", SECOND)], "Urgent"),
        ([started("urgent", "n1", 2 * SECOND), started("more", "n1", SECOND)], "More"),
        ([started("urgent", "n2", SECOND)], None),
        ([started("lower", "n1", SECOND)], None),
        ([started("lower", "n1", SECOND), started("more", "n1", MINUTE)], "More"),
        ([started("urgent", "n1", -SECOND)], None),
        ([started("urgent", "n1", 5 * MINUTE)], "Urgent"),
        ([started("urgent", "n1", 5 * MINUTE + SECOND)], None),
        ([event("TaskCompleteEvent", "urgent", "n1", NOW)], None),
        ([], None),
    ],
)
def test_the_first_more_urgent_task_that_starts_on_the_node_soon_took_the_slot(
    starts: list[BatchEvent], taker: str | None
) -> None:
    (found,) = with_takers([Requeue("t", "n1", NOW)], starts, MORE_URGENT)
    assert found == Requeue("t", "n1", NOW, taker)


def test_the_finding_names_the_jobs_and_counts_requeues_without_one() -> None:
    first, second = PREEMPTED
    requeues = (first, second, replace(second, taken_by="urgent"), replace(first, taken_by=None))
    found = evidence(BUSY, rules=JobRules(allows_preemption=True), requeues=requeues)
    finding = explain(found).findings[-1]
    assert finding.title == "2 running tasks of the job were requeued for jobs of a higher priority"
    assert finding.sentence == (
        "The job allows preemption, and its priority is 0. Within the last hour Batch requeued its running tasks 3 "
        "times as tasks of a higher priority started on the same nodes: of 'other' (2 times), 'urgent' (1 time). "
        "The cause of 1 more requeue isn't known: no event shows a job that took the slot."
    )
    assert (finding.since, finding.amount) == (NOW - 2 * MINUTE, Amount(2, "tasks"))
    assert finding.evidence == {
        "preemptedTasks": 2,
        "requeuedTasks": 2,
        "requeues": 4,
        "preemptingJobs": ("other: 2", "urgent: 1"),
        "requeuesWithoutJob": 1,
        "exampleTasks": ("task-1 on busy: other", "task-2 on busy: other", "task-2 on busy: urgent"),
    }


def test_the_title_counts_no_task_that_was_requeued_for_another_cause() -> None:
    first, second = PREEMPTED
    earlier = replace(first, task="task-9", taken_by=None, at=NOW - 9 * MINUTE)
    found = evidence(
        BUSY, rules=JobRules(allows_preemption=True), requeues=(first, replace(second, taken_by=None), earlier)
    )
    finding = explain(found).findings[-1]
    assert finding.title == "1 running task of the job was requeued for jobs of a higher priority"
    assert finding.sentence.endswith(
        "of 'other' (1 time). The cause of 2 more requeues isn't known: no event shows a job that took the slot."
    )
    assert (finding.since, finding.amount) == (NOW - MINUTE, Amount(1, "tasks"))
    numbers = [finding.evidence[name] for name in ("preemptedTasks", "requeuedTasks", "requeues", "requeuesWithoutJob")]
    assert numbers == [1, 3, 3, 2]
