"""A round over one account's pools: the list of pools, the service's node counts, and the nodes of each pool.

It runs beside the round over jobs; neither waits for the other or ends with its failure. An unchanged account costs a
request for pools, one for the counts of every ten pools, one for every pool with nodes, and one row written, which is
read with the account's other rows.
Each pool is compared only with its own counts, so pages of counts may differ in time.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import batched
from typing import Any

from shared.clock import Clock
from shared.domain.core.stored_times import is_over
from shared.domain.events.batch_events import BatchEvent
from shared.domain.outputs.failed_starts import FailingPool, failing_pools
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.pools.pools import Pool, first_seen
from shared.domain.pools.setting_changes import settings_event
from shared.errors import (
    BatchError,
    BatchMissingError,
    BatchThrottledError,
    BatchUnreachableError,
    CacheConflictError,
)
from shared.log import logger
from shared.services.pools.image_reader import ImageReader
from shared.services.pools.node_reader import NodeReader, may_be_anothers
from shared.services.pools.pool_records import PoolRecords
from shared.services.pools.pool_usage import PoolUsage
from shared.services.pools.pools_round_state import PoolsRoundState
from shared.services.pools.start_up_records import StartUpRecords, seen_nodes
from shared.services.round.resource_state import ResourceRoundResult, RoundRules
from shared.stores.accounts.monitoring import AccountRows
from shared.stores.batch.batch_pools import BatchPools
from shared.stores.pools.nodes import planned
from shared.stores.pools.pools import KnownPools
from shared.stores.stores import Stores
from shared.stores.tables.unreadable import warn_of

_LOG = logger(__name__)
_AT_ONCE = 8
_WRITTEN_TOGETHER = 50  # pools
_COUNTING_SECONDS = 5.0  # as pages of counts are read one after another, and nothing else can be read meanwhile
_COUNTING_SHARE = 1 / 3  # of the remaining time, as the nodes themselves matter more
_LOOK_UPS = 50  # per round, after a purge of many pools


class PoolRounds:
    """Rounds over the pools of one account, one at a time; ETags detect writes of other processes."""

    def __init__(
        self,
        source: BatchPools,
        stores: Stores,
        records: PoolRecords,
        *,
        clock: Clock,
        rules: RoundRules,
        images: ImageReader | None = None,
    ) -> None:
        """Supported images aren't listed where `images` is None."""
        self.source = source
        self._key = source.account.key
        self._pools = stores.pools
        self._records = records
        self._nodes = stores.nodes
        self._events = stores.events
        self._start_ups = StartUpRecords(self._key, stores.start_ups)
        self._clock = clock
        self._rules = rules
        self._reading = NodeReader(source, rules)
        self._images = images
        self._read_at: datetime | None = None
        self._failing: dict[str, FailingPool] = {}

    def take_failing(self) -> list[FailingPool]:
        """Returns the pools in which rounds saw failed start tasks since the last call."""
        pools, self._failing = list(self._failing.values()), {}
        return pools

    async def run(
        self,
        has_time: Callable[[], bool],
        deadline: float | None = None,
        interval: timedelta | None = None,
        account: AccountRows | None = None,
    ) -> ResourceRoundResult:
        """Runs a round while `has_time` returns True; records and returns Batch's errors.

        `deadline`, in loop time, is when `has_time` returns False at the latest; None if unknown. `interval` is the
        account's own poll interval, None for that of the settings. `account` are its rows as read just before. Raises
        StorageError and CacheConflictError if the round can't be stored.
        """
        calls, started = self.source.calls, await self._clock.now()
        known = await self._load(started, account)
        warn_of(self._key, known.unreadable.values())
        usage = PoolUsage(known, interval or self._rules.poll_interval)
        this = PoolsRoundState(started, known, usage, has_time, deadline)
        await this.run(f"over the pools of {self.source.account.id}", self._discover, self._poll_all)
        done = this.as_round(self.source.calls - calls)
        await self._pools.save_round(self._key, done, this.stored)
        if this.overtaken:
            _LOG.info("Others polled pools of %s first: %s", self.source.account.id, ", ".join(sorted(this.overtaken)))
        if this.overtaken or this.reason or known.unreadable:
            self._pools.forget(self._key)
        if self._images and this.may_continue():
            await self._images.refresh(started)
        return this.result("Pools", done.problem)

    async def _load(self, now: datetime, account: AccountRows | None) -> KnownPools:
        """Returns known pools, from storage once per full list interval, which finds rows of processes that died."""
        if self._read_at is None or is_over(self._read_at, self._rules.full_list_interval, now):
            self._pools.forget(self._key)
            await self._nodes.doubt(self._key)
            self._read_at = now
        return await self._pools.load_known(self._key, account)

    async def _discover(self, this: PoolsRoundState) -> None:
        """Lists pools, looks up missing ones, and requests node counts if there may be nodes."""
        listed = await self.source.fetch_pools()
        known = this.known.resources
        this.date, this.nonsense = listed.date, listed.nonsense
        for facts in listed.resources:
            self._show(this, facts)
        missing = sorted(known.keys() - this.shown - this.nonsense.keys())[:_LOOK_UPS]
        names = {key: known[key].facts.id for key in missing}
        names |= {key: row.id for key, row in this.known.unreadable.items() if key not in this.pools}
        for key, name in names.items():
            if this.may_continue():
                await self._guarded(this, key, self._look_up(this, key, name))
        if this.throttled is None and any(not pool.facts.is_empty or _had_nodes(pool) for pool in this.existing()):
            await self._count(this)

    async def _count(self, this: PoolsRoundState) -> None:
        """Requests the service's node counts as far as they arrive in time; other pools' nodes are listed without them.

        No page is requested after five seconds, nor awaited beyond a third of the remaining time. A failure to get any
        is recorded.
        """
        this.all_counted = False
        now = asyncio.get_running_loop().time()
        share = None if this.deadline is None else (this.deadline - now) * _COUNTING_SHARE
        try:
            async with asyncio.timeout(share) as limit:
                async for counts in self.source.node_counts():
                    this.counts |= counts
                    if asyncio.get_running_loop().time() >= now + _COUNTING_SECONDS or not this.may_continue():
                        return
            this.all_counted = True
        except TimeoutError:
            if not limit.expired():
                raise
            if not this.counts:
                this.fail(BatchUnreachableError(self.source.account.endpoint, "node counts don't come in time"))
            _LOG.warning("Counts of the nodes of %s don't come in time; all nodes are listed.", self.source.account.id)
        except BatchThrottledError:
            raise
        except BatchError as error:
            this.fail(error)
            _LOG.warning("Nodes of the pools of %s can't be counted: %s", self.source.account.id, error)

    def _show(self, this: PoolsRoundState, facts: PoolFacts) -> None:
        """Records a shown pool; a new one over an unreadable row is written under that row's ETag.

        A damaged row would otherwise stay for ever. The pool's nodes are read in full; only the samples in the row and
        earlier resize errors are lost.
        """
        known, row = this.pools.get(facts.key), this.known.unreadable.get(facts.key)
        this.shown.add(facts.key)
        if known:
            this.pools[facts.key] = known.seen(facts, this.t0())
            return
        this.pools[facts.key] = replace(first_seen(facts, this.t0()), etag=row.etag if row else None)
        if row:
            this.failures[facts.key] = row.why

    async def _look_up(self, this: PoolsRoundState, key: str, name: str) -> None:
        """Looks up an unlisted pool, and deletes its rows, also an unreadable one, only if a GET answers 404.

        Its usage ledger stays. Rows are deleted under earlier ETags, as the pool may be re-created meanwhile. A pool
        created after the list is left to the next round.
        """
        stored = await self._nodes.load(self._key, key)
        pool, row = this.pools.get(key), this.known.unreadable.get(key)
        try:
            facts = await self.source.fetch_pool(name)
            if facts.creation_time <= this.t0():
                self._show(this, facts)
            elif row:
                this.failures[key] = row.why
        except BatchMissingError:
            facts_before = pool.facts if pool else None
            usage = this.usage.of_deleted(key, facts_before, stored, this.t0(), listed=key in this.shown)
            await self._nodes.retire(stored, usage)
            if pool:
                await self._records.forget(self._key, pool)
                self._reading.forget(pool.facts.id)
                this.forget(key)
            elif row:
                await self._pools.delete_unreadable(self._key, row)

    async def _poll_all(self, this: PoolsRoundState) -> None:
        """Polls every existing pool, stalest first, a few at a time, and writes the results of 50 pools together."""
        gate = asyncio.Semaphore(_AT_ONCE)

        async def poll(pool: Pool) -> None:
            async with gate:
                if this.may_continue():
                    await self._guarded(this, pool.key, self._poll(this, pool))

        for pools in batched(sorted(this.existing(), key=_age_order), _WRITTEN_TOGETHER, strict=False):
            await asyncio.gather(*map(poll, pools))
            await self._save(this, [pool.key for pool in pools])

    async def _poll(self, this: PoolsRoundState, pool: Pool) -> None:
        """Reads ETags, then nodes, then checks the pool; nodes of a re-created pool are left to the next round."""
        stored = await self._nodes.load(self._key, pool.key, pool.snapshot.digest if pool.snapshot else None)
        try:
            snapshot, nodes = await self._reading.read(pool, stored, this.counts_of(pool), this.t0())
            if may_be_anothers(pool, stored, nodes, this.t0() - self._rules.overlap) and await self._is_another(pool):
                return
        except BatchMissingError:
            await self._look_up(this, pool.key, pool.facts.id)
            return
        self._failing |= failing_pools(pool.facts.id, nodes.values())
        usage = this.usage.after(pool.key, pool.facts, stored, nodes, this.t0())
        write = planned(stored, nodes, snapshot.tally, usage)
        this.writes[pool.key] = write
        if seen := seen_nodes(pool, stored.nodes, nodes, this.t0()):
            this.start_ups[pool.key] = seen
        this.pools[pool.key] = pool.listed(replace(snapshot, digest=write.digest))

    async def _is_another(self, pool: Pool) -> bool:
        facts = await self.source.fetch_pool(pool.facts.id)
        return facts.creation_time != pool.facts.creation_time

    async def _save(self, this: PoolsRoundState, keys: Sequence[str]) -> None:
        """Writes changes: start-ups before their nodes, nodes and events before the pools that show them.

        Pools whose nodes couldn't be read get their listed facts.
        """
        this.overtaken |= await self._polled_since(this, [key for key in keys if this.has_changed(key)])
        read = {key: this.writes.pop(key) for key in keys if key in this.writes}
        writes = {key: write for key, write in read.items() if key not in this.overtaken}
        seen = [this.start_ups.pop(key) for key in keys if key in this.start_ups]
        await self._start_ups.save([one for one in seen if one.pool.key in writes])
        conflicts = await self._nodes.save_all(list(writes.values()))
        this.overtaken |= {key for key, conflict in zip(writes, conflicts, strict=True) if conflict}
        known = [this.pools[key] for key in keys if key in this.pools and key not in this.overtaken]
        this.stored |= {pool.key: pool for pool in known if this.is_stored(pool)}
        changed = [pool for pool in known if not this.is_stored(pool)]
        this.has_written |= bool(changed)
        events = [_settings_event(this.known.resources.get(pool.key), pool) for pool in changed]
        await self._events.save_once(self._key, [event for event in events if event])
        for pool, end in zip(changed, await self._records.save_all(self._key, changed), strict=True):
            if isinstance(end, CacheConflictError):
                this.overtaken.add(pool.key)
            else:
                this.stored[pool.key] = end

    async def _polled_since(self, this: PoolsRoundState, keys: Sequence[str]) -> set[str]:
        """Returns pools that a faster round stored with a later date; that round or the next one polls them."""
        last = await self._pools.load_round(self._key) if keys else None
        return {key for key in keys if this.is_older(last, key)}

    async def _guarded(self, this: PoolsRoundState, key: str, work: Coroutine[Any, Any, None]) -> None:
        """Runs work on one pool and records its failure, without effect on others."""

        async def unless_overtaken() -> None:
            try:
                await work
            except CacheConflictError:  # the faster process records its result
                this.overtaken.add(key)

        if await this.attempt(key, f"the pool {key} in {self.source.account.id}", unless_overtaken()):
            this.reached.add(key)


def _had_nodes(pool: Pool) -> bool:
    return pool.snapshot is not None and pool.snapshot.summary.total > 0


def _settings_event(before: Pool | None, pool: Pool) -> BatchEvent | None:
    """Returns the event of the settings that changed since a pool was stored, None if none did."""
    at = pool.facts.last_modified
    if before is None or before.facts.last_modified == at:
        return None
    changes = [change for change in pool.changes if change.at == at]
    if not changes:
        return None
    return settings_event(pool.facts.id, pool.facts.creation_time, changes, more=pool.changes_left_out)


def _age_order(pool: Pool) -> tuple[float, str]:
    return (pool.snapshot.as_of.timestamp() if pool.snapshot else 0.0, pool.key)
