"""Reads a pool's nodes: only the changed ones if that is exact, otherwise all.

A list of changes doesn't show deleted nodes, nor tasks that began or ended on nodes with other running tasks. So it
serves only for pools without a resize or running tasks, before and after it. It counts as exact only if the service's
node counts and the size in the pool list agree; otherwise one exact list of all nodes follows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from shared.domain.core.stamps import to_milliseconds
from shared.domain.nodes.interruptions import InterruptionCount
from shared.domain.nodes.nodes import Node, NodeCounts, are_settled, flapping_of, merged, summary_of, tallied
from shared.domain.polling.pool_rounds import doubt_of
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.pools.pools import NodesSnapshot, Pool
from shared.services.round.resource_state import RoundRules
from shared.stores.batch.batch_pools import BatchPools
from shared.stores.pools.nodes import StoredNodes

_SOONER = 5
type NodesRead = tuple[NodesSnapshot, Mapping[str, Node]]


class NodeReader:
    """Reads nodes of pools."""

    def __init__(self, source: BatchPools, rules: RoundRules) -> None:
        self._source = source
        self._rules = rules
        # by pool: nodes with tasks run, for which our last list showed none
        self._without_tasks: dict[str, set[str]] = {}

    def forget(self, pool_id: str) -> None:
        """Drops the state of a deleted pool."""
        self._without_tasks.pop(pool_id, None)

    async def read(self, pool: Pool, stored: StoredNodes, counts: NodeCounts | None, t0: datetime) -> NodesRead:
        """Returns the nodes of a pool as of `t0`, and their summary; the digest is that of `stored`. Raises BatchError.

        `counts` are the service's (None: unknown), `stored` are the nodes known before listing.
        """
        snapshot = pool.snapshot
        stored = _of_this_pool(pool, stored)
        if pool.facts.is_empty and counts == ():
            return _snapshot(pool, stored, {}, t0, t0), {}
        since = snapshot.as_of - self._rules.overlap if snapshot else t0
        if snapshot and self._changes_suffice(pool, counts, since, t0):
            listed = await self._source.fetch_nodes(pool.facts.id, changed_since=since, recent_as_of=t0)
            nodes = _merged(pool, stored, listed.nodes, t0, whole=False)
            found = _snapshot(pool, stored, nodes, t0, snapshot.full_read_at)
            agrees = found.summary.counts == counts and found.summary.total == pool.facts.nodes
            if agrees and listed.pages == 1 and found.summary.is_settled:
                return found, nodes
        return await self._read_all(pool, stored, counts, t0)

    def _changes_suffice(self, pool: Pool, counts: NodeCounts | None, since: datetime, t0: datetime) -> bool:
        """Returns whether a list of changes `since` suffices: no node was added or removed, and nothing runs."""
        if counts is None or not are_settled(counts) or _may_be_resized(pool.facts, since):
            return False
        return not pool.wants_all_nodes(t0, self._rules.full_list_interval)

    async def _read_all(self, pool: Pool, stored: StoredNodes, counts: NodeCounts | None, t0: datetime) -> NodesRead:
        """Lists all nodes, with their recent tasks only every full list interval, as these are ten times the rest.

        Versions of agents, which rarely change, are in these lists, and in others where nodes are new or lack one.
        The interval is a fifth if no task is known of a node that has run some, unless this process's last such list
        showed none.
        """
        snapshot = pool.snapshot
        is_full = snapshot is None or stored.is_torn or t0 - snapshot.full_read_at >= self._interval(pool, stored)
        agents = is_full or self._may_have_new_agents(pool, stored)
        recent_as_of = t0 if is_full else None
        listed = await self._source.fetch_nodes(pool.facts.id, recent_as_of=recent_as_of, agents=agents)
        nodes = _merged(pool, stored, listed.nodes, t0, whole=True)
        if is_full:
            self._without_tasks[pool.facts.id] = _without_recent(nodes)
        full_read_at = t0 if snapshot is None or is_full else snapshot.full_read_at
        return _snapshot(pool, stored, nodes, t0, full_read_at, counts=counts, pages=listed.pages), nodes

    def _may_have_new_agents(self, pool: Pool, stored: StoredNodes) -> bool:
        """Returns whether nodes are new since the last list, or one whose agent isn't known may have booted."""
        since = pool.snapshot.as_of - self._rules.overlap if pool.snapshot else pool.facts.creation_time
        return _may_be_resized(pool.facts, since) or any(not node.agent for node in stored.nodes.values())

    def _interval(self, pool: Pool, stored: StoredNodes) -> timedelta:
        may_be_reported = _without_recent(stored.nodes) - self._without_tasks.get(pool.facts.id, set())
        return self._rules.full_list_interval / _SOONER if may_be_reported else self._rules.full_list_interval


def _without_recent(nodes: Mapping[str, Node]) -> set[str]:
    return {key for key, node in nodes.items() if node.tasks_run and not node.recent}


def _may_be_resized(facts: PoolFacts, since: datetime) -> bool:
    """Returns whether nodes may have been added or removed since then, even if their number is the same."""
    at = facts.allocation_state_transition_time
    return facts.allocation_state not in {None, "steady"} or (at is not None and at >= since)


def may_be_anothers(pool: Pool, stored: StoredNodes, nodes: Mapping[str, Node], known_until: datetime) -> bool:
    """Returns whether the nodes read may belong to a pool re-created under the id since `known_until`.

    All nodes of such a pool are younger; or it has none so far, while this one had some or was about to.
    """
    if not nodes:
        return bool(stored.nodes) or not pool.facts.is_empty
    since = to_milliseconds(known_until)
    return any((node.allocated or node.transition) >= since for node in nodes.values())


def _of_this_pool(pool: Pool, stored: StoredNodes) -> StoredNodes:
    """Returns the stored nodes, without those of a deleted pool of the same id."""
    is_older = stored.tally is not None and stored.tally.since < _created(pool)
    return replace(stored, tally=None, nodes={}, is_torn=True) if is_older else stored


def _created(pool: Pool) -> int:
    """Returns milliseconds since 1970, in whole seconds as dates of responses are."""
    return to_milliseconds(pool.facts.creation_time.replace(microsecond=0))


def _merged(pool: Pool, stored: StoredNodes, listed: Sequence[Node], t0: datetime, *, whole: bool) -> dict[str, Node]:
    """Merges listed nodes into the stored ones; without a stored snapshot these are known since their tally began."""
    known_as_of = stored.tally.since if stored.tally else None
    if pool.snapshot:
        known_as_of = to_milliseconds(pool.snapshot.as_of)
    return merged(stored.nodes, listed, whole=whole, at=to_milliseconds(t0), known_as_of=known_as_of)


def _snapshot(
    pool: Pool,
    stored: StoredNodes,
    nodes: Mapping[str, Node],
    t0: datetime,
    full_read_at: datetime,
    *,
    counts: NodeCounts | None = (),
    pages: int | None = None,
) -> NodesSnapshot:
    """Returns the snapshot; `pages` None means that only changes were listed, or nothing."""
    summary = summary_of(nodes.values(), pool.facts.slots_per_node)
    return NodesSnapshot(
        as_of=t0,
        full_read_at=full_read_at,
        source="firstRead" if pool.snapshot is None else "delta" if pages is None else "fullRead",
        summary=summary,
        digest=stored.digest,
        doubt=doubt_of(summary, counts, pages=pages or 1),
        tally=tallied(_tally(pool, stored, t0), stored.nodes, nodes),
        flapping=flapping_of(nodes.values()),
    )


def _tally(pool: Pool, stored: StoredNodes, t0: datetime) -> InterruptionCount:
    """Returns the tally of this pool, which begins no earlier than its creation."""
    before = stored.tally or (pool.snapshot.tally if pool.snapshot else None)
    return (
        before
        if before and before.since >= _created(pool)
        else InterruptionCount(max(to_milliseconds(t0), _created(pool)))
    )
