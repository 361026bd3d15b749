"""A round over one account's pools: the list of pools, the service's node counts, and the nodes of each pool.

It runs beside the round over jobs, and neither waits for the other or ends by the other's failure. An unchanged account
costs a request each for pools and counts, one for every pool that has nodes, and one row read and written.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import batched
from typing import Any

from shared.clock import Clock
from shared.domain.pools import Pool, first_seen
from shared.errors import BatchMissingError, BatchscopeError, BatchThrottledError, CacheConflictError
from shared.services.node_reading import NodeReading
from shared.services.pools_under_way import PoolsUnderWay
from shared.stores.batch_pools import BatchPools
from shared.stores.nodes import NodeStore, planned
from shared.stores.pools import PoolStore

_LOG = logging.getLogger(__name__)
_AT_ONCE = 8
_WRITTEN_TOGETHER = 50  # pools
_LOOK_UPS = 50  # in one round, after many pools were deleted at once


class PoolRounds:
    """Rounds over the pools of one account, one at a time; other processes are met through ETags.

    `full_list_interval` is the age at which all that is known of a pool's nodes is asked for anew.
    """

    def __init__(
        self,
        source: BatchPools,
        *,
        pools: PoolStore,
        nodes: NodeStore,
        clock: Clock,
        overlap: timedelta,
        full_list_interval: timedelta,
    ) -> None:
        self.source = source
        self._key = source.account.key
        self._pools = pools
        self._nodes = nodes
        self._clock = clock
        self._reading = NodeReading(source, overlap=overlap, full_list_interval=full_list_interval)

    async def run_beside(
        self, jobs: Coroutine[Any, Any, None], goes_on: Callable[[], bool]
    ) -> BatchThrottledError | None:
        """A round beside other work, which it neither hinders nor waits for; raises what either raised, after both."""
        over_pools = asyncio.ensure_future(self.run(goes_on))
        ends = await asyncio.gather(jobs, over_pools, return_exceptions=True)
        if isinstance(ends[0], BaseException):
            raise ends[0]
        return over_pools.result()

    async def run(self, goes_on: Callable[[], bool]) -> BatchThrottledError | None:
        """A round, while `goes_on` says so. What Batch refuses is noted; given is what the service asked to wait for.

        Raises StorageError and CacheConflictError where that can't be noted.
        """
        calls, started = self.source.calls, await self._clock.now()
        known = await self._pools.load_known(self._key)
        this = PoolsUnderWay(started, known, goes_on)
        try:
            await self._discover(this)
            await self._poll_all(this)
        except BatchscopeError as error:
            this.fail(error)
            _LOG.warning("A round over the pools of %s failed: %s", self.source.account.id, error)
        except Exception as error:  # a defect must show in verdicts, and leave the round over jobs alone
            this.reason = f"{type(error).__name__}: {error}"
            _LOG.exception("A round over the pools of %s broke", self.source.account.id)
        await self._pools.save_round(self._key, this.as_round(self.source.calls - calls), this.stored)
        if this.overtaken:
            _LOG.info("Others polled pools of %s first: %s", self.source.account.id, ", ".join(sorted(this.overtaken)))
        if this.overtaken or this.reason:
            self._pools.forget(self._key)
        return this.throttled

    async def _discover(self, this: PoolsUnderWay) -> None:
        """Lists pools, looks up those that are missing, and asks for the counts where there are nodes at all."""
        listed = await self.source.fetch_pools()
        at = listed.date
        known = this.known.pools
        this.pools |= {
            facts.key: known[facts.key].seen(facts, at) if facts.key in known else first_seen(facts, at)
            for facts in listed.pools
        }
        this.date = at
        missing = sorted(known.keys() - {facts.key for facts in listed.pools})
        for key in missing[:_LOOK_UPS] if this.may_go_on() else ():
            await self._guarded(this, known[key], self._look_up(this, known[key]))
        if any(pool.facts.nodes or _had_nodes(pool) for pool in this.pools.values()):
            this.counts = await self.source.fetch_node_counts()

    async def _look_up(self, this: PoolsUnderWay, pool: Pool) -> None:
        """A pool that no list shows is gone when a GET says so, never otherwise. All that is kept of it goes then."""
        try:
            this.pools[pool.key] = pool.seen(await self.source.fetch_pool(pool.facts.id), this.t0())
        except BatchMissingError:
            await self._nodes.delete(self._key, pool.key)
            await self._pools.delete(self._key, pool)
            this.forget(pool.key)

    async def _poll_all(self, this: PoolsUnderWay) -> None:
        """Polls every pool, stalest first, a few at a time, and writes what was read by the dozen."""
        gate = asyncio.Semaphore(_AT_ONCE)

        async def poll(pool: Pool) -> None:
            async with gate:
                if this.may_go_on():
                    await self._guarded(this, pool, self._poll(this, pool))

        for pools in batched(sorted(this.pools.values(), key=_age_order), _WRITTEN_TOGETHER, strict=False):
            await asyncio.gather(*map(poll, pools))
            await self._save(this, [pool.key for pool in pools])

    async def _poll(self, this: PoolsUnderWay, pool: Pool) -> None:
        """ETags first, then the nodes."""
        stored = await self._nodes.load(self._key, pool.key, pool.picture.digest if pool.picture else None)
        try:
            picture, nodes = await self._reading.read(pool, stored, this.counts.get(pool.key, ()), this.t0())
        except BatchMissingError:
            await self._look_up(this, pool)
            return
        write = planned(stored, nodes)
        this.writes[pool.key] = write
        this.pools[pool.key] = pool.listed(replace(picture, digest=write.digest))

    async def _save(self, this: PoolsUnderWay, keys: Sequence[str]) -> None:
        """Writes what differs from what is stored: nodes before the pools that sum them up.

        Of pools whose nodes couldn't be read that is what the list told of them.
        """
        writes = {key: this.writes.pop(key) for key in keys if key in this.writes}
        conflicts = await self._nodes.save_all(list(writes.values()))
        this.overtaken |= {key for key, conflict in zip(writes, conflicts, strict=True) if conflict}
        there = [this.pools[key] for key in keys if key in this.pools and key not in this.overtaken]
        this.stored |= {pool.key: pool for pool in there if this.is_stored(pool)}
        changed = [pool for pool in there if not this.is_stored(pool)]
        for pool, end in zip(changed, await self._pools.save_all(self._key, changed), strict=True):
            if isinstance(end, CacheConflictError):
                this.overtaken.add(pool.key)
            else:
                this.stored[pool.key] = end

    async def _guarded(self, this: PoolsUnderWay, pool: Pool, work: Coroutine[Any, Any, None]) -> None:
        """Work on one pool, whose failure is noted and spoils nothing else."""
        try:
            await work
        except BatchThrottledError as error:
            this.fail(error)
            return
        except CacheConflictError:  # whoever was first says how that went
            this.overtaken.add(pool.key)
        except BatchscopeError as error:
            this.failures[pool.key] = str(error)
            _LOG.warning("The poll of the pool %s in %s failed: %s", pool.facts.id, self.source.account.id, error)
        except Exception as error:  # a defect that one pool meets mustn't end the polls of the others
            this.failures[pool.key] = f"{type(error).__name__}: {error}"
            _LOG.exception("The poll of the pool %s in %s broke", pool.facts.id, self.source.account.id)
        this.reached.add(pool.key)


def _had_nodes(pool: Pool) -> bool:
    return pool.picture is not None and pool.picture.summary.total > 0


def _age_order(pool: Pool) -> tuple[float, str]:
    return (pool.picture.as_of.timestamp() if pool.picture else 0.0, pool.key)
