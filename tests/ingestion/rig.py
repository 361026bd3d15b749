"""A container to which a test writes logs, and any number of hosts that ingest them."""

import json
from collections.abc import Callable, Collection, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Self

from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError
from azure.storage.blob.aio import BlobClient, BlobServiceClient

from shared.domain.accounts.accounts import Account
from shared.domain.blobs.queued_shards import ShardMessage
from shared.domain.blobs.rejects import Reject
from shared.domain.events.batch_events import BatchEvent
from shared.services.blobs.blob_reader import BlobReader
from shared.services.blobs.blob_sweep import BlobSweep
from shared.services.blobs.ingestion_stores import IngestionStores
from shared.services.events.event_intake import EventIntake
from shared.stores.blobs.blobs import BlobContainer
from shared.stores.blobs.checkpoints import BlobEntryStore
from shared.stores.blobs.rejects import RejectStore
from shared.stores.events import EventStore
from shared.stores.tables.tables import Tables

ACCOUNT = Account("demo", "demo", "demo", None, "http://127.0.0.1:1")
NOON = datetime(2026, 8, 6, 12, tzinfo=UTC)
RESOURCE = "/SUBSCRIPTIONS/S/RESOURCEGROUPS/RG/PROVIDERS/MICROSOFT.BATCH/BATCHACCOUNTS/DEMO"
_LONG = timedelta(minutes=1)


def blob_name(hour: int = 12, account: str = "DEMO") -> str:
    path = RESOURCE.replace("/DEMO", f"/{account}")
    return f"resourceId={path}/y=2026/m=08/d=06/h={hour:02d}/m=00/PT1H.json"


def record(task: str, at: datetime = NOON, **more: Any) -> bytes:
    """Returns the line of a task that started."""
    properties = {"jobId": "job", "id": task, "nodeInfo": {"poolId": "pool", "nodeId": "n1"}}
    envelope = {"time": f"{at:%Y-%m-%dT%H:%M:%S}.0000000Z", "resourceId": RESOURCE, "operationName": "TaskStartEvent"}
    return json.dumps({**envelope, "properties": properties, **more}).encode() + b"\n"


class TestClock:
    """A clock that a test sets."""

    __test__ = False

    def __init__(self) -> None:
        self.time = max(datetime.now(UTC), NOON + timedelta(days=1))

    async def now(self) -> datetime:
        return self.time


class DiedError(BaseException):
    """Ends the host."""


class Mortal:
    """Kills a host at one of its further calls to tables, before or after the call took effect."""

    def __init__(self, tables: Tables) -> None:
        self._send, self.calls, self.dies_at, self.committed = tables._transport.send, 0, 0, False
        self.methods: list[str] = []
        self.urls: list[str] = []
        tables._transport.send = self._mortal  # type: ignore[method-assign]

    def arm(self, dies_at: int, *, committed: bool) -> None:
        self.calls, self.dies_at, self.committed = 0, dies_at, committed

    async def _mortal(self, request: Any, **options: Any) -> Any:
        self.calls += 1
        self.methods.append(request.method)
        self.urls.append(request.url)
        dies = self.dies_at and self.calls >= self.dies_at
        if dies and not (self.committed and self.calls == self.dies_at):
            raise DiedError
        answer = await self._send(request, **options)
        if dies:
            raise DiedError
        return answer


@dataclass
class Host:
    """One host's connection to storage."""

    tables: Tables
    container: BlobContainer
    sweep: BlobSweep
    events: EventStore
    hinted: set[str] = field(default_factory=set)

    async def run(self) -> None:
        await self.sweep.run(_LONG)

    async def read_queue(self, messages: Collection[ShardMessage]) -> None:
        """Reads the shards that messages name, one after another as a host does."""
        for message in messages:
            await self.sweep.read_shard(message)


class Rig:
    def __init__(self, connection_string: str, prefix: str) -> None:
        self._string, self._prefix = connection_string, prefix
        self._stack = AsyncExitStack()
        self.clock = TestClock()
        self.accounts: Sequence[Account] = (ACCOUNT,)
        self.retention = timedelta(days=90)

    async def __aenter__(self) -> Self:
        service = await self._stack.enter_async_context(BlobServiceClient.from_connection_string(self._string))
        self._client = service.get_container_client(self._prefix)
        await self._client.create_container()
        self.tables = await self._open()
        await self.tables.create()
        self.store, self.rejects = EventStore(self.tables), RejectStore(self.tables)
        self.entries = BlobEntryStore(self.tables)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def _open(self) -> Tables:
        tables = Tables.connect(connection_string=self._string, endpoint=None, credential=None, prefix=self._prefix)
        self._stack.push_async_callback(tables.close)
        return tables

    async def host(self, intake: Callable[[EventIntake], Any] = lambda one: one) -> Host:
        """Returns a host with empty memory."""
        tables = await self._open()
        container = BlobContainer.connect(self._prefix, connection_string=self._string, endpoint=None, credential=None)
        self._stack.push_async_callback(container.close)
        stores, hinted = IngestionStores.of(tables), set[str]()
        events = stores.events
        kind = intake(EventIntake(self.accounts, events, hint=lambda _, jobs: hinted.update(jobs), clock=self.clock))
        sweep = BlobSweep(BlobReader(container, kind, stores, self.clock), retention=self.retention)
        return Host(tables, container, sweep, events, hinted)

    def blob(self, name: str | None = None) -> BlobClient:
        return self._client.get_blob_client(name or blob_name())

    async def append(self, *lines: bytes, name: str | None = None) -> None:
        """Appends one block to a blob, after creating it if necessary."""
        blob = self.blob(name)
        try:
            await blob.create_append_blob(match_condition=MatchConditions.IfMissing)
        except HttpResponseError as error:
            if error.status_code not in (409, 412):
                raise
        await blob.append_block(b"".join(lines))

    async def events(self) -> list[BatchEvent]:
        return [event async for _, some in self.store.minutes("demo", 0, 0xFFFFFFFE) for event in some]

    async def tasks(self) -> list[str]:
        return sorted(str(event.task) for event in await self.events())

    async def refused(self) -> list[Reject]:
        return await self.rejects.load("demo", "", 1000)
