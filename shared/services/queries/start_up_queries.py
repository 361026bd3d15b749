"""Answers from storage about the start-ups of pools' nodes."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from shared.domain.core.keys import key_of
from shared.domain.core.stamps import from_milliseconds, to_milliseconds
from shared.domain.events.event_lists import EventFilter
from shared.domain.events.preparation_events import SPECIAL_TASK, preparation_runs
from shared.domain.findings.finding import Finding
from shared.domain.findings.thresholds import START_UP_FINDING_DAYS
from shared.domain.jobs.jobs import Job
from shared.domain.nodes.start_ups import StartUp
from shared.domain.pools.start_up_days import StartUpDay
from shared.domain.pools.start_up_figures import (
    FiguresByGroup,
    StartUpFigures,
    days_by_size_and_image,
    figures_by,
    figures_by_day,
    figures_of,
)
from shared.domain.pools.start_up_findings import start_up_exceeds_tasks, start_up_grows
from shared.domain.reports.reports import PoolReport
from shared.domain.tasks.histograms import Histogram
from shared.services.accounts.registry import Registry
from shared.services.events.event_queries import EventQueries
from shared.services.queries.pool_queries import PoolQueries
from shared.stores.stores import Stores

_DAY = 86_400_000  # milliseconds
_MAX_EVENTS = 1_000


@dataclass(frozen=True, slots=True)
class StartUpReport:
    """The figures of a pool's nodes that were allocated from the day `first` on, in days since 1970.

    `runs` are those of the pool's tasks, `preparations` milliseconds of runs of job preparation tasks in order, the
    latest thousand that events show. `is_cut` where a day had more nodes than are kept. `findings` rest on the last
    seven days, however many are shown.
    """

    pool: PoolReport
    first: int
    figures: StartUpFigures
    days: Mapping[int, StartUpFigures]
    sizes: Mapping[str, StartUpFigures]
    images: Mapping[str, StartUpFigures]
    runs: Histogram
    preparations: Sequence[int]
    is_cut: bool
    findings: Sequence[Finding]


class StartUpQueries:
    def __init__(self, registry: Registry, pools: PoolQueries, events: EventQueries, stores: Stores) -> None:
        self._registry = registry
        self._pools = pools
        self._events = events
        self._start_ups = stores.start_ups
        self._jobs = stores.jobs
        self._known_runs: dict[str, tuple[str | None, Mapping[str, Histogram]]] = {}

    async def of_pool(self, account_id: str, pool_id: str, days: int) -> StartUpReport:
        """Returns the start-ups of the last `days` days (UTC), today included. Raises NotFoundError, StorageError."""
        report = await self._pools.pool(account_id, pool_id)
        last = await self._last_days(report, max(days, START_UP_FINDING_DAYS))
        found = last[-days:]
        many = _start_ups(found)
        return StartUpReport(
            pool=report,
            first=found[0].day,
            figures=figures_of(many),
            days=figures_by_day(many),
            sizes=figures_by(many, lambda one: one.vm_size),
            images=figures_by(many, lambda one: one.image),
            runs=await self._runs(report),
            preparations=await self._preparations(report, found[0].day),
            is_cut=any(day.is_cut for day in found),
            findings=await self._findings(report, last[-START_UP_FINDING_DAYS:]),
        )

    async def findings(self, report: PoolReport) -> list[Finding]:
        """Returns the findings on a pool's start-ups of the last seven days. Raises StorageError."""
        return await self._findings(report, await self._last_days(report, START_UP_FINDING_DAYS))

    async def _findings(self, report: PoolReport, days: Sequence[StartUpDay]) -> list[Finding]:
        pool_id, many = report.pool.facts.id, _start_ups(days)
        if not many:
            return []
        found = (
            start_up_grows(pool_id, days_by_size_and_image(many)),
            start_up_exceeds_tasks(pool_id, figures_of(many), await self._runs(report)),
        )
        return [one for one in found if one]

    async def _last_days(self, report: PoolReport, days: int) -> list[StartUpDay]:
        today = to_milliseconds(report.now) // _DAY
        wanted = range(today - days + 1, today + 1)
        key, pool_key = report.account.key, report.pool.key
        return await asyncio.gather(*(self._start_ups.read(key, pool_key, day) for day in wanted))

    async def latest(self, account_id: str) -> Mapping[str, FiguresByGroup]:
        """Returns each pool's figures of today (UTC), or else of yesterday, by pool key. Raises NotFoundError."""
        account = self._registry.account(account_id)
        today = to_milliseconds(await self._registry.clock.now()) // _DAY
        return await self._start_ups.figures(account.key, today - 1, today)

    async def _preparations(self, report: PoolReport, first: int) -> list[int]:
        """Returns milliseconds of the runs of job preparation tasks, none without resource logs."""
        pools, kinds = frozenset({report.pool.facts.id}), frozenset({SPECIAL_TASK})
        wanted = EventFilter(pools=pools, kinds=kinds, since=from_milliseconds(first * _DAY))
        page = await self._events.events(report.account.id, wanted, after=None, most=_MAX_EVENTS)
        return preparation_runs(page.events)

    async def _runs(self, report: PoolReport) -> Histogram:
        """Returns the runs of the tasks of a pool's jobs that aren't deleted.

        Until the account's next round they come from memory, as pages ask often and it has many jobs.
        """
        account_key = report.account.key
        _, last = await self._registry.watch_and_round(account_key)
        known = self._known_runs.get(account_key)
        if known is None or last is None or known[0] != last.etag:
            known = (last.etag if last else None, _runs_by_pool((await self._jobs.load_all(account_key)).values()))
            self._known_runs[account_key] = known
        return known[1].get(report.pool.key, Histogram.summed(()))


def _start_ups(days: Iterable[StartUpDay]) -> list[StartUp]:
    return [one for day in days for one in day.start_ups.values()]


def _runs_by_pool(jobs: Iterable[Job]) -> dict[str, Histogram]:
    """Returns the runs of the tasks of jobs that aren't deleted, by the key of their pool."""
    found = defaultdict[str, list[Histogram]](list)
    for job in jobs:
        stored = job.snapshot.statistics if job.snapshot and not job.deleted else None
        if job.facts.pool_id and stored and (one := stored.unpack()):
            found[key_of(job.facts.pool_id)].append(one.runs)
    return {pool: Histogram.summed(runs) for pool, runs in found.items()}
