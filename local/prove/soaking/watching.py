"""Looks at what hosts hold: resident memory from /proc every ten seconds, rows of tables every five minutes."""

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
    """Rows of a table, and the most in one partition."""

    rows: int
    largest: int


@dataclass(frozen=True, slots=True)
class TableLook:
    """`minute` since the start; `blobs` are those that were written by then; tables by their names without prefix."""

    minute: float
    blobs: int
    tables: Mapping[str, RowCount]


@dataclass(slots=True)
class Seen:
    """Megabytes by minute for each host, and looks at the tables; `missed` are looks that storage didn't answer."""

    memory: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    looks: list[TableLook] = field(default_factory=list)
    missed: int = 0


class Watcher:
    """`pids` are the hosts', `prefix` that of their tables, `blobs` tells how many were written so far."""

    def __init__(self, pids: Mapping[str, int], storage: str, prefix: str, blobs: Callable[[], int]) -> None:
        self._pids, self._storage, self._prefix, self._blobs = pids, storage, prefix, blobs
        self.seen = Seen({name: [] for name in pids})

    async def run(self, until: float) -> None:
        """Until that time of the monotonic clock."""
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
    """Of all tables with a prefix, which their names are told without."""
    found = {}
    async for table in service.list_tables():
        if table.name.startswith(prefix):
            rows = service.get_table_client(table.name).list_entities(select=["PartitionKey"])
            partitions = Counter([row["PartitionKey"] async for row in rows])
            largest = max(partitions.values(), default=0)
            found[table.name.removeprefix(prefix)] = RowCount(partitions.total(), largest)
    return found


def resident_megabytes(pid: int) -> float:
    """What of a process is in memory now. Raises OSError where there is no such process, or no /proc."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("VmRSS:"))
