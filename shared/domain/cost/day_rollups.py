"""Makes a pool's and a job's usage of a day from the ledger of the pool's nodes and the runs of tasks."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import NamedTuple, get_args

from shared.domain.core.keys import key_of
from shared.domain.cost.allocation import OUTCOMES, NodeTime, Overhead, allocated
from shared.domain.cost.busy_nodes import ENDS, HOUR, Outcome, RunSum, Settling, TaskUsageByHour
from shared.domain.cost.usage_days import (
    DAY,
    HOURS,
    JobUsageKey,
    NodeKind,
    UnitsByHour,
    UnitsByKind,
    UsageDay,
    summed,
)
from shared.domain.usage.billing_classes import UNBILLED
from shared.domain.usage.usage_ledger import UsageHours

_OVERHEAD: tuple[Overhead, ...] = get_args(Overhead.__value__)
_SPOT_SUFFIX = "_p"
SETTLED = HOUR
"""For so long after its end an hour is made anew, as reports may come late."""
_LATE = HOUR // 2
"""For so long runs of cached tasks may have ended before that is known: then they still go on."""


@dataclass(frozen=True, slots=True)
class NodeKinds:
    """The kinds of a pool's nodes, by node key as far as they are known, and all that the pool had.

    Of a node that is gone, Batch's ids say whether it was dedicated: they end with `_d` or `_p`. Its size is unknown if
    the pool had several.
    """

    known: Mapping[str, NodeKind] = field(default_factory=dict)
    all_kinds: frozenset[NodeKind] = frozenset()

    def of(self, node_id: str) -> NodeKind:
        if found := self.known.get(key_of(node_id)):
            return found
        dedicated = not node_id.endswith(_SPOT_SUFFIX)
        alike = [kind for kind in self.all_kinds if kind.dedicated == dedicated] or [*self.all_kinds]
        return alike[0] if len(alike) == 1 else NodeKind("", dedicated)


@dataclass(slots=True)
class TaskTime:
    """Slot milliseconds that tasks held on a pool's nodes of one kind in an hour, and how long nodes ran any."""

    held: Counter[Outcome] = field(default_factory=Counter)
    busy: int = 0


type PoolTaskTime = Mapping[tuple[int, NodeKind], TaskTime]
"""By hour of the day and kind of node."""


class EndedTime(NamedTuple):
    """What a job held in an hour since 1970 (UTC) by runs that ended within ten minutes of a later hour.

    `ended` is the start of these minutes, in milliseconds since 1970.
    """

    hour: int
    job: str
    key: JobUsageKey
    ended: int


@dataclass(frozen=True, slots=True)
class DayTasks:
    """The time of a day's tasks by pool key; by job key in hours that are settled now, and in open ones.

    `ended` is that of runs that ended in hours that are settled now. `settled_ends` and `open_ends` are the runs that
    ended in these hours, by job key; `earlier` are the keys of jobs that also have runs of an earlier job.
    """

    pools: Mapping[str, PoolTaskTime]
    settled: Mapping[str, Mapping[JobUsageKey, int]]
    open: Mapping[str, Mapping[JobUsageKey, int]]
    ended: Mapping[EndedTime, int] = field(default_factory=dict)
    settled_ends: Mapping[str, Mapping[JobUsageKey, RunSum]] = field(default_factory=dict)
    open_ends: Mapping[str, Mapping[JobUsageKey, RunSum]] = field(default_factory=dict)
    earlier: Collection[str] = ()


def day_tasks(usage: TaskUsageByHour, kinds: Mapping[str, NodeKinds]) -> DayTasks:
    """Returns sums of a day's runs; `kinds` are those of the nodes of known pools, by pool key.

    All nodes of a multi-instance task are taken to be of the primary's kind.
    """
    pools = defaultdict[str, defaultdict[tuple[int, NodeKind], TaskTime]](lambda: defaultdict(TaskTime))
    jobs = defaultdict[str, Counter[JobUsageKey]](Counter), defaultdict[str, Counter[JobUsageKey]](Counter)
    nothing = NodeKinds()
    for hour, found in usage.hours.items():
        for (job, (pool_id, node_id), outcome), units in found.slots.items():
            pool = key_of(pool_id)
            kind = kinds.get(pool, nothing).of(node_id)
            pools[pool][hour % HOURS, kind].held[outcome] += units
            jobs[hour >= usage.settling.before][job][JobUsageKey(pool, kind, outcome)] += units
        for (pool_id, node_id), busy in chain(found.busy().items(), found.others.items()):
            pool = key_of(pool_id)
            pools[pool][hour % HOURS, kinds.get(pool, nothing).of(node_id)].busy += busy
    ended = Counter[EndedTime]()
    for (end, hour, (job, (pool_id, node_id), outcome)), units in usage.ended.items():
        pool = key_of(pool_id)
        ended[EndedTime(hour, job, JobUsageKey(pool, kinds.get(pool, nothing).of(node_id), outcome), end)] += units
    ends = defaultdict[str, dict[JobUsageKey, RunSum]](dict), defaultdict[str, dict[JobUsageKey, RunSum]](dict)
    for (hour, (job, (pool_id, node_id), outcome)), one in usage.ends.items():
        pool, found_ends = key_of(pool_id), ends[hour >= usage.settling.before][job]
        key = JobUsageKey(pool, kinds.get(pool, nothing).of(node_id), outcome)
        found_ends[key] = found_ends.get(key, RunSum()).plus(*one)
    return DayTasks(pools, *jobs, ended, *ends, usage.earlier)


def with_ended(day: UsageDay, ended: Mapping[EndedTime, int]) -> UsageDay:
    """Returns a day in whose settled hours runs that went on then have the outcome with which they ended; sums stay.

    It is to be applied once: when the hour in which they ended is settled. The same day is returned where nothing of it
    changes, as where the outcome of all runs was known already.
    """
    settled = range(day.day * HOURS, day.day * HOURS + day.settled)
    mine = {
        one: units
        for one, units in ended.items()
        if one.hour in settled and one.ended >= day.outcomes_of(one.hour % HOURS)
    }
    if not mine:
        return day
    hours = {
        pool: {
            hour: {kind: Counter(classes) for kind, classes in kinds.items()} for hour, kinds in day.hours[pool].items()
        }
        for pool in {one.key.pool for one in mine} & day.hours.keys()
    }
    jobs = {job: Counter(day.jobs[job].settled) for job in {one.job for one in mine} & day.jobs.keys()}
    changed = 0
    for (hour, job, key, _), units in mine.items():
        moved = _move(jobs.get(job), key._replace(outcome="running"), key, units)
        classes = hours.get(key.pool, {}).get(hour % HOURS, {}).get(key.kind)
        _move(classes, "running", key.outcome, moved)
        changed += moved
    if not changed:
        return day
    return replace(
        day,
        hours={**day.hours, **hours},
        pools={
            key: replace(pool, units=summed(hours[key].values())) if key in hours else pool
            for key, pool in day.pools.items()
        },
        jobs={**day.jobs, **{job: replace(day.jobs[job], settled=held) for job, held in jobs.items()}},
    )


def _move[K](sums: Counter[K] | None, old: K, new: K, units: int) -> int:
    """Moves units between two sums, as many as there are, and returns how many."""
    moved = min(units, sums[old]) if sums else 0
    if sums is not None and moved:
        sums[new] += moved
        sums[old] -= moved
        if not sums[old]:
            del sums[old]
    return moved


def hours_of(ledger: UsageHours, day: int) -> dict[int, dict[NodeKind, Counter[str]]]:
    """Returns a ledger's milliseconds by hour of a day, kind and billing class."""
    found: dict[int, dict[NodeKind, Counter[str]]] = {}
    for hour, amounts in ledger.items():
        if hour // HOURS == day:
            kinds = found.setdefault(hour % HOURS, {})
            for (billing_class, dedicated, vm_size), time in amounts.items():
                kinds.setdefault(NodeKind(vm_size.lower(), dedicated), Counter())[billing_class] += time
    return found


def usage_by_hour(ledger: UsageHours, tasks: PoolTaskTime, day: int, slots_per_node: int) -> dict[int, UnitsByKind]:
    """Returns a pool's slot milliseconds by hour of a day, kind and cost class; unbilled time has its own classes."""
    return {
        hour: {
            kind: _allocated(times, tasks.get((hour, kind), TaskTime()), slots_per_node)
            for kind, times in kinds.items()
        }
        for hour, kinds in sorted(hours_of(ledger, day).items())
    }


def kept_hours(before: UsageDay, pool: str, now: UnitsByHour, known_since: int) -> UnitsByHour:
    """Returns a pool's hours of a day: as before where they are settled or the ledger began later, else as made now.

    `known_since` is when the ledger began, in milliseconds since 1970. For that hour, the one with more time counts: a
    ledger that began anew has only the rest of it.
    """
    old, begun = before.hours.get(pool, {}), known_since // HOUR - before.day * HOURS
    kept = {hour: units for hour, units in old.items() if hour < max(before.settled, begun)}
    if _time(old.get(begun)) > _time(now.get(begun)):
        kept[begun] = old[begun]
    return {hour: units for hour, units in now.items() if hour >= before.settled} | kept


def _time(units: UnitsByKind | None) -> int:
    return sum(number for classes in (units or {}).values() for number in classes.values())


def with_redated(
    before: UsageDay, pool: str, ledgers: tuple[UsageHours, UsageHours], known_since: int, slots_per_node: int
) -> UsageDay:
    """Returns a day whose hours have the time of a pool's nodes after an event dated their end, settled ones too.

    `ledgers` are the pool's before and after that. Tasks held what they held before, as far as nodes were there. Of the
    hour in which the ledger began, what it never had stays as it was.
    """
    undated, dated = ledgers
    old, begun = before.hours.get(pool, {}), known_since // HOUR - before.day * HOURS
    now, hours = hours_of(dated, before.day), {**old}
    for hour, kinds in hours_of(undated, before.day).items():
        is_partial = hour == begun and _time(old.get(hour)) > sum(map(Counter.total, kinds.values())) * slots_per_node
        if hour in old and now.get(hour) != kinds and not is_partial:
            hours[hour] = {
                kind: _allocated(times, _held_before(old[hour].get(kind, {}), slots_per_node), slots_per_node)
                for kind, times in now.get(hour, {}).items()
            }
    return before if hours == old else replace(before, hours={**before.hours, pool: hours})


def _held_before(units: Mapping[str, int], slots_per_node: int) -> TaskTime:
    """Returns the time of tasks in stored units."""
    held = Counter({name: units[name] for name in OUTCOMES if name in units})
    return TaskTime(held, (held.total() + units.get("idleSlots", 0)) // slots_per_node)


def has_part_of_day(since: int, as_of: int, day: int) -> bool:
    """Returns whether what is known from `since` to `as_of`, in milliseconds since 1970, has a part of a day."""
    return since < (day + 1) * DAY and as_of > day * DAY


def settled_hours(before: UsageDay, as_of: int) -> int:
    """Returns how many hours of a day are settled as of a time in milliseconds since 1970: those over for an hour."""
    over = (as_of - SETTLED) // HOUR - before.day * HOURS
    return min(max(over, before.settled), HOURS)


def settling(before: UsageDay, settled: int, tasks_as_of: int) -> Settling:
    """Returns how the hours of a day are settled; the first `settled` ones are from now on.

    `tasks_as_of` is as of when cached tasks are known, in milliseconds since 1970.
    """
    hour = before.day * HOURS + settled
    return Settling(hour, max((tasks_as_of - _LATE) // ENDS * ENDS, hour * HOUR))


def outcome_times(before: UsageDay, now: Settling) -> Sequence[int]:
    """Returns as of when each hour of a day has the outcomes of runs, those that are settled now included."""
    more = now.before - before.day * HOURS - before.settled
    return (*map(before.outcomes_of, range(before.settled)), *[now.outcomes_as_of] * more)


def _allocated(times: Mapping[str, int], tasks: TaskTime, slots_per_node: int) -> dict[str, int]:
    nodes = NodeTime(*(times.get(name, 0) for name in ("running", "idle", "ready", "unwatched")))
    overhead = {name: times[name] for name in _OVERHEAD if name in times}
    parts = allocated(nodes, overhead, tasks.held, busy=tasks.busy, slots_per_node=slots_per_node)
    return {str(name): units for name, units in parts.items()} | {
        str(name): times[name] * slots_per_node for name in UNBILLED if name in times
    }
