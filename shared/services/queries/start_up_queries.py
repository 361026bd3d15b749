"""Answers from storage about the start-ups of pools' nodes."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shared.domain.core.keys import key_of
from shared.domain.core.stamps import from_milliseconds, to_milliseconds
from shared.domain.events.event_lists import EventFilter
from shared.domain.events.preparation_events import SPECIAL_TASK, preparation_runs
from shared.domain.findings.finding import Finding
from shared.domain.nodes.start_ups import StartUp
from shared.domain.pools.start_up_figures import FiguresByGroup, StartUpFigures, figures_by, figures_by_day, figures_of
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
    latest thousand that events show. `is_cut` where a day had more nodes than are kept.
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

    @property
    def findings(self) -> list[Finding]:
        pool_id = self.pool.pool.facts.id
        found = (
            start_up_grows(pool_id, self.days),
            start_up_exceeds_tasks(pool_id, self.figures, self.runs),
        )
        return [one for one in found if one]


class StartUpQueries:
    def __init__(self, registry: Registry, pools: PoolQueries, events: EventQueries, stores: Stores) -> None:
        self._registry = registry
        self._pools = pools
        self._events = events
        self._start_ups = stores.start_ups
        self._jobs = stores.jobs

    async def of_pool(self, account_id: str, pool_id: str, days: int) -> StartUpReport:
        """Returns the start-ups of the last `days` days (UTC), today included. Raises NotFoundError, StorageError."""
        report = await self._pools.pool(account_id, pool_id)
        key, pool_key = report.account.key, report.pool.key
        today = to_milliseconds(report.now) // _DAY
        wanted = range(today - days + 1, today + 1)
        found = await asyncio.gather(*(self._start_ups.read(key, pool_key, day) for day in wanted))
        many: list[StartUp] = [one for day in found for one in day.start_ups.values()]
        return StartUpReport(
            pool=report,
            first=wanted.start,
            figures=figures_of(many),
            days=figures_by_day(many),
            sizes=figures_by(many, lambda one: one.vm_size),
            images=figures_by(many, lambda one: one.image),
            runs=await self._runs(key, pool_key),
            preparations=await self._preparations(report, wanted.start),
            is_cut=any(day.is_cut for day in found),
        )

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

    async def _runs(self, account_key: str, pool_key: str) -> Histogram:
        """Returns the runs of the tasks of a pool's jobs that aren't deleted."""
        jobs = (await self._jobs.load_all(account_key)).values()
        own = [job for job in jobs if not job.deleted and job.facts.pool_id and key_of(job.facts.pool_id) == pool_key]
        stored = [job.snapshot.statistics for job in own if job.snapshot and job.snapshot.statistics]
        return Histogram.summed(one.runs for packed in stored if (one := packed.unpack()))
