"""What lists of storage leave in memory once they were read: nothing that waits for the garbage collector."""

import asyncio
import gc
import secrets
import subprocess
import sys
from collections import deque
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from azure.data.tables import TableEntity
from azure.storage.blob import BlobProperties
from azure.storage.blob.aio import BlobServiceClient

from local.dev.checkout import HERE
from shared import garbage
from shared.garbage import collect_rarely
from shared.stores.blobs import BlobContainer
from shared.stores.history import has_rows
from shared.stores.tables import Tables, load_range, load_rows, save_row
from shared.stores.telemetry_rows import rows_between

TIMES, BLOBS, ROWS = 40, 50, 20


@pytest.fixture
def uncollected() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def own_thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@pytest.fixture
async def container(azurite: Any) -> AsyncIterator[BlobContainer]:
    name, storage = f"c{secrets.token_hex(6)}", azurite.connection_string
    async with BlobServiceClient.from_connection_string(storage) as service:
        client = await service.create_container(name)
        for number in range(BLOBS):
            await client.upload_blob(f"node-{number}/vm_perf_metrics.0", b"cpu usage_user=1\n")
    opened = BlobContainer.connect(name, connection_string=storage, endpoint=None, credential=None)
    yield opened
    await opened.close()


def left_of(kind: type[Any]) -> int:
    return sum(type(one) is kind for one in gc.get_objects())


@pytest.mark.usefixtures("uncollected")
async def test_thousands_of_blobs_that_were_listed_are_not_held(container: BlobContainer) -> None:
    gc.collect()
    listed = 0
    for _ in range(TIMES):
        async for page, _marker in container.pages():
            listed += len(page)
    del page
    assert listed == TIMES * BLOBS
    assert left_of(BlobProperties) == 0
    assert gc.collect() < TIMES


@pytest.mark.usefixtures("uncollected")
async def test_hundreds_of_rows_that_were_read_are_not_held(tables: Tables, partition: str) -> None:
    table = tables["telemetry"]
    for number in range(ROWS):
        await save_row(table, {"PartitionKey": partition, "RowKey": f"r{number:02}", "packed": bytes(1 << 10)}, None)
    gc.collect()
    for _ in range(TIMES):
        assert len(await load_rows(table, partition)) == ROWS
        assert len(await load_range(table, partition, "r00", "r04")) == 5
        assert len([row async for row in rows_between(table, partition, "r", "s")]) == ROWS
        assert await has_rows(table, partition, "r", "s")
    await asyncio.sleep(0.1)  # lists that were left before their end are closed by the loop
    assert left_of(TableEntity) == 0
    assert gc.collect() < TIMES


class Ring:
    """Garbage that only the collector ends, as an error is that holds its own frame."""

    alive = 0

    def __init__(self) -> None:
        self.own = self
        Ring.alive += 1

    def __del__(self) -> None:
        Ring.alive -= 1


@pytest.mark.usefixtures("own_thresholds")
def test_what_was_in_use_when_the_collector_came_by_does_not_pile_up_behind_it() -> None:
    collect_rarely()
    in_use, most = deque[Ring](maxlen=10_000), 0
    for _ in range(1_000_000):
        in_use.append(Ring())
        most = max(most, Ring.alive)
    in_use.clear()
    gc.collect()
    assert most < 125_000


@pytest.fixture
def own_callbacks() -> Iterator[None]:
    before = list(gc.callbacks)
    yield
    gc.callbacks[:] = before


def full_collections() -> int:
    return int(gc.get_stats()[2]["collections"])


@pytest.mark.usefixtures("own_thresholds", "own_callbacks")
@pytest.mark.parametrize(("seconds", "more"), [(0.0, 1), (3600.0, 0)])
async def test_a_full_collection_comes_now_and_then(monkeypatch: pytest.MonkeyPatch, seconds: float, more: int) -> None:
    monkeypatch.setattr(garbage, "_FULL_SECONDS", seconds)
    collect_rarely()
    collect_rarely()
    gc.collect()
    await asyncio.sleep(0)
    before = full_collections()
    kept = [[number] for number in range(60_000)]
    await asyncio.sleep(0)
    assert full_collections() >= before + more
    assert more or full_collections() == before
    assert len(kept) == 60_000


FRAGMENTED = """
import gc, resource
from shared.garbage import collect_rarely

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() / 1e6

collect_rarely()
kept, passing = [], []
for number in range(2_000):
    passing.append(bytes(64_000))
    kept.append(bytes(2_000))
held = resident()
passing.clear()
freed = resident()
gc.collect()
print(held, freed, resident())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc returns free memory on demand")
def test_free_memory_between_live_blocks_returns_to_the_system_with_a_full_collection() -> None:
    run = subprocess.run([sys.executable, "-c", FRAGMENTED], cwd=HERE.root, capture_output=True, text=True, check=True)
    held, freed, after = map(float, run.stdout.split())
    assert held - freed < 40  # of the 128 MB that are free
    assert held - after > 80
