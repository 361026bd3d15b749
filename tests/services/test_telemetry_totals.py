"""What was taken in of an account is added once, though answers get lost and hosts add side by side."""

import asyncio
from datetime import UTC, datetime

import pytest
from azure.core.exceptions import ResourceModifiedError

from shared.domain.telemetry_totals import TelemetryTotals
from shared.errors import StorageError
from shared.stores.telemetry_totals import TelemetryTotalsStore
from tests.services.memory_tables import Connection, Fault, MemoryTables, Storage, failure

_NOW = datetime(2026, 11, 21, tzinfo=UTC)
_WRITTEN = 2  # behind the row that is read


class _TriedAgain(Connection):
    """The SDK's pipeline: it sends a write again whose answer is lost, and that finds another ETag."""

    def _strike(self, fault: Fault) -> None:  # noqa: ARG002 - whatever befalls it
        raise failure(ResourceModifiedError, 412)


def _records(storage: Storage) -> int:
    return asyncio.run(TelemetryTotalsStore(MemoryTables(Connection(storage))).load("demo")).records


def _add(connection: Connection, mark: str) -> None:
    asyncio.run(TelemetryTotalsStore(MemoryTables(connection)).add("demo", TelemetryTotals(records=1), _NOW, mark))


def test_what_was_added_before_its_answer_was_lost_is_not_added_again() -> None:
    storage = Storage()
    _add(Connection(storage), "a")
    connection = _TriedAgain(storage)
    connection.arm(Fault(_WRITTEN, committed=True, kills=False))
    _add(connection, "b")
    assert _records(storage) == 2


@pytest.mark.parametrize("fault", [Fault(_WRITTEN, committed=committed, kills=False) for committed in (True, False)])
def test_what_may_not_have_been_added_is_added_once_when_it_is_tried_again(fault: Fault) -> None:
    storage = Storage()
    connection = Connection(storage)
    connection.arm(fault)
    with pytest.raises(StorageError):
        _add(connection, "a")
    for mark in ("b", "c", "a"):
        _add(connection, mark)
    assert _records(storage) == 3
