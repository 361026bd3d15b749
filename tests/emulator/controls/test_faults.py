"""Faults on demand."""

import asyncio
import time
from typing import Any

import aiohttp
import pytest
from azure.batch import BatchClient, models
from azure.batch.aio import BatchClient as AsyncBatchClient
from azure.core.credentials import AzureNamedKeyCredential
from azure.core.exceptions import HttpResponseError

from local.batch_emulator.protocol.auth import DEVELOPMENT_KEY
from tests.emulator.support.driver import Driver


async def _fault(driver: Driver, **fault: object) -> None:
    await driver.control("POST", "faults", fault)


async def test_a_fault_hits_matching_paths_as_often_as_requested(stepped: Driver) -> None:
    await stepped.add_job()
    await _fault(stepped, method="GET", path="/jobs/*/tasks", status=429, count=2, retryAfter=7)
    for _ in range(2):
        answer = await stepped.call("GET", "/jobs/job/tasks")
        assert (answer.status, answer.code, answer.headers["Retry-After"]) == (429, "TooManyRequests", "7")
    assert (await stepped.call("GET", "/jobs/job/tasks")).status == 200
    assert (await stepped.call("GET", "/jobs/job")).status == 200


async def test_without_a_count_a_fault_lasts_until_it_is_cleared(stepped: Driver) -> None:
    await _fault(stepped, path="/jobs", status=503)
    for _ in range(3):
        assert (await stepped.call("GET", "/jobs")).code == "ServerBusy"
    await stepped.control("DELETE", "faults")
    assert (await stepped.call("GET", "/jobs")).status == 200


async def test_a_write_that_meets_a_status_is_not_done(stepped: Driver) -> None:
    await _fault(stepped, method="POST", path="/jobs", status=500, count=1)
    assert (await stepped.call("POST", "/jobs", {"id": "job", "poolInfo": {"poolId": "p"}})).status == 500
    assert await stepped.rows("/jobs") == []


async def test_a_reset_breaks_the_connection(stepped: Driver) -> None:
    await _fault(stepped, path="/jobs", reset=True)
    with pytest.raises(aiohttp.ClientConnectionError):
        await stepped.call("GET", "/jobs")
    await stepped.control("DELETE", "faults")
    assert (await stepped.call("GET", "/jobs")).status == 200


async def test_a_truncated_answer_ends_early(stepped: Driver) -> None:
    await _fault(stepped, path="/jobs", truncate=True, count=1)
    with pytest.raises(aiohttp.ClientPayloadError):
        await stepped.call("GET", "/jobs")
    assert (await stepped.call("GET", "/jobs")).status == 200


async def test_a_delay_delays(stepped: Driver) -> None:
    await _fault(stepped, path="/jobs", delaySeconds=0.2, count=1)
    began = time.monotonic()
    assert (await stepped.call("GET", "/jobs")).status == 200
    assert time.monotonic() - began >= 0.2


async def test_late_reports_show_later_with_the_stamp_of_when_it_happened(stepped: Driver) -> None:
    await stepped.add_pool(nodes=1)
    await stepped.add_job()
    await stepped.advance(100)
    await _fault(stepped, lateReportSeconds=60)
    await stepped.add_tasks("job", "sleep 5")
    first_seen: dict[str, str] = {}
    task: Any = {}
    for _ in range(100):
        await stepped.advance(1)
        task = await stepped.task()
        first_seen.setdefault(task["state"], (await stepped.control("GET", "clock"))["time"])
    assert list(first_seen) == ["active", "preparing", "running", "completed"]
    assert first_seen["completed"] > "2026-01-05T08:02:45"
    assert task["stateTransitionTime"] < "2026-01-05T08:01:50"
    truth = (await stepped.control("GET", "truth"))["accounts"]["demo"]
    assert (truth["jobs"]["job"]["completed"], truth["pools"]["pool"]["nodes"]) == (1, {"idle": 1})


async def test_reports_that_stop_being_late_overtake_the_late_ones(stepped: Driver) -> None:
    await stepped.add_pool(nodes=1)
    await stepped.add_job()
    await stepped.advance(100)
    await _fault(stepped, lateReportSeconds=60)
    await stepped.add_tasks("job", "sleep 5")
    await stepped.advance(3)
    await stepped.control("DELETE", "faults")
    await stepped.advance(10)
    done = await stepped.task()
    assert done["state"] == "completed"
    await stepped.advance(200)
    assert await stepped.task() == done


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"path": "/jobs"},
        {"status": 200},
        {"status": "500"},
        {"status": 500, "count": -1},
        {"colour": "red"},
        {"reset": "yes"},
        {"lateReportSeconds": -5},
    ],
)
async def test_a_wrong_fault_is_refused_in_words(stepped: Driver, wrong: dict[str, object]) -> None:
    answer = await stepped.try_control("POST", "faults", wrong)
    assert answer.status == 400
    assert answer.body["error"]


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_the_official_clients_wait_as_long_as_retry_after_says(stepped: Driver, status: int, method: str) -> None:
    credential = AzureNamedKeyCredential("demo", DEVELOPMENT_KEY)
    for number, make in enumerate((_sync, _async)):
        await _fault(stepped, method=method, path="/jobs*", status=status, count=1, retryAfter=1)
        began = time.monotonic()
        await make(stepped.url, credential, method, f"job{number}")
        assert time.monotonic() - began >= 1
        assert (await stepped.call("GET", f"/jobs/job{number}")).status == (200 if method == "POST" else 404)


async def test_without_retry_after_the_official_client_gives_up_on_a_throttled_write(stepped: Driver) -> None:
    credential = AzureNamedKeyCredential("demo", DEVELOPMENT_KEY)
    await _fault(stepped, method="POST", path="/jobs", status=429, count=1)
    with pytest.raises(HttpResponseError) as caught:
        await _async(stepped.url, credential, "POST", "job")
    assert caught.value.status_code == 429
    assert await stepped.rows("/jobs") == []


async def _async(url: str, credential: AzureNamedKeyCredential, method: str, name: str) -> None:
    async with AsyncBatchClient(url, credential) as client:
        if method == "GET":
            _ = [job async for job in client.list_jobs()]
        else:
            await client.create_job(_job(name))


async def _sync(url: str, credential: AzureNamedKeyCredential, method: str, name: str) -> None:
    def act() -> None:
        with BatchClient(url, credential) as client:
            if method == "GET":
                list(client.list_jobs())
            else:
                client.create_job(_job(name))

    await asyncio.to_thread(act)


def _job(name: str) -> models.BatchJobCreateOptions:
    return models.BatchJobCreateOptions(id=name, pool_info=models.BatchPoolInfo(pool_id="pool"))
