"""A resource counts as deleted after a 404 with the service's own code for it, by the official client over HTTP."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio

from shared.errors import BatchAnswerError, BatchMissingError
from shared.stores.batch.batch import BatchAccount
from shared.stores.batch.batch_evidence import BatchEvidence
from shared.stores.batch.batch_pools import BatchPools
from shared.stores.batch.batch_schedules import BatchSchedules
from tests.stores.batch.test_failing_batch import Service, opened, refusing, service

__all__ = ["service"]
SINCE = datetime(2026, 11, 21, tzinfo=UTC)
CODES = ("", "ResourceNotFound", "JobNotFound", "TaskNotFound", "PoolNotFound", "JobScheduleNotFound", "NodeNotFound")

type Read = Callable[[BatchAccount], Awaitable[Any]]


@pytest_asyncio.fixture
async def account(service: Service) -> AsyncIterator[BatchAccount]:
    async with opened(service, timedelta(seconds=30)) as account:
        yield account


async def _tasks(account: BatchAccount) -> None:
    async for _ in account.fetch_task_pages("Render"):
        pass


async def _node_counts(account: BatchAccount) -> None:
    async for _ in BatchPools(account).node_counts():
        pass


READS: dict[str, tuple[Read, set[str]]] = {
    "jobs": (lambda account: account.fetch_jobs(), set()),
    "job": (lambda account: account.fetch_job("Render"), {"JobNotFound"}),
    "counts": (lambda account: account.fetch_task_counts("Render"), {"JobNotFound"}),
    "tasks": (_tasks, {"JobNotFound"}),
    "task in full": (lambda account: account.fetch_task_details("Render", "a"), {"JobNotFound", "TaskNotFound"}),
    "pools": (lambda account: BatchPools(account).fetch_pools(), set()),
    "pool": (lambda account: BatchPools(account).fetch_pool("p"), {"PoolNotFound"}),
    "nodes": (lambda account: BatchPools(account).fetch_nodes("p"), {"PoolNotFound"}),
    "recent nodes": (lambda account: BatchPools(account).fetch_nodes("p", recent_as_of=SINCE), {"PoolNotFound"}),
    "node counts": (_node_counts, set()),
    "schedules": (lambda account: BatchSchedules(account).fetch_schedules(), set()),
    "schedule": (lambda account: BatchSchedules(account).fetch_schedule("s"), {"JobScheduleNotFound"}),
    "specifications": (lambda account: BatchSchedules(account).fetch_specifications(modified_since=SINCE), set()),
    "job that waits": (lambda account: BatchEvidence(account).fetch_job("Render"), {"JobNotFound"}),
    "waiting tasks": (lambda account: BatchEvidence(account).fetch_waiting("Render"), set()),
    "preparation": (lambda account: BatchEvidence(account).fetch_preparation("Render"), set()),
}


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("name", READS)
async def test_only_the_code_of_this_very_thing_says_that_it_is_gone(
    service: Service, account: BatchAccount, name: str, code: str
) -> None:
    service.answer = refusing(404, code)
    read, gone = READS[name]
    with pytest.raises((BatchMissingError, BatchAnswerError)) as caught:
        await read(account)
    assert type(caught.value) is (BatchMissingError if code in gone else BatchAnswerError)
    assert f"answered 404 {code or 'without an error code'} to the request to" in str(caught.value)
    if gone and code not in gone:
        assert "means that it is gone" in str(caught.value)


async def test_a_task_is_missing_only_where_the_service_says_so_of_the_task(
    service: Service, account: BatchAccount
) -> None:
    service.answer = refusing(404, "TaskNotFound")
    assert await account.fetch_task("Render", "a") is None
    assert await BatchEvidence(account).fetch_standing("Render", "a") == "missing"
    service.answer = refusing(404, "JobNotFound")
    with pytest.raises(BatchMissingError):
        await account.fetch_task("Render", "a")
    for code in ("", "ResourceNotFound", "PoolNotFound"):
        service.answer = refusing(404, code)
        with pytest.raises(BatchAnswerError):
            await account.fetch_task("Render", "a")
        with pytest.raises(BatchAnswerError):
            await BatchEvidence(account).fetch_standing("Render", "a")
