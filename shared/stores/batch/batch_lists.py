"""Reads lists and single resources of one Batch account without the SDK's models; follows pages, counts requests."""

from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from shared.domain.core.keys import key_of
from shared.domain.core.next_links import NextLinks
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.schedules.schedules import ScheduleFacts
from shared.errors import BatchAnswerError, RepeatedLinkError
from shared.stores.batch.batch import BatchAccount
from shared.stores.batch.batch_errors import parsed
from shared.stores.batch.batch_pool_rows import page_of

_MAX_PAGES = 1000


@dataclass(frozen=True, slots=True)
class ResourceList[T]:
    """All resources of a kind, and the date of the list's first response; only later changes may be missing.

    Resources created later, which further pages may show, are left out: nothing is known of them as of that date.
    `nonsense` are errors of invalid rows, by key.
    """

    resources: tuple[T, ...]
    date: datetime
    nonsense: Mapping[str, str] = field(default_factory=dict)


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
    ) -> list[tuple[T, datetime | None]]:
        """Returns the pages of a list with their dates; short and empty ones are normal.

        Raises BatchMissingError for a 404 with one of the codes `missing`, BatchError.
        """
        return [answer async for answer in self.each_page(url, intent, parse, missing=missing)]

    async def every[T: (PoolFacts, ScheduleFacts)](
        self, url: str, noun: str, parse: Callable[[bytes], T]
    ) -> ResourceList[T]:
        """Returns all resources of a kind, as of the second of the list, as dates of responses are whole seconds.

        Raises BatchError.
        """
        found = await self.pages(url, f"list {noun}s", lambda body: page_of(body, noun, parse))
        pages, date = [page for page, _ in found], found[0][1]
        if date is None:
            raise BatchAnswerError(f"{self.account.endpoint} sent a list of {noun}s that bears no date.")
        things = (one for page in pages for one in page.things if one.creation_time.replace(microsecond=0) <= date)
        nonsense = {key_of(name): why for page in pages for name, why in page.nonsense.items()}
        return ResourceList(tuple(things), date, nonsense)

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
