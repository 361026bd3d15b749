"""Reads the pools of one Batch account and their nodes, past the SDK's models. It only ever reads."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote, urlencode

from shared.domain.keys import key_of
from shared.domain.nodes import Node, NodeCounts
from shared.domain.pools import PoolFacts
from shared.domain.stamps import to_milliseconds
from shared.errors import BatchAnswerError
from shared.stores.batch import API_VERSION, PAGE, BatchAccount, literal
from shared.stores.batch_node_rows import NODE_FIELDS, RECENT, counts_of, nodes_of
from shared.stores.batch_pool_rows import POOL_FIELDS, pool_of, pools_of
from shared.stores.batch_rows import NONSENSE

_MOST_PAGES = 1000


@dataclass(frozen=True, slots=True)
class PoolList:
    """All pools of an account, and the date of the list's first response: what happened before it is in there."""

    pools: tuple[PoolFacts, ...]
    date: datetime


@dataclass(frozen=True, slots=True)
class NodeList:
    """Nodes of a list, in the order in which they came, and on how many pages."""

    nodes: tuple[Node, ...]
    pages: int


class BatchPools:
    """One account's pools and nodes. `calls` counts the requests sent, which `source` counts, too."""

    def __init__(self, source: BatchAccount) -> None:
        self.source = source
        self.account = source.account
        self.calls = 0

    async def fetch_pools(self) -> PoolList:
        """All pools: there are 500 at most, and no filter finds those whose sizes changed. Raises BatchError."""
        url = f"/pools?{_query(POOL_FIELDS)}"
        found, dates = await self._pages(url, "list pools", pools_of)
        if not dates or dates[0] is None:
            raise BatchAnswerError(f"{self.account.endpoint} sent a list of pools that bears no date.")
        return PoolList(tuple(pool for page in found for pool in page), dates[0])

    async def fetch_pool(self, pool_id: str) -> PoolFacts:
        """One pool. Raises BatchMissingError where there is none, BatchError."""
        query = urlencode({"api-version": API_VERSION, "$select": ",".join(POOL_FIELDS)}, quote_via=quote)
        intent = f"get the pool '{pool_id}'"
        body, _ = await self._read(f"/pools/{quote(pool_id, safe='')}?{query}", intent)
        return self._parsed(pool_of, body, intent)

    async def fetch_node_counts(self) -> dict[str, NodeCounts]:
        """Nodes by state of every pool, by pool key, which "may not always be up to date". Raises BatchError."""
        found, _ = await self._pages(f"/nodecounts?{_query(())}", "count nodes", counts_of)
        return {key_of(name): counts for page in found for name, counts in page.items()}

    async def fetch_nodes(
        self, pool_id: str, *, changed_since: datetime | None = None, recent_as_of: datetime | None = None
    ) -> NodeList:
        """All nodes of a pool, or those whose state changed at or after a time.

        With `recent_as_of` their recent tasks, too, which are ten times the rest. Raises BatchError; BatchMissingError
        where the pool is gone.
        """
        fields = (*NODE_FIELDS, RECENT) if recent_as_of else NODE_FIELDS
        condition = {"$filter": f"stateTransitionTime ge {literal(changed_since)}"} if changed_since else {}
        recent_at = to_milliseconds(recent_as_of) if recent_as_of else 0
        url = f"/pools/{quote(pool_id, safe='')}/nodes?{_query(fields, **condition)}"
        found, _ = await self._pages(url, f"list the nodes of '{pool_id}'", lambda body: nodes_of(body, recent_at))
        return NodeList(tuple(node for page in found for node in page), len(found))

    async def _pages[T](
        self, url: str, intent: str, parse: Callable[[bytes], tuple[T, str | None]]
    ) -> tuple[list[T], list[datetime | None]]:
        """The pages of a list with their dates; short and empty ones are normal. Raises BatchError."""
        found: list[T] = []
        dates: list[datetime | None] = []
        link: str | None = url
        while link:
            if len(found) == _MOST_PAGES:
                raise BatchAnswerError(f"{self.account.endpoint} sent more than {_MOST_PAGES} pages to {intent}.")
            body, date = await self._read(link, intent)
            page, link = self._parsed(parse, body, intent)
            found.append(page)
            dates.append(date)
        return found, dates

    async def _read(self, url: str, intent: str) -> tuple[bytes, datetime | None]:
        self.calls += 1
        return await self.source.read(url, intent)

    def _parsed[T](self, parse: Callable[[bytes], T], body: bytes, intent: str) -> T:
        try:
            return parse(body)
        except NONSENSE as error:
            raise BatchAnswerError(
                f"{self.account.endpoint} sent an answer that makes no sense to the request to {intent}: {error!r}"
            ) from error


def _query(fields: tuple[str, ...], **further: str) -> str:
    chosen = {"$select": ",".join(fields)} if fields else {}
    return urlencode({"api-version": API_VERSION, "maxresults": str(PAGE), **chosen, **further}, quote_via=quote)
