from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.accounts.accounts import Account
from shared.domain.jobs.jobs import Job, JobFacts
from shared.domain.jobs.snapshots import JobSnapshot
from shared.domain.jobs.verdicts import Verdict
from shared.domain.reports.pool_rate import pool_rate
from shared.domain.reports.reports import JobReport
from shared.domain.tasks.job_statistics import MINUTES, JobStatistics, StoredJobStatistics
from shared.domain.tasks.tasks import TaskCounts

NOW = datetime(2026, 11, 21, 12, 0, 20, tzinfo=UTC)
MINUTE, SECOND = timedelta(minutes=1), timedelta(seconds=1)
LONG_AGO = NOW - timedelta(days=1)
ACCOUNT = Account("demo", "demo", "demo", None, "https://demo.westeurope.batch.azure.com")


def report(ends: dict[int, int], looked: datetime = NOW, created: datetime = LONG_AGO) -> JobReport:
    """Returns a job polled at `looked`, with the numbers of tasks that ended, by whole minutes ago."""
    this = int(NOW.timestamp()) // 60
    insight = JobStatistics(completions=tuple(sorted((this - ago, number) for ago, number in ends.items()))[-MINUTES:])
    stored = StoredJobStatistics.of(insight, b"origin")
    snapshot = JobSnapshot("g", looked, "delta", TaskCounts(active=9), looked, looked, looked, statistics=stored)
    facts = JobFacts("job", created, "active", created, pool_id="pool")
    return JobReport(ACCOUNT, Job(facts, snapshot), Verdict(looked, "delta", "exact", "."))


def finalized(found: JobReport, completed: datetime) -> JobReport:
    facts = replace(found.job.facts, state="completed", state_transition_time=completed)
    return replace(found, job=replace(found.job, facts=facts, finalized=True))


def unread(created: datetime = LONG_AGO) -> JobReport:
    job = Job(JobFacts("job", created, "active", created, pool_id="pool"))
    return JobReport(ACCOUNT, job, Verdict(None, "none", "catchingUp", "."))


def without_insight(found: JobReport) -> JobReport:
    assert found.job.snapshot
    return replace(found, job=replace(found.job, snapshot=replace(found.job.snapshot, statistics=None)))


def deleted(found: JobReport, at: datetime) -> JobReport:
    return replace(found, job=replace(found.job, deleted_at=at))


def ended_per_minute(reports: list[JobReport], now: datetime) -> float | None:
    found = pool_rate(reports, now)
    return found.per_minute if found else None


def test_tasks_of_all_jobs_on_a_pool_make_its_rate() -> None:
    assert ended_per_minute([report({1: 15}), report({2: 10})], NOW) == 5.0
    assert ended_per_minute([report({1: 15}), report({12: 15})], NOW) == 2.0
    assert ended_per_minute([report({1: 3}), report({50: 3})], NOW) == 0.1
    assert ended_per_minute([report({})], NOW) == 0.0


def test_minutes_before_the_first_job_was_created_do_not_count() -> None:
    assert ended_per_minute([report({1: 40}, created=NOW - 2 * MINUTE)], NOW) == 20.0


def test_a_rate_is_not_known_before_a_whole_minute_has_passed_since_the_first_job_was_created() -> None:
    young = report({0: 40}, created=NOW - 10 * SECOND)
    assert ended_per_minute([young], NOW) is None
    assert ended_per_minute([young, report({}, created=NOW - 2 * MINUTE)], NOW) == 0.0
    assert ended_per_minute([], NOW) == 0.0


def test_a_job_that_was_sealed_some_time_ago_ends_no_task_now() -> None:
    looked = NOW - 50 * MINUTE
    done = finalized(report({51: 30}, looked=looked), looked - MINUTE)
    assert ended_per_minute([done, report({})], NOW) == 0.5
    assert ended_per_minute([done, report({1: 5})], NOW) == round(35 / 60, 3)
    long_done = finalized(report({71: 30}, looked=NOW - 70 * MINUTE), NOW - 71 * MINUTE)
    assert ended_per_minute([long_done, report({})], NOW) == 0.0


def test_windows_of_all_jobs_end_with_the_oldest_look_at_one_that_may_have_changed_since() -> None:
    behind = report({4: 20}, looked=NOW - 3 * MINUTE)
    assert ended_per_minute([behind, report({1: 1000, 5: 10})], NOW) == 6.0


def test_a_job_that_was_not_looked_at_for_more_than_a_quarter_of_an_hour_makes_the_rate_unknown() -> None:
    assert ended_per_minute([report({16: 40}, looked=NOW - 15 * MINUTE), report({1: 99})], NOW) == 8.0
    assert ended_per_minute([report({17: 40}, looked=NOW - 16 * MINUTE), report({1: 99})], NOW) is None


def test_jobs_without_known_ends_of_tasks_make_the_rate_unknown() -> None:
    assert ended_per_minute([report({1: 40}), unread()], NOW) is None
    bare = without_insight(report({}))
    assert ended_per_minute([report({1: 40}), bare], NOW) is None
    assert ended_per_minute([report({1: 40}), finalized(bare, NOW - 60 * MINUTE)], NOW) is None
    assert ended_per_minute([report({1: 40}), finalized(bare, NOW - 62 * MINUTE)], NOW) == 8.0


def test_minutes_that_were_not_kept_make_their_windows_unknown() -> None:
    """That job ends tasks by a clock that is far ahead."""
    crowded = report(dict.fromkeys(range(-MINUTES + 10, 10), 1))
    assert ended_per_minute([crowded, report({10: 100})], NOW) == 1.0
    assert ended_per_minute([report(dict.fromkeys(range(-MINUTES + 3, 3), 9))], NOW) is None


def test_known_ends_of_deleted_jobs_count() -> None:
    gone = deleted(report({1: 40}, looked=NOW - 30 * SECOND), NOW - SECOND)
    assert ended_per_minute([report({}), gone], NOW) == 8.0
    assert ended_per_minute([report({1: 40}), deleted(unread(), NOW)], NOW) == 8.0
    young = report({1: 40}, created=NOW - 4 * MINUTE)
    assert ended_per_minute([young, deleted(report({}), NOW - 70 * MINUTE)], NOW) == 10.0


@dataclass(frozen=True, slots=True)
class Ended:
    """The task ends of a job, in seconds before NOW, and its last poll."""

    ends: list[int]
    looked: int
    is_done: bool

    def report(self) -> JobReport:
        """Returns the stored job, without tasks that ended after the last poll."""
        known = [end for end in self.ends if end >= self.looked]
        by_minute = Counter(int(NOW.timestamp()) // 60 - int(NOW.timestamp() - end) // 60 for end in known)
        found = report(by_minute, looked=NOW - self.looked * SECOND)
        return finalized(found, NOW - (self.looked + 30) * SECOND) if self.is_done else found


def ended(looked: int, *, after: int, is_done: bool) -> st.SearchStrategy[Ended]:
    ends = st.lists(st.integers(after, 4400), max_size=40)
    return st.builds(Ended, ends, st.just(looked), st.just(is_done))


RUNNING = st.integers(0, 700).flatmap(lambda looked: ended(looked, after=0, is_done=False))
DONE = st.integers(0, 4000).flatmap(lambda looked: ended(looked, after=looked + 30, is_done=True))


@given(st.lists(RUNNING, min_size=1, max_size=3), st.lists(DONE, max_size=3))
def test_the_rate_of_a_pool_is_that_of_all_tasks_that_truly_ended_in_whole_minutes(
    running: list[Ended], done: list[Ended]
) -> None:
    """The grain is the minute: the windows end with the last whole minute before the oldest poll of a live job."""
    end = int(NOW.timestamp() - max(job.looked for job in running)) // 60 * 60
    stamps = [NOW.timestamp() - ago for job in (*running, *done) for ago in job.ends]
    numbers = {window: sum(end - window * 60 <= stamp < end for stamp in stamps) for window in (5, 15, 60)}
    window = next((window for window, number in numbers.items() if number >= 20), 60)
    assert ended_per_minute([job.report() for job in (*running, *done)], NOW) == round(numbers[window] / window, 3)
