"""The exposition text of known state: object in, literal text out."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from functions.api.metrics.metrics import render
from shared.domain.jobs.jobs import JobFacts
from shared.domain.tasks.job_statistics import JobStatistics
from tests.functions.support.seen_metrics import COUNTS, NOW, ROUND, WATCHED, changed, families, job, lines

OF_ACCOUNT = """\
azbatch_jobs{account="demo",state="active"} 3.0
azbatch_jobs{account="demo",state="completed"} 1.0
azbatch_account_tasks_started_total{account="demo"} 40.0
azbatch_account_tasks_completed_total{account="demo"} 31.0
azbatch_account_tasks_failed_total{account="demo"} 3.0
azbatch_account_task_retries_total{account="demo"} 6.0
azbatch_account_waiting_task_seconds_total{account="demo",cause="slotsBusy"} 65.5
azbatch_unreadable_jobs{account="demo"} 0.0
azbatch_collector_last_success_timestamp_seconds{account="demo"} 1.79524614e+09
azbatch_collector_enabled{account="demo"} 1.0
azbatch_collector_up{account="demo"} 1.0
azbatch_collector_interval_seconds{account="demo"} 300.0
azbatch_collector_duration_seconds{account="demo"} 2.5
azbatch_collector_calls{account="demo"} 19.0
azbatch_collector_polled_jobs{account="demo"} 7.0
azbatch_collector_failed_jobs{account="demo"} 2.0
azbatch_collector_queued_jobs{account="demo"} 1.0
azbatch_collector_failed_rounds{account="demo"} 0.0
azbatch_collector_backoff_until_timestamp_seconds{account="demo"} 1.79524626e+09
"""

OF_JOB = """\
azbatch_job_tasks{account="demo",job="render",state="active"} 30.0
azbatch_job_tasks{account="demo",job="render",state="preparing"} 2.0
azbatch_job_tasks{account="demo",job="render",state="running"} 8.0
azbatch_job_tasks{account="demo",job="render",state="completed"} 20.0
azbatch_job_completed_tasks{account="demo",job="render",result="success"} 19.0
azbatch_job_completed_tasks{account="demo",job="render",result="failure"} 1.0
azbatch_job_failed_tasks{account="demo",category="userCode",job="render"} 10.0
azbatch_job_failed_tasks{account="demo",category="outOfMemory",job="render"} 11.0
azbatch_job_failed_tasks{account="demo",category="diskFull",job="render"} 12.0
azbatch_job_failed_tasks{account="demo",category="timeLimit",job="render"} 13.0
azbatch_job_failed_tasks{account="demo",category="imagePull",job="render"} 14.0
azbatch_job_failed_tasks{account="demo",category="dataAccess",job="render"} 15.0
azbatch_job_failed_tasks{account="demo",category="identity",job="render"} 16.0
azbatch_job_failed_tasks{account="demo",category="nodeLost",job="render"} 17.0
azbatch_job_failed_tasks{account="demo",category="preempted",job="render"} 18.0
azbatch_job_failed_tasks{account="demo",category="dependency",job="render"} 19.0
azbatch_job_failed_tasks{account="demo",category="configuration",job="render"} 20.0
azbatch_job_failed_tasks{account="demo",category="service",job="render"} 21.0
azbatch_job_failed_tasks{account="demo",category="terminated",job="render"} 22.0
azbatch_job_failed_tasks{account="demo",category="other",job="render"} 23.0
azbatch_job_waiting_tasks{account="demo",cause="slotsBusy",job="render"} 30.0
azbatch_job_as_of_timestamp_seconds{account="demo",job="render"} 1.7952462e+09
azbatch_job_exact{account="demo",job="render"} 1.0
azbatch_job_estimated_completion_timestamp_seconds{account="demo",job="render"} 1.7952468e+09
azbatch_job_task_retries{account="demo",job="render"} 5.0
azbatch_job_task_requeues{account="demo",job="render"} 2.0
azbatch_job_slots{account="demo",job="render",state="running"} 8.0
azbatch_job_slots{account="demo",job="render",state="preparing"} 3.0
azbatch_job_slots{account="demo",job="render",state="active"} 30.0
azbatch_job_measured_runs{account="demo",job="render"} 24.0
azbatch_job_efficiency_ratio{account="demo",job="render",resource="cpu"} 0.25
azbatch_job_efficiency_ratio{account="demo",job="render",resource="memory"} 0.125
azbatch_job_efficiency_ratio{account="demo",job="render",resource="gpu"} 0.5
azbatch_task_queue_wait_seconds_bucket{account="demo",job="render",le="1.023"} 2.0
azbatch_task_queue_wait_seconds_bucket{account="demo",job="render",le="4.095"} 3.0
azbatch_task_queue_wait_seconds_bucket{account="demo",job="render",le="16.383"} 3.0
azbatch_task_queue_wait_seconds_bucket{account="demo",job="render",le="61.439"} 3.0
azbatch_task_queue_wait_seconds_bucket{account="demo",job="render",le="245.759"} 3.0
azbatch_task_queue_wait_seconds_bucket{account="demo",job="render",le="917.503"} 3.0
azbatch_task_queue_wait_seconds_bucket{account="demo",job="render",le="3670.015"} 3.0
azbatch_task_queue_wait_seconds_bucket{account="demo",job="render",le="14680.063"} 3.0
azbatch_task_queue_wait_seconds_bucket{account="demo",job="render",le="58720.255"} 3.0
azbatch_task_queue_wait_seconds_bucket{account="demo",job="render",le="234881.023"} 3.0
azbatch_task_queue_wait_seconds_bucket{account="demo",job="render",le="+Inf"} 3.0
azbatch_task_queue_wait_seconds_count{account="demo",job="render"} 3.0
azbatch_task_queue_wait_seconds_sum{account="demo",job="render"} 2.047
azbatch_task_run_seconds_bucket{account="demo",job="render",le="1.023"} 0.0
azbatch_task_run_seconds_bucket{account="demo",job="render",le="4.095"} 0.0
azbatch_task_run_seconds_bucket{account="demo",job="render",le="16.383"} 0.0
azbatch_task_run_seconds_bucket{account="demo",job="render",le="61.439"} 1.0
azbatch_task_run_seconds_bucket{account="demo",job="render",le="245.759"} 2.0
azbatch_task_run_seconds_bucket{account="demo",job="render",le="917.503"} 2.0
azbatch_task_run_seconds_bucket{account="demo",job="render",le="3670.015"} 2.0
azbatch_task_run_seconds_bucket{account="demo",job="render",le="14680.063"} 2.0
azbatch_task_run_seconds_bucket{account="demo",job="render",le="58720.255"} 2.0
azbatch_task_run_seconds_bucket{account="demo",job="render",le="234881.023"} 2.0
azbatch_task_run_seconds_bucket{account="demo",job="render",le="+Inf"} 3.0
azbatch_task_run_seconds_count{account="demo",job="render"} 3.0
azbatch_task_run_seconds_sum{account="demo",job="render"} 300122.879
"""

_WITH_STATISTICS = re.compile("failed_tasks|waiting_tasks")
JUST_COMPLETED = JobFacts("over", NOW - timedelta(days=1), "completed", NOW - timedelta(minutes=1))
DELETED = changed(job(), facts=JUST_COMPLETED, deleted_at=NOW)


def test_an_account_and_a_job_become_these_samples_and_no_others() -> None:
    text = render([WATCHED], [job()], NOW)
    assert [line for line in text.splitlines() if not line.startswith("#")] == (OF_ACCOUNT + OF_JOB).splitlines()


def test_a_family_has_one_help_and_type_before_all_samples() -> None:
    text = render([], [job("a"), job("b")], NOW)
    begins = text.index("# HELP azbatch_job_exact")
    assert text[begins : text.index("# HELP", begins + 1)] == (
        "# HELP azbatch_job_exact 1 if a job's counts were exact as of that time.\n"
        "# TYPE azbatch_job_exact gauge\n"
        'azbatch_job_exact{account="demo",job="a"} 1.0\n'
        'azbatch_job_exact{account="demo",job="b"} 1.0\n'
    )
    assert text.count("# TYPE azbatch_task_run_seconds histogram\n") == 1


def test_the_help_of_waits_names_tasks_without_retry_and_requeue() -> None:
    assert (
        "# HELP azbatch_task_queue_wait_seconds From creation to start, by whole milliseconds, of tasks that"
        " completed without a retry or requeue that Batch counts.\n"
    ) in render([], [job()], NOW)


def test_an_account_before_its_first_round_has_no_samples_of_one() -> None:
    text = render([replace(WATCHED, jobs={}, last_round=None)], [], NOW)
    assert [line for line in text.splitlines() if not line.startswith("#")] == [
        'azbatch_unreadable_jobs{account="demo"} 0.0',
        'azbatch_collector_enabled{account="demo"} 1.0',
        'azbatch_collector_up{account="demo"} 0.0',
        'azbatch_collector_interval_seconds{account="demo"} 300.0',
    ]


def test_rounds_that_fail_are_counted_and_leave_the_date_of_the_last_good_list() -> None:
    failed = replace(ROUND, reason="refused", failed_rounds=4, backoff_until=None)
    text = render([replace(WATCHED, last_round=failed)], [], NOW)
    assert 'azbatch_collector_up{account="demo"} 0.0\n' in text
    assert 'azbatch_collector_failed_rounds{account="demo"} 4.0\n' in text
    assert 'last_success_timestamp_seconds{account="demo"} 1.79524614e+09\n' in text
    assert "backoff_until_timestamp_seconds{" not in text


def test_unknown_values_of_a_job_have_no_sample() -> None:
    stuck = job(statistics=replace(JobStatistics(), retries=1))
    assert lines(stuck, of="azbatch_job_estimated") == []
    assert lines(stuck, of="azbatch_job_task_retries") == ['azbatch_job_task_retries{account="demo",job="render"} 1.0']
    assert lines(stuck, of="azbatch_task_run_seconds_count") == [
        'azbatch_task_run_seconds_count{account="demo",job="render"} 0.0'
    ]
    before_statistics = lines(job(statistics=None))
    assert len(before_statistics) == 8
    assert before_statistics == [line for line in OF_JOB.splitlines() if not _WITH_STATISTICS.search(line)][:8]


def test_a_job_before_its_first_read_and_a_deleted_one_have_no_samples() -> None:
    assert lines(changed(job(), snapshot=None)) == []
    assert lines(DELETED) == []
    assert lines(changed(DELETED, finalized=True)) == []


@pytest.mark.parametrize(("hours", "finalized", "shown"), [(5.99, True, True), (6, True, False), (600, False, True)])
def test_a_completed_job_leaves_six_hours_later_if_it_was_read_for_good(
    hours: float, *, finalized: bool, shown: bool
) -> None:
    completed = NOW - timedelta(hours=hours)
    over = changed(
        job(), finalized=finalized, facts=JobFacts("render", NOW - timedelta(days=99), "completed", completed)
    )
    assert bool(lines(over)) is shown


def test_inexact_counts_have_their_own_date() -> None:
    doubted = job()
    verdict = replace(doubted.verdict, level="stale", as_of=NOW - timedelta(seconds=90))
    samples = lines(replace(doubted, verdict=verdict))
    assert 'azbatch_job_exact{account="demo",job="render"} 0.0' in samples
    assert 'azbatch_job_as_of_timestamp_seconds{account="demo",job="render"} 1.79524611e+09' in samples


def test_a_deleted_job_does_not_affect_the_metrics_of_others() -> None:
    assert lines(job("a"), DELETED, job("c")) == lines(job("a"), job("c"))


@pytest.mark.parametrize(
    ("name", "escaped"),
    [
        ('a"} 1\nazbatch_job_exact{job="b', 'a\\"} 1\\nazbatch_job_exact{job=\\"b'),
        ("back\\slash\\", "back\\\\slash\\\\"),
        ("schedule:job-1", "schedule:job-1"),
        ("{ü} 日\r\t,=#", "{ü} 日\r\t,=#"),
    ],
)
def test_no_name_of_a_job_gets_out_of_its_label(name: str, escaped: str) -> None:
    text = render([], [job(name)], NOW)
    assert f'azbatch_job_exact{{account="demo",job="{escaped}"}} 1.0\n' in text
    samples = [sample for family in families(text).values() for sample in family.samples]
    assert len(samples) == len(OF_JOB.splitlines())
    assert {sample.labels["job"] for sample in samples} == {name}


def test_a_second_rendering_has_only_the_current_jobs_and_counts() -> None:
    render([], [job("gone"), job()], NOW)
    snapshot = job().job.snapshot
    assert snapshot
    text = render([], [changed(job(), snapshot=replace(snapshot, counts=replace(COUNTS, completed=3)))], NOW)
    assert "gone" not in text
    assert 'azbatch_job_tasks{account="demo",job="render",state="completed"} 3.0\n' in text
