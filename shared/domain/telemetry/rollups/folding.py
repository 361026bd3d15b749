"""Folds records of one node into rollups, column by column for records with the same plan.

A `CounterCache` carries state from one step of a blob to the next: each counter's last reading, so that growth is exact
across steps, and the known series, as their number per node is limited.

A counter may occur in records of several kinds, as not all records have the same fields; `counter_order.py` orders its
readings.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, NamedTuple

from msgspec import structs

from shared.domain.telemetry.catalog.field_mappings import Column, FieldMapping, Summary
from shared.domain.telemetry.catalog.series import CUSTOM_ID, Kind, ReadingKind, Rule, Series
from shared.domain.telemetry.rollups import summaries
from shared.domain.telemetry.rollups.counter_order import Values, by_time, surely_ordered
from shared.domain.telemetry.rollups.intake_counts import DroppedCounts
from shared.domain.telemetry.rollups.rollups import MINUTE, MINUTES_AN_HOUR, Rollup, Rollups
from shared.domain.telemetry.rollups.summaries import ByMinute, CounterValue, TimeColumn, number_of

MAX_SERIES, MAX_CUSTOM = 1000, 200
"""Series per node and blob at a time, and those of custom metrics among them. A node with 8 GPUs, 96 CPUs and ten disks
has some 900."""
MAX_BLOB_SERIES, LEFT_TO_NODES = 20_000, 1000
"""Series per blob at a time, some 30 bytes each of a state that must fit into a row, and those that tasks leave."""


@dataclass(slots=True)
class CounterCache:
    """The last readings of counters, and the known series, both by series id.

    `series` had samples in the latest `hour` (since 1970), `before` in the previous one. The others are `old` and make
    room for new ones at the limit: processes end, and their pids are series no longer. `custom` counts those of custom
    metrics.
    """

    readings: dict[str, CounterValue] = field(default_factory=dict)
    series: set[str] = field(default_factory=set)
    before: set[str] = field(default_factory=set)
    old: set[str] = field(default_factory=set)
    hour: int = 0
    custom: int = 0

    @property
    def count(self) -> int:
        """Returns the number of known series."""
        return len(self.series) + len(self.before) + len(self.old)

    def of_next_session(self) -> "CounterCache":
        """Returns the memory for the blob's next session, which keeps the series but no counter readings."""
        return replace(self, readings={})

    def begin(self, hour: int) -> None:
        self.hour = hour
        self.old |= self.before
        self.before, self.series = self.series, set()

    def admits(self, series: str, most: int) -> bool:
        """Returns whether a series that is new in this hour is within the limits, and counts it in the hour.

        `most` is how many series there may be, if that is less than the limit.
        """
        if series not in self.before and series not in self.old:
            if self._is_full(series, most):
                self._forget_old()
                if self._is_full(series, most):
                    return False
            self.custom += series.startswith(CUSTOM_ID)
        self.before.discard(series)
        self.old.discard(series)
        self.series.add(series)
        return True

    def _is_full(self, series: str, most: int) -> bool:
        """Returns whether there is no room for a new series."""
        return self.count >= min(MAX_SERIES, most) or (self.custom >= MAX_CUSTOM and series.startswith(CUSTOM_ID))

    def _forget_old(self) -> None:
        for one in self.old:
            self.readings.pop(one, None)
        self.custom -= sum(one.startswith(CUSTOM_ID) for one in self.old)
        self.old.clear()


class RecordGroup(NamedTuple):
    """One or more records with the same plan, in order of arrival; their times may be in any order.

    `values` holds all fields of the first record, then of the second, and so on.
    """

    plan: FieldMapping
    times: list[int]
    values: list[Any]


class Fold:
    """A fold of one node's records into the given rollups; counts of values in none are added to `dropped`."""

    __slots__ = ("_dropped", "_memory", "_moments", "_most", "_rollups", "cells", "hours")

    def __init__(
        self, memory: CounterCache, rollups: Rollups, dropped: DroppedCounts, room: int = MAX_BLOB_SERIES
    ) -> None:
        """Takes the memory, which it updates; a caller that may discard the result passes a copy.

        `room` is how many series the blob has room for beside those that it knows. `cells` counts the minutes of series
        that are new in the rollups, `hours` are the hours since 1970 with samples.
        """
        self._memory = memory
        self._most = memory.count + room
        self._moments = TimeColumn(())
        self._rollups = rollups
        self._dropped = dropped
        self.cells = 0
        self.hours: set[int] = set()

    def add(self, some: Sequence[RecordGroup]) -> None:
        """Adds records, grouped by plan. Later records belong in later calls."""
        several = _in_several(alike.plan for alike in some)
        for alike in some:
            self._add_alike(alike, several)
        for column, kinds in _brought_together(some, several):
            self._add_together(column, kinds)

    def _add_alike(self, alike: RecordGroup, but: Collection[str]) -> None:
        """Adds records with the same plan, except counters with the ids `but`."""
        plan, times, values = alike
        count = len(times)
        width, order, ordered = len(values) // count, None, sorted(times)
        if times != ordered:
            order = sorted(range(count), key=times.__getitem__)
        moments, columns = self._moments_of(ordered), plan.columns
        if not plan.counters.isdisjoint(but):
            columns = tuple(column for column in columns if column.series.id not in but)
        for column in columns:
            if not self._admits(column, count):
                continue
            if order and column.rule.kind is Kind.COUNTER:  # read in order of arrival, as a clock may have been set
                self._keep(column.series, self._read_singly(column, times, values[column.place :: width]))
            else:
                self._add_values(column, moments, _column(values, column.place, width, order))
        for summary in plan.summaries:
            if self._admits(summary.column, count):
                places = (summary.count_at, summary.min_at, summary.max_at, summary.column.place)
                self._add_summaries(summary, moments, [_column(values, place, width, order) for place in places])

    def _add_together(self, column: Column, kinds: Sequence[Values]) -> None:
        """Adds a counter that occurs in records with several plans."""
        times, values = by_time(kinds)
        moments = self._moments_of(times)
        if not self._admits(column, len(times)):
            return
        found = self._read_plain(column, moments, values)
        if found is None:
            found = self._read_kinds(column, kinds)
        self._keep(column.series, found)

    def _moments_of(self, times: list[int]) -> TimeColumn:
        """Returns the moments of ascending times, cached because many columns share the same times."""
        if times == self._moments.times:
            return self._moments
        moments = self._moments = TimeColumn(times)
        hours = {span.minute // MINUTES_AN_HOUR for span in moments.spans}
        self.hours.update(hours)
        if (latest := max(hours)) > self._memory.hour:
            self._memory.begin(latest)
        return moments

    def _admits(self, column: Column, values: int) -> bool:
        """Returns whether a series is within the limits of its node and its blob."""
        if column.series.id in self._memory.series or self._memory.admits(column.series.id, self._most):
            return True
        self._dropped.beyond_limit += values
        return False

    def _add_values(self, column: Column, moments: TimeColumn, values: Sequence[Any]) -> None:
        found = self._read_plain(column, moments, values)
        if found is None:
            found = self._read_singly(column, moments.times, values)
        self._keep(column.series, found)

    def _read_plain(self, column: Column, moments: TimeColumn, values: Sequence[Any]) -> ByMinute | None:
        _, series, rule = column
        readings = self._memory.readings
        try:
            if rule.kind is Kind.GAUGE:
                return summaries.gauge(values, moments, rule)
            if rule.reading is not ReadingKind.TOTAL:
                return None
            found = summaries.counter(values, moments, rule, readings.get(series.id))
        except TypeError:  # a value is a text
            return None
        if found is not None:
            readings[series.id] = CounterValue(moments.times[-1], +values[-1])  # true becomes 1
        return found

    def _read_singly(self, column: Column, times: Sequence[int], values: Sequence[Any]) -> ByMinute:
        """Returns rollups of a column that isn't plain: texts, non-numbers, late readings, counters that were reset."""
        numbers = self._numbers(times, values)
        if not numbers:
            return []
        if column.rule.kind is Kind.COUNTER:
            return self._growth(column, numbers)
        rising = 1 if column.rule.factor > 0 else -1
        numbers.sort(key=lambda one: (one[0], rising * one[1]))  # of two at the same time the larger is the last
        times, values = zip(*numbers, strict=True)
        return [
            (minute, summaries.gauge_rollup(values[begin:end], times[end - 1], column.rule))
            for minute, begin, end in TimeColumn(times).spans
        ]

    def _read_kinds(self, column: Column, kinds: Iterable[Values]) -> ByMinute:
        """Returns rollups of a counter in records with several plans that isn't plain when ordered by time."""
        numbers = [some for kind in kinds if (some := self._numbers(*kind))]
        if not numbers:
            return []
        if column.rule.reading is ReadingKind.TOTAL:
            ordered = surely_ordered(numbers, self._memory.readings.get(column.series.id))
        else:
            ordered = sorted(chain.from_iterable(numbers))
        self._dropped.late += sum(map(len, numbers)) - len(ordered)
        return self._growth(column, ordered)

    def _numbers(self, times: Sequence[int], values: Sequence[Any]) -> list[tuple[int, float]]:
        found = [(at, number) for at, value in zip(times, values, strict=True)
                 if (number := number_of(value)) is not None]  # fmt: skip
        self._dropped.no_numbers += len(values) - len(found)
        return found

    def _growth(self, column: Column, numbers: Sequence[tuple[int, float]]) -> ByMinute:
        times, values = [at for at, _ in numbers], [value for _, value in numbers]
        rule, series = column.rule, column.series.id
        newest = self._memory.readings
        if rule.reading is not ReadingKind.TOTAL:
            values, rule = summaries.totals(times, values, rule, newest.get(series))
        found, newest[series], late = summaries.growth(times, values, rule, newest.get(series))
        self._dropped.late += late
        return found

    def _add_summaries(self, summary: Summary, moments: TimeColumn, parts: Sequence[list[Any]]) -> None:
        """Adds an agent's aggregates as if each value had been sent."""
        try:
            found = summaries.summed_up(parts, moments, summary.column.rule)
        except TypeError:  # a value is a text
            found = None
        if found is None:
            found = list(self._summed_singly(summary, zip(moments.times, *parts, strict=True)))
        self._keep(summary.column.series, found)

    def _summed_singly(self, summary: Summary, rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[int, Rollup]]:
        for time, *parts in rows:
            count, low, high, mean = map(number_of, parts)
            if count is None or low is None or high is None or mean is None or not 1 <= count <= summaries.MAX_COUNT:
                self._dropped.no_numbers += 1
                continue
            one = summaries.gauge_rollup((low, high, mean), time, summary.column.rule)
            yield time // MINUTE, structs.replace(one, count=int(count), sum=one.last * int(count))

    def _keep(self, series: Series, found: ByMinute) -> None:
        if not found:
            return
        minutes = self._rollups.setdefault(series, {})
        before = len(minutes)
        for minute, rollup in found:  # only two or three
            minutes[minute] = minutes[minute].merged(rollup) if minute in minutes else rollup
        self.cells += len(minutes) - before


def _column(values: list[Any], place: int, width: int, order: list[int] | None) -> list[Any]:
    column = values[place::width]
    return column if order is None else [column[row] for row in order]


def _in_several(plans: Iterable[FieldMapping]) -> set[str]:
    """Returns the ids of counters that occur in records of more than one kind."""
    ids = [plan.counters for plan in plans]
    if len(frozenset[str]().union(*ids)) == sum(map(len, ids)):
        return set()
    kinds = Counter(chain.from_iterable(ids))
    return {one for one, count in kinds.items() if count > 1}


def _brought_together(
    some: Iterable[tuple[FieldMapping, list[int], list[Any]]], several: Collection[str]
) -> Iterator[tuple[Column, list[Values]]]:
    """Yields counters with the given ids, each with its readings in records of each kind."""
    if not several:
        return
    found: dict[tuple[str, Rule], tuple[Column, list[Values]]] = {}
    for plan, times, values in some:
        for column in plan.columns:
            if column.series.id in several:
                _, kinds = found.setdefault((column.series.id, column.rule), (column, []))
                kinds.append((times, values[column.place :: len(values) // len(times)]))
    yield from found.values()
