"""Totals of all pools of an account, which are plain sums.

Nothing is estimated. A pool whose nodes weren't read counts only as a pool, and nodes with an unknown number of vCPUs
only as nodes; the totals include the number of both.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from shared.domain.nodes.nodes import by_state
from shared.domain.pools.cores import Cores
from shared.domain.pools.pools import Pool


@dataclass(frozen=True, slots=True)
class PoolTotals:
    """Totals: `states` of pools, `nodes` of nodes by state. `unread` pools count in neither nodes, slots nor cores.

    `as_of` is that of the pool polled longest ago, None where none was read. `cores` are those of machines whose vCPUs
    are known, None where there are only others; `unknown_cores` is the number of machines left out.
    """

    states: Mapping[str, int]
    unread: int
    as_of: datetime | None
    nodes: Mapping[str, int]
    slots: int
    used: int
    free: int
    cores: Cores | None
    unknown_cores: int

    @property
    def pools(self) -> int:
        return sum(self.states.values())

    @property
    def knows_nodes(self) -> bool:
        """False where no pool's nodes have been read, so that a zero would be meaningless."""
        return self.unread == 0 or self.unread < self.pools


def totals_of(pools: Iterable[Pool]) -> PoolTotals:
    """Returns the totals of an account's pools."""
    found = list(pools)
    snapshots = [pool.snapshot for pool in found if pool.snapshot]
    summaries = [snapshot.summary for snapshot in snapshots]
    counts = [count for pool in found if (count := pool.core_count)]
    unknown = sum(count.unknown for count in counts)
    return PoolTotals(
        states=dict(sorted(Counter(pool.facts.state for pool in found).items())),
        unread=len(found) - len(snapshots),
        as_of=min((snapshot.as_of for snapshot in snapshots), default=None),
        nodes=by_state(tuple(count for summary in summaries for count in summary.counts)),
        slots=sum(summary.slots for summary in summaries),
        used=sum(summary.used for summary in summaries),
        free=sum(summary.free for summary in summaries),
        cores=_sum([count.known for count in counts], unknown=unknown),
        unknown_cores=unknown,
    )


def _sum(cores: list[Cores], *, unknown: int) -> Cores | None:
    total = sum(each.total for each in cores)
    if unknown and not total:
        return None
    return Cores(total, round(sum(each.busy for each in cores), 3))
