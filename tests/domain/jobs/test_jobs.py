from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.core.stamps import to_milliseconds
from shared.domain.jobs.job_rules import JobRules
from shared.domain.jobs.job_samples import JobSample
from shared.domain.jobs.jobs import Job, JobFacts, Retired
from shared.domain.jobs.snapshots import Agreement, Confirmation, JobSnapshot
from shared.domain.tasks.tasks import VALIDATED_TASKS, TaskCounts

T0 = datetime(2026, 11, 21, 7, tzinfo=UTC)
OVERLAP = timedelta(seconds=30)
SECOND = timedelta(seconds=1)
FACTS = JobFacts("render", T0, "active", T0)
COUNTS = TaskCounts(active=2, completed=3, succeeded=3)
SNAPSHOT = JobSnapshot("g1", T0, "firstRead", COUNTS, full_read_at=T0, moved_at=T0, live_read_at=T0)
JOB = Job(FACTS, SNAPSHOT, etag="e1")


def milliseconds(seconds: int) -> int:
    return to_milliseconds(T0) + 1000 * seconds


def completed_at(moment: datetime) -> JobFacts:
    return replace(FACTS, state="completed", state_transition_time=moment)


def test_the_id_of_a_job_names_its_schedule() -> None:
    assert replace(FACTS, id="nightly:job-1").schedule_id == "nightly"
    assert replace(FACTS, id="a:b:job-12").schedule_id == "a:b"
    assert FACTS.schedule_id is None


def test_seen_again_a_job_keeps_its_snapshot() -> None:
    later = replace(FACTS, state="disabled", state_transition_time=T0 + SECOND)
    assert JOB.seen(later) == replace(JOB, facts=later)


def test_other_rules_are_news_but_no_reason_to_read_a_completed_job_again() -> None:
    finalized = replace(JOB, facts=completed_at(T0), finalized=True)
    bounded = replace(finalized.facts, rules=JobRules(max_parallel_tasks=3))
    assert finalized.seen(bounded) == replace(finalized, facts=bounded)
    assert finalized.seen(bounded) != finalized
    assert not finalized.seen(replace(finalized.facts, priority=7)).finalized


def test_seen_with_another_creation_time_it_is_another_job_and_its_generations_retire() -> None:
    job = replace(JOB, building="g2", building_since=T0, retired=(Retired("g0", T0),), finalized=True, deleted_at=T0)
    anew = replace(FACTS, creation_time=T0 + SECOND)
    retired = (Retired("g0", T0), Retired("g2", T0 + SECOND), Retired("g1", T0 + SECOND))
    assert job.snapshot
    assert job.seen(anew) == Job(anew, retired=retired, ended=(job.snapshot.sample,), etag="e1")


def test_a_generation_that_was_begun_and_never_served_retires_when_another_is_begun() -> None:
    job = JOB.begun("g2", T0).begun("g3", T0 + SECOND)
    assert (job.building, job.building_since, job.snapshot) == ("g3", T0 + SECOND, SNAPSHOT)
    assert job.retired == (Retired("g2", T0 + SECOND),)


def test_a_new_generation_is_served_and_the_one_before_retires() -> None:
    snapshot = replace(SNAPSHOT, generation="g2", as_of=T0 + SECOND)
    job = JOB.begun("g2", T0).switched(snapshot)
    assert (job.building, job.building_since, job.snapshot) == (None, None, snapshot)
    assert job.retired == (Retired("g1", T0 + SECOND),)


def test_a_full_read_that_never_ended_is_abandoned_after_a_while() -> None:
    job = JOB.begun("g2", T0)
    assert job.abandoned(T0 + 2 * SECOND, before=T0) is job
    abandoned = job.abandoned(T0 + 2 * SECOND, before=T0 + SECOND)
    assert (abandoned.building, abandoned.retired) == (None, (Retired("g2", T0 + 2 * SECOND),))
    assert abandoned.abandoned(T0 + 2 * SECOND, before=T0 + SECOND) is abandoned


def test_a_snapshot_that_only_holds_longer_is_no_news() -> None:
    longer = replace(SNAPSHOT, as_of=T0 + SECOND, source="delta", agreement=Agreement(T0 + SECOND))
    assert not longer.is_news(SNAPSHOT)
    assert longer.is_news(None)
    assert replace(longer, live_read_at=T0 + SECOND).is_news(SNAPSHOT)
    assert replace(longer, counts=TaskCounts()).is_news(SNAPSHOT)


def test_a_snapshot_that_only_holds_longer_is_the_same_sample_still() -> None:
    longer = replace(SNAPSHOT, as_of=T0 + SECOND, live_read_at=T0 + SECOND, agreement=Agreement(T0 + SECOND))
    assert JOB.with_snapshot(longer).ended == ()
    assert JOB.with_snapshot(longer).samples == (longer.sample,)


@pytest.mark.parametrize("fresh", [{"moved_at": T0 + SECOND}, {"counts": TaskCounts()}], ids=["moved", "counted"])
def test_a_snapshot_of_something_else_ends_the_sample_before(fresh: dict[str, Any]) -> None:
    held = JOB.confirmed(Confirmation(SNAPSHOT.version, T0 + SECOND, Agreement()))
    later = held.with_snapshot(replace(SNAPSHOT, as_of=T0 + 2 * SECOND, **fresh))
    assert later.ended == (JobSample(milliseconds(0), milliseconds(1), None, COUNTS),)
    assert Job(FACTS).with_snapshot(SNAPSHOT).ended == ()


def test_a_job_that_goes_over_to_another_generation_keeps_its_last_sample() -> None:
    fresh = replace(SNAPSHOT, generation="g2", as_of=T0 + SECOND, moved_at=T0 + SECOND)
    assert JOB.switched(fresh).ended == (SNAPSHOT.sample,)
    assert replace(JOB, ended=(SNAPSHOT.sample,)).switched(fresh).ended == (SNAPSHOT.sample, SNAPSHOT.sample)


@pytest.mark.parametrize(
    ("agreement", "through", "exact_through", "doubted"),
    [
        (Agreement(), 9, None, False),
        (Agreement(T0 + 12 * SECOND, as_of=T0 - SECOND), 9, None, False),
        (Agreement(T0 + 7 * SECOND, as_of=T0 + 7 * SECOND), 9, 7, False),
        (Agreement(T0 + 12 * SECOND, as_of=T0 + 9 * SECOND), 12, 9, False),
        (Agreement(T0 + 7 * SECOND, 1, COUNTS, T0 + 7 * SECOND), 9, 7, True),
    ],
    ids=[
        "never agreed",
        "agreed with others",
        "waits for its confirmation",
        "was confirmed",
        "agreed once and differs",
    ],
)
def test_a_sample_is_exact_as_far_as_get_task_counts_agreed_with_it(
    agreement: Agreement, through: int, exact_through: int | None, *, doubted: bool
) -> None:
    snapshot = replace(SNAPSHOT, as_of=T0 + 9 * SECOND, agreement=agreement)
    exact = None if exact_through is None else milliseconds(exact_through)
    assert snapshot.sample == JobSample(milliseconds(0), milliseconds(through), exact, COUNTS, doubted)


def test_a_deleted_job_that_is_seen_again_is_not_deleted() -> None:
    assert JOB.gone(T0).deleted
    assert not JOB.gone(T0).seen(FACTS).deleted


def test_a_deleted_job_keeps_its_snapshot() -> None:
    assert JOB.gone(T0).snapshot == SNAPSHOT


def test_a_sealed_job_stays_sealed_while_nothing_of_it_changes() -> None:
    finalized = replace(JOB, facts=completed_at(T0), finalized=True)
    assert finalized.seen(finalized.facts).finalized
    assert not finalized.seen(FACTS).finalized


def final(*, as_of: timedelta, agreed: timedelta | None, disagreements: int = 0, total: int = 5) -> Job:
    agreement = Agreement(T0 + agreed if agreed is not None else None, disagreements)
    snapshot = replace(SNAPSHOT, as_of=T0 + as_of, counts=TaskCounts(completed=total), agreement=agreement)
    return Job(completed_at(T0), snapshot)


def test_a_completed_job_may_be_sealed_when_a_read_and_an_agreement_follow_its_overlap() -> None:
    assert final(as_of=OVERLAP, agreed=OVERLAP).may_be_finalized(OVERLAP)


@pytest.mark.parametrize(
    "job",
    [
        final(as_of=OVERLAP - SECOND, agreed=OVERLAP),
        final(as_of=OVERLAP, agreed=OVERLAP - SECOND),
        final(as_of=OVERLAP, agreed=None),
        final(as_of=OVERLAP, agreed=OVERLAP, disagreements=1),
        replace(final(as_of=OVERLAP, agreed=OVERLAP), snapshot=None),
        replace(final(as_of=OVERLAP, agreed=OVERLAP), facts=FACTS),
    ],
    ids=["read too early", "agreed too early", "never agreed", "disagrees", "never read", "not completed"],
)
def test_a_job_is_not_sealed_too_early(job: Job) -> None:
    assert not job.may_be_finalized(OVERLAP)


def test_above_200000_tasks_nothing_can_agree_so_the_read_alone_seals() -> None:
    assert final(as_of=OVERLAP, agreed=None, total=VALIDATED_TASKS + 1).may_be_finalized(OVERLAP)
    assert not final(as_of=OVERLAP, agreed=None, total=VALIDATED_TASKS).may_be_finalized(OVERLAP)


def test_the_watermark_lies_an_overlap_before_the_read_began() -> None:
    assert SNAPSHOT.watermark(OVERLAP) == T0 - OVERLAP


def test_a_later_confirmation_makes_a_snapshot_hold_longer() -> None:
    agreement = Agreement(T0 + SECOND)
    confirmed = SNAPSHOT.confirmed(Confirmation(SNAPSHOT.version, T0 + SECOND, agreement))
    assert confirmed == replace(SNAPSHOT, as_of=T0 + SECOND, source="delta", agreement=agreement)


@pytest.mark.parametrize("as_of", [T0 - SECOND, T0], ids=["older", "of the same time"])
def test_a_confirmation_that_is_no_later_changes_nothing(as_of: datetime) -> None:
    assert SNAPSHOT.confirmed(None) is SNAPSHOT
    assert SNAPSHOT.confirmed(Confirmation("another", as_of, Agreement(as_of))) is SNAPSHOT


@pytest.mark.parametrize(
    "change",
    [
        {"generation": "g0"},
        {"counts": TaskCounts(active=2)},
        {"moved_at": T0 - SECOND},
        {"live_read_at": T0 - SECOND},
    ],
    ids=["of another generation", "of other counts", "moved elsewhen", "repaired elsewhen"],
)
def test_a_snapshot_written_over_a_later_confirmation_is_as_of_then_and_unconfirmed(
    change: dict[str, Any],
) -> None:
    agreed = replace(SNAPSHOT, agreement=Agreement(T0, as_of=T0))
    confirmation = Confirmation(replace(SNAPSHOT, **change).version, T0 + SECOND, Agreement(T0 + SECOND))
    assert agreed.confirmed(confirmation) == replace(SNAPSHOT, as_of=T0 + SECOND)


@pytest.mark.parametrize("version", [SNAPSHOT.version, "another"])
def test_a_sealed_job_is_polled_again_where_a_later_poll_did_not_write_it(version: str) -> None:
    finalized = replace(JOB, finalized=True)
    assert finalized.confirmed(Confirmation(version, T0, Agreement())).finalized
    assert not finalized.confirmed(Confirmation(version, T0 + SECOND, Agreement().differed(COUNTS))).finalized


AGREED = Agreement(T0 + SECOND, as_of=T0)
LATER = Agreement(T0 + 3 * SECOND, as_of=T0 + 2 * SECOND)
DIFFERED = LATER.differed(COUNTS)


@pytest.mark.parametrize(
    ("agreement", "earlier", "as_of", "same", "found"),
    [
        (AGREED, LATER, T0 + 2 * SECOND, True, LATER),
        (LATER, AGREED, T0, True, LATER),
        (AGREED, DIFFERED, T0 + 4 * SECOND, True, DIFFERED),
        (LATER, DIFFERED, T0 + 2 * SECOND, True, LATER),
        (DIFFERED, LATER, T0 + 2 * SECOND, True, DIFFERED),
        (AGREED, LATER, T0 + 2 * SECOND, False, Agreement()),
        (LATER, AGREED, T0, False, LATER),
        (Agreement(), LATER, T0 + 2 * SECOND, True, Agreement()),
        (AGREED, Agreement(), T0 + 2 * SECOND, True, Agreement()),
    ],
)
def test_of_two_polls_the_later_comparison_holds(
    agreement: Agreement, earlier: Agreement, as_of: datetime, *, same: bool, found: Agreement
) -> None:
    assert agreement.beside(earlier, as_of, same=same) == found


counts = st.builds(TaskCounts, *[st.integers(0, 3)] * 6)


@given(counts, counts)
def test_counts_add_up_state_by_state(one: TaskCounts, other: TaskCounts) -> None:
    assert (one + other).total == one.total + other.total
    assert (one + other).failed == one.failed + other.failed
    assert (one + TaskCounts()) == one
