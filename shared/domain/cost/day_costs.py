"""What a day cost so far: by pool and job."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from shared.domain.core.stamps import from_milliseconds
from shared.domain.cost.cost_groups import CostSum
from shared.domain.cost.priced_days import NO_JOB, CostLine, PricedDay


@dataclass(frozen=True, slots=True)
class DayCosts:
    """Costs of a day as of its last roll-up, in total and by the ids of pools and jobs.

    Each job has its proportional share of time that no task held.
    """

    currency: str
    as_of: datetime
    total: CostSum
    pools: Mapping[str, CostSum]
    jobs: Mapping[str, CostSum]


def day_costs(day: PricedDay) -> DayCosts:
    """Returns the costs of a day that has its jobs."""
    usage, lines = day.usage, list(day.pool_lines())
    total = CostSum()
    for line in lines:
        total.add(line)
    pools = _sums((usage.pools[line.pool].pool_id, line) for line in lines)
    names = {key: job.job_id for key, job in usage.jobs.items()}
    jobs = _sums((names[line.job], line) for line in day.job_lines("proportional") if line.job != NO_JOB)
    return DayCosts(day.prices.currency, from_milliseconds(usage.as_of), total, pools, jobs)


def _sums(lines: Iterable[tuple[str, CostLine]]) -> Mapping[str, CostSum]:
    found: defaultdict[str, CostSum] = defaultdict(CostSum)
    for name, line in lines:
        found[name].add(line)
    return found
