"""A round over jobs and one over pools of the same account: neither waits for the other, or fails with it."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, cast, override

import pytest

from shared.domain.accounts.operations import Reason
from shared.domain.nodes.nodes import Node
from shared.errors import BatchAnswerError, BatchThrottledError, StorageError
from shared.services.pools.pool_records import PoolRecords
from shared.services.pools.pool_rounds import PoolRounds
from shared.services.round.resource_state import ResourceRoundResult, RoundRules
from shared.services.schedules.schedule_rounds import ScheduleRounds
from shared.stores.stores import Stores
from tests.services.fakes.fake_pools import FakePools, PoolService, TruePool
from tests.services.fakes.memory_tables import MemoryTables
from tests.services.worlds.process import ACCOUNT, HISTORY, Process
from tests.services.worlds.telling import last_round, verdict
from tests.services.worlds.world import SECOND, World

NODES = 40


@pytest.fixture
def world() -> Iterator[World]:
    world = World()
    world.service.page_size = 1000
    yield world
    world.close()


class CountedPools(FakePools):
    """Counts its requests as those of the account, as the app does; `delays` applies to some requests."""

    def __init__(self, service: PoolService, process: Process) -> None:
        super().__init__(service, process.connection)
        self.delays: dict[str, float] = {}
        self._process = process

    @override
    async def _served(self, request: str, answer: Any) -> Any:
        self._process.batch.calls += 1
        await asyncio.sleep(self.delays.get(request, 0.0))
        return await super()._served(request, answer)


@pytest.fixture
def process(world: World) -> Process:
    """Returns a process that polls a job and pools, with requests of four seconds."""
    service = PoolService(world.now)
    process = world.processes[0]
    tables = MemoryTables(process.connection)
    batch = CountedPools(service, process)
    batch.latency = 4.0
    stores = Stores(tables)
    records = PoolRecords(stores.pools, stores.pool_history, HISTORY)
    rules = RoundRules(30 * SECOND, 900 * SECOND, 900 * SECOND)
    process.rounds._pools = PoolRounds(batch, stores, records, clock=process.clock, rules=rules)
    for number in range(NODES):
        service.pools.append(pool_with_a_node(f"pool-{number:02}", world))
    world.create("Render", "a", "b")
    world.wait(60)
    return process


def pool_with_a_node(name: str, world: World) -> TruePool:
    pool = TruePool(name, world.now())
    pool.now(world.now(), {"tvm": Node("tvm", "running", slots=1, tasks=1)})
    return pool


def pools_of(process: Process) -> CountedPools:
    assert process.rounds._pools
    assert isinstance(process.rounds._pools.source, CountedPools)
    return process.rounds._pools.source


def polled(world: World, process: Process, budget: float) -> float:
    """Returns the duration of a round in seconds."""
    began = world.loop.time()
    world.run(process.rounds.run_if_due(timedelta(), budget=budget * SECOND))
    return world.loop.time() - began


def known(world: World, process: Process) -> int:
    """Returns the number of pools with known nodes."""
    found = world.run(Stores(MemoryTables(process.connection)).pools.load_all(ACCOUNT.key))
    return sum(pool.snapshot is not None for pool in found.resources.values())


def test_a_round_over_unchanged_jobs_and_pools_reads_the_rows_of_the_account_once(
    world: World, process: Process
) -> None:
    pools_of(process).latency = 0.1
    for _ in range(4):
        polled(world, process, budget=400)
        world.wait(61)
    before = process.connection.calls
    polled(world, process, budget=400)
    assert process.connection.calls - before == 4  # its rows and its jobs are read, the rows of two rounds written


def test_slow_pools_take_half_of_the_time_and_the_rest_comes_first_in_the_next_round(
    world: World, process: Process
) -> None:
    took = polled(world, process, budget=40)
    assert 20 <= took <= 24
    assert known(world, process) == 24
    world.wait(60)
    assert polled(world, process, budget=40) <= 24
    assert known(world, process) == NODES


@pytest.mark.parametrize(("delay", "page"), [(5, NODES), (1, 1), (300, NODES)])
def test_node_counts_take_a_third_of_the_time_that_is_left_and_nodes_are_read_in_the_rest(
    world: World, process: Process, delay: float, page: int
) -> None:
    batch = pools_of(process)
    batch.latency, batch.delays["nodecounts"], batch._service.counts_page = 0.1, delay, page
    took = polled(world, process, budget=10)
    assert 5 / 3 <= took <= 5 / 3 + 1
    assert known(world, process) == NODES
    over_pools = world.run(Stores(MemoryTables(process.connection)).pools.load_round(ACCOUNT.key))
    assert over_pools
    assert ("node counts don't come in time" in (over_pools.reason or "")) == (delay > 1)


def test_jobs_are_noted_without_waiting_for_pools(world: World, process: Process) -> None:
    polled(world, process, budget=40)
    noted = last_round(world)
    assert noted.finished_at - noted.started_at < SECOND
    assert verdict(world, "Render").level == "exact"


def test_calls_are_counted_apart(world: World, process: Process) -> None:
    polled(world, process, budget=400)
    over_pools = world.run(Stores(MemoryTables(process.connection)).pools.load_round(ACCOUNT.key))
    assert over_pools
    assert over_pools.batch_calls == pools_of(process).calls == NODES + 3  # two for counts, which are slow
    assert last_round(world).batch_calls == len(process.batch.requests) == 4


def test_a_poll_of_some_jobs_leaves_pools_alone(world: World, process: Process) -> None:
    world.run(process.rounds.run_now(["Render"], budget=40 * SECOND))
    assert pools_of(process).requests == []


@pytest.mark.parametrize("error", [StorageError("Table Storage broke."), RuntimeError("a defect")])
def test_an_error_of_pools_is_raised_after_jobs_were_saved(
    world: World, process: Process, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    async def broken(*_: object) -> None:
        raise error

    monkeypatch.setattr(process.rounds._pools, "run", broken)
    with pytest.raises(type(error), match=str(error)):
        polled(world, process, budget=40)
    assert verdict(world, "Render").level == "exact"


def test_throttled_pools_put_off_the_whole_account_but_not_the_jobs_of_this_round(
    world: World, process: Process
) -> None:
    service = pools_of(process)._service
    service.refusals["nodecounts"] = BatchThrottledError("http://x", 300 * SECOND, status=429)
    polled(world, process, budget=40)
    noted = last_round(world)
    assert noted.succeeded
    wait = noted.wait(world.now())
    assert wait
    assert 290 * SECOND < wait <= 300 * SECOND
    assert verdict(world, "Render").level == "exact"


def test_jobs_that_are_throttled_end_the_round_over_pools(world: World, process: Process) -> None:
    world.service.refusals["jobs"] = BatchThrottledError("http://x", 60 * SECOND, status=429)
    polled(world, process, budget=400)
    assert len(pools_of(process).requests) <= 2
    assert known(world, process) == 0


def test_jobs_that_fail_do_not_end_the_round_over_pools(world: World, process: Process) -> None:
    world.service.refusals["jobs"] = BatchAnswerError("It broke.")
    polled(world, process, budget=400)
    assert known(world, process) == NODES


class Beside:
    """A poll with a given end, which may be an error."""

    def __init__(self, world: World, end: ResourceRoundResult | Exception) -> None:
        self.source = FakePools(PoolService(world.now), world.processes[0].connection)
        self._end = end

    async def run(self, *_: object, **__: object) -> ResourceRoundResult:
        if isinstance(self._end, Exception):
            raise self._end
        return self._end


def test_a_storage_error_beside_jobs_loses_neither_their_messages_nor_the_back_off(
    world: World,
) -> None:
    world.service.page_size, world.service.short_read = 3, 10
    world.create("Long", *(f"task-{number:02}" for number in range(40)))
    world.wait(61)
    process = world.started()
    throttled = BatchThrottledError("http://x", 300 * SECOND, status=429)
    process.rounds._pools = cast(PoolRounds, Beside(world, ResourceRoundResult(throttled)))
    process.rounds._schedules = cast(ScheduleRounds, Beside(world, StorageError("Table Storage broke.")))
    with pytest.raises(StorageError, match="Table Storage broke"):
        polled(world, process, budget=40)
    assert [message.job for message in process.rounds.take_messages()] == ["Long"]
    wait = last_round(world).wait(world.now())
    assert wait
    assert wait > 290 * SECOND


def test_a_poll_of_all_on_demand_reports_failures_of_pools(world: World, process: Process) -> None:
    service = pools_of(process)._service
    service.refusals["pools/pool-07/nodes"] = BatchAnswerError("It broke.")
    _, reasons = world.run(process.rounds.run_now(None, budget=400 * SECOND))
    assert reasons == (Reason(None, "Pools: 1 pool couldn't be polled; its verdict says why."),)
    _, reasons = world.run(process.rounds.run_now(["Render"], budget=400 * SECOND))
    assert reasons == ()
    service.refusals.clear()
    _, reasons = world.run(process.rounds.run_now(None, budget=400 * SECOND))
    assert reasons == ()
