"""Measures hosts: resident memory from /proc every ten seconds, rows of tables every five minutes."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from azure.core.exceptions import AzureError
from azure.data.tables.aio import TableServiceClient

_PAUSE, _ROWS_EVERY = 10.0, 300.0  # seconds


@dataclass(frozen=True, slots=True)
class RowCount:
    """Rows of a table, and the maximum in one partition."""

    rows: int
    largest: int


@dataclass(frozen=True, slots=True)
class TableLook:
    """Tables at `minute` since the start, by name without prefix; `blobs` counts those written by then."""

    minute: float
    blobs: int
    tables: Mapping[str, RowCount]


@dataclass(slots=True)
class Observations:
    """Megabytes by minute for each host, and table counts; `missed` counts those that storage didn't answer."""

    memory: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    looks: list[TableLook] = field(default_factory=list)
    missed: int = 0


class Watcher:
    """Measures hosts by `pids` and tables by `prefix`; `blobs` returns the number written so far."""

    def __init__(self, pids: Mapping[str, int], storage: str, prefix: str, blobs: Callable[[], int]) -> None:
        self._pids, self._storage, self._prefix, self._blobs = pids, storage, prefix, blobs
        self.seen = Observations({name: [] for name in pids})

    async def run(self, until: float) -> None:
        """Runs until a time of the monotonic clock."""
        begin = time.monotonic()
        rows_at = begin + _PAUSE
        async with TableServiceClient.from_connection_string(self._storage) as service:
            while time.monotonic() < until:
                minute = (time.monotonic() - begin) / 60
                for name, pid in self._pids.items():
                    self.seen.memory[name].append((minute, resident_megabytes(pid)))
                if time.monotonic() >= rows_at:
                    rows_at += _ROWS_EVERY
                    await self._look(service, minute)
                await asyncio.sleep(_PAUSE)

    async def _look(self, service: TableServiceClient, minute: float) -> None:
        blobs = self._blobs()
        try:
            counts = await _counted(service, self._prefix)
        except (AzureError, OSError):
            self.seen.missed += 1
        else:
            self.seen.looks.append(TableLook(minute, blobs, counts))


async def _counted(service: TableServiceClient, prefix: str) -> dict[str, RowCount]:
    """Counts all tables with a prefix; the names in the result lack it."""
    found = {}
    async for table in service.list_tables():
        if table.name.startswith(prefix):
            rows = service.get_table_client(table.name).list_entities(select=["PartitionKey"])
            partitions = Counter([row["PartitionKey"] async for row in rows])
            largest = max(partitions.values(), default=0)
            found[table.name.removeprefix(prefix)] = RowCount(partitions.total(), largest)
    return found


def resident_megabytes(pid: int) -> float:
    """Returns a process's resident memory. Raises OSError without the process or /proc."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("VmRSS:"))
