"""Reads Batch accounts from Azure Resource Manager: one GET each, with a token of its own scope.

Tokens go only to the addresses of Azure's clouds; an address on this machine gets none.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from urllib.parse import urlsplit

import aiohttp
from azure.core.credentials_async import AsyncTokenCredential
from azure.core.exceptions import AzureError
from yarl import URL

from shared.domain.accounts.accounts import Account, is_loopback
from shared.domain.quotas.quota_limits import AccountResource, QuotaLimits, account_resource
from shared.domain.quotas.quota_settings import QuotaSettings
from shared.domain.redaction.redaction import redacted
from shared.errors import QuotaError
from shared.stores.proxies import has_proxies
from shared.stores.tables.time_limit import LIMIT
from shared.version import VERSION

_API_VERSION = "2024-07-01"
_MAX_BYTES = 1024 * 1024
_OK, _REFUSED, _MISSING = 200, (401, 403), 404


class ResourceManager:
    """The accounts of some ids; `credential` gets tokens, None where all accounts are on this machine."""

    def __init__(
        self, settings: QuotaSettings, credential: AsyncTokenCredential | None, *, limit: timedelta = LIMIT
    ) -> None:
        self._settings = settings
        self._credential = credential
        self._limit = limit.total_seconds()

    async def fetch_limits(self, account: Account, now: datetime) -> QuotaLimits:
        """Returns the limits of an account, by the id whose answer names its host. Raises QuotaError."""
        endpoint, ids = self._settings.endpoint_of(account), self._settings.requests_for(account)
        if endpoint is None or not ids:
            raise QuotaError(f"The id of {account.id} in Azure Resource Manager isn't known.")
        found = [await self._fetch(endpoint, one, now) for one in ids]
        return _own(account, found).limits

    async def _fetch(self, endpoint: str, resource_id: str, now: datetime) -> AccountResource:
        headers = {"User-Agent": f"batchscope/{VERSION}", "Accept": "application/json", **await self._sign_in(endpoint)}
        body = await self._body(URL(f"{endpoint}{resource_id}?api-version={_API_VERSION}"), headers)
        try:
            return account_resource(body, now, self._settings.labels)
        except ValueError as error:
            raise QuotaError(f"{endpoint} sent something else than a Batch account: {error}.") from error

    async def _sign_in(self, endpoint: str) -> dict[str, str]:
        """Returns the header with a token. Raises QuotaError."""
        if is_loopback(endpoint):
            return {}
        if self._credential is None:
            raise QuotaError(f"The app has no identity for {endpoint}.")
        try:
            token = await self._credential.get_token(f"{endpoint}/.default")
        except AzureError as error:
            lines = str(error).splitlines() or [""]
            raise QuotaError(f"No token for {endpoint} can be had: {redacted(lines[0])}") from error
        return {"Authorization": f"Bearer {token.token}"}

    async def _body(self, url: URL, headers: dict[str, str]) -> bytes:
        """Returns the body of an answer. Raises QuotaError."""
        limit = aiohttp.ClientTimeout(total=self._limit)
        try:
            async with (
                aiohttp.ClientSession(timeout=limit, headers=headers, trust_env=has_proxies()) as session,
                session.get(url, allow_redirects=False) as response,
            ):
                if response.status != _OK:
                    raise QuotaError(_refusal(url, response.status))
                return await _whole(url, response.content)
        except TimeoutError as error:
            raise QuotaError(f"{url.host} sent no whole answer within {self._limit:g} s.") from error
        except aiohttp.ClientError as error:
            raise QuotaError(f"{url.host} can't be reached, or broke off: {type(error).__name__}.") from error


def _refusal(url: URL, status: int) -> str:
    if status in _REFUSED:
        return (
            f"{url.host} answers {status}: the app's identity lacks Microsoft.Batch/batchAccounts/read on {url.path},"
            " as Reader and Azure Batch Account Reader have it."
        )
    if status == _MISSING:
        return f"{url.host} answers {status}: there is no {url.path}; correct BATCH_ACCOUNT_IDS."
    return f"{url.host} answers {status}, not {_OK}."


async def _whole(url: URL, content: aiohttp.StreamReader) -> bytes:
    body = bytearray()
    async for chunk in content.iter_any():
        body += chunk
        if len(body) > _MAX_BYTES:
            raise QuotaError(f"{url.host} sent more than {_MAX_BYTES} bytes.")
    return bytes(body)


def _own(account: Account, found: Sequence[AccountResource]) -> AccountResource:
    """Returns the resource whose host is the account's. Raises QuotaError."""
    host = urlsplit(account.endpoint).netloc
    for one in found:
        if one.host == host:
            return one
    raise QuotaError(f"None of the ids of {account.id} in BATCH_ACCOUNT_IDS is that of {host}.")
