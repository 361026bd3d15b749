"""Pools and storage in memory, polled by processes in virtual time, and a check of their claims.

The check: each stored node existed so at some instant between the pool's `asOf` and now, and each node that existed
throughout is stored. An `exact` summary is that of one instant, in all of its numbers. If nothing changed, only one
answer passes.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, override

from shared.domain.core.keys import key_of
from shared.domain.core.stamps import to_milliseconds
from shared.domain.nodes.node_records import NO_RECORD
from shared.domain.nodes.nodes import Node
from shared.domain.polling.pool_rounds import pool_verdict
from shared.domain.pools.pool_samples import POOL_SAMPLES
from shared.domain.pools.pools import NodesSnapshot, Pool
from shared.errors import BatchscopeError
from shared.services.accounts.registry import Registry
from shared.services.pools.node_reader import NodeReader
from shared.services.pools.pool_records import PoolRecords
from shared.services.pools.pool_rounds import PoolRounds
from shared.services.pools.pools_round_state import PoolsRoundState
from shared.services.queries.histories import Histories
from shared.services.queries.pool_queries import PoolQueries
from shared.services.round.resource_state import ResourceRoundResult, RoundRules
from shared.stores.pools.pools import KnownPools
from shared.stores.stores import Stores
from tests.services.fakes.fake_pools import FakePools, Nodes, PoolService, TruePool, true_summary
from tests.services.fakes.memory_tables import Connection, Fault, MemoryTables, ProcessDiedError, Storage
from tests.services.fakes.virtual_time import VirtualLoop
from tests.services.worlds.process import ACCOUNT, HISTORY, LoopClock

START = datetime(2026, 11, 21, 7, tzinfo=UTC)
OVERLAP = timedelta(seconds=30)
RULES = RoundRules(OVERLAP, timedelta(minutes=15), timedelta(days=7))
_SIZES = ("standard_d4s_v5", "standard_e4s_v5")
_AGENTS = ("1.1", "1.2", "")  # one more than the sizes


class WatchedPoolRounds(PoolRounds):
    """Rounds over pools; `ended` is the result of the last one."""

    ended: PoolsRoundState | None = None

    @override
    async def _discover(self, this: PoolsRoundState) -> None:
        self.ended = this
        await super()._discover(this)


class PoolProcess:
    """One running app with its own memory; `reading` may contain a planted bug."""

    def __init__(
        self,
        service: PoolService,
        storage: Storage,
        reading: type[NodeReader] = NodeReader,
        *,
        clock: type[LoopClock] = LoopClock,
        ahead: timedelta = timedelta(),
    ) -> None:
        self.clock = clock(service.now, ahead)
        self.connection = Connection(storage, self.clock)
        tables = MemoryTables(self.connection)
        stores = Stores(tables)
        self.pools, self.nodes, self.events = stores.pools, stores.nodes, stores.events
        self.batch = FakePools(service, self.connection)
        records = PoolRecords(self.pools, stores.pool_history, HISTORY)
        self.rounds = WatchedPoolRounds(self.batch, stores, records, clock=self.clock, rules=RULES)
        self.rounds._reading = reading(self.batch, RULES)
        registry = Registry({ACCOUNT.id: ACCOUNT}, stores.monitoring, self.clock, timedelta(seconds=60))
        queries = PoolQueries(registry, stores)
        self.histories = Histories(registry, POOL_SAMPLES, queries.recent_samples, stores.pool_history, HISTORY)
        self._monitoring = stores.monitoring

    async def poll(self) -> ResourceRoundResult:
        """Runs a round that goes by the account's rows, which are read first."""
        return await self.rounds.run(lambda: True, account=await self._monitoring.load_account(ACCOUNT.key))


@dataclass(slots=True)
class PoolWorld:
    reading: type[NodeReader] = NodeReader
    storage: Storage = field(default_factory=Storage)
    loop: VirtualLoop = field(default_factory=VirtualLoop)
    service: PoolService = field(init=False)
    processes: list[PoolProcess] = field(init=False)
    made: int = 0
    table_calls: int = 0
    besides: list[asyncio.Task[None]] = field(default_factory=list)
    as_of: dict[tuple[str, datetime], datetime] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.service = PoolService(self.now)
        self.storage.now = self.now
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
        at = to_milliseconds(self.now())
        node = Node(name, "idle", dedicated, at, allocated=at, vm_size=_SIZES[self.made % len(_SIZES)])
        node = node._replace(agent=_AGENTS[self.made % len(_AGENTS)])
        pool.now(self.now(), {**pool.at(self.now()), name: node})
        return name

    def remove_node(self, pool: TruePool, name: str) -> None:
        pool.now(self.now(), {key: node for key, node in pool.at(self.now()).items() if key != name})

    def change_node(self, pool: TruePool, name: str, state: str, *, slots: int = 0, late: float = 0) -> None:
        """Moves a node to a state whose stamp is `late` seconds old when it becomes visible, or changes its slots."""
        nodes = pool.at(self.now())
        node = nodes[name]._replace(state=state, slots=slots, tasks=slots)
        if nodes[name].state != state:
            node = node._replace(transition=to_milliseconds(self.now() - timedelta(seconds=late)))
        pool.now(self.now(), {**nodes, name: node})

    def bar_node(self, pool: TruePool, name: str) -> None:
        """Disables or enables scheduling on a node: an idle node goes offline, a busy one keeps working."""
        node = pool.at(self.now())[name]
        is_barred = node.scheduling == "disabled"
        if node.state in ("idle", "offline"):
            self.change_node(pool, name, "idle" if is_barred else "offline")
        nodes = pool.at(self.now())
        barred = nodes[name]._replace(scheduling="enabled" if is_barred else "disabled")
        pool.now(self.now(), {**nodes, name: barred})

    def poll(self, who: int = 0, *, takes: float = 0, fault: Fault | None = None) -> bool:
        """Polls with one process, whose calls to Batch take `takes` seconds. Returns True if the round succeeded."""
        (end,) = self._ends([(who, takes)], fault)
        self.check(fresh=[who] if end else [])
        return end

    def poll_both(self, takes: tuple[float, float], fault: Fault | None = None) -> None:
        self._ends([(0, takes[0]), (1, takes[1])], fault)
        self.check(fresh=[])

    def later(self, seconds: float, change: Callable[[], object]) -> None:
        """Schedules a change during the next poll."""
        self.loop.call_later(seconds, change)

    def poll_beside(self, who: int) -> None:
        """Polls with a process while others poll; this one takes no time."""

        async def poll() -> None:
            await self.processes[who].poll()
            self._check_order(await self.started().pools.load_all(ACCOUNT.key))

        self.besides.append(self.loop.create_task(poll()))

    async def watch(self, seconds: int) -> None:
        """Checks at each second before which rows were written that `asOf`, a function of rows, doesn't go back."""
        store = self.started().pools
        seen = -1
        for _ in range(seconds):
            if seen != (seen := len(self.storage.writes)):
                self._check_order(await store.load_all(ACCOUNT.key))
            await asyncio.sleep(1)

    def _ends(self, polls: list[tuple[int, float]], fault: Fault | None) -> list[bool]:
        for who, takes in polls:
            self.processes[who].batch.latency = takes
        self.processes[polls[0][0]].connection.arm(fault)
        ends = self.run(_gathered([self.processes[who].poll() for who, _ in polls]))
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
        """Returns the stored pools, as loaded by a process with empty memory."""
        return self.run(self.started().pools.load_all(ACCOUNT.key))

    def stored(self, name: str) -> Nodes:
        return dict(self.run(self.started().nodes.read(ACCOUNT.key, key_of(name))).nodes)

    def check(self, *, fresh: list[int]) -> None:
        """Raises AssertionError if a claim is false, or the `asOf` of a pool polled by a `fresh` process is old."""
        known = self.known()
        self._check_order(known)
        for key, pool in known.resources.items():
            self._check_tally(pool)
            failure = known.last.failure_of(pool.key, pool.nodes_as_of) if known.last else None
            verdict = pool_verdict(pool, failure=failure, now=self.now(), interval=timedelta(hours=1))
            if verdict.level == "exact" and pool.snapshot:
                self._check_claim(pool.facts.id, pool.facts.creation_time, pool.snapshot)
            true = next((true for true in self.service.there(self.now()) if key_of(true.id) == key), None)
            for who in fresh if true and pool.facts.creation_time == true.created and not failure else ():
                ended = self.processes[who].rounds.ended
                assert ended
                assert key in ended.reached
                if key not in ended.overtaken:
                    assert pool.snapshot is not None, f"{key} was polled and isn't known"
                    assert pool.snapshot.as_of == ended.date, f"{key} was polled and isn't fresh"

    def _check_order(self, known: KnownPools) -> None:
        """Checks that no pool's `asOf` goes back."""
        for key, pool in known.resources.items():
            before = self.as_of.get((key, pool.facts.creation_time), pool.as_of)
            assert pool.as_of >= before, f"{pool.facts.id} is said to be as of {pool.as_of}, and was as of {before}"
            self.as_of[key, pool.facts.creation_time] = pool.as_of

    def _check_tally(self, pool: Pool) -> None:
        """Checks that a tally covers this pool alone, and not an earlier one under its id."""
        tally = pool.snapshot.tally if pool.snapshot else None
        created = to_milliseconds(pool.facts.creation_time.replace(microsecond=0))
        assert tally is None or tally.since >= created, f"{pool.facts.id} counts since before it was created"

    def _check_claim(self, name: str, created: datetime, snapshot: NodesSnapshot) -> None:
        """Checks a pool's claim. Nodes are written before their pool; a list of them in between isn't exact."""
        true = next(p for p in self.service.pools if key_of(p.id) == key_of(name) and p.created == created)
        end, as_of, summary = min(self.now(), true.deleted or self.now()), snapshot.as_of, snapshot.summary
        assert created.replace(microsecond=0) <= as_of <= end, f"{name} of {created} is told as of {as_of}, until {end}"
        instants = true.between(as_of, end)
        true_ones = [true_summary(nodes) for nodes in instants]
        assert summary in true_ones, f"{name} is said to have {summary} as of {as_of}; had {true_ones}"
        found_nodes = self.run(self.started().nodes.load(ACCOUNT.key, key_of(name)))
        if found_nodes.is_torn or found_nodes.digest != snapshot.digest:
            return
        stored = found_nodes.nodes
        for key in stored.keys() | {key for nodes in instants for key in nodes}:
            possible = [nodes.get(key) for nodes in instants]
            found = stored.get(key)
            found = as_listed(found) if found else None
            assert found in possible, f"{key} of {name} is said to be {found} as of {as_of}; was {possible}"


def as_listed(node: Node) -> Node:
    """Returns a stored node without the fields that no list has."""
    return node._replace(recent_at=0, record=NO_RECORD)


async def _gathered(work: list[Any]) -> list[Any]:
    return list(await asyncio.gather(*work, return_exceptions=True))
