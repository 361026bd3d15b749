"""One account's usage of one day (UTC): the time of its pools' nodes by cost class, and of its jobs' tasks.

Days outlive pools and jobs. They hold time and what determines prices, no money: the prices of a past day are looked up
when it is asked about.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, NamedTuple

import msgspec

from shared.domain.core.labels import Labels
from shared.domain.cost.busy_nodes import HOUR, Outcome, RunSum
from shared.domain.prices.price_keys import LicenseKind, OperatingSystem, PriceKey

DAY = 86_400_000  # milliseconds
RETENTION = timedelta(days=396)
"""13 months: days before are deleted."""
HOURS = 24


class NodeKind(NamedTuple):
    """Nodes of one price in a pool; the VM size in lower case, empty where unknown."""

    vm_size: str
    dedicated: bool


type UnitsByKind = Mapping[NodeKind, Mapping[str, int]]
"""Slot milliseconds by cost class or unbilled class; a millisecond of a node is as many as it has slots."""
type UnitsByHour = Mapping[int, UnitsByKind]
"""By hour of the day."""


@dataclass(frozen=True, slots=True)
class PoolDay:
    """A pool's usage of a day, and what determines the prices of its nodes."""

    pool_id: str
    slots_per_node: int
    region: str | None
    os: OperatingSystem | None
    license: LicenseKind | None
    units: UnitsByKind = field(default_factory=dict)

    def price_key(self, kind: NodeKind) -> PriceKey:
        return PriceKey(kind.vm_size, self.region, self.os, self.license, "dedicated" if kind.dedicated else "spot")


class JobUsageKey(NamedTuple):
    """What is summed for a job: slot milliseconds on nodes of one kind in one pool, given by its key."""

    pool: str
    kind: NodeKind
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class JobDay:
    """Slot milliseconds of a job's tasks in a day's settled hours, and in those that are still made anew.

    `settled_ends` and `open_ends` are the runs that ended in these hours; they are empty in days that were rolled up
    by earlier versions. `created` is the second (since 1970) in which the job of these runs was created, None where
    that isn't known. With `has_earlier` the day also has time of an earlier job with the same id.
    """

    job_id: str
    settled: Mapping[JobUsageKey, int] = field(default_factory=dict)
    open: Mapping[JobUsageKey, int] = field(default_factory=dict)
    settled_ends: Mapping[JobUsageKey, RunSum] = field(default_factory=dict)
    open_ends: Mapping[JobUsageKey, RunSum] = field(default_factory=dict)
    created: int | None = None
    has_earlier: bool = False

    @property
    def units(self) -> Mapping[JobUsageKey, int]:
        """The sum of both."""
        return Counter(self.settled) + Counter(self.open)

    @property
    def ends(self) -> Mapping[JobUsageKey, RunSum]:
        """All runs that ended on the day."""
        return ends_summed(self.settled_ends, self.open_ends)


@dataclass(frozen=True, slots=True)
class UsageDay:
    """Usage by pool key and by job key; `day` is in days since 1970, `as_of` in milliseconds since 1970.

    `hours` are the units of pools by hour, and `jobs` those of jobs, both only where they were asked for. The first
    `settled` hours stay as they are, and a final day isn't written again, unless an event dates the end of a deleted
    pool's nodes in them, or a run ends that went on as of `outcomes_as_of`: that is by settled hour, in milliseconds
    since 1970. `pool_labels` and `job_labels` are metadata by key, `tags` those of the account, as of the last roll-up
    of the day; `job_labels` come with `jobs`, and so does `runs_as_of`, when the runs of jobs were read,
    which earlier versions didn't store. `as_of` is earlier where the nodes of a pool can't be listed.
    """

    day: int
    as_of: int
    pools: Mapping[str, PoolDay] = field(default_factory=dict)
    hours: Mapping[str, UnitsByHour] = field(default_factory=dict)
    jobs: Mapping[str, JobDay] = field(default_factory=dict)
    settled: int = 0
    is_final: bool = False
    etag: str | None = None
    pool_labels: Mapping[str, Labels] = field(default_factory=dict)
    job_labels: Mapping[str, Labels] = field(default_factory=dict)
    tags: Labels = field(default_factory=dict)
    outcomes_as_of: Sequence[int] = ()
    runs_as_of: int | None = None

    def outcomes_of(self, hour: int) -> int:
        """Returns as of when a settled hour of the day has the outcomes of runs.

        Earlier versions didn't store that. It is at most two hours after the hour's end where roll-ups were regular.
        """
        known = self.outcomes_as_of
        return known[hour] if hour < len(known) else self.day * DAY + (hour + 3) * HOUR


def summed(many: Iterable[UnitsByKind]) -> UnitsByKind:
    """Returns the sums by kind and class."""
    sums: dict[NodeKind, Counter[str]] = {}
    for kinds in many:
        for kind, units in kinds.items():
            sums.setdefault(kind, Counter()).update(units)
    return sums


def ends_summed(*many: Mapping[JobUsageKey, RunSum]) -> Mapping[JobUsageKey, RunSum]:
    """Returns the sums by key."""
    sums: dict[JobUsageKey, RunSum] = {}
    for ends in many:
        for key, one in ends.items():
            sums[key] = sums.get(key, RunSum()).plus(*one)
    return sums


def with_slots(day: UsageDay, slots: Mapping[str, int]) -> UsageDay:
    """Returns the same time of nodes in units for other numbers of slots per node, by pool key.

    A pool that was deleted and created again may have another number.
    """
    changed = {
        key: (slots[key], pool.slots_per_node)
        for key, pool in day.pools.items()
        if slots.get(key, pool.slots_per_node) != pool.slots_per_node
    }
    if not changed:
        return day

    def of_job(units: Mapping[JobUsageKey, int]) -> Mapping[JobUsageKey, int]:
        return {key: _scaled(number, *changed.get(key.pool, (1, 1))) for key, number in units.items()}

    def ends(found: Mapping[JobUsageKey, RunSum]) -> Mapping[JobUsageKey, RunSum]:
        return {key: RunSum(one.runs, _scaled(one.units, *changed.get(key.pool, (1, 1)))) for key, one in found.items()}

    return replace(
        day,
        pools={
            key: replace(pool, slots_per_node=slots[key], units=_kinds_scaled(pool.units, *changed[key]))
            if key in changed
            else pool
            for key, pool in day.pools.items()
        },
        hours={
            key: {hour: _kinds_scaled(units, *changed.get(key, (1, 1))) for hour, units in found.items()}
            for key, found in day.hours.items()
        },
        jobs={
            key: replace(
                job,
                settled=of_job(job.settled),
                open=of_job(job.open),
                settled_ends=ends(job.settled_ends),
                open_ends=ends(job.open_ends),
            )
            for key, job in day.jobs.items()
        },
    )


def _kinds_scaled(kinds: UnitsByKind, new: int, old: int) -> UnitsByKind:
    return {
        kind: {name: _scaled(number, new, old) for name, number in classes.items()} for kind, classes in kinds.items()
    }


def _scaled(units: int, new: int, old: int) -> int:
    return units * new // old


type _Kind = tuple[str, bool, dict[str, int]]
type _Pool = tuple[str, str, int, str | None, OperatingSystem | None, LicenseKind | None, list[_Kind]]
type _JobRow = tuple[str, str, bool, Outcome, int]
type _Job = tuple[str, str, list[_JobRow], list[_JobRow]]
type _EndsRow = tuple[int, int, int]
type _JobEnds = tuple[int | None, bool, list[_EndsRow], list[_EndsRow]]
_NO_ENDS: _JobEnds = (None, False, [], [])


def plain_pools(pools: Mapping[str, PoolDay]) -> Any:
    """Returns lists, texts and numbers, for storage."""
    return [
        [key, one.pool_id, one.slots_per_node, one.region, one.os, one.license, _plain_kinds(one.units)]
        for key, one in pools.items()
    ]


def pools_of_plain(plain: Any) -> dict[str, PoolDay]:
    """Returns the inverse of `plain_pools`. Raises ValueError."""
    return {
        key: PoolDay(pool_id, slots, region, system, license_kind, _kinds(kinds))
        for key, pool_id, slots, region, system, license_kind, kinds in msgspec.convert(plain, list[_Pool])
    }


def plain_hours(hours: Mapping[str, UnitsByHour]) -> Any:
    """Returns lists, texts and numbers, for storage."""
    return [[key, [[hour, _plain_kinds(units)] for hour, units in found.items()]] for key, found in hours.items()]


def hours_of_plain(plain: Any) -> dict[str, UnitsByHour]:
    """Returns the inverse of `plain_hours`. Raises ValueError."""
    found = msgspec.convert(plain, list[tuple[str, list[tuple[int, list[_Kind]]]]])
    return {key: {hour: _kinds(kinds) for hour, kinds in hours} for key, hours in found}


def plain_jobs(jobs: Mapping[str, JobDay]) -> Any:
    """Returns lists, texts and numbers, for storage."""
    return [
        [key, job.job_id, _plain_units(job.settled, job.settled_ends), _plain_units(job.open, job.open_ends)]
        for key, job in jobs.items()
    ]


def plain_ends(jobs: Mapping[str, JobDay]) -> Any:
    """Returns numbers for storage: of each job, in their order, the ends of runs beside its rows of units."""
    return [
        [job.created, job.has_earlier, _plain_ends(job.settled, job.settled_ends), _plain_ends(job.open, job.open_ends)]
        for job in jobs.values()
    ]


def jobs_of_plain(plain: Any, ends: Any = None) -> dict[str, JobDay]:
    """Returns the inverse of `plain_jobs` and `plain_ends`; earlier versions stored no ends. Raises ValueError."""
    rows = msgspec.convert(plain, list[_Job])
    beside = msgspec.convert(ends, list[_JobEnds]) if ends else [_NO_ENDS] * len(rows)
    found: dict[str, JobDay] = {}
    for (key, job_id, *parts), (created, has_earlier, *ended) in zip(rows, beside, strict=True):
        (settled, settled_ends), (unsettled, open_ends) = map(_units_and_ends, parts, ended)
        found[key] = JobDay(job_id, settled, unsettled, settled_ends, open_ends, created, has_earlier)
    return found


def _keys(units: Mapping[JobUsageKey, int], ends: Mapping[JobUsageKey, RunSum]) -> list[JobUsageKey]:
    """Returns the keys of rows in order: runs may also have ended at the very start of hours, after no time in them."""
    return [*{**units, **ends}]


def _plain_units(units: Mapping[JobUsageKey, int], ends: Mapping[JobUsageKey, RunSum]) -> list[list[Any]]:
    return [[one.pool, *one.kind, one.outcome, units.get(one, 0)] for one in _keys(units, ends)]


def _plain_ends(units: Mapping[JobUsageKey, int], ends: Mapping[JobUsageKey, RunSum]) -> list[list[int]]:
    """Returns the ends of runs, each with the place of its row, and with the units beyond those of the row.

    Most runs begin in the hours in which they end, and zeros take little space.
    """
    return [
        [at, ends[one].runs, ends[one].units - units.get(one, 0)]
        for at, one in enumerate(_keys(units, ends))
        if one in ends
    ]


def _units_and_ends(
    rows: list[_JobRow], ends: list[_EndsRow]
) -> tuple[dict[JobUsageKey, int], dict[JobUsageKey, RunSum]]:
    keys = [JobUsageKey(pool, NodeKind(size, own), outcome) for pool, size, own, outcome, _ in rows]
    ended = {keys[at]: RunSum(runs, rows[at][-1] + beyond) for at, runs, beyond in ends if at < len(keys)}
    return {key: row[-1] for key, row in zip(keys, rows, strict=True) if row[-1] or key not in ended}, ended


def _plain_kinds(units: UnitsByKind) -> list[list[Any]]:
    return [[*kind, dict(classes)] for kind, classes in units.items()]


def _kinds(plain: list[_Kind]) -> UnitsByKind:
    return {NodeKind(size, dedicated): units for size, dedicated, units in plain}
