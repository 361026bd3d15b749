"""Reports on a failing Batch account, by the official client against a server on this machine."""

import asyncio
import base64
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest
import pytest_asyncio
from aiohttp import web

from shared.domain.accounts.accounts import Account
from shared.errors import (
    BatchAnswerError,
    BatchError,
    BatchRefusedError,
    BatchThrottledError,
    BatchUnreachableError,
)
from shared.stores.batch.batch import BatchAccount

type Answer = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
KEY = base64.b64encode(b"k" * 64).decode()
WHOLE = json.dumps({"value": []}).encode()
PATIENCE = timedelta(seconds=10)


class Service:
    """A server; `answer` handles every request, `requests` counts them."""

    def __init__(self) -> None:
        self.answer: Answer = refusing(500)
        self.requests = 0
        self.port = 0

    async def serve(self, request: web.BaseRequest) -> web.StreamResponse:
        self.requests += 1
        return await self.answer(request)


@pytest_asyncio.fixture
async def service() -> AsyncIterator[Service]:
    found = Service()
    runner = web.ServerRunner(web.Server(found.serve), shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    found.port = runner.addresses[0][1]
    yield found
    await runner.cleanup()


@contextlib.asynccontextmanager
async def opened(service: Service, limit: timedelta) -> AsyncIterator[BatchAccount]:
    watched = Account("demo", "demo", "demo", None, f"http://127.0.0.1:{service.port}")
    account = BatchAccount.connect(watched, key=KEY, credential=None, limit=limit)
    yield account
    await account.close()


@pytest_asyncio.fixture
async def account(service: Service) -> AsyncIterator[BatchAccount]:
    """Yields a connection with a limit that a busy machine keeps, too."""
    async with opened(service, PATIENCE) as account:
        yield account


def refusing(status: int, code: str = "", words: str = "In words.", **headers: str) -> Answer:
    async def answer(_: web.BaseRequest) -> web.StreamResponse:
        body = {"code": code, "message": {"lang": "en-US", "value": f"{words}\nRequestId:1"}} if code else {}
        return web.json_response(body, status=status, headers={k.replace("_", "-"): v for k, v in headers.items()})

    return answer


async def hang(_: web.BaseRequest) -> web.StreamResponse:
    await asyncio.sleep(60)
    return web.Response()


async def trickle(request: web.BaseRequest) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    while True:
        await response.write(b" ")
        await asyncio.sleep(0.1)


async def cut(request: web.BaseRequest) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(len(WHOLE))})
    await response.prepare(request)
    await response.write(WHOLE[: len(WHOLE) // 2])
    if request.transport:
        request.transport.close()
    return response


async def page_of_html(_: web.BaseRequest) -> web.StreamResponse:
    return web.Response(text="<html><body>Welcome to the proxy</body></html>", content_type="text/html")


async def drop(request: web.BaseRequest) -> web.StreamResponse:
    if request.transport:
        request.transport.close()
    return web.Response()


CASES: dict[str, tuple[Answer, type[BatchError], str]] = {
    "no permission": (refusing(403, "PermissionDenied"), BatchRefusedError, "'Azure Batch Account Reader'"),
    "a wrong key": (refusing(403, "AuthenticationFailed"), BatchRefusedError, "key of 'demo' in BATCH_ACCOUNT_KEYS"),
    "a wrong key, answered by 401": (refusing(401, "AuthenticationFailed"), BatchRefusedError, "BATCH_ACCOUNT_KEYS"),
    "throttling": (refusing(429, "TooManyRequests", Retry_After="300"), BatchThrottledError, "next try is in 300 s"),
    "busy": (refusing(503, "ServerBusy"), BatchThrottledError, r"too busy to answer \(503\); the next try is in 30 s"),
    "hanging": (hang, BatchUnreachableError, "no whole answer within 0.5 s"),
    "trickling": (trickle, BatchUnreachableError, "no whole answer within 0.5 s"),
    "cut short": (cut, BatchAnswerError, "cut its answer to the request to .* short"),
    "nonsense": (page_of_html, BatchAnswerError, "makes no sense"),
    "dropping": (drop, BatchUnreachableError, "can't be reached"),
    "breaking": (refusing(500, "InternalError"), BatchAnswerError, "answered 500 InternalError"),
    "a proxy's 404": (refusing(404), BatchAnswerError, "answered 404 without an error code"),
    "a 404 of something else": (refusing(404, "ResourceNotFound"), BatchAnswerError, "answered 404 ResourceNotFound"),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("read", ["jobs", "job", "tasks", "counts", "task in full"])
async def test_every_way_to_fail_has_its_error_message(service: Service, case: str, read: str) -> None:
    service.answer, kind, words = CASES[case]
    limit = timedelta(seconds=0.5) if service.answer in (hang, trickle) else PATIENCE
    async with opened(service, limit) as account:
        with pytest.raises(kind, match=words) as caught:
            await asyncio.wait_for(_read(account, read), 5)
    assert account.account.endpoint in str(caught.value)


async def _read(account: BatchAccount, read: str) -> None:
    match read:
        case "jobs":
            await account.fetch_jobs()
        case "job":
            await account.fetch_job("Render")
        case "counts":
            await account.fetch_task_counts("Render")
        case "task in full":
            await account.fetch_task_details("Render", "task-1")
        case _:
            async for _ in account.fetch_task_pages("Render"):
                pass


async def test_a_closed_port_is_unreachable(account: BatchAccount, service: Service) -> None:
    nowhere = Account("demo", "demo", "demo", None, "http://127.0.0.1:1")
    closed = BatchAccount.connect(nowhere, key=KEY, credential=None)
    with pytest.raises(BatchUnreachableError, match="can't be reached"):
        await closed.fetch_jobs()
    with contextlib.suppress(BatchError):
        await closed.close()


async def test_a_list_of_many_pages_may_take_longer_than_one_answer(service: Service) -> None:
    async def page(request: web.BaseRequest) -> web.StreamResponse:
        await asyncio.sleep(0.15)
        link = {"odata.nextLink": f"http://{request.host}/jobs?p={service.requests}"} if service.requests < 8 else {}
        return web.json_response({"value": [], **link})

    service.answer = page
    async with opened(service, timedelta(seconds=1)) as account:
        await account.fetch_jobs()
    assert service.requests == 8


async def test_a_list_of_many_pages_is_dated_by_its_first(service: Service, account: BatchAccount) -> None:
    """Later changes may be missing from earlier pages."""

    async def page(request: web.BaseRequest) -> web.StreamResponse:
        link = {"odata.nextLink": f"http://{request.host}/jobs?p={service.requests}"} if service.requests < 3 else {}
        date = f"Sat, 21 Nov 2026 07:00:{service.requests:02} GMT"
        return web.json_response({"value": [], **link}, headers={"Date": date})

    service.answer = page
    assert (await account.fetch_jobs()).date == datetime(2026, 11, 21, 7, 0, 1, tzinfo=UTC)
    assert service.requests == 3


async def test_a_secret_in_an_error_of_the_service_is_not_repeated(service: Service, account: BatchAccount) -> None:
    for status in (400, 403, 404):
        words = "No access to https://a.example/c?sv=1&sig=Tr0ub4dor by AccountKey=Tr0ub4dor"
        service.answer = refusing(status, "Odd", words)
        with pytest.raises(BatchError) as caught:
            await account.fetch_jobs()
        assert "No access to https://a.example/c" in str(caught.value)
        assert "Tr0ub4dor" not in str(caught.value)
