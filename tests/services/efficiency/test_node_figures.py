"""Figures of nodes for many jobs of a pool: jobs share what was read, which keeps the hourly digests cheap."""

import asyncio
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from shared.domain.blobs.blobs import SHARDS
from shared.domain.core.stamps import to_milliseconds
from shared.domain.telemetry.catalog.series import Series
from shared.domain.telemetry.pools.block_changes import changed, changes_of
from shared.domain.telemetry.pools.node_totals import NodeMinute, Total
from shared.services.accounts.registry import Registry
from shared.services.efficiency.node_figures import NodeFigureReader
from shared.services.queries.pool_queries import PoolQueries
from shared.stores.stores import Stores
from shared.stores.telemetry.pool_telemetry import PoolTelemetryStore, ShardHead
from tests.services.fakes.memory_tables import Connection, MemoryTables
from tests.services.worlds.pool_world import START, PoolWorld
from tests.services.worlds.process import ACCOUNT, LoopClock

MINUTE = timedelta(minutes=1)
MEMORY = Series("system.memory.limit")
HOURS = 6
"""In which the memory of the node `tvm-001` grows by a byte a minute."""


class Figures:
    """A reader of figures, which counts its requests."""

    def __init__(self, world: PoolWorld) -> None:
        self.world = world
        self.connection = Connection(world.storage)
        tables = MemoryTables(self.connection)
        stores = Stores(tables)
        registry = Registry({ACCOUNT.id: ACCOUNT}, stores.monitoring, LoopClock(world.now), MINUTE)
        self.store = PoolTelemetryStore(tables)
        self.reader = NodeFigureReader(PoolQueries(registry, stores), self.store)

    def report(self) -> None:
        first = to_milliseconds(START) // 60_000
        values = {first + at: {("alpha", "tvm-001"): NodeMinute.of({MEMORY: Total(at, 1)})} for at in range(HOURS * 60)}
        changes = {key: [change] for key, change in changes_of("0123abcd", values, ())}
        head = ShardHead({}, {"alpha": {"tvm-001": first + HOURS * 60}})
        self.world.run(self.store.save(ACCOUNT.key, 7, head, changed({}, changes)))

    def of_job(self, since: datetime, until: datetime) -> tuple[float | None, int]:
        """Returns the memory that nodes had while a job ran, and the number of requests for it."""
        before = self.connection.calls
        found = asyncio.run(self.reader.figures("demo", "Alpha", since, until, 4))
        return found.memory if found else None, self.connection.calls - before


@pytest.fixture
def figures() -> Iterator[Figures]:
    world = PoolWorld()
    world.create("Alpha", 1)
    world.poll()
    found = Figures(world)
    found.report()
    yield found
    world.close()


def test_jobs_of_a_pool_share_the_heads_of_its_shards(figures: Figures) -> None:
    end = START + timedelta(hours=5)
    memory, requests = figures.of_job(end - 20 * MINUTE, end)
    assert (memory, requests > SHARDS) == (289.5, True)
    assert figures.of_job(end - 50 * MINUTE, end - 10 * MINUTE) == (269.5, 1)
    assert figures.of_job(end - 50 * MINUTE, end + 1 * MINUTE)[1] > SHARDS  # which weren't read since its end
    assert figures.of_job(end - 40 * MINUTE, end + 1 * MINUTE)[1] == 1


def test_jobs_that_ran_in_the_same_blocks_of_minutes_share_their_figures(figures: Figures) -> None:
    end = START + timedelta(hours=5, minutes=5)
    assert figures.of_job(START, end)[0] == 214.5  # of the last three hours, in blocks of ten minutes
    assert figures.of_job(START + MINUTE, end - timedelta(seconds=30)) == (214.5, 0)
    assert figures.of_job(START, end - 10 * MINUTE) == (204.5, 1)
    memory, requests = figures.of_job(START, end + 2 * MINUTE)  # the block had no samples until then
    assert (memory, requests > SHARDS) == (214.5, True)


def test_short_jobs_have_the_figures_of_their_own_minutes(figures: Figures) -> None:
    end = START + timedelta(hours=1)
    assert figures.of_job(end - 20 * MINUTE, end)[0] == 49.5
    assert figures.of_job(end - 20 * MINUTE, end - timedelta(seconds=30)) == (49.5, 0)
    assert figures.of_job(end - 19 * MINUTE, end) == (50.0, 1)


def test_nodes_that_reported_nothing_have_no_figures(figures: Figures) -> None:
    end = START + timedelta(days=2)
    assert figures.of_job(end - 20 * MINUTE, end)[0] is None
