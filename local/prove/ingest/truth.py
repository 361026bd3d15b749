"""Computes the true series of a node from the written data, value by value, as simply as possible."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from local.prove.ingest.book import BlobLife, Unit
from local.prove.ingest.samples import MEANINGS, RECORDS, RUN, SECOND, Meaning, Sample, attributes_of

_MINUTE = 60 * SECOND

type Key = tuple[str, tuple[tuple[str, str], ...]]
"""A series: its name, and its attributes sorted by name."""
WHOLE: Key = ("system.cpu.utilization", (("cpu.mode", "user"),))
type _Run = tuple[int, tuple[str, ...]]
type _Readings = dict[tuple[_Run, Key], tuple[int, float]]
"""The last reading of each counter per session and run, as each agent counts separately."""


@dataclass(slots=True)
class Minute:
    """The values of a minute. For a counter: growth per second between readings, and the growth as `sum`."""

    count: int = 0
    min: float = float("inf")
    max: float = float("-inf")
    sum: float = 0.0
    last: float = 0.0
    last_at: int = -1

    def add(self, value: float, amount: float, at: int) -> None:
        self.count += 1
        self.min, self.max, self.sum = min(self.min, value), max(self.max, value), self.sum + amount
        if at > self.last_at:
            self.last, self.last_at = value, at


@dataclass(slots=True)
class Truth:
    """The true data of a node: its series by minute since 1970, and counts of other data in the blobs it wrote."""

    series: dict[Key, dict[int, Minute]] = field(default_factory=dict)
    records: int = 0
    refused: int = 0
    unread: int = 0
    unknown: Counter[str] = field(default_factory=Counter)


def truth_of(node: str, lives: Iterable[tuple[BlobLife, int]]) -> Truth:
    """Returns the truth of the first units of each life, in the given number."""
    found = Truth()
    for life, units in lives:
        before: _Readings = {}
        for unit in life.units[:units]:
            _count(found, unit)
            for sample in unit.samples:
                if sample.tags.get("node_id", unit.node) == node:
                    _add(found, sample, unit.session, before)
    return found


def shown_of(truth: Truth) -> dict[Key, dict[int, Minute]]:
    """Returns a node's series as shown: agents report only cores, and the whole processor is their mean."""
    cores: dict[int, list[Minute]] = {}
    for (name, attributes), minutes in truth.series.items():
        if name == WHOLE[0] and any(attribute == "cpu.logical_number" for attribute, _ in attributes):
            for minute, one in minutes.items():
                cores.setdefault(minute, []).append(one)
    return truth.series | ({WHOLE: {minute: _mean(some) for minute, some in cores.items()}} if cores else {})


def _mean(some: list[Minute]) -> Minute:
    count, cores = max(one.count for one in some), len(some)
    return Minute(
        count,
        sum(one.min for one in some) / cores,
        sum(one.max for one in some) / cores,
        sum(one.sum / one.count for one in some) / cores * count,
        sum(one.last for one in some) / cores,
    )


def totals_of(lives: Iterable[BlobLife]) -> dict[str, int]:
    """Returns the totals of all units of some lives, by their names in the API; unreadable units hide no others."""
    some = list(lives)
    truths = [truth_of(node, [(life, len(life.units))]) for life in some for node in life.nodes]
    return {
        "bytes": sum(life.size for life in some),
        "records": sum(len(unit.samples) for life in some for unit in life.units),
        "samples": sum(one.count for truth in truths for each in truth.series.values() for one in each.values()),
        "refused": sum(unit.is_bad for life in some for unit in life.units),
        "lostBytes": 0,
    }


def values_in(unit: Unit, key: Key) -> int:
    """Returns the number of values of a gauge in a unit."""
    return sum(
        (meaning.series, attributes_of(sample, meaning)) == key
        for sample in unit.samples
        for name in sample.fields
        if (meaning := MEANINGS.get((sample.name, name)))
    )


def _count(found: Truth, unit: Unit) -> None:
    found.refused += unit.is_bad
    found.records += len(unit.samples)
    for sample in unit.samples:
        known = sum((sample.name, name) in MEANINGS for name in sample.fields)
        if known:
            found.unread += len(sample.fields) - known
        elif sample.name not in RECORDS:
            found.unknown[sample.name] += 1


def _add(found: Truth, sample: Sample, session: int, before: _Readings) -> None:
    run = (session, tuple(sample.tags.get(tag, "") for tag in RUN))
    for name, value in sample.fields.items():
        meaning = MEANINGS.get((sample.name, name))
        if meaning is None or isinstance(value, str):
            continue
        key = (meaning.series, attributes_of(sample, meaning))
        grown = value * meaning.factor, value * meaning.factor
        if meaning.is_counter:
            reading = before.get((run, key))
            before[run, key] = (sample.at, value)
            if reading is None:
                continue
            grown = _growth(reading, (sample.at, value), meaning)
        minutes = found.series.setdefault(key, {})
        minutes.setdefault(sample.at // _MINUTE, Minute()).add(*grown, sample.at)


def _growth(before: tuple[int, float], reading: tuple[int, float], meaning: Meaning) -> tuple[float, float]:
    """Returns the growth per second and the growth of a counter, which was reset if its reading fell."""
    step = reading[1] - before[1] if reading[1] >= before[1] else reading[1]
    return step * meaning.factor * SECOND / (reading[0] - before[0]), step * meaning.factor
