"""Lists and single things of one Batch account, past the SDK's models: pages are followed, requests are counted."""

from collections.abc import AsyncGenerator, Callable, Collection
from datetime import datetime
from urllib.parse import quote, urlencode

from shared.domain.core.next_links import NextLinks
from shared.errors import BatchAnswerError, RepeatedLinkError
from shared.stores.batch.batch import BatchAccount
from shared.stores.batch.batch_addresses import API_VERSION, PAGE
from shared.stores.batch.batch_rows import NONSENSE

_MOST_PAGES = 1000


class BatchLists:
    """`calls` counts the requests sent through this, which `source` counts, too."""

    def __init__(self, source: BatchAccount) -> None:
        self.source = source
        self.account = source.account
        self.calls = 0

    async def pages[T](
        self, url: str, intent: str, parse: Callable[[bytes], tuple[T, str | None]], *, missing: Collection[str] = ()
    ) -> tuple[list[T], list[datetime | None]]:
        """The pages of a list with their dates; short and empty ones are normal.

        Raises BatchMissingError for a 404 with one of the codes `missing`, BatchError.
        """
        found: list[T] = []
        dates: list[datetime | None] = []
        async for page, date in self.each_page(url, intent, parse, missing=missing):
            found.append(page)
            dates.append(date)
        return found, dates

    async def each_page[T](
        self, url: str, intent: str, parse: Callable[[bytes], tuple[T, str | None]], *, missing: Collection[str] = ()
    ) -> AsyncGenerator[tuple[T, datetime | None]]:
        """The same, each page as it comes: the next one is asked for when it is wanted. Raises BatchError."""
        link, links = url, NextLinks()
        for _ in range(_MOST_PAGES):
            body, date = await self._read(link, intent, missing)
            page, further = self._parsed(parse, body, intent)
            yield page, date
            if not further:
                return
            if links.is_repeat(further):
                raise RepeatedLinkError(self.account.endpoint, intent)
            link = further
        raise BatchAnswerError(f"{self.account.endpoint} sent more than {_MOST_PAGES} pages to {intent}.")

    async def one[T](self, url: str, intent: str, parse: Callable[[bytes], T], *, missing: Collection[str]) -> T:
        """One thing. Raises BatchMissingError where one of the codes `missing` says that there is none, BatchError."""
        body, _ = await self._read(url, intent, missing)
        return self._parsed(parse, body, intent)

    async def _read(self, url: str, intent: str, missing: Collection[str]) -> tuple[bytes, datetime | None]:
        self.calls += 1
        return await self.source.read(url, intent, missing=missing)

    def _parsed[T](self, parse: Callable[[bytes], T], body: bytes, intent: str) -> T:
        try:
            return parse(body)
        except NONSENSE as error:
            raise BatchAnswerError(
                f"{self.account.endpoint} sent an answer that makes no sense to the request to {intent}: {error!r}"
            ) from error


def query_of(fields: tuple[str, ...], condition: str | None = None, *, page: bool = True) -> str:
    """The query of a request for some properties (none: all) of a list that may be filtered, or of one thing.

    `page` False: that of one thing, or of a list whose pages are as long as the service likes.
    """
    chosen = {"$select": ",".join(fields)} if fields else {}
    size = {"maxresults": str(PAGE)} if page else {}
    filtered = {"$filter": condition} if condition else {}
    return urlencode({"api-version": API_VERSION, **size, **chosen, **filtered}, quote_via=quote)
