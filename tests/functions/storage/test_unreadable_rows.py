"""Rows in real storage that no version can read: their handling, reports on them, and the effect on other rows."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import pytest_asyncio
from azure.core import MatchConditions
from azure.data.tables import UpdateMode
from azure.data.tables.aio import TableClient, TableServiceClient

from local.azurite import StorageAddresses
from local.batch_emulator.core.injection import Fault
from tests.emulator.support.staging import add_pool, add_tasks
from tests.functions.conftest import World, begin_anew

pytestmark = pytest.mark.asyncio(loop_scope="session")

type Row = dict[str, Any]


@pytest_asyncio.fixture(loop_scope="session")
async def world(_running: World) -> AsyncIterator[World]:
    """Yields two jobs on two pools, polled by each tick and read once; deletes all unreadable rows afterwards."""
    await begin_anew(_running, poll_seconds=1)
    world = _running
    for name in ("fine", "odd"):
        await add_pool(world.batch, name, nodes=1)
        await world.batch.create_job(job_on(name))
        await add_tasks(world.batch, 3, job=name)
    world.advance(120)
    await tick(world)
    yield world
    await world.poll()
    for kind in ("jobs", "pools", "jobschedules"):
        assert (await listed(world, kind))[1] == []


def job_on(name: str) -> Any:
    return {"id": name, "poolInfo": {"poolId": name}}


async def tick(world: World, seconds: float = 5) -> None:
    world.advance(seconds)
    await world.app.fire("tick")


@asynccontextmanager
async def opened(azurite: StorageAddresses, name: str) -> AsyncIterator[TableClient]:
    async with TableServiceClient.from_connection_string(azurite.connection_string) as service:
        yield service.get_table_client(os.environ["TABLE_PREFIX"] + name)


async def rows(azurite: StorageAddresses, name: str, wanted: Callable[[Row], bool]) -> dict[str, str]:
    """Returns the ETags of the wanted rows, by their keys."""
    async with opened(azurite, name) as table:
        found = [row async for row in table.list_entities() if wanted(row)]
        return {f"{row['PartitionKey']}/{row['RowKey']}": str(row.metadata["etag"]) for row in found}


async def spoil(azurite: StorageAddresses, name: str, wanted: Callable[[Row], bool], **columns: Any) -> None:
    """Writes invalid data into rows, as another process might."""
    async with opened(azurite, name) as table:
        found = [row async for row in table.list_entities() if wanted(row)]
        assert found
        for row in found:
            await table.update_entity(
                {"PartitionKey": row["PartitionKey"], "RowKey": row["RowKey"], **columns},
                mode=UpdateMode.MERGE,
                match_condition=MatchConditions.Unconditionally,
            )


def is_row(row: str) -> Callable[[Row], bool]:
    return lambda found: found["RowKey"] == row and found["PartitionKey"].startswith("demo")


async def listed(world: World, kind: str, query: str = "") -> tuple[list[str], list[Any]]:
    """Returns the ids in a list, and its unreadable entries."""
    found = await world.get(f"accounts/demo/{kind}?maxpagesize=1000{query}")
    assert found.status == 200, found.body
    return [entry["id"] for entry in found.body["value"]], found.body.get("unreadable", [])


async def test_an_unreadable_pool_spoils_no_other_and_is_read_anew(world: World, azurite: StorageAddresses) -> None:
    await spoil(azurite, "pools", is_row("odd"), pool0=b"nonsense")
    await spoil(azurite, "accounts", is_row("pools"), touched=True)  # makes the process reload cached rows
    names, unreadable = await listed(world, "pools")
    assert (names, [row["id"] for row in unreadable]) == (["fine"], ["odd"])
    assert unreadable[0]["reason"].startswith("The pool 'odd' can't be read: ")
    one = await world.get("accounts/demo/pools/odd")
    assert (one.status, one.body["error"]["message"]) == (502, unreadable[0]["reason"])
    assert (await world.get("metrics")).status == 200
    await tick(world)
    assert await listed(world, "pools") == (["fine", "odd"], [])
    pool = (await world.get("accounts/demo/pools/odd")).body
    assert (pool["nodeCounts"]["idle"], pool["verdict"]["reason"]) == (
        1,
        f"The last poll failed: {unreadable[0]['reason']}",
    )
    assert (await world.get("accounts/demo/pools/fine")).body["verdict"]["level"] == "exact"
    assert "1 pool couldn't be polled" in (await world.get("health")).body["problems"][0]
    await tick(world)
    assert (await world.get("accounts/demo/pools/odd")).body["verdict"]["level"] == "exact"
    assert (await world.get("health")).body["problems"] == []


async def explained(world: World, job: str) -> tuple[list[str], list[str]]:
    """Returns the codes of the findings, and the unknowns."""
    found = await world.get(f"accounts/demo/jobs/{job}/explanation")
    assert found.status == 200, found.body
    return [finding["code"] for finding in found.body["findings"]], found.body["unknown"]


async def test_a_job_is_explained_from_the_rest_where_its_pool_cannot_be_read(
    world: World, azurite: StorageAddresses
) -> None:
    await add_tasks(world.batch, 9, job="odd", prefix="more", command="sleep 3000")
    await tick(world)
    await spoil(azurite, "pools", is_row("odd"), pool0=b"nonsense")
    codes, unknown = await explained(world, "odd")
    assert codes == []
    why, there = sorted(unknown, reverse=True)
    assert why.startswith("What its pool is like isn't known: The pool 'odd' can't be read: ")
    assert there == "The pool 'odd' is there, but its nodes weren't read yet."
    await spoil(azurite, "accounts", is_row("pools"), touched=True)
    await tick(world)
    await tick(world)
    assert await explained(world, "odd") == (["slotsBusy"], [])


async def test_a_job_is_explained_from_the_rest_where_its_tasks_cannot_be_read(
    world: World, azurite: StorageAddresses
) -> None:
    def is_leaf(row: Row) -> bool:
        return "~odd~" in row["PartitionKey"] and row["RowKey"].startswith("s")

    await add_tasks(world.batch, 9, job="odd", prefix="more", command="sleep 3000")
    await tick(world)
    await spoil(azurite, "tasks", is_leaf, d0=b"\xffnonsense")
    codes, (unknown,) = await explained(world, "odd")
    assert codes == ["slotsBusy"]
    assert unknown.startswith("How many slots its waiting tasks require isn't known: The task cache can't be read in ")


@pytest.mark.parametrize("row", ["pools", "schedules"])
async def test_an_unreadable_row_of_the_last_round_fails_no_answer_and_is_replaced(
    world: World, azurite: StorageAddresses, row: str
) -> None:
    schedule: Any = {"id": "nightly", "schedule": {}, "jobSpecification": {"poolInfo": {"poolId": "fine"}}}
    await world.batch.create_job_schedule(schedule)
    await tick(world, 1000)
    await spoil(azurite, "accounts", is_row(row), round0=b"nonsense")
    for path in ("accounts", "accounts/demo", "accounts/demo/pools/fine", "accounts/demo/jobs", "metrics"):
        assert (await world.get(path)).status == 200
    for kind, names in (("pools", ["fine", "odd"]), ("jobschedules", ["nightly"])):
        assert await listed(world, kind) == (names, [])
    (problem,) = (await world.get("health")).body["problems"]
    assert f"row '{row}' can't be read" in problem
    await tick(world)
    assert (await world.get("health")).body["problems"] == []
    for kind in ("pools/fine", "jobschedules/nightly"):
        assert (await world.get(f"accounts/demo/{kind}")).body["verdict"]["level"] == "exact"


@pytest.mark.parametrize(
    ("row", "columns"),
    [("round", {"confirmations0": b"nonsense"}), ("round", {"queued0": b"x"}), ("monitoring", {"pollSeconds": "x"})],
)
async def test_an_unreadable_row_of_an_account_s_round_spoils_no_answer_and_the_next_round_replaces_it(
    world: World, azurite: StorageAddresses, row: str, columns: dict[str, Any]
) -> None:
    assert (await world.put("accounts/demo/monitoring", b'{"enabled": true, "pollSeconds": 1}')).status == 200
    await spoil(azurite, "accounts", is_row(row), **columns)
    for path in ("accounts", "accounts/demo", "accounts/demo/monitoring", "accounts/demo/jobs", "metrics", "health"):
        assert (await world.get(path)).status == 200
    await tick(world)
    await tick(world)
    assert (await world.get("health")).body["problems"] == []
    for job in ("fine", "odd"):
        assert (await world.get(f"accounts/demo/jobs/{job}")).body["verdict"]["level"] == "exact"
    changed = await world.put("accounts/demo/monitoring", b'{"enabled": false}')
    assert (changed.status, changed.body["enabled"]) == (200, False)


async def test_an_unreadable_pool_that_is_gone_goes_when_batch_says_so(world: World, azurite: StorageAddresses) -> None:
    await spoil(azurite, "pools", is_row("odd"), pool0=b"nonsense")
    await spoil(azurite, "accounts", is_row("pools"), touched=True)
    del world.emulator.simulations["demo"].account.pools["odd"]
    await tick(world)
    assert await rows(azurite, "pools", is_row("odd")) == {}
    left = await rows(azurite, "nodes", lambda row: row["RowKey"].startswith("odd~"))
    assert [row.rpartition("/")[2] for row in left] == ["odd~!"]  # its usage, for four days
    assert (await world.get("accounts/demo/pools/odd/cost")).body["deleted"]
    assert (await world.get("accounts/demo/pools/odd/nodes")).status == 404
    assert await listed(world, "pools") == (["fine"], [])


async def test_a_failed_lookup_of_an_unreadable_pool_that_a_list_leaves_out_is_reported(
    world: World, azurite: StorageAddresses
) -> None:
    await spoil(azurite, "pools", is_row("odd"), pool0=b"nonsense")
    await spoil(azurite, "accounts", is_row("pools"), touched=True)
    del world.emulator.simulations["demo"].account.pools["odd"]
    world.emulator.faults.all.append(Fault(path="/pools/odd", status=403))
    for _ in range(2):
        await tick(world)
        names, (row,) = await listed(world, "pools")
        assert names == ["fine"]
        assert row["reason"].startswith("The pool 'odd' can't be read: ")
        assert "403" in row["reason"]
        assert "1 pool couldn't be polled" in (await world.get("health")).body["problems"][0]
    world.emulator.faults.all.clear()
    await tick(world)
    assert await listed(world, "pools") == (["fine"], [])
    assert (await world.get("health")).body["problems"] == []


@pytest.mark.parametrize("kind", ["pools", "jobs"])
async def test_polls_log_unreadable_rows_and_requests_do_not(
    world: World, azurite: StorageAddresses, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    columns = {"pool0": b"nonsense"} if kind == "pools" else {"source": "unheard-of"}
    await spoil(azurite, kind, is_row("odd"), **columns)
    await spoil(azurite, "accounts", is_row("pools"), touched=True)
    for path in (f"accounts/demo/{kind}", "metrics"):
        assert (await world.get(path)).status == 200
    assert "can't be read" not in caplog.text
    await tick(world)
    assert caplog.text.count(f"{kind.removesuffix('s')} 'odd' can't be read") == 1


async def test_an_unreadable_schedule_that_a_list_leaves_out_goes_only_when_batch_says_so(
    world: World, azurite: StorageAddresses
) -> None:
    schedule: Any = {"id": "nightly", "schedule": {}, "jobSpecification": {"poolInfo": {"poolId": "fine"}}}
    await world.batch.create_job_schedule(schedule)
    await tick(world, 1000)
    await spoil(azurite, "jobschedules", is_row("nightly"), schedule0=b"nonsense")
    await spoil(azurite, "accounts", is_row("schedules"), touched=True)
    before = await rows(azurite, "jobschedules", is_row("nightly"))
    del world.emulator.simulations["demo"].account.schedules["nightly"]
    world.emulator.faults.all.append(Fault(path="/jobschedules/nightly", status=403))
    await tick(world)
    assert await rows(azurite, "jobschedules", is_row("nightly")) == before
    assert "1 job schedule couldn't be read" in (await world.get("health")).body["problems"][0]
    world.emulator.faults.all.clear()
    await tick(world)
    assert await rows(azurite, "jobschedules", is_row("nightly")) == {}
    await tick(world)
    assert (await world.get("health")).body["problems"] == []


@pytest.mark.parametrize("columns", [{"source": "unheard-of"}, {"state": 7}, {"ended": "nonsense"}, {"retired0": b"x"}])
async def test_an_unreadable_job_spoils_no_other_and_is_read_anew(
    world: World, azurite: StorageAddresses, columns: dict[str, Any]
) -> None:
    async with opened(azurite, "jobs") as table:
        served = (await table.get_entity("demo", "odd"))["generation"]
    await spoil(azurite, "jobs", is_row("odd"), **columns)
    names, unreadable = await listed(world, "jobs")
    assert (names, [row["id"] for row in unreadable]) == (["fine"], ["odd"])
    assert (await world.get("accounts/demo/jobs/odd")).status == 502
    assert 'azbatch_unreadable_jobs{account="demo"} 1.0\n' in (await world.get("metrics")).body
    assert (await world.get("accounts/demo/jobs?format=csv")).headers["batchscope-unreadable"] == "1"
    before = await rows(azurite, "tasks", lambda row: "~odd~" in row["PartitionKey"])
    await tick(world)
    assert await listed(world, "jobs") == (["fine", "odd"], [])
    jobs = await world.jobs()
    assert jobs["odd"]["verdict"]["reason"] == f"The last poll failed: {unreadable[0]['reason']}"
    assert jobs["fine"]["verdict"]["level"] == "exact"
    assert "1 jobs couldn't be polled" in (await world.get("health")).body["problems"][0]
    after = await rows(azurite, "tasks", lambda row: "~odd~" in row["PartitionKey"])
    assert {key: after[key] for key in before} == before
    assert len(after) > len(before)
    await tick(world)
    job = (await world.jobs())["odd"]
    assert (job["taskCounts"]["completed"], job["verdict"]["level"]) == (3, "exact")
    world.advance(7200)
    await world.app.fire("housekeeping")
    left = await rows(azurite, "tasks", lambda row: row["PartitionKey"] == f"demo~odd~{served}")
    assert left == {}


async def test_an_unreadable_job_that_no_list_shows_stays_as_it_is(world: World, azurite: StorageAddresses) -> None:
    await spoil(azurite, "jobs", is_row("odd"), source="unheard-of")
    before = await rows(azurite, "jobs", is_row("odd"))
    del world.emulator.simulations["demo"].account.jobs["odd"]
    for _ in range(2):
        await tick(world, 1000)
    assert await rows(azurite, "jobs", is_row("odd")) == before
    names, unreadable = await listed(world, "jobs", "&includeDeleted=true")
    assert ("odd" in names, [row["id"] for row in unreadable]) == (False, ["odd"])
    assert (await world.jobs())["fine"]["verdict"]["level"] == "exact"
    await spoil(azurite, "jobs", is_row("odd"), source="delta")
    await tick(world, 1000)


async def test_tasks_that_cannot_be_read_are_read_anew_but_not_all_the_time(
    world: World, azurite: StorageAddresses
) -> None:
    def is_leaf(row: Row) -> bool:
        return "~odd~" in row["PartitionKey"] and row["RowKey"].startswith("s")

    await spoil(azurite, "tasks", is_leaf, d0=b"\xffnonsense")
    spoiled = await rows(azurite, "tasks", is_leaf)
    await world.app.fire("tick")
    await add_tasks(world.batch, 2, job="odd", prefix="more")
    await tick(world)
    jobs = await world.jobs()
    assert "can't be read" in jobs["odd"]["verdict"]["reason"]
    assert jobs["fine"]["verdict"]["level"] == "exact"
    await tick(world, 900)
    jobs = await world.jobs()
    assert (jobs["odd"]["taskCounts"]["total"], jobs["odd"]["verdict"]["level"]) == (5, "exact")
    assert spoiled.items() <= (await rows(azurite, "tasks", is_leaf)).items()


async def test_damaged_sums_of_tasks_are_left_out_of_answers(world: World, azurite: StorageAddresses) -> None:
    def is_head(row: Row) -> bool:
        return "~odd~" in row["PartitionKey"] and row["RowKey"] == "!"

    await spoil(azurite, "jobs", is_row("odd"), insight=b"originalnonsense")
    await spoil(azurite, "tasks", is_head, failures0=b"nonsense")
    jobs = await world.jobs()
    assert (jobs["odd"]["insight"], jobs["odd"]["taskCounts"]["total"]) == (None, 3)
    assert jobs["fine"]["insight"]
    failures = await world.get("accounts/demo/jobs/odd/failures")
    assert (failures.status, failures.body["groups"]) == (200, [])


async def test_unreadable_cells_of_a_history_are_gaps_and_logged_once(
    world: World, azurite: StorageAddresses, caplog: pytest.LogCaptureFixture
) -> None:
    def is_history(row: Row) -> bool:
        return bool(row["PartitionKey"] == "demo~odd" and row["RowKey"].startswith("h"))

    async def known(query: str = "") -> list[Any]:
        found = await world.get(f"accounts/demo/jobs/odd/history?step=PT1M{query}")
        assert found.status == 200, found.body
        return [point for point in found.body["value"] if point["taskCounts"]]

    for number in range(4):
        await add_tasks(world.batch, 1, job="odd", prefix=f"more-{number}")
        await tick(world, 60)
    before = await known()
    cells = {f"m{minute:02}": "1 2 - 3" for minute in range(60)}
    await spoil(azurite, "jobhistory", is_history, **cells)
    end = f"&to={before[-1]['time']}"
    after = await known(end)
    assert after
    assert after == before[-len(after) :]
    assert len(after) < len(before)
    logged = caplog.text.count("can't be read: it has 1 counts")
    assert logged
    assert await known(f"{end}&from={before[0]['time']}") == after
    assert caplog.text.count("can't be read: it has 1 counts") == logged


async def test_a_job_with_an_unreadable_row_still_has_a_history(world: World, azurite: StorageAddresses) -> None:
    for number in range(4):
        await add_tasks(world.batch, 1, job="odd", prefix=f"again-{number}")
        await tick(world, 60)
    await spoil(azurite, "jobs", is_row("odd"), source="unheard-of")
    assert (await world.get("accounts/demo/jobs/odd")).status == 502
    found = await world.get("accounts/demo/jobs/odd/history?step=PT1M")
    assert found.status == 200
    assert any(point["taskCounts"] for point in found.body["value"])
