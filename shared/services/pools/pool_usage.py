"""Moves the usage ledgers of pools on with their nodes: which lists bound what happened, and which resize."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from math import inf

from shared.domain.core.stamps import to_milliseconds
from shared.domain.nodes.nodes import Node
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.prices.pool_prices import system_of
from shared.domain.usage.node_spans import ListGap, Removal
from shared.domain.usage.usage_ledger import DeletedPool, UsageLedger
from shared.stores.pools.nodes import StoredNodes
from shared.stores.pools.pools import KnownPools

_INTERVALS = 3
_DELETING = "deleting"
_MIN_GAP = timedelta(minutes=1)
_MILLISECOND = timedelta(milliseconds=1)


class PoolUsage:
    """The ledgers in one round; `known` are the pools before it, `interval` is the account's poll interval."""

    def __init__(self, known: KnownPools, interval: timedelta) -> None:
        self._known = known.resources
        self._longest = max(interval * _INTERVALS, _MIN_GAP) // _MILLISECOND
        self._watched_since = _watched_since(known)

    def after(
        self, key: str, facts: PoolFacts, stored: StoredNodes, nodes: Mapping[str, Node], t0: datetime
    ) -> UsageLedger:
        """Returns the ledger of a pool whose nodes were listed as of `t0`."""
        ledger, gap = self._before(key, facts, stored, t0)
        return ledger.after(stored.nodes, nodes, gap, _removal(facts, gap))

    def of_deleted(
        self, key: str, facts: PoolFacts | None, stored: StoredNodes, t0: datetime, *, listed: bool
    ) -> UsageLedger:
        """Returns the ledger of a pool that was found deleted after `t0`, with what determined its prices.

        It was there at `t0` if it is `listed`, else it had been deleted. `facts` are None where its row couldn't be
        read.
        """
        ledger, gap = self._before(key, facts, stored, t0)
        removal = _removal(facts, gap)
        if listed:
            removal = removal._replace(began=removal.began or gap.at, ended=gap.at)
        pool = DeletedPool(facts.id, facts.slots_per_node, *system_of(facts)) if facts else None
        return ledger.ended(stored.nodes, gap, removal, pool)

    def _before(
        self, key: str, facts: PoolFacts | None, stored: StoredNodes, t0: datetime
    ) -> tuple[UsageLedger, ListGap]:
        """Returns a pool's ledger so far, and the time since the list before."""
        known = self._known.get(key)
        seen = to_milliseconds(known.nodes_as_of) if known and known.nodes_as_of else 0
        ledger = stored.usage or _begun(seen or self._first(facts, t0))
        known_as_of = max(seen, ledger.as_of)
        return ledger, ListGap(known_as_of, max(to_milliseconds(t0), known_as_of), self._longest)

    def _first(self, facts: PoolFacts | None, t0: datetime) -> int:
        """Returns since when a new pool is watched: since its creation, unless the account was watched later."""
        created, at = to_milliseconds(facts.creation_time if facts else t0), to_milliseconds(t0)
        return min(created, at) if created >= min(self._watched_since, at - self._longest) else at


def _watched_since(known: KnownPools) -> float:
    """Returns a time since when an account has been watched, in milliseconds since 1970; infinity before that."""
    counted = [pool.snapshot.tally.since for pool in known.resources.values() if pool.snapshot and pool.snapshot.tally]
    if known.last and known.last.as_of:
        counted.append(to_milliseconds(known.last.as_of))
    return min(counted, default=inf)


def _begun(since: int) -> UsageLedger:
    return UsageLedger(since, since)


def _removal(facts: PoolFacts | None, gap: ListGap) -> Removal:
    """Returns what removed nodes since the list before; a pool re-created since then had other nodes.

    The nodes of a pool that is being deleted go before the pool.
    """
    if facts is None:
        return Removal(0, 0, gap.at)
    created, at = to_milliseconds(facts.creation_time), facts.allocation_state_transition_time
    if created > gap.known_as_of:
        return Removal(0, 0, created)
    if facts.state == _DELETING:
        return Removal(to_milliseconds(facts.state_transition_time), 0, gap.at)
    moment = to_milliseconds(at) if at else 0
    if not gap.known_as_of < moment <= gap.at:
        return Removal(0, 0, gap.at)
    is_begun = facts.allocation_state == "resizing"
    return Removal(moment if is_begun else 0, moment if facts.allocation_state == "steady" else 0, gap.at)
