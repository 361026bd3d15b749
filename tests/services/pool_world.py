"""Pools in memory, storage in memory and processes that poll them, in virtual time; and what may be claimed of them.

The check: each node that is stored was so at some instant between the pool's `asOf` and now, none was there all that
time that isn't stored, and an `exact` summary is that of one instant, in all of its numbers. Where nothing changed that
leaves one answer.
"""

import asyncio
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, override

from shared.domain.keys import key_of
from shared.domain.node_records import NO_RECORD
from shared.domain.nodes import Node, NodeCounts, NodeSummary
from shared.domain.pool_rounds import pool_verdict
from shared.domain.pools import PoolFacts, Size
from shared.domain.stamps import to_milliseconds
from shared.errors import BatchError, BatchMissingError, BatchscopeError
from shared.services.node_reading import NodeReading
from shared.services.pool_histories import PoolHistories
from shared.services.pool_records import PoolRecords
from shared.services.pool_rounds import PoolRounds
from shared.services.pools_under_way import PoolsUnderWay
from shared.stores.batch_pools import BatchPools, NodeList, PoolList
from shared.stores.monitoring import MonitoringStore
from shared.stores.nodes import NodeStore
from shared.stores.pool_history import PoolHistoryStore
from shared.stores.pools import KnownPools, PoolStore
from tests.services.memory_tables import Connection, Fault, MemoryTables, ProcessDiedError, Storage
from tests.services.process import ACCOUNT, HISTORY, LoopClock
from tests.services.virtual_time import VirtualLoop

START = datetime(2026, 11, 21, 7, tzinfo=UTC)
OVERLAP = timedelta(seconds=30)
SLOTS = 4
NONSENSE = "What Batch tells of it makes no sense."
type Nodes = dict[str, Node]


@dataclass(slots=True)
class TruePool:
    """A pool from `created` until `deleted`: its nodes at every moment at which they changed."""

    id: str
    created: datetime
    deleted: datetime | None = None
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
        """When nodes came or went the last time."""
        found, names = self.created, frozenset[str]()
        for time, nodes in zip(self.times, self.states, strict=True):
            if time <= moment and nodes.keys() != names:
                found, names = time, frozenset(nodes)
        return found

    def facts(self, moment: datetime) -> PoolFacts:
        found = self.at(moment).values()
        dedicated = sum(node.dedicated for node in found)
        return PoolFacts(
            self.id, self.created, "active", self.created, "standard_d4s_v5", "steady", self.resized(moment),
            Size(dedicated, dedicated), Size(len(found) - dedicated, 0), SLOTS,
        )  # fmt: skip


@dataclass(slots=True)
class PoolService:
    """`refusals` are what it refuses (request -> error); `page_size` nodes come on a page.

    `nonsense` are the keys of pools of which it tells what makes none.
    """

    now: Callable[[], datetime]
    pools: list[TruePool] = field(default_factory=list)
    refusals: dict[str, BatchError] = field(default_factory=dict)
    page_size: int = 1000
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
    async def fetch_pools(self) -> PoolList:
        facts, moment = await self._served("pools", lambda now: [p.facts(now) for p in self._service.there(now)])
        self.date = moment.replace(microsecond=0)
        told = tuple(each for each in facts if each.key not in self._service.nonsense)
        return PoolList(told, self.date, {each.key: NONSENSE for each in facts if each not in told})

    @override
    async def fetch_pool(self, pool_id: str) -> PoolFacts:
        return (await self._served(f"pools/{pool_id}", lambda now: self._pool(pool_id, now).facts(now)))[0]

    @override
    async def fetch_node_counts(self) -> dict[str, NodeCounts]:
        def counts(now: datetime) -> dict[str, NodeCounts]:
            then = now - self._service.count_lag
            return {key_of(p.id): true_summary(p.at(then)).counts for p in self._service.there(now)}

        return (await self._served("nodecounts", counts))[0]

    @override
    async def fetch_nodes(
        self, pool_id: str, *, changed_since: datetime | None = None, recent_as_of: datetime | None = None
    ) -> NodeList:
        """Page by page, each of which tells the truth of the instant it was served at."""
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
        raise BatchMissingError(f"404: no pool {name}")

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


class WatchedPoolRounds(PoolRounds):
    """`ended` is what the last round found."""

    ended: PoolsUnderWay | None = None

    @override
    async def _discover(self, this: PoolsUnderWay) -> None:
        self.ended = this
        await super()._discover(this)


class PoolProcess:
    """One running app with its own memory; `reading` may be one with a planted bug."""

    def __init__(self, service: PoolService, storage: Storage, reading: type[NodeReading] = NodeReading) -> None:
        self.connection = Connection(storage)
        tables = MemoryTables(self.connection)
        self.pools, self.nodes = PoolStore(tables), NodeStore(tables)
        history = PoolHistoryStore(tables)
        monitoring = MonitoringStore(tables)
        self.batch = FakePools(service, self.connection)
        interval = timedelta(minutes=15)
        self.rounds = WatchedPoolRounds(
            self.batch,
            pools=self.pools,
            records=PoolRecords(self.pools, history, HISTORY),
            nodes=self.nodes,
            clock=LoopClock(service.now),
            overlap=OVERLAP,
            full_list_interval=interval,
        )
        self.rounds._reading = reading(self.batch, overlap=OVERLAP, full_list_interval=interval)
        self.histories = PoolHistories(
            {ACCOUNT.id: ACCOUNT},
            pools=self.pools,
            monitoring=monitoring,
            history=history,
            clock=LoopClock(service.now),
            interval=timedelta(seconds=60),
            retention=HISTORY,
        )


@dataclass(slots=True)
class PoolWorld:
    reading: type[NodeReading] = NodeReading
    storage: Storage = field(default_factory=Storage)
    loop: VirtualLoop = field(default_factory=VirtualLoop)
    service: PoolService = field(init=False)
    processes: list[PoolProcess] = field(init=False)
    made: int = 0
    table_calls: int = 0

    def __post_init__(self) -> None:
        self.service = PoolService(self.now)
        self.processes = [self.started(), self.started()]

    def started(self) -> PoolProcess:
        return PoolProcess(self.service, self.storage, self.reading)

    def now(self) -> datetime:
        return START + timedelta(seconds=self.loop.time())

    def run[T](self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def wait(self, seconds: float) -> None:
        self.run(asyncio.sleep(seconds))

    def close(self) -> None:
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.loop.close()

    def create(self, name: str, nodes: int = 0) -> TruePool:
        pool = TruePool(name, self.now())
        self.service.pools.append(pool)
        for _ in range(nodes):
            self.add_node(pool)
        return pool

    def add_node(self, pool: TruePool, *, dedicated: bool = True) -> str:
        self.made += 1
        name = f"tvm-{self.made:03}"
        node = Node(name, "idle", dedicated, to_milliseconds(self.now()))
        pool.now(self.now(), {**pool.at(self.now()), name: node})
        return name

    def remove_node(self, pool: TruePool, name: str) -> None:
        pool.now(self.now(), {key: node for key, node in pool.at(self.now()).items() if key != name})

    def change_node(self, pool: TruePool, name: str, state: str, *, slots: int = 0, late: float = 0) -> None:
        """A node enters a state, whose stamp is `late` seconds old when it becomes visible, or takes other slots."""
        nodes = pool.at(self.now())
        node = nodes[name]._replace(state=state, slots=slots, tasks=slots)
        if nodes[name].state != state:
            node = node._replace(transition=to_milliseconds(self.now() - timedelta(seconds=late)))
        pool.now(self.now(), {**nodes, name: node})

    def bar_node(self, pool: TruePool, name: str) -> None:
        """A node is barred from tasks, or let in again: an idle one goes offline by that, one at work stays there."""
        node = pool.at(self.now())[name]
        is_barred = node.scheduling == "disabled"
        if node.state in ("idle", "offline"):
            self.change_node(pool, name, "idle" if is_barred else "offline")
        nodes = pool.at(self.now())
        barred = nodes[name]._replace(scheduling="enabled" if is_barred else "disabled")
        pool.now(self.now(), {**nodes, name: barred})

    def poll(self, who: int = 0, *, takes: float = 0, fault: Fault | None = None) -> bool:
        """One process polls; every call to Batch takes so many seconds. True if the round ended well."""
        (end,) = self._ends([(who, takes)], fault)
        self.check(fresh=[who] if end else [])
        return end

    def poll_both(self, takes: tuple[float, float], fault: Fault | None = None) -> None:
        self._ends([(0, takes[0]), (1, takes[1])], fault)
        self.check(fresh=[])

    def later(self, seconds: float, change: Callable[[], None]) -> None:
        """A change that happens while the next poll is under way."""
        self.loop.call_later(seconds, change)

    def _ends(self, polls: list[tuple[int, float]], fault: Fault | None) -> list[bool]:
        for who, takes in polls:
            self.processes[who].batch.latency = takes
        self.processes[polls[0][0]].connection.arm(fault)
        ends = self.run(_gathered([self.processes[who].rounds.run(lambda: True) for who, _ in polls]))
        self.table_calls = sum(self.processes[who].connection.calls for who, _ in polls)
        for (who, _), end in zip(polls, ends, strict=True):
            self.processes[who].connection.arm(None)
            if isinstance(end, ProcessDiedError):
                self._bury()
                self.processes[who] = self.started()
            elif isinstance(end, BaseException) and not (fault and isinstance(end, BatchscopeError)):
                raise end
        return [not isinstance(end, BaseException) for end in ends]

    def _bury(self) -> None:
        left = asyncio.all_tasks(self.loop)
        for task in left:
            task.cancel()
        if left:
            self.run(_gathered(list(left)))

    def known(self) -> KnownPools:
        """What a process that remembers nothing finds in storage."""
        return self.run(self.started().pools.load_all(ACCOUNT.key))

    def stored(self, name: str) -> Nodes:
        return dict(self.run(self.started().nodes.read(ACCOUNT.key, key_of(name))).nodes)

    def check(self, *, fresh: list[int]) -> None:
        """Raises AssertionError where a claim isn't true, or a pool that a `fresh` process polled isn't as of then."""
        known = self.known()
        for key, pool in known.pools.items():
            failure = known.last.failure_of(pool) if known.last else None
            verdict = pool_verdict(pool, failure=failure, now=self.now(), interval=timedelta(hours=1))
            if verdict.level == "exact" and pool.picture:
                self._check_claim(pool.facts.id, pool.facts.creation_time, pool.picture.as_of, pool.picture.summary)
            true = next((true for true in self.service.there(self.now()) if key_of(true.id) == key), None)
            for who in fresh if true and pool.facts.creation_time == true.created and not failure else ():
                ended = self.processes[who].rounds.ended
                assert ended
                assert key in ended.reached
                if key not in ended.overtaken:
                    assert pool.picture is not None, f"{key} was polled and isn't known"
                    assert pool.picture.as_of == ended.date, f"{key} was polled and isn't fresh"

    def _check_claim(self, name: str, created: datetime, as_of: datetime, summary: NodeSummary) -> None:
        true = next(p for p in self.service.pools if key_of(p.id) == key_of(name) and p.created == created)
        if true.deleted is not None:
            return
        instants = true.between(as_of, self.now())
        true_ones = [true_summary(nodes) for nodes in instants]
        assert summary in true_ones, f"{name} is said to have {summary} as of {as_of}; had {true_ones}"
        stored = self.stored(name)
        for key in stored.keys() | {key for nodes in instants for key in nodes}:
            possible = [nodes.get(key) for nodes in instants]
            found = stored.get(key)
            found = as_told(found) if found else None
            assert found in possible, f"{key} of {name} is said to be {found} as of {as_of}; was {possible}"


def true_summary(nodes: Nodes) -> NodeSummary:
    """The numbers of nodes, counted otherwise than the app does."""
    there = list(nodes.values())
    counted = Counter((node.state, node.dedicated) for node in there)
    open_ = [node for node in there if node.state in ("idle", "running") and node.scheduling == "enabled"]
    return NodeSummary(
        counts=tuple(sorted((*kind, number) for kind, number in counted.items())),
        slots=SLOTS * len(there),
        used=sum(node.slots for node in there),
        free=sum(SLOTS - node.slots for node in open_),
        tasks=sum(node.tasks for node in there),
    )


def as_told(node: Node) -> Node:
    """A stored node without what no list tells."""
    return node._replace(recent_at=0, record=NO_RECORD)


async def _gathered(work: list[Any]) -> list[Any]:
    return list(await asyncio.gather(*work, return_exceptions=True))
