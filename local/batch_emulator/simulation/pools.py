"""State transitions of pools: allocation up to its targets, resizing, deletion.

The errors of a resize stay until the next one begins, as the service keeps them (nextflow issue 7312).
"""

from collections.abc import Callable, Sequence
from functools import partial

from local.batch_emulator.core.collation import fold
from local.batch_emulator.core.stamps import stamp
from local.batch_emulator.entities import Account, Json, Node, Pool
from local.batch_emulator.entities.scheduling_index import SchedulingIndex
from local.batch_emulator.simulation.capacity import no_capacity, sizes_of_new_nodes
from local.batch_emulator.simulation.core_quotas import within_core_quotas
from local.batch_emulator.simulation.nodes import NodeTransitions
from local.batch_emulator.state.context import SimulationContext

MAX_NODES = 2500
_ALLOCATING = (3.0, 8.0)
_DELETING = (3.0, 8.0)
TARGETS = {True: "targetDedicatedNodes", False: "targetLowPriorityNodes"}
_STOPPED = {
    "code": "ResizeStopped",
    "message": "Desired number of nodes could not be allocated as the resize operation was stopped",
}
_QUOTA = {"code": "AccountCoreQuotaReached", "message": "The specified account has reached core quota"}
_TRANSIENT_STATES = ("creating", "leavingpool")


class PoolTransitions:
    def __init__(self, account: Account, context: SimulationContext, number: Callable[[], int]) -> None:
        self._account = account
        self._context = context
        self._number = number

    def attach(self, nodes: NodeTransitions, begin_scaling: Callable[[Pool], None]) -> None:
        self._nodes = nodes
        self._begin_scaling = begin_scaling

    def create(self, name: str, spec: Json) -> Pool:
        """Creates a pool; jobs that already name it can run now. Without target nodes it is steady immediately."""
        now = self._context.now
        pool = Pool(
            id=name,
            key=fold(name),
            number=self._number(),
            account=self._account,
            spec=spec,
            created=now,
            modified=now,
            changed=now,
            allocation_changed=now,
            scheduling_index=SchedulingIndex(),
        )
        self._account.pools[pool.key] = pool
        self._context.mark_changed(pool, self._account)
        self._context.log.pool_created(pool)
        if not any(spec.get(target) for target in TARGETS.values()):
            pool.allocation = "steady"
        for job in self._account.jobs.values():
            if job.pool is pool:
                pool.scheduling_index.add_job(job)
        if pool.allocation != "steady":
            self._begin_resize(pool, "requeue")
        if pool.is_autoscaled:
            self._begin_scaling(pool)
        return pool

    def is_pool_quota_reached(self) -> bool:
        """Returns whether the account may have no more pools."""
        quota = self._context.settings.poolQuota
        return bool(quota) and len(self._account.pools) >= quota

    def resize(self, pool: Pool, option: str) -> None:
        """Moves the pool to the targets in its specification, after a while."""
        self._set_allocation(pool, "resizing")
        self._begin_resize(pool, option)

    def needs_resize(self, pool: Pool) -> bool:
        """Returns whether a pool's nodes differ from its targets, or are being resized."""
        return pool.allocation != "steady" or not self._has_targets(pool)

    def stop(self, pool: Pool) -> None:
        """Stops a resize; a missed target becomes a resize error."""
        pool.resizes += 1
        self._set_allocation(pool, "stopping")
        self._context.between(_ALLOCATING, partial(self._stopped, pool, pool.resizes))

    def remove_nodes(self, pool: Pool, nodes: Sequence[Node], option: str) -> None:
        """Removes certain nodes, and lowers the targets by their number."""
        for node in nodes:
            name = TARGETS[node.dedicated]
            pool.spec[name] = max(0, int(pool.spec.get(name) or 0) - 1)
        pool.errors.clear()
        pool.resizes += 1
        self._set_allocation(pool, "resizing")
        self._context.log.resize("PoolResizeStartEvent", pool, option)
        self._context.between(_ALLOCATING, partial(self._take_out, pool, pool.resizes, nodes, option))

    def delete(self, pool: Pool) -> None:
        pool.state, pool.changed = "deleting", self._context.now
        self._context.mark_changed(pool, self._account)
        self._context.log.pool("PoolDeleteStartEvent", pool)
        pool.resizes += 1
        for node in list(pool.nodes.values()):
            self._nodes.remove(node, "requeue")
        self._context.between(_DELETING, partial(self._gone, pool))

    def check_steady(self, pool: Pool) -> None:
        """Makes a pool steady once all nodes have started or left."""
        if pool.allocation == "resizing" and self._is_steady(pool):
            since = pool.allocation_changed
            self._set_allocation(pool, "steady")
            self._context.log.resize("PoolResizeCompleteEvent", pool, "", since=since)

    def _begin_resize(self, pool: Pool, option: str) -> None:
        pool.errors.clear()
        pool.resizes += 1
        self._context.log.resize("PoolResizeStartEvent", pool, option)
        self._context.between(_ALLOCATING, partial(self._allocate, pool, pool.resizes, option))

    def _allocate(self, pool: Pool, number: int, option: str) -> None:
        if pool.resizes != number:
            return
        for dedicated, name in TARGETS.items():
            nodes = [node for node in pool.nodes.values() if node.dedicated == dedicated and not node.leaving]
            surplus = len(nodes) - int(pool.spec.get(name) or 0)
            for node in sorted(nodes, key=_run_count)[: max(surplus, 0)]:
                self._nodes.remove(node, option)
            missing = max(-surplus, 0)
            allowed = min(missing, self._remaining_quota()) if dedicated else missing
            sizes = sizes_of_new_nodes(pool, allowed, self._context.settings.capacity, self._context.rng)
            sizes, refusal = within_core_quotas(self._account, sizes, self._context.settings, dedicated=dedicated)
            for size in sizes:
                self._nodes.add(pool, size, dedicated=dedicated)
            if allowed < missing:
                pool.errors.append(_QUOTA)
            if refusal:
                pool.errors.append(refusal)
            elif len(sizes) < allowed:
                pool.errors.append(no_capacity(pool))
        self._context.mark_changed(pool, self._account)
        self.check_steady(pool)

    def _remaining_quota(self) -> int:
        """Returns how many more dedicated nodes the account may have; the service counts cores."""
        quota = self._context.settings.dedicatedNodeQuota
        if not quota:
            return MAX_NODES
        return max(0, quota - sum(pool.node_count(dedicated=True) for pool in self._account.pools.values()))

    def _stopped(self, pool: Pool, number: int) -> None:
        if pool.resizes != number:
            return
        if not self._has_targets(pool):
            pool.errors.append(_STOPPED)
        since = pool.allocation_changed
        self._set_allocation(pool, "steady")
        self._context.log.resize("PoolResizeCompleteEvent", pool, "", since=since)

    def _take_out(self, pool: Pool, number: int, nodes: Sequence[Node], option: str) -> None:
        if pool.resizes != number:
            return
        for node in nodes:
            if node.id in pool.nodes and not node.leaving:
                self._nodes.remove(node, option)
        self.check_steady(pool)

    def _is_steady(self, pool: Pool) -> bool:
        if any(node.leaving or node.state in _TRANSIENT_STATES for node in pool.nodes.values()):
            return False
        return bool(pool.errors) or self._has_targets(pool)

    def _has_targets(self, pool: Pool) -> bool:
        targets = {kind: int(pool.spec.get(name) or 0) for kind, name in TARGETS.items()}
        return all(pool.node_count(dedicated=kind) == target for kind, target in targets.items())

    def _gone(self, pool: Pool) -> None:
        if not pool.is_deleted:
            for node in list(pool.nodes.values()):
                self._nodes.go(node)
            del self._account.pools[pool.key]
            self._context.change_log.mark_deleted(pool, self._account)
            times = {"startTime": stamp(pool.changed), "endTime": stamp(self._context.now)}
            self._context.log.pool("PoolDeleteCompleteEvent", pool, times)

    def _set_allocation(self, pool: Pool, state: str) -> None:
        pool.allocation, pool.allocation_changed = state, self._context.now
        self._context.mark_changed(pool, self._account)


def _run_count(node: Node) -> int:
    return len(node.runs)
