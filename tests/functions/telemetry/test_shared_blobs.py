"""Many blobs with telemetry: the tick leaves them to the queue, whose function reads them."""

import json
import os
from datetime import datetime, timedelta

import pytest
from azure.storage.blob.aio import BlobServiceClient
from azure.storage.queue.aio import QueueClient

from local.azurite import StorageAddresses
from local.batch_emulator.core.stamps import stamp
from local.functions_host.queues.queues import decode
from shared.services.blobs.shard_queue import ShardQueue
from tests.functions.conftest import World

pytestmark = pytest.mark.asyncio(loop_scope="session")
_NODES = 3


async def _messages(connection: str) -> list[str]:
    """Receives and deletes all messages of the queue."""
    name = f"{os.environ['TABLE_PREFIX']}-batchscope-jobs"
    async with QueueClient.from_connection_string(connection, name) as queue:
        found = [message async for message in queue.receive_messages()]
        for message in found:
            await queue.delete_message(message)
    return [decode(message.content, base64_encoded=True) or "" for message in found]


async def test_many_blobs_are_read_by_the_queue_function(
    world: World, azurite: StorageAddresses, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ShardQueue.leave, "__kwdefaults__", {"least": _NODES})
    at = datetime.fromisoformat(stamp(world.emulator.clock.now)) - timedelta(minutes=30)
    async with BlobServiceClient.from_connection_string(azurite.connection_string) as service:
        container = service.get_container_client(os.environ["TELEMETRY_CONTAINER"])
        if not await container.exists():
            await container.create_container()
        names = [f"accounts/demo/pools/shared/nodes/tvm-{number}/vm_perf_metrics.0.json" for number in range(_NODES)]
        for number, name in enumerate(names):
            blob = container.get_blob_client(name)
            await blob.create_append_blob()
            await blob.append_block(f"mem used={number + 1}i {int(at.timestamp()) * 10**9}\n".encode())
        await world.app.fire("tick")
        messages = await _messages(azurite.connection_string)
        assert {json.loads(text)["ingest_partition"].rpartition("~")[2] for text in messages} == {"telemetry"}
        for text in messages:
            await world.app.deliver("job_queued", text)
        for number in range(_NODES):
            query = f"accounts/demo/pools/shared/nodes/tvm-{number}/telemetry?step=PT1H&name=system.memory"
            found = (await world.get(query)).body
            assert [point["sum"] for series in found["value"] for point in series["points"]] == [number + 1]
        for name in names:
            await container.get_blob_client(name).delete_blob()


async def test_a_message_of_a_shard_of_an_account_that_is_not_watched_is_dropped(world: World) -> None:
    await world.app.deliver("job_queued", json.dumps({"ingest_partition": "gone~telemetry", "shard": 3}))
