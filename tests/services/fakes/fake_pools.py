"""Pools in memory: their true state at every moment, and the service as each process sees it."""

import asyncio
from bisect import bisect_right
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import override

from shared.domain.core.keys import key_of
from shared.domain.core.stamps import to_milliseconds
from shared.domain.nodes.nodes import Node, NodeCounts, NodeSummary, SizeSummary
from shared.domain.pools.machine_settings import MachineSettings
from shared.domain.pools.pool_facts import PoolFacts, Size
from shared.errors import BatchError, BatchMissingError
from shared.stores.batch.batch_lists import ResourceList
from shared.stores.batch.batch_pools import BatchPools, NodeList
from tests.services.fakes.memory_tables import Connection
from tests.services.worlds.process import ACCOUNT

SLOTS = 4
SIZE = "standard_d4s_v5"
NONSENSE = "Batch's data of it makes no sense."
type Nodes = dict[str, Node]


@dataclass(slots=True)
class TruePool:
    """A pool from `created` until `deleted`, with its nodes at every moment at which they changed.

    Since `deleting_since` it shows that it is being deleted.
    After `resizing_since` the list of pools keeps showing the size at that time. Unless it `dates_resizes`, its
    allocation state keeps the creation time when nodes come or go. `vm_sizes` are later VM sizes, and
    when they were set.
    """

    id: str
    created: datetime
    deleted: datetime | None = None
    deleting_since: datetime | None = None
    resizing_since: datetime | None = None
    dates_resizes: bool = True
    vm_sizes: list[tuple[datetime, str]] = field(default_factory=list)
    times: list[datetime] = field(default_factory=list)
    states: list[Nodes] = field(default_factory=list)

    def at(self, moment: datetime) -> Nodes:
        place = bisect_right(self.times, moment)
        return self.states[place - 1] if place else {}

    def between(self, since: datetime, until: datetime) -> list[Nodes]:
        later = [state for time, state in zip(self.times, self.states, strict=True) if since < time <= until]
        return [self.at(since), *later]

    def now(self, moment: datetime, nodes: Nodes) -> None:
        self.times.append(moment)
        self.states.append(nodes)

    def is_there(self, moment: datetime) -> bool:
        return self.created <= moment and (self.deleted is None or moment < self.deleted)

    def resized(self, moment: datetime) -> datetime:
        """Returns the last time at which nodes were added or removed."""
        found, names = self.created, frozenset[str]()
        for time, nodes in zip(self.times, self.states, strict=True):
            if time <= moment and nodes.keys() != names:
                found, names = time, frozenset(nodes)
        return found

    def facts(self, moment: datetime) -> PoolFacts:
        found = self.at(self.resizing_since or moment).values()
        dedicated = sum(node.dedicated for node in found)
        allocation = "resizing" if self.resizing_since else "steady"
        at = self.resizing_since or (self.resized(moment) if self.dates_resizes else self.created)
        modified, size = next((one for one in reversed(self.vm_sizes) if one[0] <= moment), (self.created, SIZE))
        state, since = ("deleting", self.deleting_since) if self.deleting_since else ("active", self.created)
        return PoolFacts(
            self.id, self.created, state, since, size, allocation, at,
            Size(dedicated, dedicated), Size(len(found) - dedicated, 0), SLOTS, settings=MachineSettings(),
            last_modified=modified,
        )  # fmt: skip


@dataclass(slots=True)
class PoolService:
    """The shared service: `refusals` (request -> error), nodes a page (`page_size`), counts a page (`counts_page`).

    `nonsense` are the keys of pools for which it returns invalid data.
    """

    now: Callable[[], datetime]
    pools: list[TruePool] = field(default_factory=list)
    refusals: dict[str, BatchError] = field(default_factory=dict)
    page_size: int = 1000
    counts_page: int = 10
    count_lag: timedelta = timedelta()
    nonsense: set[str] = field(default_factory=set)

    def there(self, moment: datetime) -> list[TruePool]:
        return [pool for pool in self.pools if pool.is_there(moment)]


class FakePools(BatchPools):
    """One process's view of the service; `date` is that of the last list of pools."""

    def __init__(self, service: PoolService, connection: Connection) -> None:
        self.account = ACCOUNT
        self.calls = 0
        self.latency = 0.0
        self.requests: list[str] = []
        self.date: datetime | None = None
        self._service = service
        self._connection = connection

    @override
    async def fetch_pools(self) -> ResourceList[PoolFacts]:
        facts, moment = await self._served("pools", lambda now: [p.facts(now) for p in self._service.there(now)])
        self.date = moment.replace(microsecond=0)
        valid = tuple(each for each in facts if each.key not in self._service.nonsense)
        return ResourceList(valid, self.date, {each.key: NONSENSE for each in facts if each not in valid})

    @override
    async def fetch_pool(self, pool_id: str) -> PoolFacts:
        return (await self._served(f"pools/{pool_id}", lambda now: self._pool(pool_id, now).facts(now)))[0]

    @override
    async def node_counts(self) -> AsyncGenerator[dict[str, NodeCounts]]:
        """Yields page by page; each page is true at the instant it is served, less the lag."""
        after, more = "", True
        while more:
            counts, _ = await self._served("nodecounts", self._counts)
            left = sorted(key for key in counts if key > after)
            page, more = left[: self._service.counts_page], len(left) > self._service.counts_page
            yield {key: counts[key] for key in page}
            after = page[-1] if page else after

    def _counts(self, now: datetime) -> dict[str, NodeCounts]:
        then = now - self._service.count_lag
        return {key_of(pool.id): true_summary(pool.at(then)).counts for pool in self._service.there(now)}

    @override
    async def fetch_nodes(
        self,
        pool_id: str,
        *,
        changed_since: datetime | None = None,
        recent_as_of: datetime | None = None,
        agents: bool = False,
    ) -> NodeList:
        """Fetches page by page; each page is true at the instant it is served, and has agents in any case."""
        since = to_milliseconds(changed_since) if changed_since else 0
        recent_at = to_milliseconds(recent_as_of) if recent_as_of else 0
        found: list[Node] = []
        pages, after, more = 0, "", True
        while more:
            request = f"pools/{pool_id}/{'changes' if changed_since else 'nodes'}"
            nodes, _ = await self._served(request, lambda now: self._pool(pool_id, now).at(now))
            matching = sorted(key for key, node in nodes.items() if key > after and node.transition >= since)
            page, more = matching[: self._service.page_size], len(matching) > self._service.page_size
            found += [nodes[key]._replace(recent_at=recent_at) for key in page]
            after, pages = page[-1] if page else after, pages + 1
        return NodeList(tuple(found), pages)

    def _pool(self, name: str, moment: datetime) -> TruePool:
        for pool in self._service.there(moment):
            if key_of(pool.id) == key_of(name):
                return pool
        raise BatchMissingError(f"404: no pool {name}", code="PoolNotFound")

    async def _served[T](self, request: str, answer: Callable[[datetime], T]) -> tuple[T, datetime]:
        self._connection.stop_if_dead()
        self.calls += 1
        self.requests.append(request)
        await asyncio.sleep(self.latency / 2)
        if request in self._service.refusals:
            raise self._service.refusals[request]
        moment = self._service.now()
        result = answer(moment)
        await asyncio.sleep(self.latency / 2)
        self._connection.stop_if_dead()
        return result, moment


def true_summary(nodes: Nodes) -> NodeSummary:
    """Returns the summary of nodes, counted independently of the app."""
    there = list(nodes.values())
    counted = Counter((node.state, node.dedicated) for node in there)
    open_ = [node for node in there if node.state in ("idle", "running") and node.scheduling == "enabled"]
    return NodeSummary(
        counts=tuple(sorted((*kind, number) for kind, number in counted.items())),
        slots=SLOTS * len(there),
        used=sum(node.slots for node in there),
        free=sum(SLOTS - node.slots for node in open_),
        tasks=sum(node.tasks for node in there),
        sizes=tuple(_true_size(size, there) for size in sorted({node.vm_size for node in there})),
        agents=tuple(sorted(Counter(node.agent for node in there if node.agent).items())),
    )


def _true_size(size: str, nodes: list[Node]) -> SizeSummary:
    own = [node for node in nodes if node.vm_size == size]
    lost = [node for node in own if node.state in ("preempted", "deallocated")]
    return SizeSummary(size, len(own), len(own) - len(lost), sum(node.slots for node in own))
