"""What was kept of the outputs of failed start tasks, or why it wasn't; storage alone answers."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from shared.domain.accounts.accounts import Account
from shared.domain.core.keys import key_of
from shared.domain.core.stamps import to_milliseconds
from shared.domain.nodes.nodes import Node
from shared.domain.outputs.failed_runs import FailedRun
from shared.domain.outputs.failed_starts import failed_start, key_of_start, key_of_starts, start_of
from shared.domain.outputs.kept_outputs import OLDEST, KeptOutput, expiry_day
from shared.domain.outputs.output_limits import OutputLimits
from shared.domain.outputs.unkept_outputs import why_start_without_row
from shared.errors import NotFoundError
from shared.services.accounts.registry import Registry, found
from shared.services.files.keeping_conditions import keeping_conditions
from shared.services.queries.pool_queries import PoolQueries
from shared.stores.jobs.outputs import OutputStore


@dataclass(frozen=True, slots=True)
class StartOutputReport:
    """What was kept of the output of a start task on a node, or the code of why nothing was."""

    pool_id: str
    node_id: str
    kept: KeptOutput | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class KeptStartOutputs:
    accounts: Mapping[str, Account]
    registry: Registry
    pools: PoolQueries
    store: OutputStore
    limits: OutputLimits

    async def output(self, account_id: str, pool_id: str, node_id: str, start: int | None = None) -> StartOutputReport:
        """Returns what was kept of a node's start task that began at `start`, or of the latest that failed.

        The node and the pool may be gone. Raises NotFoundError if nothing was kept of a node that isn't known either,
        StorageError.
        """
        kept = await self._kept(account_id, pool_id, node_id, start)
        if kept:
            return StartOutputReport(*kept.run.node, kept)
        report, stored = await self.pools.pool_with_stored_nodes(account_id, pool_id)
        node = stored.nodes.get(key_of(node_id))
        if node is None:
            raise NotFoundError("node", node_id, f" in the pool '{report.pool.facts.id}'")
        why = await self._why(report.account, failed_start(pool_id, node), start)
        return StartOutputReport(report.pool.facts.id, node.id, None, why)

    async def latest(self, account_id: str, pool_id: str, node_id: str) -> KeptOutput | None:
        """Returns what was kept of a node's latest start task if that failed; None where another one ran since."""
        kept, node = (
            await self._kept(account_id, pool_id, node_id, None),
            await self._node(account_id, pool_id, node_id),
        )
        runs_another = kept and node and node.start and node.start.start != start_of(kept.run)
        return None if runs_another else kept

    async def delete(self, account_id: str, pool_id: str) -> None:
        """Deletes what was kept of a pool; later failures are kept again.

        Raises NotFoundError for an unknown pool without kept outputs, CacheConflictError.
        """
        account, key = found(self.accounts, account_id), key_of_starts(pool_id)
        stored = await self.store.load_job(account.key, key)
        if stored.etag is None and not stored.runs:
            await self.pools.pool(account_id, pool_id)
        now = await self.registry.clock.now()
        expires = expiry_day(now, OLDEST)
        await self.store.note_expiry(account.key, key, expires)
        mark = replace(stored.mark, after=to_milliseconds(now))
        await self.store.save_mark(account.key, key, mark, stored.etag, expires)
        await self.store.delete_job(account.key, key, keep_mark=True)

    async def _kept(self, account_id: str, pool_id: str, node_id: str, start: int | None) -> KeptOutput | None:
        account, pool, node = found(self.accounts, account_id), key_of_starts(pool_id), key_of(node_id)
        if start is None:
            return await self.store.load_latest(account.key, pool, node)
        return await self.store.load(account.key, pool, key_of_start(node, start))

    async def _node(self, account_id: str, pool_id: str, node_id: str) -> Node | None:
        try:
            _, stored = await self.pools.pool_with_stored_nodes(account_id, pool_id)
        except NotFoundError:
            return None
        return stored.nodes.get(key_of(node_id))

    async def _why(self, account: Account, run: FailedRun | None, start: int | None) -> str:
        if run is None:
            return "NotFailed"
        if start is not None and start != start_of(run):
            return "Gone"
        stored = await self.store.load_job(account.key, key_of_starts(run.node[0]))
        conditions = await keeping_conditions(self.registry, self.store, self.limits, account, run.node[0])
        return why_start_without_row(run, stored, conditions)
