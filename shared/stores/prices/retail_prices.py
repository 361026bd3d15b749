"""Reads the Azure Retail Prices API: the rows of one VM size in one region, request by request, with pauses.

From its version 2023-01-01-preview on, values of filters are case-sensitive (documented). A size whose usual spelling
has no row is requested once more without a version, where they aren't.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from urllib.parse import quote, urlencode

import aiohttp
from yarl import URL

from shared.domain.core.next_links import NextLinks
from shared.domain.prices.retail_items import RetailPage, retail_page
from shared.domain.prices.size_names import arm_name
from shared.errors import PriceAnswerError, PriceSourceError
from shared.stores.proxies import has_proxies
from shared.stores.tables.time_limit import LIMIT
from shared.version import VERSION

_API_VERSION = "2023-01-01-preview"
_MAX_PAGES, _MAX_BYTES, _TRIES = 20, 4 * 1024 * 1024, 5
_FIRST_PAUSE, _MAX_PAUSE = timedelta(seconds=4), timedelta(seconds=60)
_THROTTLED, _FAILED, _OK = 429, 500, 200


class _BusyError(Exception):
    """A failed request that may succeed later, and for how many seconds the list wants none."""

    def __init__(self, why: str, seconds: float = 0) -> None:
        super().__init__(why)
        self.seconds = seconds


class RetailPrices:
    """The list at an address. After a failed request it pauses, longer each time, `first_pause` at first."""

    def __init__(self, url: str, *, first_pause: timedelta = _FIRST_PAUSE, limit: timedelta = LIMIT) -> None:
        self._url = URL(url)
        self._first_pause = first_pause.total_seconds()
        self._limit = limit.total_seconds()

    async def fetch(self, vm_size: str, region: str, currency: str) -> RetailPage:
        """Returns all rows of a VM size in a region, both in lower case. Raises PriceSourceError."""
        async with self._session() as session:
            found = await self._pages(session, self._address(arm_name(vm_size), region, currency, _API_VERSION))
            if any(item.is_of(vm_size, region) for item in found.items) or found.unread:
                return found
            return await self._pages(session, self._address(vm_size, region, currency, None))

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[aiohttp.ClientSession]:
        limit = aiohttp.ClientTimeout(total=self._limit)
        headers = {"User-Agent": f"batchscope/{VERSION}", "Accept": "application/json"}
        async with aiohttp.ClientSession(timeout=limit, headers=headers, trust_env=has_proxies()) as session:
            yield session

    def _address(self, vm_size: str, region: str, currency: str, version: str | None) -> URL:
        values = {"serviceName": "Virtual Machines", "armRegionName": region, "armSkuName": vm_size}
        wanted = " and ".join(f"{name} eq {_literal(value)}" for name, value in values.items())
        query = {"currencyCode": _literal(currency), "$filter": wanted}
        text = urlencode({"api-version": version, **query} if version else query, quote_via=quote, safe="$")
        return URL(f"{self._url}?{text}", encoded=True)

    async def _pages(self, session: aiohttp.ClientSession, address: URL) -> RetailPage:
        found, links, link = RetailPage(()), NextLinks(), address
        for _ in range(_MAX_PAGES):
            page = self._page_of(await self._body(session, link))
            found = found.with_page(page)
            if page.link is None:
                return found
            if links.is_repeat(page.link):
                raise PriceAnswerError(f"{self._url} sent a next link twice, so its list never ends.")
            link = self._own(page.link)
        raise PriceAnswerError(f"{self._url} sent more than {_MAX_PAGES} pages of one size.")

    def _page_of(self, body: bytes) -> RetailPage:
        try:
            return retail_page(body)
        except ValueError as error:
            raise PriceAnswerError(f"{self._url} sent something else than a page of prices: {error}.") from error

    def _own(self, link: str) -> URL:
        """Returns a next link that stays at the list. Raises PriceAnswerError."""
        try:
            url = URL(link.replace(" ", "%20"), encoded=True)
            is_own = link.isprintable() and (url.scheme, url.host, url.port, url.path, url.user) == (
                *(self._url.scheme, self._url.host, self._url.port, self._url.path),
                None,
            )
        except ValueError:
            is_own = False
        if not is_own:
            raise PriceAnswerError(f"{self._url} sent a next link that leads elsewhere.")
        return url

    async def _body(self, session: aiohttp.ClientSession, link: URL, number: int = 1) -> bytes:
        """Returns the body at a link by the try of a number or a later one. Raises PriceSourceError."""
        try:
            return await self._sent(session, link)
        except _BusyError as error:
            if number == _TRIES:
                raise PriceSourceError(f"{self._url} {error}, after {number} tries.") from error
            pause = max(self._first_pause * 2 ** (number - 1), error.seconds)
        await asyncio.sleep(min(pause, _MAX_PAUSE.total_seconds()))
        return await self._body(session, link, number + 1)

    async def _sent(self, session: aiohttp.ClientSession, link: URL) -> bytes:
        """Returns the body of one request. Raises _BusyError, PriceAnswerError."""
        try:
            async with session.get(link, allow_redirects=False) as response:
                if response.status == _THROTTLED or response.status >= _FAILED:
                    raise _BusyError(f"answers {response.status}", _seconds(response.headers.get("Retry-After")))
                if response.status != _OK:
                    raise PriceAnswerError(f"{self._url} answers {response.status}, not {_OK}.")
                return await self._whole(response.content)
        except TimeoutError as error:
            raise _BusyError(f"sent no whole answer within {self._limit:g} s") from error
        except aiohttp.ClientError as error:
            raise _BusyError(f"can't be reached, or broke off: {type(error).__name__}") from error

    async def _whole(self, content: aiohttp.StreamReader) -> bytes:
        body = bytearray()
        async for chunk in content.iter_any():
            body += chunk
            if len(body) > _MAX_BYTES:
                raise PriceAnswerError(f"{self._url} sent a page of more than {_MAX_BYTES} bytes.")
        return bytes(body)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _seconds(text: str | None) -> float:
    """Returns the seconds of a Retry-After; a date, or nonsense, is 0."""
    return float(text) if text and text.isascii() and text.isdecimal() and len(text) < len("10000") else 0
