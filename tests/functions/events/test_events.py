"""Batch events from the emulator's log through storage to the API: each occurrence appears exactly once."""

import os
from collections import Counter
from collections.abc import AsyncIterator, Callable
from datetime import datetime, timedelta, timezone
from typing import Any
from urllib.parse import quote

import pytest
import pytest_asyncio
from azure.storage.blob.aio import BlobServiceClient

from local.azurite import StorageAddresses
from local.batch_emulator.core.stamps import stamp
from local.batch_emulator.exports.log_writer import LogWriter
from shared.services.events import event_queries
from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import World

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def writer(world: World, azurite: StorageAddresses) -> AsyncIterator[LogWriter]:
    """Yields a writer that writes the emulator's log on request."""
    async with LogWriter(world.emulator, azurite.connection_string, os.environ["RESOURCE_LOG_CONTAINER"]) as opened:
        yield opened


def now(world: World) -> str:
    return stamp(world.emulator.clock.now)


async def events(world: World, query: str = "") -> list[dict[str, Any]]:
    """Returns all events of the API, page by page."""
    found, path = [], f"accounts/demo/events?maxpagesize=7{query}"
    while path:
        page = await world.get(path)
        assert page.status == 200, page.body
        found += page.body["value"]
        path = page.body.get("nextLink", "").partition("/api/")[2]
    return found


async def test_the_api_shows_the_events_of_the_emulators_log(world: World, writer: LogWriter) -> None:
    began = now(world)
    await add_pool(world.batch, nodes=2)
    await add_job(world.batch)
    await add_tasks(world.batch, 30, command="sleep 5", prefix="good")
    await add_tasks(world.batch, 3, command="exit 3", prefix="bad")
    world.advance(120)
    await writer.flush()
    world.advance(600)  # when records are repeated
    await writer.flush()
    log = world.emulator.logs[0]
    assert log.recorded["TaskStartEvent"] == 33
    assert log.repeated
    await world.app.fire("tick")
    shown = await events(world, f"&from={began}")
    kinds = Counter(event["kind"] for event in shown)
    assert kinds.pop("condition.firing", 0) <= 1  # the job's start, which polls found, unless they are the first
    assert kinds == log.recorded
    assert [event["time"] for event in shown] == sorted((event["time"] for event in shown), reverse=True)


async def test_filters_find_events_by_job_task_pool_node_kind_and_time(world: World, writer: LogWriter) -> None:
    began = now(world)
    await add_pool(world.batch, nodes=1)
    for job in ("first", "second"):
        await add_job(world.batch, job)
        await add_tasks(world.batch, 4, job=job, command="exit 3" if job == "first" else "sleep 1")
    world.advance(60)
    world.advance(120)
    await writer.flush()
    await world.app.fire("tick")
    shown = await events(world, f"&from={began}")
    middle = shown[len(shown) // 2]["time"]
    one = next(event for event in shown if event["kind"] == "TaskFailEvent")
    assert (one["jobId"], one["poolId"]) == ("first", "pool")
    elsewhere = datetime.fromisoformat(middle).astimezone(timezone(timedelta(hours=2))).isoformat()
    filters: dict[str, Callable[[dict[str, Any]], bool]] = {
        "job=FIRST": lambda event: event["jobId"] == "first",
        f"job=first&task={one['taskId']}": lambda event: event["taskId"] == one["taskId"] and event["jobId"] == "first",
        "pool=pool": lambda event: event["poolId"] == "pool",
        f"node={one['nodeId']}": lambda event: event["nodeId"] == one["nodeId"],
        "kind=taskfailevent": lambda event: event["kind"] == "TaskFailEvent",
        f"to={middle}": lambda event: event["time"] < middle,
        f"to={quote(elsewhere)}": lambda event: event["time"] < middle,
        "job=FIRST,none": lambda event: event["jobId"] == "first",
        "kind=taskfailevent,TaskStartEvent&job=first,second": lambda event: (
            event["kind"] in {"TaskFailEvent", "TaskStartEvent"}
        ),
        "job=none": lambda event: event["jobId"] == "none",
    }
    for query, wanted in filters.items():
        assert await events(world, f"&from={began}&{query}") == [event for event in shown if wanted(event)], query
    assert 0 < len([event for event in shown if event["time"] < middle]) < len(shown)
    assert one["summary"].startswith(f"Task '{one['taskId']}' of job 'first' failed on node '{one['nodeId']}'")
    table = await world.get(f"accounts/demo/events?format=csv&from={began}&kind=TaskFailEvent&maxpagesize=2")
    header, *lines = table.body.splitlines()
    assert header == "id,time,kind,jobId,taskId,poolId,nodeId,summary"
    assert len(lines) == 2
    assert 'rel="next"' in table.headers["link"]


async def test_invalid_parameters_of_a_list_of_events_are_refused(world: World) -> None:
    for query, target in {
        "continuation=x": "continuation",
        "from=yesterday": "from",
        "from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z": "from",
        "since=2026-01-01": "since",
        "maxpagesize=0": "maxpagesize",
    }.items():
        found = await world.get(f"accounts/demo/events?{query}")
        assert (found.status, found.body["error"]["target"]) == (400, target), query
    for path in ("events", "ingestion", "rejects"):
        assert (await world.get(f"accounts/none/{path}")).status == 404


@pytest.mark.parametrize("most_looked_at", [20_000, 1])
async def test_an_unknown_kind_is_refused_on_every_page_and_among_known_ones(
    world: World, writer: LogWriter, monkeypatch: pytest.MonkeyPatch, most_looked_at: int
) -> None:
    monkeypatch.setattr(event_queries, "_MAX_LOOKED_AT", most_looked_at)
    began = now(world)
    await add_pool(world.batch, nodes=1)
    await add_job(world.batch)
    for _ in range(3):
        await add_tasks(world.batch, 2, command="exit 3", prefix=f"at-{world.emulator.clock.now}")
        world.advance(120)
    await writer.flush()
    await world.app.fire("tick")
    query = f"accounts/demo/events?from={began}&maxpagesize=1"
    first = await world.get(f"{query}&kind=TaskFailEvent")
    following = first.body["nextLink"].split("/api/", 1)[1]
    assert (await world.get(following)).status == 200
    for path in (
        f"{query}&kind=xx",
        f"{query}&kind=TaskFailEvent,xx",
        following.replace("TaskFailEvent", "xx,taskfailevent"),
    ):
        refused = await world.get(path)
        assert (refused.status, refused.body["error"]["target"]) == (400, "kind"), path
        assert "can't be 'xx', which no event here is of" in refused.body["error"]["message"]


async def test_a_time_that_cannot_be_is_shown_beside_the_one_that_counts(
    world: World, azurite: StorageAddresses, writer: LogWriter
) -> None:
    await add_pool(world.batch, "far", nodes=0)
    await writer.flush()
    name = await newest_blob(azurite)
    record = b'{"time":"9998-01-01T00:00:00Z","operationName":"PoolMadeUpEvent","properties":{"id":"made-up"}}\n'
    async with BlobServiceClient.from_connection_string(azurite.connection_string) as service:
        await service.get_blob_client(os.environ["RESOURCE_LOG_CONTAINER"], name).append_block(record)
    await world.app.fire("tick")
    (far,) = await events(world, "&kind=PoolMadeUpEvent")
    assert (far["claimedTime"], far["time"] < "9998") == ("9998-01-01T00:00:00Z", True)
    assert {one["claimedTime"] for one in await events(world, "&kind=PoolCreateEvent")} == {None}


async def test_ingestion_totals_are_shown(world: World, azurite: StorageAddresses, writer: LogWriter) -> None:
    before = (await world.get("accounts/demo/ingestion")).body
    await add_pool(world.batch, nodes=0)
    await writer.flush()
    name = await newest_blob(azurite)
    async with BlobServiceClient.from_connection_string(azurite.connection_string) as service:
        blob = service.get_blob_client(os.environ["RESOURCE_LOG_CONTAINER"], name)
        await blob.append_block(b"=nonsense\n")
        await world.app.deliver_blob("batch_events", f"{os.environ['RESOURCE_LOG_CONTAINER']}/{name}")
        await blob.append_block(b'{"half a line')
    await world.app.fire("tick")
    ingestion = (await world.get("accounts/demo/ingestion")).body
    assert ingestion["container"] == os.environ["RESOURCE_LOG_CONTAINER"]
    assert {key: ingestion[key] - before[key] for key in ("records", "events", "repeats", "refused")} == {
        "records": 2,
        "events": 1,
        "repeats": 0,
        "refused": 1,
    }
    assert (ingestion["behindBlobs"], ingestion["behindBytes"], ingestion["problems"]) == (1, 13, [])
    metrics = (await world.get("metrics")).body
    assert 'azbatch_collector_log_unread_bytes{account="demo"} 13.0' in metrics
    (reject,) = [one for one in (await world.get("accounts/demo/rejects")).body["value"] if one["blob"] == name]
    assert (reject["reason"], reject["sample"]) == ("It isn't JSON.", "=nonsense")
    table = (await world.get("accounts/demo/rejects?format=csv&maxpagesize=1")).body.splitlines()
    assert table[0] == "blob,offset,position,reason,sample,notedAt"
    assert ",'=nonsense," in table[1]


async def test_health_shows_when_logs_are_no_longer_read(world: World, writer: LogWriter) -> None:
    await add_pool(world.batch, nodes=0)
    await writer.flush()
    await world.app.fire("tick")
    world.advance(660)
    health = (await world.get("health")).body
    (log_problem,) = [problem for problem in health["problems"] if problem.startswith("demo, events: ")]
    assert health["status"] == "degraded"
    assert log_problem.startswith("demo, events: the logs weren't looked at since ")
    await world.app.fire("tick")
    assert not any("events" in problem for problem in (await world.get("health")).body["problems"])


async def newest_blob(azurite: StorageAddresses) -> str:
    async with BlobServiceClient.from_connection_string(azurite.connection_string) as service:
        container = service.get_container_client(os.environ["RESOURCE_LOG_CONTAINER"])
        found = [blob async for blob in container.list_blobs()]
    return max(found, key=lambda blob: blob.name).name
