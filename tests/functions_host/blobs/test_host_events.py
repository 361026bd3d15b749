"""The host's own events in place of Event Grid: one a blob, also if storage fails meanwhile."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from azure.core.exceptions import AzureError, HttpResponseError, ResourceNotFoundError
from azure.storage.blob.aio import ContainerClient

from local.functions_host.app.functions import BLOB, Binding, Function
from local.functions_host.app.in_flight_tasks import InFlightTasks
from local.functions_host.app.settings import HostOptions
from local.functions_host.app.storage import StorageClients
from local.functions_host.blobs import blob_events
from local.functions_host.blobs.blob_events import BlobListener


@dataclass
class Failing:
    """Receives announcements, and fails at those of the blob `b` while it has errors left."""

    errors: list[AzureError]
    announced: list[str] = field(default_factory=list)

    async def announce(self, name: str) -> None:
        if name == "b" and self.errors:
            raise self.errors.pop()
        self.announced.append(name)


@pytest.fixture
async def storage(environment: dict[str, str]) -> AsyncIterator[StorageClients]:
    found = StorageClients(environment)
    yield found
    await found.close()


@pytest.fixture
async def container(storage: StorageClients, environment: dict[str, str]) -> ContainerClient:
    found = storage.container(environment["SAMPLE_BLOBS"])
    await found.create_container()
    return found


def listener(storage: StorageClients, container: ContainerClient, taker: Failing, monkeypatch: Any) -> BlobListener:
    """Returns a listener that delivers messages only to the taker, and polls often."""
    monkeypatch.setattr(blob_events, "_SECONDS", 0.1)
    function = Function("1", "seen", Binding(BLOB, "blob", "IN", {"path": f"{container.container_name}/{{name}}"}))
    invoker: Any = None
    found = BlobListener(
        function, options=HostOptions(), invoker=invoker, storage=storage, host_id="host", in_flight=InFlightTasks()
    )
    monkeypatch.setattr(found, "announce", taker.announce)
    return found


@pytest.mark.parametrize(
    ("errors", "announced"),
    [
        ([HttpResponseError("storage is busy")] * 2, ["a", "c", "b"]),
        ([ResourceNotFoundError("the queue is away")] * 2, ["a", "c", "b"]),
        ([HttpResponseError("for good")] * 1000, ["a", "c"]),
    ],
)
async def test_a_blob_that_storage_refuses_is_announced_once_when_it_can_be_and_holds_up_no_other(
    storage: StorageClients,
    container: ContainerClient,
    monkeypatch: pytest.MonkeyPatch,
    errors: list[AzureError],
    announced: list[str],
) -> None:
    await container.upload_blob("before", b"x")
    taker, stopping = Failing(list(errors)), asyncio.Event()
    emitting = asyncio.create_task(listener(storage, container, taker, monkeypatch)._emit(stopping))
    await asyncio.sleep(0.5)
    for name in "abc":
        await container.upload_blob(name, b"x")
    async with asyncio.timeout(10):
        while not set(announced) <= set(taker.announced):  # noqa: ASYNC110 - the taker has no event to wait for
            await asyncio.sleep(0.02)
    await asyncio.sleep(0.5)
    stopping.set()
    await emitting
    assert sorted(taker.announced) == sorted(announced)


@pytest.mark.parametrize("name", ["folder/", "/a", "a b/ü?#%2F"])
async def test_a_blob_name_is_announced_unchanged(
    storage: StorageClients, container: ContainerClient, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    taker = Failing([])
    url = container.get_blob_client(name).url
    event = {"eventType": "Microsoft.Storage.BlobCreated", "data": {"url": url}}
    await listener(storage, container, taker, monkeypatch).accept(event)
    assert taker.announced == [name]
