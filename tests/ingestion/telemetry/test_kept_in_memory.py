"""The memory of a host after repeated reads of many small blobs and queries for their node."""

import asyncio
import gc
from collections.abc import Iterator

import pytest

from shared.domain.telemetry.query.series_query import SeriesQuery
from tests.ingestion.rig import NOON
from tests.ingestion.telemetry.telemetry_rig import HOUR, TelemetryRig, blob_of, used

BLOBS, TIMES = 40, 6


@pytest.fixture
def collector() -> Iterator[None]:
    """Enables the garbage collector again, also after a failure."""
    yield
    gc.enable()


@pytest.mark.usefixtures("collector")
async def test_sweeps_and_queries_leave_nothing_however_many_blobs_there_are(rig: TelemetryRig) -> None:
    for number in range(BLOBS):
        await rig.append(used(3), name=blob_of("n1", number))
    host, queries = await rig.host(), rig.queries
    for turn in range(TIMES + 1):
        await host.run()
        found = await queries.of_node("demo", "pool", "n1", SeriesQuery(since=NOON - HOUR))
        assert sum(one.sum for minutes in found.rollups.values() for one in minutes.values()) == 3 * BLOBS
        if not turn:  # the blobs are read, and everything is loaded
            gc.collect()
            gc.disable()
    await asyncio.sleep(0.1)  # the loop closes lists that were left before their end
    assert gc.collect() < TIMES * 5
