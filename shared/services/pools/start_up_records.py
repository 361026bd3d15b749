"""Stores the start-ups of nodes as rounds over pools see them, before the nodes themselves are stored.

A host that dies in between leaves nodes as they were: the next round sees the same change and writes the same start-up
once more. Only nodes that have run no task so far are followed, so a pool whose nodes all work costs nothing.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from shared.domain.core.stamps import to_milliseconds
from shared.domain.nodes.nodes import Node
from shared.domain.nodes.start_ups import (
    Interval,
    Sighting,
    StartTaskKind,
    StartUp,
    first_start_up,
    followed_start_up,
    sightings,
)
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.pools.pools import Pool
from shared.domain.pools.resizes import wished_at
from shared.domain.pools.start_up_days import StartUpDay
from shared.domain.pools.start_up_figures import image_name
from shared.errors import CacheConflictError
from shared.stores.pools.start_ups import StartUpStore

_DAY = 86_400_000  # milliseconds
_TRIES = 5
_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class SeenNodes:
    """The nodes of a pool that a list moved on, and the times of the list before and of this one."""

    pool: Pool
    seen: Interval
    found: Sequence[Sighting]


type _SeenDay = tuple[SeenNodes, int, Sequence[Sighting]]
"""Those of a pool's nodes that were allocated on one day."""


def seen_nodes(pool: Pool, before: Mapping[str, Node], after: Mapping[str, Node], t0: datetime) -> SeenNodes | None:
    """Returns what a list as of `t0` moved on, None if nothing; the pool's snapshot is that of the list before."""
    at = to_milliseconds(t0)
    found = sightings(before, after, at)
    known_as_of = to_milliseconds(pool.snapshot.as_of) if pool.snapshot else 0
    return SeenNodes(pool, Interval(known_as_of, at), found) if found else None


class StartUpRecords:
    """Stored start-ups of one account's pools."""

    def __init__(self, account_key: str, store: StartUpStore) -> None:
        self._key = account_key
        self._store = store

    async def save(self, pools: Sequence[SeenNodes]) -> None:
        """Writes what changed: a row for each pool and day of allocation. Raises StorageError, CacheConflictError."""
        left = [(seen, day, found) for seen in pools for day, found in _by_day(seen.found).items()]
        for _ in range(_TRIES):
            days = await self._changed(left)
            if not days:
                return
            conflicts = await self._store.save_all(self._key, days)
            again = {(day.pool_key, day.day) for day, conflict in zip(days, conflicts, strict=True) if conflict}
            left = [one for one in left if (one[0].pool.key, one[1]) in again]
        raise CacheConflictError("Too many processes write the start-ups of one account at once.")

    async def _changed(self, seen: Sequence[_SeenDay]) -> list[StartUpDay]:
        """Returns the days that differ from the stored ones."""
        gate = asyncio.Semaphore(_AT_ONCE)

        async def load(pool: SeenNodes, day: int, found: Sequence[Sighting]) -> StartUpDay:
            known = [one.identity for one in found if one.before]
            async with gate:
                return await self._store.load(self._key, pool.pool.key, day, known)

        days = await asyncio.gather(*(load(*one) for one in seen))
        changes = [_changed(day, pool, found) for day, (pool, _, found) in zip(days, seen, strict=True)]
        return [day.with_changes(changed) for day, changed in zip(days, changes, strict=True) if changed]


def _by_day(found: Sequence[Sighting]) -> dict[int, list[Sighting]]:
    days = defaultdict[int, list[Sighting]](list)
    for one in found:
        days[one.now.allocated // _DAY].append(one)
    return days


def _changed(day: StartUpDay, seen: SeenNodes, found: Sequence[Sighting]) -> dict[str, StartUp]:
    """Returns the start-ups that differ from those of the day, by node."""
    facts, changed = seen.pool.facts, dict[str, StartUp]()
    image, kind = image_name(facts.settings), _start_task(facts)
    for one in found:
        stored = day.start_ups.get(one.identity)
        begun = stored or first_start_up(one, image=image, start_task=kind)
        if begun is None:
            continue
        wished = wished_at(seen.pool.resizes, one.now.allocated)
        after = followed_start_up(begun, one, seen.seen, wished=wished)
        if after != stored:
            changed[one.identity] = after
    return changed


def _start_task(facts: PoolFacts) -> StartTaskKind:
    if facts.start_task is None:
        return "none"
    return "awaited" if facts.start_task.waits_for_success else "beside"
