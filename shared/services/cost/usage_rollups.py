"""Makes the usage of days from pools' ledgers and cached tasks: today's again and again, others until they are final.

A day is made from what is stored, so making it once more gives the same. What is stored no more stays as it was made
before: hours before a ledger begins, and jobs and tasks that were deleted since.
"""

import asyncio
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import attrgetter

from shared.domain.accounts.accounts import Account
from shared.domain.core.stamps import to_milliseconds
from shared.domain.cost.busy_nodes import HOUR, Settling, TaskUsageByHour
from shared.domain.cost.day_rollups import (
    DayTasks,
    EndedTime,
    NodeKinds,
    day_tasks,
    has_part_of_day,
    kept_hours,
    outcome_times,
    settled_hours,
    settling,
    usage_by_hour,
    with_ended,
    with_redated,
)
from shared.domain.cost.runs.job_days import kept_jobs
from shared.domain.cost.runs.known_nodes import KnownNodes
from shared.domain.cost.runs.known_tasks import GIVEN_UP, KnownTasks, known_tasks
from shared.domain.cost.runs.run_events import RunEvents
from shared.domain.cost.usage_days import DAY, HOURS, NodeKind, UsageDay, summed, with_slots
from shared.domain.jobs.jobs import Job
from shared.domain.pools.pools import Pool
from shared.domain.prices.price_settings import PriceSettings
from shared.domain.usage.usage_ledger import UsageHours
from shared.errors import CacheConflictError, StorageError, UnreadableError
from shared.log import logger
from shared.services.cost.day_labels import DayLabels
from shared.services.cost.long_runs import LongRuns
from shared.services.cost.pool_days import pool_day
from shared.services.cost.task_usage import LOOK_BACK, MAX_EVENTS, TaskUsageReader, read_run_events
from shared.services.tasks.leaf_reader import LeafReader
from shared.stores.events import EventStore
from shared.stores.pools.nodes import StoredNodes, planned
from shared.stores.stores import Stores

_LOG = logger(__name__)
_OPEN_DAYS = 4  # that a ledger keeps, today included


@dataclass(frozen=True, slots=True)
class _PoolNodes:
    """A pool's nodes and ledger as stored; `pool` is None where only the ledger of a deleted one is left.

    `hours` are the time of its nodes, which takes a moment to sum: empty until then. Where an event dates the end of
    nodes, `undated` is the pool as stored.
    """

    key: str
    pool: Pool | None
    stored: StoredNodes
    hours: UsageHours = field(default_factory=dict)
    undated: "_PoolNodes | None" = None

    @property
    def as_of(self) -> int:
        """As of when its nodes are known, in milliseconds since 1970."""
        listed = self.pool.nodes_as_of if self.pool else None
        ledger = self.stored.usage.as_of if self.stored.usage else 0
        return max(ledger, to_milliseconds(listed) if listed else 0)

    @property
    def known_since(self) -> int:
        """From when on its ledger is complete, in milliseconds since 1970; 0 without one."""
        return self.stored.usage.known_since(self.as_of) if self.stored.usage else 0

    def is_redated(self, day: int) -> bool:
        """Returns whether an event changes the time of its nodes on a day."""
        hours, old = range(day * HOURS, (day + 1) * HOURS), self.undated
        return old is not None and any(old.hours.get(hour) != self.hours.get(hour) for hour in hours)

    def known(self) -> KnownNodes:
        facts = self.pool.facts if self.pool else self.stored.usage and self.stored.usage.pool
        return KnownNodes(facts.slots_per_node if facts else 0, self.stored.nodes)

    def kinds(self) -> NodeKinds:
        known = {key: NodeKind(node.vm_size.lower(), node.dedicated) for key, node in self.stored.nodes.items()}
        hours = self.stored.usage.hours.values() if self.stored.usage else ()
        gone = {NodeKind(one.vm_size.lower(), one.dedicated) for amounts in hours for one in amounts}
        return NodeKinds(known, frozenset({*known.values(), *gone}))


class UsageRollups:
    """The days of one process's accounts."""

    def __init__(
        self,
        stores: Stores,
        leaves: LeafReader,
        settings: PriceSettings,
        events: EventStore | None = None,
        labels: Collection[str] = (),
    ) -> None:
        """`events` are None where Batch's event log isn't ingested, `labels` the names of labels that are kept."""
        self._stores = stores
        self._events = events
        self._labels = DayLabels(stores, labels)
        self._leaves = leaves
        self._settings = settings

    async def refresh(self, account: Account, now: datetime) -> None:
        """Makes today's usage of an account, and that of earlier days that aren't final.

        Raises StorageError, after the other days where one can't be written, as with too many jobs for a row.
        """
        today = to_milliseconds(now) // DAY
        days = range(today - _OPEN_DAYS + 1, today + 1)
        stored = await self._stores.usage_days.load(account.key, days, ("hours", "jobs"))
        (pools, listed), (jobs, tasks) = await self._pools(account), await self._jobs(account, to_milliseconds(now))
        wanted = [stored.get(day, UsageDay(day, 0)) for day in days]
        known_days = {day for day in days if _was_watched(pools, day)}
        known_days |= {today} if _is_known(pools, listed, today) else set()
        open_days = [day for day in wanted if not day.is_final and day.day in known_days]
        first = min((day.day * HOURS + day.settled for day in open_days), default=to_milliseconds(now) // HOUR)
        events = await read_run_events(self._events, account.key, first, to_milliseconds(now))
        if events.count > MAX_EVENTS // 2:  # hours that wait need ever more of them, and the oldest are left out
            tasks = tasks.given_up(to_milliseconds(now))
        pools = [await _dated(one, events) for one in pools]
        open_days += [day for day in wanted if day.is_final and any(one.is_redated(day.day) for one in pools)]
        open_days.sort(key=attrgetter("day"))
        facts = {one.key: one.pool.facts for one in pools if one.pool}
        long_runs = LongRuns(self._events, account.key, facts, first * HOUR - LOOK_BACK)
        nodes = {one.key: one.known() for one in pools}
        reader = TaskUsageReader(self._leaves, account, events, facts, nodes, to_milliseconds(now), long_runs)
        known, tags = [one.pool for one in pools if one.pool], await self._labels.tags(account)
        ended, failed = Counter[EndedTime](), list[StorageError]()
        for before in open_days:
            made, of_day = await self._made(reader, before, pools, list(jobs.values()), tasks)
            try:
                await self._stores.usage_days.save(account.key, self._labels.labelled(made, known, jobs, tags))
            except CacheConflictError:  # another host made it
                continue
            except StorageError as error:
                failed.append(error)
                continue
            ended.update({one: units for one, units in of_day.items() if one.hour // HOURS != before.day})
        await self._end_runs(account, ended)
        if failed:
            raise failed[0]
        await self._store_dated(pools)

    async def _end_runs(self, account: Account, ended: Mapping[EndedTime, int]) -> None:
        """Gives runs that ended on a later day their outcome: after that day, so that it is done at most once."""
        found = sorted({one.hour // HOURS for one in ended})
        if not found:
            return
        stored = await self._stores.usage_days.load(account.key, range(found[0], found[-1] + 1), ("hours", "jobs"))
        for day in found:
            if day in stored and (made := with_ended(stored[day], ended)) is not stored[day]:
                with suppress(CacheConflictError):  # another host writes it: then their time stays that of running ones
                    await self._stores.usage_days.save(account.key, made)

    async def _pools(self, account: Account) -> tuple[list[_PoolNodes], int]:
        """Returns the pools with rows of nodes, and when pools were listed last: 0 where that failed."""
        known, found = await self._stores.pools.load_known(account.key), list[_PoolNodes]()
        for key in sorted(await self._stores.nodes.pool_keys(account.key)):
            with suppress(CacheConflictError):  # it is being written all the time: the next run finds it
                pool, stored = known.resources.get(key), await self._stores.nodes.read(account.key, key)
                found.append(_PoolNodes(key, pool, stored))
        listed = known.last.as_of if known.last else None
        return found, to_milliseconds(listed) if listed else 0

    async def _jobs(self, account: Account, now: int) -> tuple[Mapping[str, Job], KnownTasks]:
        """Returns stored jobs by key, as the last round confirmed them, and as of when their tasks are known."""
        last = None
        with suppress(UnreadableError):
            last = await self._stores.rounds.load(account.key)
        jobs = await self._stores.jobs.load_all(account.key)
        if last:
            jobs = {key: job.confirmed(last.confirmations.get(key)) for key, job in jobs.items()}
        return jobs, known_tasks(jobs.values(), last.jobs_as_of if last else None, now)

    async def _store_dated(self, pools: Sequence[_PoolNodes]) -> None:
        """Stores the ledgers that events dated: after the days, so that a run that dies before is made up for."""
        for one in pools:
            if one.undated:
                before = one.undated.stored
                write = planned(before, before.nodes, before.tally, one.stored.usage)
                await self._stores.nodes.save_all([write])  # at a conflict the next run dates what is stored then

    async def _made(
        self,
        reader: TaskUsageReader,
        before: UsageDay,
        pools: Sequence[_PoolNodes],
        jobs: Sequence[Job],
        known: KnownTasks,
    ) -> tuple[UsageDay, Mapping[EndedTime, int]]:
        """Returns a day as it is known now, and the time of runs that ended since their hours were settled."""
        end, region = (before.day + 1) * DAY, self._settings.region_of(reader.account)
        as_of = min([reader.now, *(one.as_of for one in pools if one.pool and one.as_of)])
        is_given_up = reader.now >= end + GIVEN_UP
        settled = HOURS if is_given_up else settled_hours(before, min(as_of, known.as_of))
        settles = settling(before, settled, known.as_of)
        usages = {
            one.key: pool_day(one.pool.facts if one.pool else None, one.stored.usage, region)
            or before.pools.get(one.key)
            for one in pools
        }
        before = with_slots(before, {key: usage.slots_per_node for key, usage in usages.items() if usage})
        tasks = await self._tasks(reader, before, pools, jobs, known=known, settles=settles)
        before = with_ended(before, tasks.ended)
        hours, found, names = {**before.hours}, {**before.pools}, {job.key: job.facts.id for job in jobs}
        for one in pools:
            usage = usages[one.key]
            if one.stored.usage and usage:
                new = usage_by_hour(one.hours, tasks.pools.get(one.key, {}), before.day, usage.slots_per_node)
                old = _redated(before, one, usage.slots_per_node)
                hours[one.key] = kept_hours(old, one.key, new, one.known_since)
                found[one.key] = replace(usage, units=summed(hours[one.key].values()))
        made = replace(
            before,
            as_of=min(as_of, end),
            pools={key: usage for key, usage in found.items() if usage.units},
            hours={key: units for key, units in hours.items() if units},
            jobs=kept_jobs(before, tasks, names, reader.events.names, _created(jobs)),
            settled=settled,
            is_final=settled == HOURS,
            outcomes_as_of=outcome_times(before, settles),
            runs_as_of=min(reader.now, end),
        )
        return made, tasks.ended

    async def _tasks(
        self,
        reader: TaskUsageReader,
        before: UsageDay,
        pools: Sequence[_PoolNodes],
        jobs: Sequence[Job],
        *,
        known: KnownTasks,
        settles: Settling,
    ) -> DayTasks:
        """Returns the time of tasks in a day's open hours; running ones go on for as long as that is known."""
        hours = range(before.day * HOURS + before.settled, (before.day + 1) * HOURS)
        now, behind = min(reader.now, hours.stop * HOUR), known.behind(max((one.as_of for one in pools), default=0))
        usage = TaskUsageByHour(
            hours, now, lambda pool: reader.slots_of(pool) == 1, settles, behind, created=_created(jobs)
        )
        await reader.read(usage, jobs, hours)
        return day_tasks(usage, {one.key: one.kinds() for one in pools})


def _created(jobs: Sequence[Job]) -> dict[str, int]:
    """Returns the seconds (since 1970) in which jobs were created, by key."""
    return {job.key: int(job.facts.creation_time.timestamp()) for job in jobs}


async def _dated(pool: _PoolNodes, events: RunEvents) -> _PoolNodes:
    """Returns a pool with its hours, and with the time of its deletion where events say it.

    A pool that was created again has nodes of its own, which stay.
    """
    await asyncio.sleep(0)  # others on the event loop go on, as thousands of nodes take a moment
    if (usage := pool.stored.usage) is None:
        return pool
    nodes = pool.stored.nodes
    known, dated = replace(pool, hours=usage.total(nodes, pool.as_of)), usage.dated(events.deletions.get(pool.key, ()))
    if dated is usage:
        return known
    stored, hours = replace(pool.stored, usage=dated), dated.total(nodes, pool.as_of)
    return replace(pool, stored=stored, hours=hours, undated=known)


def _redated(day: UsageDay, pool: _PoolNodes, slots_per_node: int) -> UsageDay:
    if pool.undated is None:
        return day
    return with_redated(day, pool.key, (pool.undated.hours, pool.hours), pool.known_since, slots_per_node)


def _is_known(pools: Sequence[_PoolNodes], listed: int, day: int) -> bool:
    """Returns whether polls looked at any pool's nodes since a day began, or found no pool with nodes then."""
    return max((one.as_of for one in pools if one.pool), default=listed) > day * DAY


def _was_watched(pools: Sequence[_PoolNodes], day: int) -> bool:
    """Returns whether any ledger has a part of a day."""
    return any(one.stored.usage and has_part_of_day(one.stored.usage.since, one.as_of, day) for one in pools)
