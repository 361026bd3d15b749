"""Core hours of pools in intervals of half an hour, for List Pool Usage Metrics.

A node counts from its allocation until it has left its pool. Cores are read from the size's name: d8s has 8. The
operation is gone from api-version 2026-10-01 on.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from local.batch_emulator.core.stamps import SECOND, stamp
from local.batch_emulator.core.vm_sizes import cores
from local.batch_emulator.entities import Account, Lease
from local.batch_emulator.protocol.paging import Renderers
from local.batch_emulator.protocol.versions import has_pool_traffic

INTERVAL = 1800 * SECOND
_HOUR = 3600 * SECOND


@dataclass(frozen=True, slots=True)
class PoolUsage:
    """The usage of a pool in an interval; `id` orders the list by interval, then by pool."""

    id: str
    pool_id: str
    vm_size: str
    start: int
    core_ticks: int


def pool_usage(account: Account, start: int, end: int, now: int) -> Mapping[str, PoolUsage]:
    """Returns usage by id in the complete intervals that begin in [start, end); all in ticks."""
    last = min(end, now // INTERVAL * INTERVAL)
    found: dict[tuple[int, str, str], int] = defaultdict(int)
    for lease in _leases(account, now):
        first = max(lease.start, start) // INTERVAL * INTERVAL
        for moment in range(max(first, start), min(lease.end, last), INTERVAL):
            overlap = min(lease.end, moment + INTERVAL) - max(lease.start, moment)
            found[moment, lease.pool_id, lease.vm_size] += max(overlap, 0) * cores(lease.vm_size)
    rows = (PoolUsage(f"{at:020}:{pool}", pool, size, at, total) for (at, pool, size), total in found.items() if total)
    return {row.id: row for row in rows}


def pool_usage_renderers(version: str) -> Renderers:
    traffic: Renderers = {"dataIngressGiB": lambda _: 0.0, "dataEgressGiB": lambda _: 0.0}
    return {
        "poolId": lambda row: row.pool_id,
        "startTime": lambda row: stamp(row.start),
        "endTime": lambda row: stamp(row.start + INTERVAL),
        "vmSize": lambda row: row.vm_size,
        "totalCoreHours": lambda row: row.core_ticks / _HOUR,
        **(traffic if has_pool_traffic(version) else {}),
    }


def _leases(account: Account, now: int) -> Iterator[Lease]:
    yield from account.leases
    for pool in account.pools.values():
        for node in pool.nodes.values():
            yield Lease(node.number, pool.id, node.vm_size, node.allocated, now)
