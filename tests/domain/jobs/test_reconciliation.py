"""The kind of read that a job's counts need besides deltas."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from shared.domain.jobs.jobs import Job, JobFacts
from shared.domain.jobs.reconciliation import Reading, pages_of, wanted_reading
from shared.domain.jobs.snapshots import Agreement, JobSnapshot
from shared.domain.tasks.tasks import VALIDATED_TASKS, TaskCounts

T0 = datetime(2026, 11, 21, 7, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
FACTS = JobFacts("render", T0, "active", T0)
MOSTLY_DONE = TaskCounts(active=900, completed=9_000, succeeded=9_000)
MOSTLY_LIVE = TaskCounts(active=9_000, completed=900, succeeded=900)
MANY = TaskCounts(active=900, completed=190_000, succeeded=190_000)
HUGE = TaskCounts(active=1, completed=VALIDATED_TASKS)


def snapshot(
    counts: TaskCounts,
    *,
    disagreements: int = 0,
    agreed: timedelta | None = timedelta(),
    full: timedelta = HOUR,
    live: timedelta = HOUR,
) -> JobSnapshot:
    agreement = Agreement(None if agreed is None else T0 - agreed, disagreements)
    return JobSnapshot(
        "g", T0, "delta", counts, full_read_at=T0 - full, moved_at=T0, live_read_at=T0 - live, agreement=agreement
    )


WANTED: dict[str, tuple[JobSnapshot, Reading | None]] = {
    "agreeing": (snapshot(MOSTLY_DONE), None),
    "differing once": (snapshot(MOSTLY_DONE, disagreements=1), None),
    "differing twice with few live tasks": (snapshot(MOSTLY_DONE, disagreements=2), "repair"),
    "differing twice with many live tasks": (snapshot(MOSTLY_LIVE, disagreements=2), "fullRead"),
    "differing even after the repair": (snapshot(MOSTLY_DONE, disagreements=3), "fullRead"),
    "differing even after a full read": (
        snapshot(MOSTLY_DONE, disagreements=9, full=9 * timedelta(seconds=1), agreed=HOUR),
        None,
    ),
    "differing long after a full read": (snapshot(MOSTLY_DONE, disagreements=9, full=MINUTE, agreed=HOUR), "fullRead"),
    "differing again soon after a full read that helped": (
        snapshot(MOSTLY_DONE, disagreements=3, full=timedelta(seconds=1)),
        "fullRead",
    ),
    "unconfirmed while it moves": (snapshot(MOSTLY_DONE, agreed=6 * MINUTE), "repair"),
    "unconfirmed, but listed since": (snapshot(MOSTLY_DONE, agreed=6 * MINUTE, live=MINUTE), None),
    "unconfirmed by a list of many tasks": (
        snapshot(MANY, agreed=30 * MINUTE, full=20 * MINUTE, live=20 * MINUTE),
        None,
    ),
    "unconfirmed long after a list of many tasks": (
        snapshot(MANY, agreed=None, full=40 * MINUTE, live=40 * MINUTE),
        "repair",
    ),
    "unconfirmed for the first time, of many tasks": (snapshot(MANY, agreed=6 * MINUTE), "repair"),
    "never confirmed": (snapshot(MOSTLY_DONE, agreed=None), "repair"),
    "read long ago": (snapshot(MOSTLY_DONE, full=2 * DAY), "fullRead"),
    "huge": (snapshot(HUGE, agreed=None), None),
    "huge and read long ago": (snapshot(HUGE, agreed=None, full=2 * DAY), "fullRead"),
}


@pytest.mark.parametrize("case", WANTED)
def test_each_case_wants_its_reading(case: str) -> None:
    found, wanted = WANTED[case]
    assert wanted_reading(Job(FACTS, found), age=DAY) == wanted


@pytest.mark.parametrize("job", [Job(FACTS), Job(FACTS, finalized=True), Job(FACTS, deleted_at=T0)])
def test_jobs_that_are_not_read_by_deltas_want_nothing(job: Job) -> None:
    found = snapshot(MOSTLY_LIVE, disagreements=2)
    wanted = replace(job, snapshot=found if job.finalized or job.deleted else None)
    assert wanted_reading(wanted, age=DAY) is None


def test_jobs_are_not_all_read_anew_at_the_same_time() -> None:
    ages = [timedelta(minutes=minutes) for minutes in range(0, 3 * 24 * 60, 10)]
    due = {
        min(age for age in ages if wanted_reading(Job(replace(FACTS, id=f"job-{number}"), old(age)), age=DAY))
        for number in range(50)
    }
    assert len(due) > 20
    assert DAY * 0.9 <= min(due) <= max(due) <= DAY * 1.11


def old(age: timedelta) -> JobSnapshot:
    return snapshot(MOSTLY_DONE, full=age)


def test_an_empty_list_has_a_page_too() -> None:
    assert [pages_of(tasks) for tasks in (0, 1, 1000, 1001)] == [1, 1, 1, 2]
