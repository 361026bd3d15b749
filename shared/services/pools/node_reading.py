"""Reads a pool's nodes: those that changed where that can be exact, else all of them.

A list of changes shows no node that is gone, and no task that began or ended on a node that runs others. So it serves
for pools that weren't resized and where nothing runs, before and after it, and counts as exact only if both the
service's node counts and the size in its list of pools are the same; any difference is answered by a list of all nodes
at once, which the service calls exact.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from shared.domain.core.stamps import to_milliseconds
from shared.domain.nodes.interruptions import Tally
from shared.domain.nodes.nodes import Node, NodeCounts, are_settled, flapping_of, merged, summary_of, tallied
from shared.domain.polling.pool_rounds import doubt_of
from shared.domain.pools.pools import NodesPicture, Pool, PoolFacts
from shared.stores.batch.batch_pools import BatchPools
from shared.stores.pools.nodes import StoredNodes

_SOONER = 5
type NodesRead = tuple[NodesPicture, Mapping[str, Node]]


class NodeReading:
    """`overlap` is how much of the past a list of changes repeats, `full_list_interval` how old a full one may get."""

    def __init__(self, source: BatchPools, *, overlap: timedelta, full_list_interval: timedelta) -> None:
        self._source = source
        self._overlap = overlap
        self._full_list_interval = full_list_interval
        self._told_none: dict[str, set[str]] = {}  # by pool: nodes that ran tasks, of which our last list told none

    def forget(self, pool_id: str) -> None:
        """Of a pool that is gone."""
        self._told_none.pop(pool_id, None)

    async def read(self, pool: Pool, stored: StoredNodes, counts: NodeCounts | None, t0: datetime) -> NodesRead:
        """The nodes of a pool as of `t0`, and what to say of them; the digest is that of `stored`. Raises BatchError.

        `counts` are the service's (None: not known), `stored` is what was known before anything was listed.
        """
        picture = pool.picture
        stored = _of_this_pool(pool, stored)
        if pool.facts.is_empty and counts == ():
            return _picture(pool, stored, {}, t0, t0), {}
        since = picture.as_of - self._overlap if picture else t0
        if picture and self._may_rest(pool, counts, since, t0):
            told = await self._source.fetch_nodes(pool.facts.id, changed_since=since, recent_as_of=t0)
            nodes = _merged(pool, stored, told.nodes, t0, whole=False)
            found = _picture(pool, stored, nodes, t0, picture.full_read_at)
            agrees = found.summary.counts == counts and found.summary.total == pool.facts.nodes
            if agrees and told.pages == 1 and found.summary.is_settled:
                return found, nodes
        return await self._read_all(pool, stored, counts, t0)

    def _may_rest(self, pool: Pool, counts: NodeCounts | None, since: datetime, t0: datetime) -> bool:
        """True where a list of changes `since` then may do: no node has come or gone, and nothing runs."""
        if counts is None or not are_settled(counts) or _may_be_resized(pool.facts, since):
            return False
        return not pool.wants_all_nodes(t0, self._full_list_interval)

    async def _read_all(self, pool: Pool, stored: StoredNodes, counts: NodeCounts | None, t0: datetime) -> NodesRead:
        """All nodes; with their recent tasks now and then only, as these are ten times the rest.

        Sooner where none is known of a node that has run some, unless this process' last such list told none of it.
        """
        picture = pool.picture
        is_full = picture is None or stored.is_torn or t0 - picture.full_read_at >= self._interval(pool, stored)
        told = await self._source.fetch_nodes(pool.facts.id, recent_as_of=t0 if is_full else None)
        nodes = _merged(pool, stored, told.nodes, t0, whole=True)
        if is_full:
            self._told_none[pool.facts.id] = _without_recent(nodes)
        full_read_at = t0 if picture is None or is_full else picture.full_read_at
        return _picture(pool, stored, nodes, t0, full_read_at, counts=counts, pages=told.pages), nodes

    def _interval(self, pool: Pool, stored: StoredNodes) -> timedelta:
        may_be_told = _without_recent(stored.nodes) - self._told_none.get(pool.facts.id, set())
        return self._full_list_interval / _SOONER if may_be_told else self._full_list_interval


def _without_recent(nodes: Mapping[str, Node]) -> set[str]:
    return {key for key, node in nodes.items() if node.tasks_run and not node.recent}


def _may_be_resized(facts: PoolFacts, since: datetime) -> bool:
    """True where nodes may have come and others gone since then, whatever their number is now."""
    at = facts.allocation_state_transition_time
    return facts.allocation_state not in {None, "steady"} or (at is not None and at >= since)


def may_be_anothers(pool: Pool, stored: StoredNodes, nodes: Mapping[str, Node], known_until: datetime) -> bool:
    """True where the nodes that were read may be those of a pool made anew under the id since `known_until`.

    All of its nodes are younger; it may have none yet, where this one had some or was about to.
    """
    if not nodes:
        return bool(stored.nodes) or not pool.facts.is_empty
    since = to_milliseconds(known_until)
    return any((node.allocated or node.transition) >= since for node in nodes.values())


def _of_this_pool(pool: Pool, stored: StoredNodes) -> StoredNodes:
    """What was stored, without what is left of a pool that had the same id before."""
    is_older = stored.tally is not None and stored.tally.since < _created(pool)
    return replace(stored, tally=None, nodes={}, is_torn=True) if is_older else stored


def _created(pool: Pool) -> int:
    """Milliseconds since 1970, as exact as the dates of answers are."""
    return to_milliseconds(pool.facts.creation_time.replace(microsecond=0))


def _merged(pool: Pool, stored: StoredNodes, told: Sequence[Node], t0: datetime, *, whole: bool) -> dict[str, Node]:
    """Nodes of which a crash left no pool were known when they were first counted."""
    known_as_of = stored.tally.since if stored.tally else None
    if pool.picture:
        known_as_of = to_milliseconds(pool.picture.as_of)
    return merged(stored.nodes, told, whole=whole, at=to_milliseconds(t0), known_as_of=known_as_of)


def _picture(
    pool: Pool,
    stored: StoredNodes,
    nodes: Mapping[str, Node],
    t0: datetime,
    full_read_at: datetime,
    *,
    counts: NodeCounts | None = (),
    pages: int | None = None,
) -> NodesPicture:
    """`pages` None: only changes were listed, or nothing had to be."""
    summary = summary_of(nodes.values(), pool.facts.slots_per_node)
    return NodesPicture(
        as_of=t0,
        full_read_at=full_read_at,
        source="firstRead" if pool.picture is None else "delta" if pages is None else "fullRead",
        summary=summary,
        digest=stored.digest,
        doubt=doubt_of(summary, counts, pages=pages or 1),
        tally=tallied(_tally(pool, stored, t0), stored.nodes, nodes),
        flapping=flapping_of(nodes.values()),
    )


def _tally(pool: Pool, stored: StoredNodes, t0: datetime) -> Tally:
    """What was counted of this pool, which begins no earlier than itself."""
    before = stored.tally or (pool.picture.tally if pool.picture else None)
    return before if before and before.since >= _created(pool) else Tally(max(to_milliseconds(t0), _created(pool)))
