"""The faults of a cycle: settings, a sequence of faults, hosts killed and frozen; all drawn from the seed.

Cycles are of two kinds. In one, Get Task Counts lags; in the other, tasks are deleted and nodes report later than the
overlap. The kinds never mix: a lagging Get Task Counts confirms outdated counts, and no client could detect a deletion
that it doesn't show.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Any

from local.prove.stack.api import Stack
from local.prove.stack.rig import Rig

CALM: Mapping[str, Any] = {
    "pageSize": 1000,
    "emptyPageEvery": 0,
    "unorderedLists": False,
    "idCollation": "ordinal",
    "countLagSeconds": 0,
}
_PATHS = (
    *("/jobs", "/jobs", "/jobs/*/tasks", "/jobs/*/tasks", "/jobs/*/taskcounts", "/jobs/*"),
    *("/pools", "/pools/*/nodes", "/pools/*", "/nodecounts", "/jobschedules"),
)
_FAULTS = 10  # per cycle, one after another
_BETWEEN_FAULTS = (0.3, 2.5)  # seconds
_BETWEEN_KILLS = (0.3, 3.0)
_DOWN = (0.0, 1.0)  # seconds that a host stays down
_FROZEN = (0.3, 3.0)  # seconds
_FREEZES = 0.6  # share of kills preceded by freezing some host
_LONG_WAITS = 4  # every fourth cycle ends with throttling without Retry-After: the app waits 30 s
_ALL_AT_ONCE = 0.15
_KINDS = {"reset": "connection reset", "truncate": "body truncated", "delaySeconds": "answer delayed"}


@dataclass(frozen=True, slots=True)
class Kinds:
    """The optional parts of a run; both need an app that repairs differences missing from every delta."""

    deletions: bool = True
    late_reports: bool = True


@dataclass(frozen=True, slots=True)
class Plan:
    """One cycle.

    `late_seconds` is the delay of nodes' reports, 0 for none; `faults` are bodies for the control's POST.
    """

    number: int
    knobs: Mapping[str, Any]
    faults: tuple[Mapping[str, Any], ...]
    late_seconds: float
    deletions: bool

    @property
    def title(self) -> str:
        """The plan in a few words, for the terminal."""
        knobs = [f"{name} {value}" for name, value in self.knobs.items() if value != CALM[name]]
        late = [f"reports {self.late_seconds:.0f} s late"] if self.late_seconds else []
        return ", ".join([*knobs, *late, *(["deletions"] if self.deletions else [])])


def plan_cycle(seed: int, number: int, kinds: Kinds) -> Plan:
    """Returns cycle `number`, counted from 1."""
    chance = random.Random(f"{seed}/cycle/{number}")
    lagging = number % 2 == 0
    knobs = {
        "pageSize": chance.choice((10, 40, 150, 600)),
        "emptyPageEvery": chance.choice((0, 2, 3, 5)),
        "unorderedLists": chance.random() < 0.4,  # noqa: PLR2004 - a share
        "idCollation": chance.choice(("ordinal", "linguistic", "reversed")),
        "countLagSeconds": chance.choice((0.5, 1.0, 2.0)) if lagging else 0,
    }
    faults = [_fault(chance) for _ in range(_FAULTS)]
    if number % _LONG_WAITS == _LONG_WAITS - 1:
        faults.append({"path": "/jobs", "status": chance.choice((429, 503)), "count": 1})
    is_late = kinds.late_reports and not lagging and chance.random() < 0.7  # noqa: PLR2004 - a share
    late = chance.uniform(4.0, 6.0) if is_late else 0.0
    return Plan(number, knobs, tuple(faults), late, kinds.deletions and not lagging)


def post_faults(stack: Stack, plan: Plan, closing: Event) -> None:
    """Posts the faults one after another, until `closing`; takes some seconds."""
    chance = random.Random(f"{plan}")
    if plan.late_seconds:
        stack.control("POST", "faults", {"lateReportSeconds": plan.late_seconds})
    for fault in plan.faults:
        if closing.wait(chance.uniform(*_BETWEEN_FAULTS)):
            return
        stack.control("POST", "faults", {"method": "GET", **fault})


def kill_hosts(rig: Rig, kills: int, closing: Event, *, seed: str) -> None:
    """Kills and restarts hosts `kills` times, one or all together, until `closing`; freezes some in between.

    Raises Failure if one doesn't start.
    """
    chance = random.Random(seed)
    while kills > 0 and not closing.wait(chance.uniform(*_BETWEEN_KILLS)):
        if chance.random() < _FREEZES:
            rig.freeze(chance.choice(rig.seats), chance.uniform(*_FROZEN))
        everyone = len(rig.seats) <= kills and chance.random() < _ALL_AT_ONCE
        seats = rig.seats if everyone else (chance.choice(rig.seats),)
        for seat in seats:
            rig.kill(seat)
        closing.wait(chance.uniform(*_DOWN))
        for seat in seats:
            rig.start(seat)
        kills -= len(seats)


def struck(posted: Sequence[Mapping[str, Any]], left: Sequence[Mapping[str, Any]]) -> Counter[str]:
    """Returns the number of applied faults by kind; `left` lists the `posted` faults in the same order."""
    return Counter(
        {
            kind: sum(before["count"] - after["count"] for before, after in pairs)
            for kind, pairs in _by_kind(posted, left).items()
        }
    )


def _by_kind(
    posted: Sequence[Mapping[str, Any]], left: Sequence[Mapping[str, Any]]
) -> dict[str, list[tuple[Mapping[str, Any], Mapping[str, Any]]]]:
    found: dict[str, list[tuple[Mapping[str, Any], Mapping[str, Any]]]] = {}
    requests = [fault for fault in left if not fault["lateReportSeconds"]]
    for before, after in zip(posted, requests, strict=False):
        found.setdefault(kind_of(before), []).append((before, after))
    return found


def kind_of(fault: Mapping[str, Any]) -> str:
    """Returns the kind of a fault as the report words it."""
    if status := fault.get("status"):
        wait = {429: ", Retry-After", 503: ", Retry-After"}.get(status, "") if "retryAfter" in fault else ""
        return f"{status}{wait}"
    return next(kind for name, kind in _KINDS.items() if name in fault)


def _fault(chance: random.Random) -> dict[str, Any]:
    path, count = chance.choice(_PATHS), chance.randint(1, 4)
    match chance.randrange(8):
        case 0:
            status = chance.choice((429, 503))
            return {"path": path, "status": status, "retryAfter": chance.randint(0, 2), "count": 1}
        case 1:
            return {"path": path, "status": 500, "count": count}
        case 2 | 3:
            return {"path": path, "reset": True, "count": count}
        case 4 | 5:
            return {"path": path, "truncate": True, "count": count}
        case _:
            return {"path": path, "delaySeconds": round(chance.uniform(0.2, 1.5), 1), "count": count}
