"""Answers about job schedules from their rows and their jobs', without requests to Batch."""

import asyncio
from collections.abc import Collection, Iterable
from datetime import timedelta

from shared.domain.accounts.accounts import Account
from shared.domain.polling.schedule_rounds import ScheduleRound, schedule_verdict
from shared.domain.reports.reports import JobReport, ReportList
from shared.domain.reports.schedule_reports import ScheduleReport, by_schedule, report_of
from shared.errors import NotFoundError
from shared.services.accounts.registry import Registry
from shared.services.queries.queries import Queries
from shared.stores.resources import KnownResources
from shared.stores.schedules import KnownSchedules, ScheduleStore
from shared.stores.tables.unreadable import unreadable_reports


class ScheduleQueries:
    """Answers about job schedules.

    `idle` is the time between two polls of an account without a schedule that may still change.
    """

    def __init__(self, registry: Registry, queries: Queries, schedules: ScheduleStore, *, idle: timedelta) -> None:
        self._registry = registry
        self._queries = queries
        self._schedules = schedules
        self._idle = idle

    async def last_rounds(self, accounts: Collection[str]) -> dict[str, ScheduleRound | None]:
        """Returns the last poll of the schedules of each of these watched accounts, by id; None before the first."""
        names = sorted(accounts)
        rounds = await asyncio.gather(
            *(self._schedules.load_round(self._registry.accounts[name].key) for name in names)
        )
        return dict(zip(names, rounds, strict=True))

    async def schedules(self, account_id: str) -> list[ScheduleReport]:
        """Returns every job schedule of an account in key order, also deleted ones. Raises NotFoundError."""
        return (await self.listed_schedules(account_id)).reports

    async def listed_schedules(self, account_id: str) -> ReportList[ScheduleReport]:
        """Returns `schedules` with unreadable rows. Raises NotFoundError."""
        account = self._registry.account(account_id)
        known = await self._schedules.load_all(account.key)
        failures = known.last.failures if known.last else {}
        unreadable = unreadable_reports(known.unreadable, failures, stored=known.resources)
        if not known.resources:
            return ReportList([], unreadable)
        return ReportList(await self._reports(account, known, await self._queries.jobs(account_id)), unreadable)

    async def with_jobs(self, account_id: str) -> tuple[list[JobReport], list[ScheduleReport]]:
        """Returns every job and every job schedule of an account. Raises NotFoundError.

        Schedules are read before jobs, so that every job that a schedule names is in the result.
        """
        account = self._registry.account(account_id)
        known = await self._schedules.load_all(account.key)
        jobs = await self._queries.jobs(account_id)
        return jobs, await self._reports(account, known, jobs)

    async def schedule(self, account_id: str, schedule_id: str) -> ScheduleReport:
        """Returns one job schedule. Raises NotFoundError."""
        account = self._registry.account(account_id)
        last, schedule = await self._schedules.load(account.key, schedule_id)
        if schedule is None:
            raise NotFoundError("schedule", schedule_id, f" in the account '{account.id}'")
        known = KnownResources(last, {schedule.key: schedule})
        jobs = await self._queries.jobs(account_id, schedule=schedule.facts.id)
        return (await self._reports(account, known, jobs))[0]

    async def _reports(
        self, account: Account, known: KnownSchedules, jobs: Iterable[JobReport]
    ) -> list[ScheduleReport]:
        watch, now = await self._registry.watch(account.key), await self._registry.clock.now()
        grouped, reports = by_schedule(jobs), []
        for key, schedule in sorted(known.resources.items()):
            verdict = schedule_verdict(
                schedule,
                known.last,
                now=now,
                interval=watch.interval if schedule.is_live else max(watch.interval, self._idle),
                off_reason=watch.monitoring.off_reason,
            )
            reports.append(report_of(account, schedule, verdict, grouped.get(key, ())))
        return reports
