"""Reads lists and single resources of one Batch account without the SDK's models; follows pages, counts requests."""

from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Iterator
from datetime import datetime
from typing import Protocol

from shared.domain.core.next_links import NextLinks
from shared.errors import BatchAnswerError, RepeatedLinkError
from shared.stores.batch.batch import BatchAccount
from shared.stores.batch.batch_errors import parsed

_MAX_PAGES = 1000


class BatchLists:
    """Lists and single resources; `calls` counts the requests sent here, which `source` counts too.

    `explains` False: errors of parsing name only their kind, as answers may hold secrets.
    """

    def __init__(self, source: BatchAccount, *, explains: bool = True) -> None:
        self.source = source
        self._explains = explains
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
            (page, further), date = await self._read(link, intent, parse, missing)
            if further and links.is_repeat(further):
                raise RepeatedLinkError(self.account.endpoint, intent)
            yield page, date
            if not further:
                return
            link = further
        raise BatchAnswerError(f"{self.account.endpoint} sent more than {_MAX_PAGES} pages to {intent}.")

    async def one[T](self, url: str, intent: str, parse: Callable[[bytes], T], *, missing: Collection[str] = ()) -> T:
        """Returns one resource. Raises BatchMissingError for a 404 with one of the codes `missing`, BatchError."""
        found, _ = await self._read(url, intent, parse, missing)
        return found

    async def _read[T](
        self, url: str, intent: str, parse: Callable[[bytes], T], missing: Collection[str]
    ) -> tuple[T, datetime | None]:
        self.calls += 1
        body, date = await self.source.read(url, intent, missing=missing)
        return parsed(self.account, body, parse, intent, explains=self._explains), date


class RecreatableResource(Protocol):
    """Something that can be deleted and re-created under its id."""

    @property
    def creation_time(self) -> datetime: ...


def existing_at[T: RecreatableResource](date: datetime, listed: Iterable[T]) -> Iterator[T]:
    """Yields what wasn't created after the second of `date`, as dates of responses are whole seconds."""
    return (one for one in listed if one.creation_time.replace(microsecond=0) <= date)
