"""Reads the pools of one Batch account and their nodes without the SDK's models; never writes."""

from collections.abc import AsyncGenerator, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from shared.domain.core.keys import key_of
from shared.domain.core.stamps import to_milliseconds
from shared.domain.nodes.nodes import Node, NodeCounts
from shared.domain.pools.pool_facts import PoolFacts
from shared.errors import BatchMissingError
from shared.stores.batch.batch import BatchAccount
from shared.stores.batch.batch_addresses import literal, query_of
from shared.stores.batch.batch_lists import BatchLists, ResourceList
from shared.stores.batch.batch_node_rows import AGENT, NODE_FIELDS, RECENT, counts_of, known_nodes_of, node_of, nodes_of
from shared.stores.batch.batch_pool_rows import pool_fields, pool_of

_NO_POOL = ("PoolNotFound",)
_NO_NODE = ("NodeNotFound", *_NO_POOL)
_START_FIELDS = ("id", "state", "startTaskInfo")


@dataclass(frozen=True, slots=True)
class NodeList:
    """The nodes of a list in its order, and its number of pages."""

    nodes: tuple[Node, ...]
    pages: int


class NodeListCache:
    """The last node list of each pool, for all accounts of a process, up to `most` nodes in total.

    Lists beyond that aren't cached: otherwise pools polled in turn would evict each other's.
    """

    def __init__(self, most: int = 20_000) -> None:
        self._most = most
        self._pools: dict[tuple[str, str], Mapping[bytes, Node]] = {}
        self._nodes = 0

    def take(self, account_key: str, pool_id: str) -> Mapping[bytes, Node]:
        """Removes and returns the cached nodes of a pool."""
        nodes = self._pools.pop((account_key, pool_id), {})
        self._nodes -= len(nodes)
        return nodes

    def keep(self, account_key: str, pool_id: str, nodes: Mapping[bytes, Node]) -> None:
        """Caches the nodes of a pool if there is room."""
        self.take(account_key, pool_id)
        if self._nodes + len(nodes) <= self._most:
            self._pools[account_key, pool_id] = nodes
            self._nodes += len(nodes)

    def forget_others(self, account_key: str, pool_ids: Collection[str]) -> None:
        """Removes deleted pools of an account."""
        for account, pool in list(self._pools):
            if account == account_key and pool not in pool_ids:
                self.take(account, pool)


class BatchPools(BatchLists):
    """One account's pools and nodes.

    Most nodes of a full list are unchanged since the previous one, so `cache` keeps these by their bytes.
    """

    def __init__(self, source: BatchAccount, cache: NodeListCache | None = None) -> None:
        super().__init__(source)
        self._cache = cache or NodeListCache()

    async def fetch_pools(self) -> ResourceList[PoolFacts]:
        """Returns all pools, at most 500, as no filter selects changed sizes. Raises BatchError."""
        found = await self.every(f"/pools?{self._pool_query()}", "pool", pool_of)
        self._cache.forget_others(self.account.key, {pool.id for pool in found.resources})
        return found

    async def fetch_pool(self, pool_id: str) -> PoolFacts:
        """Returns one pool. Raises BatchMissingError if it doesn't exist, BatchError."""
        url = f"/pools/{quote(pool_id, safe='')}?{self._pool_query(page=False)}"
        return await self.one(url, f"get the pool '{pool_id}'", pool_of, missing=_NO_POOL)

    async def node_counts(self) -> AsyncGenerator[dict[str, NodeCounts]]:
        """Yields nodes by state of every pool, by pool key, which "may not always be up to date". Raises BatchError.

        The service sends ten pools on a page and may refuse larger pages; each page is of another moment.
        """
        url = f"/nodecounts?{query_of((), page=False, version=self.source.pool_version)}"
        async for page, _ in self.each_page(url, "count nodes", counts_of):
            yield {key_of(name): counts for name, counts in page.items()}

    async def fetch_nodes(
        self,
        pool_id: str,
        *,
        changed_since: datetime | None = None,
        recent_as_of: datetime | None = None,
        agents: bool = False,
    ) -> NodeList:
        """Returns all nodes of a pool, or those whose state changed at or after a time.

        `recent_as_of` adds their recent tasks, which are ten times the rest, `agents` the versions of their agents, a
        fifth of it; a list of changes has these in any case. Raises BatchError; BatchMissingError if the pool is gone.
        """
        fields = (*NODE_FIELDS, RECENT) if recent_as_of else NODE_FIELDS
        fields = (*fields, AGENT) if agents or changed_since else fields
        condition = f"stateTransitionTime ge {literal(changed_since)}" if changed_since else None
        recent_at = to_milliseconds(recent_as_of) if recent_as_of else 0
        url = f"/pools/{quote(pool_id, safe='')}/nodes?{query_of(fields, condition, version=self.source.pool_version)}"
        if not recent_as_of and not changed_since:
            return await self._fetch_known(pool_id, url)
        intent = f"list the nodes of '{pool_id}'"
        found = await self.pages(url, intent, lambda body: nodes_of(body, recent_at), missing=_NO_POOL)
        return NodeList(tuple(node for page, _ in found for node in page), len(found))

    async def fetch_node(self, pool_id: str, node_id: str) -> Node | None:
        """Returns the id, state and start task of one node, or None. Raises BatchError."""
        pool, node = quote(pool_id, safe=""), quote(node_id, safe="")
        url = f"/pools/{pool}/nodes/{node}?{query_of(_START_FIELDS, page=False, version=self.source.pool_version)}"
        try:
            return await self.one(url, f"get the node '{node_id}' of '{pool_id}'", node_of, missing=_NO_NODE)
        except BatchMissingError:
            return None

    def _pool_query(self, *, page: bool = True) -> str:
        version = self.source.pool_version
        return query_of(pool_fields(version), page=page, version=version)

    async def _fetch_known(self, pool_id: str, url: str) -> NodeList:
        known = self._cache.take(self.account.key, pool_id)
        intent = f"list the nodes of '{pool_id}'"
        found = await self.pages(url, intent, lambda body: known_nodes_of(body, known), missing=_NO_POOL)
        self._cache.keep(self.account.key, pool_id, {raw: node for page, _ in found for raw, node in page})
        return NodeList(tuple(node for page, _ in found for _, node in page), len(found))
