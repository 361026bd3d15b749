"""A container to which nodes write telemetry, and hosts that ingest it."""

from datetime import datetime, timedelta
from typing import Any, override

from shared.domain.blobs.blobs import UNREAD_TELEMETRY
from shared.domain.core.stamps import to_milliseconds
from shared.domain.telemetry.query.series_query import SeriesQuery
from shared.domain.telemetry.records.bounds import WINDOW
from shared.domain.telemetry.records.labels import PathPattern
from shared.domain.telemetry.rollups.rollups import Rollups
from shared.services.blobs.blob_reader import BlobReader
from shared.services.blobs.blob_sweep import BlobSweep
from shared.services.blobs.ingestion_stores import IngestionStores
from shared.services.telemetry.telemetry_intake import TelemetryIntake
from shared.services.telemetry.telemetry_queries import TelemetryQueries
from shared.stores.blobs.blobs import BlobContainer
from shared.stores.pools.pools import PoolStore
from tests.ingestion.rig import NOON, Host, Rig

PATTERN = "accounts/{account}/pools/{pool}/nodes/{node}/**/*"
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
WEEK = timedelta(days=7)
LOST = b"\x78\x9cdamaged" + bytes(WINDOW)
"""A damaged stream, followed by more bytes than are searched for the next unit."""


def blob_of(node: str, number: int = 0, *, account: str = "demo", pool: str = "pool") -> str:
    return f"accounts/{account}/pools/{pool}/nodes/{node}/vm_perf_metrics.{number}.json"


def used(value: int, at: datetime = NOON) -> bytes:
    """Returns a line with the bytes of memory in use."""
    return f"mem used={value}i {to_milliseconds(at) * 1_000_000}\n".encode()


def received(value: int, at: datetime = NOON) -> bytes:
    """Returns a line with the bytes received since the node's boot."""
    return f"net,interface=eth0 bytes_recv={value}i {to_milliseconds(at) * 1_000_000}\n".encode()


class TelemetryRig(Rig):
    def __init__(self, connection_string: str, prefix: str) -> None:
        super().__init__(connection_string, prefix)
        self.pattern = PATTERN
        self.clock.time = NOON + HOUR

    @override
    async def host(self, intake: Any = lambda one: one) -> Host:
        tables = await self._open()
        container = BlobContainer.connect(self._prefix, connection_string=self._string, endpoint=None, credential=None)
        self._stack.push_async_callback(container.close)
        stores = IngestionStores.of(tables)
        kind = TelemetryIntake(self.accounts, PathPattern(self.pattern), stores, clock=self.clock, retention=WEEK)
        reader = BlobReader(container, intake(kind), stores, self.clock)
        return Host(
            tables,
            container,
            BlobSweep(reader, retention=WEEK, unread=UNREAD_TELEMETRY),
            stores.events,
        )

    @property
    def queries(self) -> TelemetryQueries:
        return self.queries_of(WEEK)

    def queries_of(self, minutes: timedelta, stores: IngestionStores | None = None) -> TelemetryQueries:
        """Returns queries with the given retention of minutes, and 90 days for hours."""
        return TelemetryQueries(
            {account.id: account for account in self.accounts},
            stores or IngestionStores.of(self.tables),
            PoolStore(self.tables),
            clock=self.clock,
            minutes=minutes,
            hours=90 * DAY,
        )

    async def rollups(self, node: str, *, account: str = "demo", name: str | None = None) -> Rollups:
        """Returns all rollups of a node, by minute since 1970."""
        found = await self.queries.of_node(account, "pool", node, SeriesQuery(since=NOON - DAY, name=name, step=MINUTE))
        return found.rollups

    async def sums(self, node: str, *, account: str = "demo", name: str | None = None) -> dict[str, list[float]]:
        """Returns the sums of each series' minutes in order, by its name."""
        found = await self.rollups(node, account=account, name=name)
        return {series.name: [one.sum for _, one in sorted(minutes.items())] for series, minutes in found.items()}
