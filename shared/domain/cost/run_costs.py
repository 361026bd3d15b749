"""Costs of a job schedule's runs: each is a job, and its costs are those of the days from its creation to its end."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from shared.domain.core.stamps import to_milliseconds
from shared.domain.cost.cost_groups import CostSum
from shared.domain.cost.job_costs import job_cost
from shared.domain.cost.priced_days import PricedDay, Sharing
from shared.domain.cost.usage_days import DAY
from shared.domain.jobs.jobs import Job

_GAP = 7  # days that are read along, as a further request takes more


@dataclass(frozen=True, slots=True)
class RunCost:
    """What a run cost so far; None where none of its days has stored usage. `missing` is how many have none."""

    job: Job
    cost: CostSum | None
    missing: int


def run_days(job: Job, now: datetime) -> range:
    """Returns the days since 1970 (UTC) on which a run may have held nodes: today is the last one of a live run."""
    facts, last = job.facts, job.facts.end_time or job.deleted_at or now
    first = to_milliseconds(facts.creation_time) // DAY
    return range(first, max(to_milliseconds(min(last, now)) // DAY, first) + 1)


def day_blocks(ranges: Iterable[range]) -> list[range]:
    """Returns disjoint ranges in order that have all days of the given ones, and only short gaps between these."""
    found: list[range] = []
    for days in sorted(ranges, key=lambda one: one.start):
        if found and days.start <= found[-1].stop + _GAP:
            found[-1] = range(found[-1].start, max(found[-1].stop, days.stop))
        else:
            found.append(days)
    return found


def run_cost(job: Job, days: range, stored: Mapping[int, PricedDay], sharing: Sharing) -> RunCost:
    """Returns the cost of a run, given its days and the stored ones by day."""
    known = [stored[day] for day in days if day in stored]
    cost = job_cost(known, job.key, sharing).total if known else None
    return RunCost(job, cost, len(days) - len(known))
