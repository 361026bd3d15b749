from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from shared.domain.jobs.job_rules import JobRules
from shared.domain.jobs.jobs import Job, JobFacts
from shared.domain.jobs.snapshots import JobSnapshot
from shared.domain.jobs.waiting_ahead import tasks_ahead, waiting_tasks
from shared.domain.tasks.tasks import TaskCounts

T0 = datetime(2026, 11, 21, 7, tzinfo=UTC)
COUNTS = TaskCounts(active=50, preparing=1, running=3, completed=0)
NO_LIMITS = JobRules()


def job(
    name: str,
    priority: int | None = 0,
    *,
    pool: str | None = "Render",
    rules: JobRules = NO_LIMITS,
    counts: TaskCounts = COUNTS,
    age: int = 0,
) -> Job:
    facts = JobFacts(name, T0 - timedelta(days=age), "active", T0, pool_id=pool, priority=priority, rules=rules)
    return Job(facts, JobSnapshot("g", T0, "delta", counts, T0, T0, T0))


LATER = job("later")


@pytest.mark.parametrize(("priority", "ahead"), [(1, 50), (0, 0), (-1, 0), (None, 0)])
def test_tasks_of_a_higher_priority_are_ahead(priority: int | None, ahead: int) -> None:
    assert tasks_ahead(LATER, waiting_tasks([LATER, job("other", priority)]), oldest_first=False) == ahead


def test_tasks_of_all_jobs_ahead_on_the_pool_are_counted_in_any_case_of_its_id() -> None:
    others = [job("a", 1), job("b", 2, pool="RENDER"), job("c", 3, pool="elsewhere"), job("d", 4, pool=None)]
    assert tasks_ahead(LATER, waiting_tasks(others), oldest_first=False) == 100
    assert tasks_ahead(job("nowhere", pool=None), waiting_tasks(others), oldest_first=False) == 0


@pytest.mark.parametrize(("most", "ahead"), [(None, 50), (10, 6), (54, 50), (4, 0), (0, 0)])
def test_of_a_job_with_a_bound_on_parallel_tasks_no_more_are_ahead_than_it_leaves(most: int | None, ahead: int) -> None:
    assert tasks_ahead(LATER, waiting_tasks([job("bounded", 1, rules=JobRules(most))]), oldest_first=False) == ahead


@pytest.mark.parametrize(
    ("depends", "failed", "running", "ahead"),
    [(True, 1, 0, 0), (True, 1, 1, 50), (True, 0, 0, 50), (False, 1, 0, 50)],
)
def test_tasks_that_depend_on_others_are_not_ahead_where_one_failed_and_none_runs(
    *, depends: bool, failed: int, running: int, ahead: int
) -> None:
    """A task that was just added to a job without failures takes the next free slot."""
    counts = TaskCounts(active=50, running=running, completed=failed, failed=failed)
    urgent = job("urgent", 1, rules=JobRules(uses_task_dependencies=depends), counts=counts)
    assert tasks_ahead(LATER, waiting_tasks([urgent]), oldest_first=False) == ahead


def test_jobs_that_start_nothing_are_not_ahead() -> None:
    urgent = job("urgent", 1)
    disabled = replace(urgent, facts=replace(urgent.facts, state="disabled"))
    others = [disabled, replace(urgent, deleted_at=T0), replace(urgent, snapshot=None)]
    assert tasks_ahead(LATER, waiting_tasks(others), oldest_first=False) == 0


@pytest.mark.parametrize(("oldest_first", "ahead"), [(True, 150), (False, 50)])
def test_tasks_of_older_jobs_of_the_same_priority_are_ahead_where_the_pool_takes_the_oldest_first(
    *, oldest_first: bool, ahead: int
) -> None:
    others = [job("older", age=2), job("oldest", age=9), job("younger", age=-1), job("same"), job("urgent", 1, age=-3)]
    lower = job("lower", -1, age=9)
    assert tasks_ahead(LATER, waiting_tasks([*others, LATER, lower]), oldest_first=oldest_first) == ahead
    assert tasks_ahead(lower, waiting_tasks([*others, LATER, lower]), oldest_first=oldest_first) == 300


def test_jobs_created_at_the_same_moment_are_not_ahead_of_each_other() -> None:
    assert tasks_ahead(LATER, waiting_tasks([LATER, job("same")]), oldest_first=True) == 0
