"""The day by the emulator's own ledger: seconds of nodes by class, and the money for what jobs' tasks held."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import chain
from typing import Any, NamedTuple

from local.batch_emulator.core.settings import EmulatorSettings
from local.prove.cost.churn import POOLS
from local.prove.cost.rig import POLL_INTERVAL, Rig
from local.prove.cost.usage import usage

CLASSES: Mapping[str, str] = {
    "idle": "ready",
    "running": "ready",
    "creating": "starting",
    "starting": "starting",
    "waitingforstarttask": "startTask",
    "starttaskfailed": "startTaskFailed",
    "unusable": "unusable",
    "unknown": "unknown",
    "offline": "offline",
    "rebooting": "rebooting",
    "reimaging": "rebooting",
    "leavingpool": "leaving",
    "preempted": "preempted",
    "deallocating": "deallocated",
    "deallocated": "deallocated",
}
"""Which billing class a state of nodes is; `ready` are all that run tasks or could."""
UNBILLED = frozenset(("preempted", "deallocated"))
REGION = "westeurope"
_HOUR = 3600
_SKEW = EmulatorSettings().nodeClockSkewSeconds
_BY_NODE_CLOCK = ("starting", "startTask", "startTaskFailed", "ready")  # begin or end at a stamp of the node


class Line(NamedTuple):
    """What is compared: nodes of one kind of a pool in a class."""

    pool: str
    kind: str
    billing_class: str


@dataclass(frozen=True, slots=True)
class Truth:
    """Seconds of nodes by hour and line, and the money for what runs held by job.

    `unlogged` is the money of a job's runs that ended by a deletion, and of a poll interval for each: no event says
    when they ended. `undated` are seconds of nodes that only the log can show: those of half a poll interval for each
    node whose pool was deleted, as that lies between two polls, and nothing else dates it. `skewed` are seconds by
    which classes may differ as a node dates the end of its start by its own clock: the clock's error for each start.
    """

    nodes: Mapping[datetime, Counter[Line]]
    jobs: Mapping[str, Decimal]
    unlogged: Mapping[str, Decimal]
    undated: Mapping[Line, float]
    skewed: Mapping[Line, float]


def truth_of(rig: Rig, start: datetime, end: datetime, deleted: Iterable[tuple[str, datetime]]) -> Truth:
    """Returns the truth of a time span of whole hours, in which pools were deleted at these times."""
    rows = {hour: usage(rig, hour, hour + timedelta(hours=1))["nodes"] for hour in hours_of(start, end)}
    prices, jobs, unlogged = prices_of(rig), dict[str, Decimal](), dict[str, Decimal]()
    for row in usage(rig, start, end)["slots"]:
        pool = POOLS[row["pool"]]
        second = prices[pool.vm_size, row["node"].endswith("_p")] * row["slots"] / pool.slots / _HOUR
        money, job = second * Decimal(str(row["runningSeconds"])), row["job"]
        jobs[job] = jobs.get(job, Decimal(0)) + money
        if row["outcome"] == "deleted":
            unlogged[job] = unlogged.get(job, Decimal(0)) + money + second * POLL_INTERVAL
    nodes = {hour: _nodes(some) for hour, some in rows.items()}
    return Truth(nodes, jobs, unlogged, _undated(rig, deleted), _skewed(chain.from_iterable(rows.values())))


def _undated(rig: Rig, deleted: Iterable[tuple[str, datetime]]) -> dict[Line, float]:
    found = Counter[Line]()
    for pool, moment in deleted:
        rows = usage(rig, moment - timedelta(seconds=1), moment)["nodes"]
        found.update(_nodes(row for row in rows if row["pool"] == pool))
    return {line: nodes * POLL_INTERVAL / 2 for line, nodes in found.items()}


def _skewed(rows: Iterable[Any]) -> dict[Line, float]:
    starts = Counter((row["pool"], _kind(row)) for row in rows if row["state"] == "starting")
    return {
        Line(pool, kind, billing_class): number * _SKEW
        for (pool, kind), number in starts.items()
        for billing_class in _BY_NODE_CLOCK
    }


def _nodes(rows: Iterable[Any]) -> Counter[Line]:
    found = Counter[Line]()
    for row in rows:
        found[Line(row["pool"], _kind(row), CLASSES[row["state"]])] += row["seconds"]
    return found


def _kind(row: Any) -> str:
    return "dedicated" if row["dedicated"] else "spot"


def hours_of(since: datetime, until: datetime) -> list[datetime]:
    """Returns the hours that a time span touches."""
    hour, found = since.replace(minute=0, second=0, microsecond=0), list[datetime]()
    while hour < until:
        found.append(hour)
        hour += timedelta(hours=1)
    return found


def prices_of(rig: Rig) -> dict[tuple[str, bool], Decimal]:
    """Returns what an hour of each size costs, by whether the node is a spot node."""
    rows = rig.control("GET", "prices")["prices"]
    return {
        (row["armSkuName"].lower(), row["priority"] == "Spot"): Decimal(str(row["retailPrice"]))
        for row in rows
        if (row["armRegionName"], row["os"]) == (REGION, "linux") and row["priority"] in ("Regular", "Spot")
    }
