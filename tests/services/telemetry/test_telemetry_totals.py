"""An account's ingestion totals are added once, though answers get lost and hosts add concurrently."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from azure.core.exceptions import ResourceModifiedError

from shared.clock import SharedClock
from shared.domain.telemetry.records.labels import PathPattern
from shared.domain.telemetry.rollups.intake_counts import TelemetryTotals
from shared.errors import StorageError
from shared.services.blobs.ingestion_stores import IngestionStores
from shared.services.telemetry.telemetry_intake import TelemetryIntake
from shared.stores.telemetry.telemetry_totals import TelemetryTotalsStore
from tests.services.fakes.memory_tables import Connection, Fault, MemoryTables, Storage, failure
from tests.services.worlds.process import ACCOUNT

_NOW = datetime(2026, 11, 21, tzinfo=UTC)
_FAILS = 2
_WRITTEN = 2  # after the row that is read


class _TriedAgain(Connection):
    """Simulates the SDK's retry: it repeats a write with a lost answer, and meets another ETag."""

    def _strike(self, fault: Fault) -> None:  # noqa: ARG002 - each fault fails alike
        raise failure(ResourceModifiedError, 412)


def _records(storage: Storage) -> int:
    return asyncio.run(TelemetryTotalsStore(MemoryTables(Connection(storage))).load("demo")).records


def _add(connection: Connection, mark: str) -> None:
    asyncio.run(TelemetryTotalsStore(MemoryTables(connection)).add("demo", TelemetryTotals(records=1), _NOW, mark))


def test_totals_added_before_a_lost_answer_are_not_added_again() -> None:
    storage = Storage()
    _add(Connection(storage), "a")
    connection = _TriedAgain(storage)
    connection.arm(Fault(_WRITTEN, committed=True, kills=False))
    _add(connection, "b")
    assert _records(storage) == 2


@pytest.mark.parametrize("fault", [Fault(_WRITTEN, committed=committed, kills=False) for committed in (True, False)])
def test_totals_that_may_be_missing_are_added_once_by_a_retry(fault: Fault) -> None:
    storage = Storage()
    connection = Connection(storage)
    connection.arm(fault)
    with pytest.raises(StorageError):
        _add(connection, "a")
    for mark in ("b", "c", "a"):
        _add(connection, mark)
    assert _records(storage) == 3


class _Gated(TelemetryTotalsStore):
    """Lets each call wait for its gate; the third one fails."""

    def __init__(self, storage: Storage) -> None:
        super().__init__(MemoryTables(Connection(storage)))
        self.gates = [asyncio.Event() for _ in range(6)]
        self._calls = 0

    async def add(self, account_key: str, more: TelemetryTotals, now: datetime, mark: str) -> None:
        number = self._calls
        self._calls += 1
        await self.gates[number].wait()
        if number == _FAILS:
            raise StorageError("away")
        await super().add(account_key, more, now, mark)


async def test_totals_added_concurrently_survive_a_failed_write() -> None:
    storage = Storage()
    store, tables = _Gated(storage), MemoryTables(Connection(storage))
    intake = TelemetryIntake(
        [ACCOUNT],
        PathPattern("{node}"),
        replace(IngestionStores.of(tables), totals=store),
        clock=SharedClock(),
        retention=timedelta(days=7),
    )
    (ingest_partition,) = intake.ingest_partitions
    intake._count(ingest_partition, TelemetryTotals(lost=1))
    tasks = [asyncio.create_task(intake.write_counts(ingest_partition)) for _ in range(2)]
    await asyncio.sleep(0.01)
    intake._count(ingest_partition, TelemetryTotals(lost=10))
    for gate in store.gates:
        gate.set()
        await asyncio.sleep(0.01)
    assert [type(one) for one in await asyncio.gather(*tasks, return_exceptions=True)].count(StorageError) == 1
    await intake.write_counts(ingest_partition)
    assert (await store.load("demo")).lost == 11
