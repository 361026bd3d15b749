from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from shared.domain.jobs.jobs import Job, JobFacts
from shared.domain.jobs.snapshots import Agreement, JobSnapshot
from shared.domain.jobs.verdicts import Level, Verdict, verdict_of
from shared.domain.reads.read_plans import Progress
from shared.domain.tasks.tasks import VALIDATED_TASKS, TaskCounts

T0 = datetime(2026, 11, 21, 7, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
FACTS = JobFacts("render", T0, "active", T0)
COUNTS = TaskCounts(active=2, preparing=1, running=1, completed=1_500, succeeded=1_500)
OTHER = TaskCounts(active=2, running=3, completed=1_500, succeeded=1_500)
STILL = JobSnapshot(
    "g", T0, "delta", COUNTS, full_read_at=T0 - 60 * MINUTE, moved_at=T0 - 10 * MINUTE, live_read_at=T0 - 60 * MINUTE
)
DIFFERENCE = "Get Task Counts differed {}: 3 running (here 2). If that lasts, the tasks are read again."


def judged(
    snapshot: JobSnapshot | None, *, failure: str | None = None, age: timedelta = MINUTE, job: Job | None = None
) -> Verdict:
    subject = replace(job or Job(FACTS), snapshot=snapshot)
    return verdict_of(subject, failure=failure, now=T0 + age, interval=MINUTE)


def agreeing(at: timedelta, *, disagreements: int = 0, moved: timedelta = 10 * MINUTE) -> JobSnapshot:
    service = OTHER if disagreements else None
    return replace(STILL, moved_at=T0 - moved, agreement=Agreement(T0 - at, disagreements, service))


def test_a_job_that_was_never_read_is_catching_up() -> None:
    assert judged(None) == Verdict(None, "none", "catchingUp", "Its tasks are being read for the first time.")


def test_a_job_that_cannot_be_read_is_stale_and_says_why() -> None:
    verdict = judged(None, failure="It is closed.")
    assert verdict == Verdict(None, "none", "stale", "Its tasks couldn't be read yet: It is closed.")


def test_a_long_first_read_says_how_far_it_is() -> None:
    verdict = verdict_of(
        Job(FACTS), failure=None, now=T0, interval=MINUTE, progress=Progress(tasks=340_000, expected=1_000_000)
    )
    assert verdict.level == "catchingUp"
    assert "340,000 of about 1,000,000 so far" in verdict.reason
    later = verdict_of(Job(FACTS), failure=None, now=T0, interval=MINUTE, progress=Progress(tasks=1_200, expected=None))
    assert later.level == "catchingUp"
    assert "of those that changed meanwhile 1,200 are read" in later.reason


def test_a_job_with_more_changes_than_a_round_may_read_is_catching_up() -> None:
    job = Job(FACTS, agreeing(MINUTE))
    levels = [
        verdict_of(each, failure=failure, now=T0, interval=MINUTE, is_behind=True).level
        for each, failure in ((job, None), (job, "It is closed."), (replace(job, building="b"), None))
    ]
    assert levels == ["catchingUp", "stale", "catchingUp"]


OFF = "Monitoring of this account is switched off since 2026-11-21 07:00:00 UTC."


@pytest.mark.parametrize("snapshot", [None, agreeing(MINUTE)], ids=["never read", "read before"])
def test_counts_of_an_account_that_is_switched_off_are_stale_and_say_since_when(snapshot: JobSnapshot | None) -> None:
    job = Job(FACTS, snapshot)
    verdict = verdict_of(job, failure="It is closed.", now=T0 + MINUTE, interval=MINUTE, off_reason=OFF)
    assert (verdict.level, verdict.reason) == ("stale", OFF)
    assert verdict.as_of == (snapshot and T0)


@pytest.mark.parametrize("job", [Job(FACTS, finalized=True), Job(FACTS, deleted_at=T0)], ids=["sealed", "deleted"])
def test_final_verdicts_stay_when_the_account_is_switched_off(job: Job) -> None:
    known = replace(job, snapshot=agreeing(MINUTE))
    on = verdict_of(known, failure=None, now=T0 + MINUTE, interval=MINUTE)
    assert verdict_of(known, failure=None, now=T0 + MINUTE, interval=MINUTE, off_reason=OFF) == on


def test_a_job_deleted_before_it_was_read_is_not_said_to_be_catching_up() -> None:
    verdict = judged(None, job=Job(FACTS, deleted_at=T0))
    assert verdict == Verdict(None, "none", "unverified", "The job was deleted before its tasks were read.")


def test_a_verdict_bears_the_time_and_the_source_of_its_snapshot() -> None:
    verdict = judged(STILL)
    assert (verdict.as_of, verdict.source) == (T0, "delta")


JUDGEMENTS: dict[str, tuple[JobSnapshot, Level, str]] = {
    "agreed": (agreeing(0 * MINUTE), "exact", "Get Task Counts agreed as of 2026-11-21 07:00:00 UTC."),
    "agreed five minutes ago": (
        agreeing(5 * MINUTE),
        "exact",
        "As of 2026-11-21 07:00:00 UTC, Get Task Counts had agreed 5 min before, and tasks had only moved in between.",
    ),
    "agreed too long ago": (
        agreeing(7 * MINUTE),
        "unverified",
        "As of 2026-11-21 07:00:00 UTC, Get Task Counts had last agreed 7 min before.",
    ),
    "never compared": (
        STILL,
        "unverified",
        "As of 2026-11-21 07:00:00 UTC, Get Task Counts hadn't agreed with these counts yet.",
    ),
    "differs": (agreeing(MINUTE, disagreements=1), "unverified", DIFFERENCE.format("once")),
    "differs while moving": (
        agreeing(MINUTE, disagreements=2, moved=MINUTE),
        "unverified",
        DIFFERENCE.format("2 times"),
    ),
    "differs only in what is preparing": (
        replace(agreeing(MINUTE), agreement=Agreement(T0, 1, COUNTS.as_service_counts())),
        "unverified",
        "Get Task Counts agreed, but which of the running tasks are still preparing is being looked up.",
    ),
    "tasks are known to be gone": (
        replace(agreeing(MINUTE), agreement=Agreement(T0, 3)),
        "unverified",
        "Tasks that are counted here are gone; the tasks are being read again.",
    ),
    "too many tasks": (
        replace(agreeing(MINUTE), counts=TaskCounts(completed=VALIDATED_TASKS + 1)),
        "unverified",
        "Above 200,000 tasks nothing confirms counts; the last full read was 1 h ago.",
    ),
    "as many tasks as are confirmed": (
        replace(agreeing(0 * MINUTE), counts=TaskCounts(completed=VALIDATED_TASKS)),
        "exact",
        "Get Task Counts agreed as of 2026-11-21 07:00:00 UTC.",
    ),
}


@pytest.mark.parametrize("case", JUDGEMENTS)
def test_each_level_comes_with_its_reason(case: str) -> None:
    snapshot, level, reason = JUDGEMENTS[case]
    verdict = judged(snapshot)
    assert (verdict.level, verdict.reason) == (level, reason)


def test_a_failed_poll_makes_counts_stale_even_if_they_agreed() -> None:
    verdict = judged(agreeing(MINUTE), failure="It is closed.")
    assert (verdict.level, verdict.reason) == ("stale", "The last poll failed: It is closed.")


def test_counts_that_were_not_polled_for_more_than_three_intervals_are_stale() -> None:
    assert judged(agreeing(MINUTE), age=4 * MINUTE).level == "exact"
    late = judged(agreeing(MINUTE), age=5 * MINUTE)
    assert (late.level, late.reason) == ("stale", "Not polled for 5 min.")


def test_a_sealed_job_needs_no_more_polls() -> None:
    verdict = judged(agreeing(MINUTE), age=timedelta(days=3), job=Job(FACTS, finalized=True))
    assert verdict.level == "exact"


def test_the_counts_of_a_deleted_job_are_its_last_known_ones() -> None:
    verdict = judged(agreeing(MINUTE), age=timedelta(days=3), job=Job(FACTS, deleted_at=T0))
    assert (verdict.level, verdict.reason) == ("unverified", "The job was deleted; these are its last known counts.")


def test_a_verdict_shows_the_time_of_its_counts_even_if_read_later() -> None:
    """Tasks may be deleted in between, which the next comparison shows."""
    settled = replace(STILL, moved_at=T0 - MINUTE, agreement=Agreement(T0, as_of=T0 - timedelta(seconds=30)))
    assert settled.agreed_since_it_moved
    for snapshot, minutes in ((agreeing(0 * MINUTE), 0), (agreeing(0 * MINUTE), 2), (settled, 0), (settled, 2)):
        verdict = verdict_of(Job(FACTS, snapshot), failure=None, now=T0 + minutes * MINUTE, interval=MINUTE)
        assert verdict.as_of
        assert f"as of {verdict.as_of:%Y-%m-%d %H:%M:%S} UTC" in verdict.reason
        assert "since" not in verdict.reason
