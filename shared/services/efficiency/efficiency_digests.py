"""Digests of jobs with new measured runs: used shares on the job's row, and those of each day with advice.

Housekeeping makes them once an hour from the summaries of runs, for the list of jobs, metrics and questions about many
jobs, which then read no runs. A digest depends only on stored runs, so making it again changes nothing.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from shared.domain.accounts.accounts import Account
from shared.domain.core.keys import id_of
from shared.domain.core.stamps import to_milliseconds
from shared.domain.efficiency.day_use import MAX_ADVICE, Advice, JobUse
from shared.domain.efficiency.task_groups import by_vm_size
from shared.domain.efficiency.used_shares import used_shares
from shared.domain.jobs.job_efficiency import JobEfficiency
from shared.domain.jobs.jobs import JobFacts
from shared.errors import CacheConflictError, NotFoundError, UnreadableError
from shared.log import logger
from shared.services.efficiency.efficiency_queries import AccountPrices, EfficiencyQueries
from shared.services.efficiency.efficiency_reports import EfficiencyReport
from shared.services.jobs.job_records import JobRecords
from shared.services.prices.price_queries import PriceQueries
from shared.services.queries.queries import Queries
from shared.stores.jobs.jobs import JobStore
from shared.stores.telemetry.day_use import ChangedJob, DayUseStore

_LOG = logger(__name__)
_MAX_JOBS, _AT_ONCE = 1000, 4
_HOUR = 3_600_000  # milliseconds


@dataclass(slots=True)
class _Found:
    """The use of jobs by day and job key, and the notes that were followed."""

    days: defaultdict[int, dict[str, JobUse]] = field(default_factory=lambda: defaultdict(dict))
    done: list[ChangedJob] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class EfficiencyDigests:
    queries: Queries
    efficiency: EfficiencyQueries
    prices: PriceQueries
    jobs: JobStore
    records: JobRecords
    store: DayUseStore

    async def refresh(self, account: Account, now: datetime) -> None:
        """Makes the digests of jobs whose runs changed, at most a thousand, the oldest changes first.

        Raises StorageError.
        """
        changed = (await self.store.changed(account.key))[:_MAX_JOBS]
        if not changed:
            return
        found, turns = _Found(), asyncio.Semaphore(_AT_ONCE)
        prices = AccountPrices(await self.prices.table(account), self.prices.region_of(account))

        async def digested(one: ChangedJob) -> None:
            async with turns:
                await self._digested(account, one, prices, found)

        await asyncio.gather(*map(digested, changed))
        try:
            for day, jobs in sorted(found.days.items()):
                await self.store.change(account.key, day, jobs)
        except CacheConflictError:
            _LOG.info("Other hosts write the efficiency of %s: its %d jobs stay noted.", account.id, len(found.done))
            return
        hour = to_milliseconds(now) // _HOUR
        for one in found.done:
            if one.hour < hour - 1:  # a call that noted it may have written runs up to ten minutes later
                await self.store.forget(account.key, one)
        _LOG.info("Efficiency of %s: %d jobs with new runs.", account.id, len(found.done))

    async def _digested(self, account: Account, changed: ChangedJob, prices: AccountPrices, found: _Found) -> None:
        """Makes the digest of a job. One that can't be read now, or is being written, stays noted."""
        try:
            report = await self.queries.job(account.id, id_of(changed.key))
            made = await self.efficiency.of_share(report, prices)
            await self._save(account, report.job.facts, made.efficiency)
        except NotFoundError:  # a task wrote the record, or the job is long deleted
            found.done.append(changed)
            return
        except (CacheConflictError, UnreadableError):
            return
        for day, use in _by_day(made).items():
            found.days[day][changed.key] = use
        found.done.append(changed)

    async def _save(self, account: Account, facts: JobFacts, made: JobEfficiency) -> None:
        job = await self.jobs.load(account.key, facts.id)
        if job and job.facts.creation_time == facts.creation_time and job.efficiency != made:
            await self.records.save(account.key, replace(job, efficiency=made))


def _by_day(found: EfficiencyReport) -> Mapping[int, JobUse]:
    """Returns the job's use by day; advice stands on the last one."""
    last = max(found.days, default=0)
    advice = tuple(
        Advice(
            one.rule, str(one.evidence.get("vmSize", "")), float(one.amount.number), one.title, one.advice
        ).shortened()
        for one in found.findings[:MAX_ADVICE]
        if one.amount and one.amount.unit == "money"
    )
    return {
        day: JobUse(
            found.report.job.facts.id,
            used_shares(by_vm_size(groups), found.offers, found.gpu_sizes),
            advice if day == last else (),
        )
        for day, groups in found.days.items()
    }
