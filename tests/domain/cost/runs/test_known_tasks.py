"""As of when tasks of an account's jobs are known, and which jobs' tasks were read before nodes were listed."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from shared.domain.core.stamps import to_milliseconds
from shared.domain.cost.runs.known_tasks import KnownTasks, known_tasks
from shared.domain.jobs.jobs import Job, JobFacts
from shared.domain.jobs.snapshots import Agreement, JobSnapshot
from shared.domain.tasks.tasks import TaskCounts

_NOW = datetime(2026, 12, 1, 7, tzinfo=UTC)
_MINUTE, _HOUR = timedelta(minutes=1), timedelta(hours=1)
_RUNNING, _DONE = TaskCounts(running=1), TaskCounts(completed=1, succeeded=1)


def job(age: timedelta, counts: TaskCounts = _RUNNING, state: str = "active") -> Job:
    """Returns a job whose tasks were read so long ago."""
    at = _NOW - age
    facts = JobFacts("J", _NOW - 72 * _HOUR, state, _NOW - 72 * _HOUR)
    return Job(facts, JobSnapshot("g", at, "delta", counts, at, at, at))


def known(*jobs: Job, listed: timedelta | None = None) -> KnownTasks:
    return known_tasks(jobs, None if listed is None else _NOW - listed, to_milliseconds(_NOW))


def ms(age: timedelta) -> int:
    return to_milliseconds(_NOW - age)


@pytest.mark.parametrize("age", [timedelta(0), _MINUTE, 3 * _HOUR, 11 * _HOUR])
def test_tasks_of_all_jobs_are_known_as_of_the_last_poll_of_any_job(age: timedelta) -> None:
    other = replace(job(timedelta(0)), facts=replace(job(age).facts, id="other"))
    assert known(job(age), other) == KnownTasks({"j": ms(age), "other": ms(timedelta(0))}, ms(age))
    assert known(other, listed=age).as_of == ms(age)


def test_a_job_that_was_not_read_for_twelve_hours_is_given_up() -> None:
    assert known(job(12 * _HOUR), listed=_MINUTE) == KnownTasks({"j": ms(12 * _HOUR)}, ms(_MINUTE))


def test_jobs_that_were_not_listed_are_given_up_after_two_days() -> None:
    assert known(job(47 * _HOUR), listed=47 * _HOUR) == KnownTasks({"j": ms(47 * _HOUR)}, ms(47 * _HOUR))
    assert known(job(48 * _HOUR), listed=48 * _HOUR) == KnownTasks({"j": ms(48 * _HOUR)}, ms(timedelta(0)))


def test_hours_that_are_given_up_wait_for_no_tasks() -> None:
    assert known(job(_HOUR)).given_up(ms(timedelta(0))) == KnownTasks({"j": ms(_HOUR)}, ms(timedelta(0)))


def test_only_jobs_whose_tasks_may_go_on_are_awaited() -> None:
    old = job(3 * _HOUR)
    assert known(job(3 * _HOUR, _DONE, "completed")) == KnownTasks({"j": ms(3 * _HOUR)}, ms(timedelta(0)))
    for over in (
        old.gone(_NOW - _HOUR),
        replace(old, finalized=True),
        replace(old, facts=replace(old.facts, state="deleting")),
    ):
        assert known(over) == KnownTasks({}, ms(timedelta(0)))


@pytest.mark.parametrize(("counts", "state"), [(_DONE, "active"), (_DONE, "disabled"), (_RUNNING, "completed")])
def test_jobs_whose_tasks_may_run_or_that_may_get_new_ones_are_awaited(counts: TaskCounts, state: str) -> None:
    assert known(job(3 * _HOUR, counts, state)) == KnownTasks({"j": ms(3 * _HOUR)}, ms(3 * _HOUR))


def test_a_job_before_its_first_read_had_no_task_when_it_was_created() -> None:
    new = job(_HOUR)
    new = replace(new, snapshot=None, facts=replace(new.facts, creation_time=_NOW - 2 * _HOUR))
    assert known(new) == KnownTasks({"j": ms(2 * _HOUR)}, ms(2 * _HOUR))


def test_counts_that_agreed_since_the_last_list_show_that_tasks_go_on() -> None:
    one = job(_HOUR)
    assert one.snapshot is not None
    agreed = Agreement(_NOW - _MINUTE, as_of=one.snapshot.as_of)
    assert known(replace(one, snapshot=replace(one.snapshot, agreement=agreed))).as_of == ms(_MINUTE)


def test_a_job_is_behind_where_nodes_were_listed_minutes_after_its_tasks() -> None:
    found = known(job(_HOUR))
    assert found.behind(ms(_HOUR - 5 * _MINUTE)) == found.behind(ms(2 * _HOUR)) == {}
    assert found.behind(ms(_HOUR - 6 * _MINUTE)) == {"j": ms(_HOUR)}
