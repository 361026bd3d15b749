"""Receipts, ETags and scan positions, which ensure that each blob is announced exactly once."""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from azure.core.exceptions import ResourceModifiedError
from azure.storage.blob.aio import ContainerClient

from local.functions_host.app.functions import BLOB, Binding, Function
from local.functions_host.blobs.blob_events import message_of, read_blob
from local.functions_host.blobs.blob_receipts import BlobReceipts
from local.functions_host.blobs.scanned_container import ScannedContainer

FUNCTION = Function("1", "text", Binding(BLOB, "blob", "IN", {}))


@pytest.fixture
async def container(azurite: Any) -> AsyncIterator[ContainerClient]:
    name = f"receipts-{uuid.uuid4().hex[:12]}"
    async with ContainerClient.from_connection_string(azurite.connection_string, name) as found:
        await found.create_container()
        yield found


async def test_an_etag_is_the_same_in_messages_and_receipts_whether_it_was_listed_or_looked_up(
    container: ContainerClient,
) -> None:
    blob = await container.upload_blob("a.txt", b"x")
    (listed,), looked_up = [one async for one in container.list_blobs()], await blob.get_blob_properties()
    assert f'"{listed.etag}"' == looked_up.etag
    assert json.loads(message_of(FUNCTION, listed))["ETag"] == looked_up.etag
    assert message_of(FUNCTION, listed) == message_of(FUNCTION, looked_up)
    receipts, announcements = BlobReceipts(container, "host"), []

    async def announce() -> None:
        announcements.append(1)

    for etag in (listed.etag, looked_up.etag, listed.etag):
        assert await receipts.notify_once(FUNCTION, "files/a.txt", etag, announce)
    assert announcements == [1]
    names = [name async for name in container.list_blob_names(name_starts_with="blobreceipts/")]
    assert names == [f"blobreceipts/host/Host.Functions.text/{looked_up.etag}/files/a.txt"]


async def test_opening_a_blob_that_changed_after_its_message_fails(
    container: ContainerClient,
) -> None:
    blob = await container.upload_blob("a.txt", b"old")
    etag = (await blob.get_blob_properties()).etag
    assert [(await read_blob(blob, "files/a.txt", one))[0] for one in (etag, etag.strip('"'), None)] == 3 * [b"old"]
    await blob.upload_blob(b"new", overwrite=True)
    with pytest.raises(ResourceModifiedError):
        await read_blob(blob, "files/a.txt", etag)


class LongList(ContainerClient):
    """Writes blobs `early` and then `late` between the pages of a list with one blob each."""

    def list_blobs(self, **_: Any) -> Any:  # type: ignore[override]
        return SlowPages(self, super().list_blobs(results_per_page=1))


class SlowPages:
    def __init__(self, container: ContainerClient, listed: Any) -> None:
        self._container, self._listed = container, listed

    def by_page(self) -> "SlowPages":
        return self

    async def __aiter__(self) -> AsyncIterator[Any]:
        container, pages = self._container, self._listed.by_page()
        async for page in pages:
            blobs = [blob async for blob in page]
            yield blobs_of_a_page(blobs)
            if [blob.name for blob in blobs] == ["first"]:
                for name in ("early", "late"):
                    await container.upload_blob(name, b"x", overwrite=True)
                    await asyncio.sleep(1.1)  # as times have whole seconds


async def blobs_of_a_page(blobs: list[Any]) -> AsyncIterator[Any]:
    for blob in blobs:
        yield blob


async def scanned(one: ScannedContainer) -> set[str]:
    found = {blob.name for blob in await one.recent_blobs()}
    await one.advance([])
    return found


async def test_a_blob_that_a_long_list_missed_is_found_though_the_list_has_a_later_one(
    container: ContainerClient, azurite: Any
) -> None:
    for blob in ("first", "other"):
        await container.upload_blob(blob, b"x")
    name = str(container.container_name)
    async with LongList.from_connection_string(azurite.connection_string, name) as slow:
        one = ScannedContainer(slow, container, "host")
        assert await scanned(one) == {"first", "late", "other"}
    one.container = container
    assert "early" in await scanned(one)
    assert "early" not in await scanned(one)  # so that it isn't checked any more


async def test_a_blob_that_the_first_list_missed_is_found_though_another_is_deferred(
    container: ContainerClient,
) -> None:
    late = await container.upload_blob("z-late", b"x")
    one = ScannedContainer(container, container, "host")
    assert [blob.name for blob in await one.recent_blobs()] == ["z-late"]
    await one.advance([(await late.get_blob_properties()).last_modified + timedelta(seconds=2)])
    await container.upload_blob("early", b"x")
    assert "early" in await scanned(one)
