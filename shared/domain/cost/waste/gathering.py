"""Makes the evidence of rules on waste from priced days and the pools of an account."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from shared.domain.core.stamps import from_milliseconds
from shared.domain.cost.allocation import amount
from shared.domain.cost.busy_nodes import HOUR
from shared.domain.cost.cost_ranges import full_days
from shared.domain.cost.priced_days import CostLine, PricedDay
from shared.domain.cost.usage_days import DAY, NodeKind, PoolDay, UnitsByKind, summed
from shared.domain.cost.waste.evidence import (
    BUSY,
    HELD,
    ClassOfKind,
    FailedJob,
    PoolWindow,
    SpotRuns,
    WasteEvidence,
    is_weekend,
)
from shared.domain.cost.waste.time_cost import NO_COST, TimeCost, cost_of
from shared.domain.findings.thresholds import MAX_WASTE_DAYS, MAX_WASTE_JOBS, MIN_WASTE_DAYS
from shared.domain.pools.pools import Pool
from shared.domain.prices.price_keys import Price
from shared.domain.usage.billing_classes import BILLED

_RAN = frozenset(BUSY)
_BILLED = frozenset((*BILLED, *BUSY, "idle"))


def waste_evidence(days: Sequence[PricedDay], pools: Mapping[str, Pool], today: int) -> WasteEvidence | None:
    """Returns the evidence of the last seven full days of usage, with hours and jobs; None without any.

    `days` are in order, from the day before these on, which shows whether the first is full. `pools` are those that
    exist, by key; `today` is in days since 1970. Where fewer than three full days are there, today counts, too, and so
    do days that may have been watched in part.
    """
    last = range(today - MAX_WASTE_DAYS, today + 1)
    full = {*full_days({day.usage.day for day in days}, last[:-1])}
    wanted = full if len(full) >= MIN_WASTE_DAYS else last
    return evidence_of([day for day in days if day.usage.day in wanted], pools, len(full), today)


def evidence_of(window: Sequence[PricedDay], pools: Mapping[str, Pool], full: int, today: int) -> WasteEvidence | None:
    """Returns the evidence of given days in order, so many of them full; None without any.

    `today` is in days since 1970.
    """
    if not window:
        return None
    sums = {key: _Sums() for key in pools}
    for day in window:
        _add_day(sums, day)
    return WasteEvidence(
        as_of=from_milliseconds(window[-1].usage.as_of),
        today=from_milliseconds(today * DAY).date(),
        days=[_date(day) for day in window],
        full_days=full,
        pools=[one.window(pools[key]) for key, one in sums.items()],
        jobs=_failed_jobs(window),
        spot=_spot_runs(window, pools.values()),
    )


@dataclass(slots=True)
class _Sums:
    """The window of a pool while days are added."""

    costs: defaultdict[ClassOfKind, TimeCost] = field(default_factory=lambda: defaultdict(TimeCost))
    idle_hours: int = 0
    idle_cost: TimeCost = NO_COST
    failing_hours: int = 0
    busiest: float = 0
    weekend: TimeCost = NO_COST
    weekend_idle: TimeCost = NO_COST
    weekend_idle_cost: TimeCost = NO_COST
    saving: TimeCost = NO_COST

    def window(self, pool: Pool) -> PoolWindow:
        return PoolWindow(
            pool.facts,
            self.costs,
            idle_hours=self.idle_hours,
            idle_cost=self.idle_cost,
            failing_hours=self.failing_hours,
            busiest=self.busiest,
            weekend=self.weekend,
            weekend_idle=self.weekend_idle,
            weekend_idle_cost=self.weekend_idle_cost,
            saving=self.saving,
        )

    def add_line(self, line: CostLine, *, weekend: bool) -> None:
        found = cost_of(line)
        self.costs[ClassOfKind(line.kind.dedicated, line.cost_class)] += found
        if weekend and line.cost_class in _BILLED:
            self.weekend += found
            self.weekend_idle += found if line.cost_class == "idle" else NO_COST


def _add_day(sums: Mapping[str, _Sums], day: PricedDay) -> None:
    for line in day.pool_lines():
        if line.pool in sums:
            sums[line.pool].add_line(line, weekend=is_weekend(_date(day)))
    for key, pool in day.usage.pools.items():
        if key in sums:
            _add_hours(sums[key], day, key, pool)
            sums[key].saving += _saving(day, pool)


def _add_hours(sums: _Sums, day: PricedDay, key: str, pool: PoolDay) -> None:
    idle = list[UnitsByKind]()
    for kinds in day.usage.hours.get(key, {}).values():
        busy = _units(kinds, *BUSY)
        sums.failing_hours += _units(kinds, "startTaskFailed") > 0
        sums.busiest = max(sums.busiest, busy / pool.slots_per_node / HOUR)
        if _units(kinds, "idle") and not busy and not _units(kinds, "unwatched"):
            sums.idle_hours += 1
            idle.append({kind: {"idle": units.get("idle", 0)} for kind, units in kinds.items()})
    usage = replace(day.usage, pools={key: replace(pool, units=summed(idle))})
    cost = sum(map(cost_of, replace(day, usage=usage).pool_lines()), NO_COST)
    sums.idle_cost += cost
    sums.weekend_idle_cost += cost if is_weekend(_date(day)) else NO_COST


def _units(kinds: UnitsByKind, *classes: str) -> int:
    return sum(units.get(name, 0) for units in kinds.values() for name in classes)


def _saving(day: PricedDay, pool: PoolDay) -> TimeCost:
    """Returns what dedicated nodes that ran tasks cost beyond the price of spot nodes; nothing where that is higher."""
    found = NO_COST
    for kind, units in pool.units.items():
        ran = sum(number for name, number in units.items() if name in _RAN)
        if kind.dedicated and ran:
            time = round(ran / pool.slots_per_node)
            own, spot = (
                day.prices.at(pool.price_key(NodeKind(kind.vm_size, dedicated)), day.since)
                for dedicated in (True, False)
            )
            if isinstance(own, Price) and isinstance(spot, Price):
                hourly = max(own.hourly - spot.hourly, own.hourly * 0)
                found += TimeCost(time, amount(ran, slots_per_node=pool.slots_per_node, hourly=hourly))
            else:
                found += TimeCost(time, unpriced=time)
    return found


def _failed_jobs(days: Iterable[PricedDay]) -> list[FailedJob]:
    """Returns the jobs whose failed tasks held the dearest time, then the longest."""
    costs, names = defaultdict[str, TimeCost](TimeCost), dict[str, str]()
    for day in days:
        for key, job in day.usage.jobs.items():
            names[key] = job.job_id
            for one, units in job.units.items():
                pool = day.usage.pools.get(one.pool)
                if one.outcome == "failed" and pool:
                    costs[key] += _cost(day, pool, one.kind, units)
    order = sorted(costs, key=lambda key: (-costs[key].priced, -costs[key].time, key))
    return [FailedJob(names[key], costs[key]) for key in order[:MAX_WASTE_JOBS]]


def _cost(day: PricedDay, pool: PoolDay, kind: NodeKind, units: int) -> TimeCost:
    time, price = round(units / pool.slots_per_node), day.prices.at(pool.price_key(kind), day.since)
    if not isinstance(price, Price):
        return TimeCost(time, unpriced=time)
    return TimeCost(time, amount(units, slots_per_node=pool.slots_per_node, hourly=price.hourly))


def _spot_runs(days: Iterable[PricedDay], pools: Iterable[Pool]) -> SpotRuns | None:
    """Returns how runs on an account's spot nodes went; of all pools, also deleted ones."""
    held = Counter[str]()
    for day in days:
        for pool in day.usage.pools.values():
            for kind, units in pool.units.items():
                if not kind.dedicated:
                    held.update({name: units.get(name, 0) // pool.slots_per_node for name in HELD})
    if not held.total():
        return None
    tallies = [one.snapshot.tally for one in pools if one.snapshot and one.snapshot.tally]
    number = sum(tally.interruptions.total for tally in tallies)
    return SpotRuns(held.total(), held["interrupted"], number, min((tally.since for tally in tallies), default=0))


def _date(day: PricedDay) -> date:
    return day.since.date()
