"""The running app writes only the names to storage that `tests/stores/schema/test_stored_names.py` lists."""

import os
import secrets
from collections.abc import AsyncIterator
from datetime import datetime, timedelta

import pytest
import pytest_asyncio
from azure.storage.blob.aio import BlobServiceClient

from local.azurite import StorageAddresses
from local.batch_emulator.core.stamps import stamp
from local.batch_emulator.exports.log_writer import LogWriter
from shared.stores.tables.tables import NAMES, Tables
from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import World
from tests.functions.support.shown_schedules import MINUTE, add_schedule
from tests.pinned_names import assert_within
from tests.stores.schema.stored_rows import columns_of, rows_of

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def busy(world: World, azurite: StorageAddresses) -> AsyncIterator[World]:
    """Yields an account after all polls and reads: jobs, pools, schedules, a log and telemetry, good and bad."""
    await add_pool(world.batch, nodes=2)
    await add_job(world.batch)
    await add_tasks(world.batch, 5, command="sleep 5", prefix="good")
    await add_tasks(world.batch, 2, command="exit 3", prefix="bad")
    await add_schedule(world, recurrence_interval=5 * MINUTE)
    moment = datetime.fromisoformat(stamp(world.emulator.clock.now)) - timedelta(minutes=5)
    async with BlobServiceClient.from_connection_string(azurite.connection_string) as service:
        container = service.get_container_client(os.environ["TELEMETRY_CONTAINER"])
        if not await container.exists():
            await container.create_container()
        blob = container.get_blob_client(f"accounts/demo/pools/pool/nodes/tvm-{secrets.token_hex(3)}/vm.0.json")
        await blob.create_append_blob()
        seconds = int(moment.timestamp())
        run = f"batchscope_task_attempt,job_id=job,task_id=good-00000,task_attempt={seconds} duration=60,memory_peak=7i"
        lines = (f"mem used=7i {seconds * 10**9}", "nonsense", f"{run} {(seconds + 60) * 10**9}")
        await blob.append_block("".join(f"{line}\n" for line in lines).encode())
        async with LogWriter(world.emulator, azurite.connection_string, os.environ["RESOURCE_LOG_CONTAINER"]) as writer:
            for number in range(5):
                await add_tasks(world.batch, 2, command="sleep 300", prefix=f"more{number}")
                world.advance(200)
                await writer.flush()
                await world.app.fire("tick")
                await world.poll()
        await world.app.fire("housekeeping")
        yield world
        await blob.delete_blob()


async def test_all_that_the_app_writes_has_names_that_are_listed(busy: World, azurite: StorageAddresses) -> None:
    text, prefix = azurite.connection_string, os.environ["TABLE_PREFIX"]
    tables = Tables.connect(connection_string=text, endpoint=None, credential=None, prefix=prefix)
    try:
        rows = {name: await rows_of(tables[name]) for name in NAMES}
    finally:
        await tables.close()
    empty = {name for name, some in rows.items() if not some} - {"poolhistory"}  # rounds write to it in turns
    assert empty == set(), "nothing was written to these tables"
    found = [line for name, some in rows.items() for row in some for line in columns_of(name, row)]
    assert_within("stored_columns", found, "stored")
