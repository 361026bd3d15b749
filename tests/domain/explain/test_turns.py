"""Sentences on the jobs that go first, those with equal shares, and running tasks that give way."""

from dataclasses import replace
from datetime import timedelta

import pytest

from shared.domain.explain.competing_jobs import CompetingJob
from shared.domain.explain.explanation import explain
from shared.domain.jobs.job_rules import JobRules
from shared.domain.tasks.tasks import TaskCounts
from tests.domain.explain.made_evidence import BUSY, JOB, MINUTE, NOW, OLDER, OLDEST_FIRST, URGENT, evidence


def test_jobs_of_equal_priority_have_equal_shares_of_the_slots_that_higher_ones_leave() -> None:
    equal = [replace(OLDER, id=f"equal-{number}", creation_time=NOW - number * MINUTE) for number in range(3)]
    (finding,) = explain(evidence(BUSY, competing_jobs=tuple(equal))).findings
    assert finding.evidence["share"] == 0.25
    assert (
        "Batch takes tasks uniformly from jobs of the same priority, so 1 in 4 slots is for this job, and the others "
        "are for 'equal-0' (7 tasks), 'equal-1' (7 tasks), 'equal-2' (7 tasks). "
    ) in finding.sentence
    behind = explain(evidence(BUSY, competing_jobs=(URGENT, *equal))).findings[1]
    assert "so 1 in 4 slots that higher ones leave is for this job" in behind.sentence
    doubtful = replace(OLDER, is_doubtful=True)
    (unsure,) = explain(evidence(BUSY, competing_jobs=(equal[0], doubtful))).findings
    assert unsure.evidence["share"] is None
    assert "so an equal share of slots is for this job" in unsure.sentence
    (alone,) = explain(evidence(BUSY)).findings
    assert (alone.evidence["share"], "uniformly" in alone.sentence) == (1, False)


def test_by_an_order_that_nobody_knows_no_share_is_said() -> None:
    left_out = {"settings_left_out": ("taskSchedulingPolicy.jobDefaultOrder",)}
    (finding,) = explain(evidence(BUSY, competing_jobs=(OLDER,), pool_changes=left_out)).findings
    assert (finding.evidence["share"], "uniformly" in finding.sentence) == (None, False)


def test_older_jobs_are_counted_with_their_tasks_and_named_by_age() -> None:
    older = [
        replace(
            OLDER, id=f"{number}-old", creation_time=JOB.creation_time - number * MINUTE, counts=TaskCounts(active=206)
        )
        for number in (1, 2)
    ]
    younger = replace(OLDER, id="young", creation_time=NOW)
    found = evidence(BUSY, competing_jobs=(*older, younger), pool_changes={"settings": OLDEST_FIRST}, per_minute=10.0)
    finding = explain(found).findings[0]
    assert finding.title == "412 tasks of 2 older jobs go first"
    assert finding.sentence.startswith(
        "The pool 'pool' has the jobDefaultOrder creationtime: of jobs of the same priority the older one goes first. "
        "This job was created on 2026-11-21 at 11:00:00 UTC, after '1-old' (206 tasks), '2-old' (206 tasks). "
    )
    assert finding.evidence["jobs"] == ("2-old (2026-11-21T10:58:00Z): 206", "1-old (2026-11-21T10:59:00Z): 206")
    assert (finding.evidence["tasksAhead"], finding.evidence["tasksOfSamePriority"]) == (412, 0)
    assert (finding.evidence["share"], finding.evidence["otherJobs"]) == (1, 0)
    assert finding.evidence["estimatedWait"] == timedelta(seconds=round(413 / 10 * 60))


@pytest.mark.parametrize(
    ("jobs", "title"),
    [
        ((URGENT,), "7 tasks of a job of higher priority go first"),
        ((URGENT, replace(URGENT, id="too")), "14 tasks of 2 jobs of higher priority go first"),
        ((replace(URGENT, counts=TaskCounts(active=1)),), "1 task of a job of higher priority goes first"),
        ((OLDER,), "7 tasks of an older job go first"),
        ((replace(OLDER, counts=TaskCounts(active=1)),), "1 task of an older job goes first"),
        ((OLDER, replace(OLDER, id="too")), "14 tasks of 2 older jobs go first"),
    ],
)
def test_the_title_counts_the_tasks_and_jobs_that_go_first(jobs: tuple[CompetingJob, ...], title: str) -> None:
    found = evidence(BUSY, competing_jobs=jobs, pool_changes={"settings": OLDEST_FIRST})
    assert explain(found).findings[0].title == title


@pytest.mark.parametrize(("priority", "allows", "named"), [(-1, True, True), (-1, False, False), (0, True, False)])
def test_tasks_that_batch_may_requeue_for_the_job_are_named(priority: int, *, allows: bool, named: bool) -> None:
    holder = replace(OLDER, priority=priority, rules=JobRules(allows_preemption=allows))
    (finding,) = explain(evidence(BUSY, competing_jobs=(holder,))).findings
    words = "Batch may requeue running tasks of 'older' for it, as that job allows preemption. "
    assert (words in finding.sentence) == named
