"""Answers from storage about pools and nodes, without requests to Batch."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime

from shared.domain.accounts.accounts import Account
from shared.domain.contrasts.rules.failing_nodes import stored_node_findings
from shared.domain.core.keys import key_of
from shared.domain.findings.finding import Finding
from shared.domain.findings.thresholds import MAX_FAILING_NODES
from shared.domain.nodes.failing_nodes import FailingNodes, NodePlace
from shared.domain.polling.pool_rounds import PoolRound, pool_verdict, pools_verdict
from shared.domain.pools.pool_samples import PoolSample
from shared.domain.pools.pools import Pool
from shared.domain.reports.failing_nodes import FailingNodesOfJob, failing_nodes_of_jobs, on_pool
from shared.domain.reports.pool_tasks import AccountTasks, account_tasks
from shared.domain.reports.reports import ListedPools, MonitoringReport, NodeReport, PoolReport
from shared.domain.retirements.announcements import Announcement
from shared.errors import NotFoundError, UnreadableError
from shared.services.accounts.registry import Registry
from shared.services.queries.retirement_queries import Announcements
from shared.stores.pools.nodes import StoredNodes
from shared.stores.stores import Stores
from shared.stores.tables.unreadable import unreadable_reports

_TRIES = 2
_FIGURES_MISSING = "Its nodes were read by a poll that hasn't stored the pool's own figures."


class PoolQueries:
    """Answers about pools."""

    def __init__(self, registry: Registry, stores: Stores, announced: Announcements | None = None) -> None:
        """Reports name no retirements where `announced` is None."""
        self._registry = registry
        self._announced = announced
        self._pools = stores.pools
        self._nodes = stores.nodes
        self._jobs = stores.jobs
        self._deleted = stores.deleted_job_counters
        self._causes = stores.waiting_causes
        self._tasks: dict[str, tuple[str | None, AccountTasks, tuple[FailingNodesOfJob, ...]]] = {}

    async def last_rounds(self, accounts: Collection[str]) -> dict[str, PoolRound | None]:
        """Returns the last round over the pools of each of these watched accounts, by id; None before the first."""
        names = sorted(accounts)
        found = await asyncio.gather(*(self._pools.load_round(self._registry.accounts[name].key) for name in names))
        return dict(zip(names, found, strict=True))

    async def problem(self, account_id: str) -> str | None:
        """Returns the problem of an account's last round over pools, or None. Raises NotFoundError."""
        last = await self._pools.load_round(self._registry.account(account_id).key)
        return last.problem if last else None

    async def pools(self, account_id: str) -> list[PoolReport]:
        """Returns every pool of an account, in key order. Raises NotFoundError."""
        return (await self.listed_pools(account_id)).reports

    async def listed_pools(self, account_id: str) -> ListedPools:
        """Returns an account's pools, its unreadable rows and the verdict on the list. Raises NotFoundError."""
        account = self._registry.account(account_id)
        watch = await self._registry.watch(account.key)
        known = await self._pools.load_all(account.key)
        now = await self._registry.clock.now()
        pools = [known.resources[key] for key in sorted(known.resources)]
        announced = await self._announced_for(account)
        reports = [replace(self._report(account, pool, known.last, watch, now), announced=announced) for pool in pools]
        failures = known.last.failures if known.last else {}
        unreadable = unreadable_reports(known.unreadable, failures, stored=known.resources)
        off_reason = watch.monitoring.off_reason
        verdict = pools_verdict(known.last, now=now, interval=watch.interval, off_reason=off_reason)
        return ListedPools(reports, unreadable, verdict=verdict)

    async def with_tasks(self, account_id: str, reports: Sequence[PoolReport]) -> list[PoolReport]:
        """Returns pools of an account with the tasks of their jobs, as of its last round. Raises NotFoundError."""
        account = self._registry.account(account_id)
        tasks, _ = await self._account_tasks(account.key)
        return [replace(report, tasks=tasks.of_pool(report.pool.key)) for report in reports]

    async def failing_nodes(self, report: PoolReport) -> list[Finding]:
        """Returns findings on nodes of a pool on which tasks of jobs fail, the clearest first, from stored rows.

        The jobs are active, or ended within a day, and the nodes are still there.
        """
        _, failing = await self._account_tasks(report.account.key)
        shown = on_pool(failing, report.pool.key, report.now)
        jobs = [(job.facts.id, await self.still_there(report.account.id, job.found)) for job in shown]
        nodes = sorted(((one.p_value, job, one), found) for job, found in jobs for one in found.nodes)
        return [
            finding
            for (_, job, one), found in nodes[:MAX_FAILING_NODES]
            for finding in stored_node_findings(job, found._replace(nodes=(one,)))
        ]

    async def _account_tasks(self, account_key: str) -> tuple[AccountTasks, tuple[FailingNodesOfJob, ...]]:
        """Returns an account's tasks and failing nodes.

        Until its next round they come from memory, as pages ask often and it has many jobs.
        """
        _, last = await self._registry.watch_and_round(account_key)
        known = self._tasks.get(account_key)
        if known is not None and last is not None and known[0] == last.etag:
            return known[1:]
        stored = await self._jobs.load_known(account_key)
        deleted, causes = await asyncio.gather(  # after the jobs, as it requires
            self._deleted.load(account_key), self._causes.load(account_key)
        )
        jobs = stored.jobs.values()
        tasks = account_tasks(jobs, deleted.with_jobs(stored.counters), causes)
        failing = failing_nodes_of_jobs(jobs)
        if last is not None:
            self._tasks[account_key] = last.etag, tasks, failing
        return tasks, failing

    async def pool(self, account_id: str, pool_id: str) -> PoolReport:
        """Returns one pool. Raises NotFoundError."""
        account = self._registry.account(account_id)
        watch = await self._registry.watch(account.key)
        last, pool = await self._pools.load(account.key, pool_id)
        if pool is None:
            raise NotFoundError("pool", pool_id, f" in the account '{account.id}'")
        report = self._report(account, pool, last, watch, await self._registry.clock.now())
        return replace(report, announced=await self._announced_for(account))

    async def recent_samples(
        self, account_key: str, pool_id: str
    ) -> tuple[MonitoringReport, tuple[PoolSample, ...] | None]:
        """Returns an account's monitoring and the samples in a pool's row, for `Histories`."""
        watch = await self._registry.watch(account_key)
        try:
            _, pool = await self._pools.load(account_key, pool_id)
        except UnreadableError:
            return watch, ()
        return watch, pool.samples if pool else None

    async def nodes(self, account_id: str, pool_id: str) -> list[NodeReport]:
        """Returns every node of a pool, in key order. Raises NotFoundError."""
        return (await self.pool_with_nodes(account_id, pool_id))[1]

    async def pool_with_nodes(self, account_id: str, pool_id: str) -> tuple[PoolReport, list[NodeReport]]:
        """Returns a pool and every node of it, in key order. Raises NotFoundError."""
        report, stored = await self.pool_with_stored_nodes(account_id, pool_id)
        now = await self._registry.clock.now()
        return report, [NodeReport(report, stored.nodes[key], now) for key in sorted(stored.nodes)]

    async def pool_with_stored_nodes(self, account_id: str, pool_id: str) -> tuple[PoolReport, StoredNodes]:
        """Returns a pool and its nodes, which a poll writes first. Raises NotFoundError.

        If the two still differ when read again, the verdict `exact` becomes `unverified`: a poll is writing, or died.
        """
        for _ in range(_TRIES):
            report = await self.pool(account_id, pool_id)
            stored = await self._nodes.read(report.account.key, report.pool.key)
            snapshot = report.pool.snapshot
            if snapshot is None or snapshot.digest == stored.digest or report.verdict.level != "exact":
                return report, stored
        return replace(report, verdict=replace(report.verdict, level="unverified", reason=_FIGURES_MISSING)), stored

    async def still_there(self, account_id: str, found: FailingNodes) -> FailingNodes:
        """Returns failing nodes of a job without those that their pools don't have any more. Raises StorageError."""
        account, present = self._registry.account(account_id), set[NodePlace]()
        for pool in {one.place[0] for one in found.nodes}:
            nodes = (await self._nodes.read(account.key, key_of(pool))).nodes
            present |= {one.place for one in found.nodes if one.place[0] == pool and key_of(one.place[1]) in nodes}
        return found._replace(nodes=tuple(one for one in found.nodes if one.place in present))

    async def node(self, account_id: str, pool_id: str, node_id: str) -> NodeReport:
        """Returns one node. Raises NotFoundError."""
        wanted = key_of(node_id)
        for report in await self.nodes(account_id, pool_id):
            if report.node.key == wanted:
                return report
        raise NotFoundError("node", node_id, f" in the pool '{pool_id}'")

    async def _announced_for(self, account: Account) -> Sequence[Announcement]:
        return (await self._announced.of_account(account.key)).entries if self._announced else ()

    def _report(
        self, account: Account, pool: Pool, last: PoolRound | None, watch: MonitoringReport, now: datetime
    ) -> PoolReport:
        verdict = pool_verdict(
            pool,
            failure=last.failure_of(pool.key, pool.nodes_as_of) if last else None,
            now=now,
            interval=watch.interval,
            off_reason=watch.monitoring.off_reason,
        )
        return PoolReport(account, pool, verdict, now)
