import gc
import secrets
from typing import Any

import pytest
from azure.storage.blob import BlobProperties
from azure.storage.blob.aio import BlobServiceClient

from local.functions_host.blobs import container_blobs
from local.functions_host.blobs.container_blobs import blobs_of

BLOBS, TIMES = 30, 5


async def test_a_list_of_blobs_that_was_read_is_not_held(azurite: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container_blobs, "_PAGE", BLOBS // 4)
    async with BlobServiceClient.from_connection_string(azurite.connection_string) as service:
        container = await service.create_container(f"c{secrets.token_hex(6)}")
        for number in range(BLOBS):
            await container.upload_blob(f"blob-{number}", b"")
        gc.collect()
        gc.disable()
        try:
            names = [{blob.name async for blob in blobs_of(container)} for _ in range(TIMES)]
            left = sum(type(one) is BlobProperties for one in gc.get_objects())
        finally:
            gc.enable()
    assert names == [{f"blob-{number}" for number in range(BLOBS)}] * TIMES
    assert left <= 1  # the last one is still a name of a finished loop
