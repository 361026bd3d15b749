"""Lists whose next links form a circle, by the official client over HTTP: an explained error after a few requests."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from aiohttp import web

from shared.errors import BlobError, RepeatedLinkError, StorageError
from shared.stores.batch.batch import BatchAccount
from shared.stores.batch.batch_evidence import BatchEvidence
from shared.stores.batch.batch_pools import BatchPools
from shared.stores.batch.batch_schedules import BatchSchedules
from shared.stores.blobs.blobs import BlobContainer
from shared.stores.tables.tables import Tables, load_rows
from tests.stores.batch.test_failing_batch import Service, opened, service

__all__ = ["service"]
SINCE = datetime(2026, 11, 21, tzinfo=UTC)

type Read = Callable[[BatchAccount], Awaitable[Any]]


async def _tasks(account: BatchAccount) -> None:
    async for _ in account.fetch_task_pages("Render"):
        pass


async def _node_counts(account: BatchAccount) -> None:
    async for _ in BatchPools(account).node_counts():
        pass


LISTS: dict[str, Read] = {
    "jobs": lambda account: account.fetch_jobs(),
    "tasks": _tasks,
    "pools": lambda account: BatchPools(account).fetch_pools(),
    "nodes": lambda account: BatchPools(account).fetch_nodes("p"),
    "changed nodes": lambda account: BatchPools(account).fetch_nodes("p", changed_since=SINCE, recent_as_of=SINCE),
    "node counts": _node_counts,
    "schedules": lambda account: BatchSchedules(account).fetch_schedules(),
    "specifications": lambda account: BatchSchedules(account).fetch_specifications(modified_since=SINCE),
}


@pytest_asyncio.fixture
async def account(service: Service) -> AsyncIterator[BatchAccount]:
    async with opened(service, timedelta(seconds=30)) as account:
        yield account


def circling(service: Service, before: int, length: int) -> Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]:
    """Answers with `before` pages, then with `length` pages that follow each other for ever."""

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        number = service.requests - 1
        page = number if number < before else before + (number - before) % length
        root = f"http://{request.host}{urlsplit(str(request.rel_url)).path}"
        return web.json_response({"value": [], "odata.nextLink": f"{root}?$skiptoken={page}"})

    return answer


@pytest.mark.parametrize(("before", "length"), [(0, 1), (3, 1), (0, 2), (2, 3), (1, 7)])
@pytest.mark.parametrize("name", LISTS)
async def test_a_list_that_goes_in_a_circle_is_an_error_in_words(
    service: Service, account: BatchAccount, name: str, before: int, length: int
) -> None:
    service.answer = circling(service, before, length)
    with pytest.raises(RepeatedLinkError, match=r"sent a next link twice to the request to .* never ends"):
        await LISTS[name](account)
    assert service.requests <= 2 + 2 * before + 3 * length


async def test_a_bounded_list_that_stands_still_is_an_error_too(service: Service, account: BatchAccount) -> None:
    service.answer = circling(service, 0, 1)
    with pytest.raises(RepeatedLinkError, match="list the waiting tasks of 'Render'"):
        await BatchEvidence(account).fetch_waiting("Render")


async def test_a_list_of_many_pages_whose_links_all_differ_is_read_to_its_end(
    service: Service, account: BatchAccount
) -> None:
    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        link = {"odata.nextLink": f"http://{request.host}/jobs?p={service.requests}"} if service.requests < 200 else {}
        return web.json_response({"value": [], **link})

    service.answer = answer
    await account.fetch_jobs()
    assert service.requests == 200


async def test_a_container_whose_markers_go_in_a_circle_is_an_error_in_words(service: Service) -> None:
    async def answer(_: web.BaseRequest) -> web.StreamResponse:
        head = '<?xml version="1.0"?><EnumerationResults ContainerName="c"><Blobs />'
        text = f"{head}<NextMarker>m{service.requests % 2}</NextMarker></EnumerationResults>"
        return web.Response(text=text, content_type="application/xml")

    service.answer = answer
    address = f"http://127.0.0.1:{service.port}/a"
    storage = f"DefaultEndpointsProtocol=http;AccountName=a;AccountKey=a2V5;BlobEndpoint={address};"
    container = BlobContainer.connect("c", connection_string=storage, endpoint=None, credential=None)
    with pytest.raises(BlobError, match="sent a marker of the next page twice"):
        async for _ in container.pages():
            pass
    await container.close()
    assert service.requests < 10


async def test_a_table_whose_continuations_go_in_a_circle_is_an_error_in_words(service: Service) -> None:
    async def answer(_: web.BaseRequest) -> web.StreamResponse:
        token = f"k{service.requests % 3}"
        headers = {"x-ms-continuation-NextPartitionKey": token, "x-ms-continuation-NextRowKey": token}
        return web.json_response({"value": []}, headers=headers)

    service.answer = answer
    address = f"http://127.0.0.1:{service.port}/a"
    storage = f"DefaultEndpointsProtocol=http;AccountName=a;AccountKey=a2V5;TableEndpoint={address};"
    tables = Tables.connect(connection_string=storage, endpoint=None, credential=None, prefix="t")
    with pytest.raises(StorageError, match="sent a marker of the next page twice"):
        await load_rows(tables["jobs"], "demo")
    await tables.close()
    assert service.requests < 12
