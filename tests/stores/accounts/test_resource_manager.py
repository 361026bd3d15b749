"""Requests to Azure Resource Manager: tokens for its clouds only, an answer of the right account, failures in words."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
import pytest_asyncio
from aiohttp import web

from shared.domain.accounts.accounts import Account, parse_accounts
from shared.domain.quotas.quota_settings import QuotaSettings
from shared.errors import QuotaError
from shared.stores.accounts.resource_manager import ResourceManager
from tests.stores.batch.test_batch_tokens import Refusing
from tests.stores.loopback import on_loopback

NOW = datetime(2026, 11, 30, tzinfo=UTC)
ID = (
    "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/rg/providers/Microsoft.Batch/batchAccounts/demo"
)
type Reply = Callable[[web.BaseRequest], web.StreamResponse]


@dataclass
class ManagementServer:
    """A server whose replies are taken in turn; it keeps the requests."""

    replies: list[Reply] = field(default_factory=list)
    requests: list[web.BaseRequest] = field(default_factory=list)
    port: int = 0

    async def serve(self, request: web.BaseRequest) -> web.StreamResponse:
        self.requests.append(request)
        return self.replies.pop(0)(request)

    def reader(self, *ids: str) -> tuple[ResourceManager, Account]:
        (account,), _ = parse_accounts(f"demo=http://127.0.0.1:{self.port}")
        settings = QuotaSettings(ids={"demo": ids or (ID,)}, local_url=f"http://127.0.0.1:{self.port}")
        return ResourceManager(settings, None, limit=timedelta(seconds=2)), account

    def answers(self, *hosts: str) -> None:
        for host in hosts:
            body = {"properties": {"accountEndpoint": host or f"127.0.0.1:{self.port}", "poolQuota": 20}}
            self.replies.append(_answering(body))


def _answering(body: object) -> Reply:
    return lambda _: web.json_response(body)


@pytest_asyncio.fixture
async def server() -> AsyncIterator[ManagementServer]:
    found = ManagementServer()
    async with on_loopback(found.serve) as found.port:
        yield found


async def test_an_account_on_this_machine_is_read_by_one_get_without_a_token(server: ManagementServer) -> None:
    server.answers("")
    reader, account = server.reader()
    assert (await reader.fetch_limits(account, NOW)).pools == 20
    (request,) = server.requests
    assert (request.method, str(request.rel_url)) == ("GET", f"{ID}?api-version=2024-07-01")
    assert "Authorization" not in request.headers


async def test_of_several_ids_the_one_with_the_accounts_host_counts(server: ManagementServer) -> None:
    server.answers("demo.elsewhere.batch.azure.com", "")
    reader, account = server.reader(ID.replace("/rg/", "/other/"), ID)
    assert (await reader.fetch_limits(account, NOW)).as_of == NOW
    server.answers("demo.elsewhere.batch.azure.com")
    reader, account = server.reader()
    with pytest.raises(QuotaError, match="None of the ids of demo in BATCH_ACCOUNT_IDS is that of"):
        await reader.fetch_limits(account, NOW)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (lambda _: web.json_response({}, status=403), r"answers 403: .* lacks Microsoft.Batch/batchAccounts/read on "),
        (lambda _: web.json_response({}, status=404), r"answers 404: there is no /subscriptions/.*BATCH_ACCOUNT_IDS"),
        (lambda _: web.json_response({}, status=429), "answers 429, not 200"),
        (lambda _: web.Response(status=307, headers={"Location": "http://127.0.0.1:1/"}), "answers 307, not 200"),
        (lambda _: web.Response(text="<html>"), "sent something else than a Batch account"),
        (lambda _: web.Response(text=" " * 1024 * 1025), "sent more than 1048576 bytes"),
    ],
)
async def test_failures_are_sentences(server: ManagementServer, reply: Reply, words: str) -> None:
    server.replies.append(reply)
    reader, account = server.reader()
    with pytest.raises(QuotaError, match=words):
        await reader.fetch_limits(account, NOW)


async def test_a_server_that_is_not_there_is_a_sentence(server: ManagementServer) -> None:
    (account,), _ = parse_accounts("demo=http://127.0.0.1:1")
    settings = QuotaSettings(ids={"demo": (ID,)}, local_url="http://127.0.0.1:1")
    with pytest.raises(QuotaError, match="can't be reached"):
        await ResourceManager(settings, None).fetch_limits(account, NOW)
    assert not server.requests


@pytest.mark.parametrize(
    ("host", "scope"),
    [
        ("demo.westeurope.batch.azure.com", "https://management.azure.com/.default"),
        ("demo.usgovvirginia.batch.usgovcloudapi.net", "https://management.usgovcloudapi.net/.default"),
        ("demo.chinaeast2.batch.chinacloudapi.cn", "https://management.chinacloudapi.cn/.default"),
    ],
)
async def test_tokens_are_of_the_accounts_cloud_and_their_lack_is_a_sentence(host: str, scope: str) -> None:
    (account,), _ = parse_accounts(f"https://{host}")
    credential = Refusing()
    reader = ResourceManager(QuotaSettings(ids={account.id: (ID,)}), credential)
    with pytest.raises(QuotaError, match=r"No token for https://management\..* can be had: no token"):
        await reader.fetch_limits(account, NOW)
    assert credential.scopes == [scope]
    with pytest.raises(QuotaError, match="has no identity"):
        await ResourceManager(QuotaSettings(ids={account.id: (ID,)}), None).fetch_limits(account, NOW)
