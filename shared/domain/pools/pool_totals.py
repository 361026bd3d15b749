"""All pools of an account in a few numbers: nothing but sums of what is known of each.

No figure is made up: of a pool whose nodes weren't read nothing is counted but the pool, of a VM size whose vCPUs
aren't known only the nodes, and both numbers are told.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from shared.domain.nodes.nodes import by_state
from shared.domain.pools.pools import Cores, Pool


@dataclass(frozen=True, slots=True)
class PoolTotals:
    """`states` are those of pools, `nodes` those of nodes; `unread` pools are in neither nodes, slots nor cores.

    `as_of` is that of the pool known longest ago, None where none was read; `cores` are those of VM sizes that are
    known, None where there are machines and all are of others; `unknown_cores` is how many machines that leaves out.
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
    def tells_nodes(self) -> bool:
        """False where the nodes of every pool are still to be read, so that a zero would tell nothing."""
        return self.unread == 0 or self.unread < self.pools


def totals_of(pools: Iterable[Pool]) -> PoolTotals:
    """The sum of an account's pools."""
    found = list(pools)
    pictures = [pool.picture for pool in found if pool.picture]
    summaries = [picture.summary for picture in pictures]
    nodes = by_state(tuple(count for summary in summaries for count in summary.counts))
    cores = [pool.cores for pool in found]
    unknown = sum(pool.picture.summary.machines for pool in found if pool.picture and pool.cores is None)
    return PoolTotals(
        states=dict(sorted(Counter(pool.facts.state for pool in found).items())),
        unread=len(found) - len(pictures),
        as_of=min((picture.as_of for picture in pictures), default=None),
        nodes=nodes,
        slots=sum(summary.slots for summary in summaries),
        used=sum(summary.used for summary in summaries),
        free=sum(summary.free for summary in summaries),
        cores=_sum([each for each in cores if each], unknown=unknown),
        unknown_cores=unknown,
    )


def _sum(cores: list[Cores], *, unknown: int) -> Cores | None:
    total = sum(each.total for each in cores)
    if unknown and not total:
        return None
    return Cores(total, round(sum(each.busy for each in cores), 3))
