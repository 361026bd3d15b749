from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from shared.domain.jobs.forecasts import Estimate, JobForecast, forecast_of
from shared.domain.jobs.job_rules import JobRules
from shared.domain.jobs.jobs import Job, JobFacts
from shared.domain.jobs.snapshots import JobSnapshot
from shared.domain.jobs.verdicts import Verdict
from shared.domain.tasks.job_statistics import MINUTES, JobStatistics, StoredJobStatistics
from shared.domain.tasks.tasks import TaskCounts

T0 = datetime(2026, 11, 21, 7, 30, 42, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
NOW = int(T0.timestamp()) // 60
FACTS = JobFacts("render", T0 - timedelta(days=1), "active", T0 - timedelta(days=1))
COUNTS = TaskCounts(active=50, preparing=1, running=9, completed=100, succeeded=100)
EXACT = Verdict(T0, "delta", "exact", "Get Task Counts agrees.")
BUSY = StoredJobStatistics.of(JobStatistics(completions=((NOW - 1, 30),)), b"origin")


def forecast(
    completions: dict[int, int], *, verdict: Verdict = EXACT, counts: TaskCounts = COUNTS, job: Job | None = None
) -> JobForecast:
    """Returns the forecast of a job with these completions, by minutes ago."""
    insight = JobStatistics(completions=tuple(sorted((NOW - ago, number) for ago, number in completions.items())))
    stored = StoredJobStatistics.of(insight, b"origin")
    snapshot = JobSnapshot("g", T0, "delta", counts, T0, T0, T0, statistics=stored)
    found = forecast_of(replace(job or Job(FACTS), snapshot=snapshot), verdict)
    assert found
    return found


def test_throughput_is_that_of_whole_minutes_without_the_one_under_way() -> None:
    found = forecast({0: 1000, 1: 5, 5: 10, 6: 100, 15: 200, 16: 400, 60: 800, 61: 1600, -1: 3200})
    assert found.completed == {5: 15, 15: 315, 60: 1515}
    assert [found.per_minute[window] for window in (5, 15, 60)] == [15 / 5, 315 / 15, 1515 / 60]


def test_throughput_is_that_before_the_verdicts_time() -> None:
    later = replace(EXACT, as_of=T0 + 5 * MINUTE)
    assert forecast({0: 7, 1: 5}, verdict=later).completed == {5: 7, 15: 12, 60: 12}


@pytest.mark.parametrize(("age", "over"), [(1, (1, 1, 1)), (4, (4, 4, 4)), (15, (5, 15, 15)), (75, (5, 15, 60))])
def test_minutes_before_a_job_was_there_are_no_part_of_its_throughput(age: int, over: tuple[int, int, int]) -> None:
    young = forecast({1: 30}, job=Job(replace(FACTS, creation_time=T0 - age * MINUTE)))
    assert [young.per_minute[window] for window in (5, 15, 60)] == [30 / minutes for minutes in over]


def test_a_job_whose_creation_is_ahead_of_the_look_at_it_has_a_throughput_of_one_minute() -> None:
    assert forecast({1: 30}, job=Job(replace(FACTS, creation_time=T0 + MINUTE))).per_minute[60] == 30


def test_minutes_that_were_not_kept_make_a_throughput_unknown() -> None:
    crowded = dict.fromkeys(range(-MINUTES + 10, 10), 1)
    found = forecast(crowded)
    assert found.completed == {5: 5, 15: None, 60: None}
    assert found.estimate == Estimate(60, reason="Not all completions of the last hour are known.")


def test_an_estimate_uses_the_shortest_window_with_enough_tasks() -> None:
    assert forecast({1: 20}).estimate == Estimate(60, T0 + 15 * MINUTE, "throughput of the last 5 minutes")
    assert forecast({1: 19, 6: 1}).estimate == Estimate(60, T0 + 45 * MINUTE, "throughput of the last 15 minutes")
    assert forecast({1: 1, 60: 1}).estimate == Estimate(60, T0 + 1800 * MINUTE, "throughput of the last hour")


def test_minutes_before_a_job_was_there_are_no_part_of_an_estimate() -> None:
    young = Job(replace(FACTS, creation_time=T0 - 2 * MINUTE))
    assert forecast({1: 20}, job=young).estimate == Estimate(
        60, T0 + 6 * MINUTE, "throughput of the minutes since its creation"
    )
    assert forecast({1: 1}, job=young).estimate.completion == T0 + 120 * MINUTE
    new = Job(replace(FACTS, creation_time=T0 + MINUTE))  # by a node's clock that is behind
    assert forecast({1: 20}, job=new).estimate.completion == T0 + 3 * MINUTE


def test_tasks_of_the_minute_under_way_are_not_denied() -> None:
    assert forecast({0: 5, 61: 5}).estimate.reason == "Its tasks completed within the last minute only."


def test_where_nothing_completed_nobody_knows() -> None:
    assert forecast({}).estimate.reason == "None of its tasks completed in the last hour."
    assert forecast({-1: 5, 61: 5}).estimate.reason == "None of its tasks completed in the last hour."
    endless = replace(COUNTS, active=100_000_000)
    assert "ten years" in (forecast({1: 1}, counts=endless).estimate.reason or "")


@pytest.mark.parametrize(
    ("job", "counts", "verdict", "words"),
    [
        (replace(Job(FACTS), deleted_at=T0), COUNTS, EXACT, "deleted"),
        (Job(FACTS), TaskCounts(completed=3), EXACT, "All of its tasks have completed."),
        (Job(FACTS), TaskCounts(), EXACT, "The job has no tasks."),
        (Job(replace(FACTS, state="disabled")), COUNTS, EXACT, "disabled"),
        (Job(replace(FACTS, state="terminating")), COUNTS, EXACT, "terminated"),
        (Job(replace(FACTS, state="completed")), COUNTS, EXACT, "won't run"),
        (Job(FACTS), COUNTS, replace(EXACT, level="stale", reason="Not polled for 1 h."), "Not polled for 1 h."),
        (Job(FACTS), COUNTS, replace(EXACT, level="catchingUp", reason="More changed."), "not up to date. More"),
    ],
)
def test_there_is_no_estimate_where_past_rates_predict_nothing(
    job: Job, counts: TaskCounts, verdict: Verdict, words: str
) -> None:
    estimate = forecast({1: 100}, job=job, counts=counts, verdict=verdict).estimate
    assert words in (estimate.reason or "")
    assert (estimate.completion, estimate.basis) == (None, None)
    assert estimate.remaining == counts.total - counts.completed


def test_an_instant_in_which_none_is_running_is_no_standstill() -> None:
    idle = replace(COUNTS, running=0, preparing=0)
    assert forecast({1: 20}, counts=idle).estimate.completion
    assert forecast({0: 20, 3: 20}, counts=idle).estimate.completion
    for minutes in (2, 3, 6):  # an estimate would contradict the cause that blocks all of them
        assert "is running" in (forecast({minutes: 20}, counts=idle).estimate.reason or "")


def test_tasks_that_may_wait_for_good_have_no_estimate() -> None:
    """The counts don't show which tasks others depend on."""
    depends = Job(replace(FACTS, rules=JobRules(uses_task_dependencies=True)))
    idle = replace(COUNTS, running=0, preparing=0)
    assert "is running" in (forecast({1: 20}, job=depends, counts=idle).estimate.reason or "")
    assert forecast({1: 20}, job=depends, counts=replace(COUNTS, failed=0)).estimate.completion
    failed = forecast({1: 20}, job=depends, counts=replace(COUNTS, failed=1)).estimate
    assert "may depend on them for good" in (failed.reason or "")
    assert forecast({1: 20}, counts=replace(COUNTS, failed=1)).estimate.completion


def test_tasks_that_prepare_count_as_running() -> None:
    assert forecast({1: 100}, counts=replace(COUNTS, running=0)).estimate.completion


def test_there_is_no_outlook_without_an_insight() -> None:
    bare = JobSnapshot("g", T0, "delta", COUNTS, T0, T0, T0)
    assert forecast_of(Job(FACTS, bare), EXACT) is None
    assert forecast_of(Job(FACTS), EXACT) is None


@pytest.mark.parametrize(("ahead", "is_held"), [(0, False), (59, False), (60, True), (900, True)])
def test_there_is_no_end_where_as_many_tasks_that_go_first_wait_as_are_left(ahead: int, *, is_held: bool) -> None:
    snapshot = JobSnapshot("g", T0, "delta", COUNTS, T0, T0, T0, statistics=BUSY)
    found = forecast_of(Job(FACTS, snapshot), EXACT, tasks_ahead=ahead)
    assert found
    assert (found.estimate.completion is None) == is_held
    assert (found.estimate.reason or "").startswith(f"{ahead} tasks of jobs that go first wait") == is_held


def test_tasks_ahead_hold_up_no_job_whose_last_tasks_run() -> None:
    snapshot = JobSnapshot("g", T0, "delta", replace(COUNTS, active=0), T0, T0, T0, statistics=BUSY)
    found = forecast_of(Job(FACTS, snapshot), EXACT, tasks_ahead=900)
    assert found
    assert found.estimate.completion
