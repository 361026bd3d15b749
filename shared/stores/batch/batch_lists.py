"""Reads lists and single resources of one Batch account without the SDK's models; follows pages, counts requests."""

from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Iterator
from datetime import datetime
from typing import Protocol
from urllib.parse import quote, urlencode

from shared.domain.core.next_links import NextLinks
from shared.errors import BatchAnswerError, RepeatedLinkError
from shared.stores.batch.batch import BatchAccount
from shared.stores.batch.batch_addresses import API_VERSION, PAGE
from shared.stores.batch.batch_rows import NONSENSE

_MAX_PAGES = 1000


class BatchLists:
    """Lists and single resources; `calls` counts the requests sent here, which `source` counts too."""

    def __init__(self, source: BatchAccount) -> None:
        self.source = source
        self.account = source.account
        self.calls = 0

    async def pages[T](
        self, url: str, intent: str, parse: Callable[[bytes], tuple[T, str | None]], *, missing: Collection[str] = ()
    ) -> tuple[list[T], list[datetime | None]]:
        """Returns the pages of a list with their dates; short and empty ones are normal.

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
        """Yields each page as it arrives; the next one is requested on demand. Raises BatchError."""
        link, links = url, NextLinks()
        for _ in range(_MAX_PAGES):
            body, date = await self._read(link, intent, missing)
            page, further = self._parsed(parse, body, intent)
            yield page, date
            if not further:
                return
            if links.is_repeat(further):
                raise RepeatedLinkError(self.account.endpoint, intent)
            link = further
        raise BatchAnswerError(f"{self.account.endpoint} sent more than {_MAX_PAGES} pages to {intent}.")

    async def one[T](self, url: str, intent: str, parse: Callable[[bytes], T], *, missing: Collection[str]) -> T:
        """Returns one resource. Raises BatchMissingError for a 404 with one of the codes `missing`, BatchError."""
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


class RecreatableResource(Protocol):
    """Something that can be deleted and re-created under its id."""

    @property
    def creation_time(self) -> datetime: ...


def existing_at[T: RecreatableResource](date: datetime, listed: Iterable[T]) -> Iterator[T]:
    """Yields what wasn't created after the second of `date`, as dates of responses are whole seconds."""
    return (one for one in listed if one.creation_time.replace(microsecond=0) <= date)


def query_of(fields: tuple[str, ...], condition: str | None = None, *, page: bool = True) -> str:
    """Returns the query for some properties (none: all) of a filtered list, or of one resource.

    `page` False: for one resource, or for a list whose page size the service chooses.
    """
    chosen = {"$select": ",".join(fields)} if fields else {}
    size = {"maxresults": str(PAGE)} if page else {}
    filtered = {"$filter": condition} if condition else {}
    return urlencode({"api-version": API_VERSION, **size, **chosen, **filtered}, quote_via=quote)
