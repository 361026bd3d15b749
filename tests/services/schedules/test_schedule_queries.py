"""Answers about job schedules: a schedule shows no job that wasn't checked after it was created."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import cast

from shared.domain.jobs.jobs import Job, JobFacts
from shared.domain.jobs.verdicts import Verdict
from shared.domain.reports.reports import JobReport
from shared.domain.reports.schedule_reports import report_of
from shared.domain.schedules.schedules import Recurrence, ScheduleFacts, first_seen
from shared.services.accounts.registry import Registry
from shared.services.queries.queries import Queries
from shared.services.queries.schedule_queries import ScheduleQueries
from shared.stores.accounts.monitoring import MonitoringStore
from shared.stores.schedules import ScheduleStore
from tests.services.fakes.memory_tables import Connection, MemoryTables, Storage
from tests.services.worlds.process import ACCOUNT, LoopClock

_NOW = datetime(2026, 11, 21, 7, tzinfo=UTC)
_FACTS = ScheduleFacts(
    "Nightly", _NOW, _NOW, "active", _NOW, recurrence=Recurrence(interval="PT1M"), next_run_time=_NOW
)


class Meanwhile:
    """Returns no jobs; right after that a schedule creates one, and a poll stores the schedule."""

    def __init__(self, store: ScheduleStore) -> None:
        self._store = store

    async def jobs(self, _account_id: str, *, schedule: str | None = None) -> list[JobReport]:  # noqa: ARG002 - theirs
        (known,) = (await self._store.load_all(ACCOUNT.key)).resources.values()
        later = replace(_FACTS, recent_job="Nightly:job-1", next_run_time=_NOW + timedelta(minutes=1))
        await self._store.save_all(ACCOUNT.key, [known.seen(later, _NOW, _NOW)])
        return []


def test_schedules_are_read_before_the_jobs_that_they_made() -> None:
    async def story() -> None:
        tables = MemoryTables(Connection(Storage()))
        store = ScheduleStore(tables)
        clock = LoopClock(lambda: _NOW)
        registry = Registry({ACCOUNT.id: ACCOUNT}, MonitoringStore(tables), clock, timedelta(minutes=1))
        meanwhile = cast("Queries", Meanwhile(store))
        queries = ScheduleQueries(registry, meanwhile, store, idle=timedelta(minutes=15))
        await store.save_all(ACCOUNT.key, [first_seen(_FACTS, _NOW)])
        jobs, (report,) = await queries.with_jobs(ACCOUNT.id)
        assert (jobs, report.totals.made, report.totals.unknown) == ([], 0, 0)
        (alone,) = await queries.schedules(ACCOUNT.id)
        assert alone.totals.unknown == 1

    asyncio.run(story())


def test_a_job_of_a_re_created_schedule_is_not_one_of_the_earlier_ones() -> None:
    later = _NOW + timedelta(minutes=1)
    facts = replace(_FACTS, recent_job="Nightly:job-1", next_run_time=later)
    schedule = replace(first_seen(_FACTS, _NOW), facts=facts)
    exact = Verdict(_NOW, "fullRead", "exact", ".")

    def job(number: int, made: datetime) -> JobReport:
        return JobReport(ACCOUNT, Job(JobFacts(f"Nightly:job-{number}", made, "active", made)), exact)

    for made, unknown in ((_NOW + timedelta(milliseconds=900), 0), (later, 1)):
        report = report_of(ACCOUNT, schedule, exact, [job(1, made), job(2, later)])
        assert (report.totals.unknown, report.totals.is_exact, len(report.jobs)) == (unknown, not unknown, 2 - unknown)
