"""Records of one node become rollups: those that are alike, column by column.

What a fold must remember from one step of a blob to the next is its `Memory`: the last reading of every counter, so
that growth is exact over the ends of steps, and which series there are, of which a node may have only so many.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from msgspec.structs import replace

from shared.domain.telemetry.catalog.plans import Column, Plan, Summary
from shared.domain.telemetry.catalog.series import Kind, Series
from shared.domain.telemetry.rollups.moments import Moments, spans_of
from shared.domain.telemetry.rollups.plain_columns import MOST_COUNT, ByMinute, counter, gauge, summed_up
from shared.domain.telemetry.rollups.rollups import MINUTE, MINUTES_AN_HOUR, Rollup, Rollups
from shared.domain.telemetry.rollups.several_kinds import Values, brought_together, by_time, in_several, surely_ordered
from shared.domain.telemetry.rollups.summaries import Reading, gauge_rollup, growth, number_of

MOST_SERIES = 1000
"""Of a node at a time, as one blob tells of it: one with 8 GPUs, 96 CPUs and ten disks has some 900."""


@dataclass(slots=True)
class Memory:
    """By the ids of series: the last readings of counters, and which series there are.

    Those of the latest `hour` (since 1970) with samples are `series`, those of the one before `before`; the others are
    `old`, and make room for new ones where there is none: processes end, and their ids are no series any more.
    """

    readings: dict[str, Reading] = field(default_factory=dict)
    series: set[str] = field(default_factory=set)
    before: set[str] = field(default_factory=set)
    old: set[str] = field(default_factory=set)
    hour: int = 0

    def of_next_session(self) -> "Memory":
        """That of a session which follows in the same blob: its counters are others, its series count with those."""
        return Memory(series=self.series, before=self.before, old=self.old, hour=self.hour)

    def begin(self, hour: int) -> None:
        self.hour = hour
        self.old |= self.before
        self.before, self.series = self.series, set()

    def admits(self, series: str, most: int) -> bool:
        """Whether a series that isn't of the hour yet is one of those that a node may have; it is of the hour then."""
        is_known = series in self.before or series in self.old
        if not is_known and len(self.series) + len(self.before) + len(self.old) >= most:
            if not self.old:
                return False
            for one in self.old:
                self.readings.pop(one, None)
            self.old.clear()
        self.before.discard(series)
        self.old.discard(series)
        self.series.add(series)
        return True


@dataclass(slots=True)
class Losses:
    """Values that are in no rollup: of series beyond the most that a node may have, late readings, and no numbers."""

    beyond_limit: int = 0
    late: int = 0
    no_numbers: int = 0

    def add(self, other: "Losses") -> None:
        self.beyond_limit += other.beyond_limit
        self.late += other.late
        self.no_numbers += other.no_numbers


class Alike(NamedTuple):
    """Records that are alike, some at least, as they came; their times may be in any order.

    `values` are those of all fields of the first record, then of the second, and so on.
    """

    plan: Plan
    times: list[int]
    values: list[Any]


class Fold:
    """Rolls up the records of one node, into the rollups that it is given."""

    __slots__ = ("_memory", "_moments", "_most_series", "_rollups", "cells", "hours", "losses")

    def __init__(self, memory: Memory, rollups: Rollups, *, most_series: int = MOST_SERIES) -> None:
        """The memory is kept up to date; a caller that may not keep what comes of it hands over a copy.

        `cells` counts the minutes of series that are new in the rollups, `hours` are those since 1970 that they are of.
        """
        self._memory = memory
        self._moments = Moments(())
        self._most_series = most_series
        self._rollups = rollups
        self.cells = 0
        self.hours: set[int] = set()
        self.losses = Losses()

    def add(self, some: Sequence[Alike]) -> None:
        """Adds records, by what they are like. Those that come later are in later calls."""
        several = in_several(alike.plan for alike in some)
        for alike in some:
            self._add_alike(alike, several)
        for column, kinds in brought_together(some, several):
            self._add_together(column, kinds)

    def _add_alike(self, alike: Alike, but: Collection[str]) -> None:
        """Adds records that are alike, without counters of some ids."""
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
            if order and column.rule.kind is Kind.COUNTER:  # it is told as it came, as a clock may have been set
                self._keep(column.series, self._read_singly(column, times, values[column.place :: width]))
            else:
                self._add_values(column, moments, _column(values, column.place, width, order))
        for summary in plan.summaries:
            if self._admits(summary.column, count):
                places = (summary.count_at, summary.min_at, summary.max_at, summary.column.place)
                self._add_summaries(summary, moments, [_column(values, place, width, order) for place in places])

    def _add_together(self, column: Column, kinds: Sequence[Values]) -> None:
        """Adds a counter that stands in records of several kinds."""
        times, values = by_time(kinds)
        moments = self._moments_of(times)
        if not self._admits(column, len(times)):
            return
        found = self._read_plain(column, moments, values)
        if found is None:
            found = self._read_kinds(column, kinds)
        self._keep(column.series, found)

    def _moments_of(self, times: list[int]) -> Moments:
        """Of times that ascend; much of what a node measures, it measures at the same times."""
        if times == self._moments.times:
            return self._moments
        moments = self._moments = Moments(times)
        hours = {span.minute // MINUTES_AN_HOUR for span in moments.spans}
        self.hours.update(hours)
        if (latest := max(hours)) > self._memory.hour:
            self._memory.begin(latest)
        return moments

    def _admits(self, column: Column, values: int) -> bool:
        """Whether a series is one of those that the node may have."""
        if column.series.id in self._memory.series or self._memory.admits(column.series.id, self._most_series):
            return True
        self.losses.beyond_limit += values
        return False

    def _add_values(self, column: Column, moments: Moments, values: Sequence[Any]) -> None:
        found = self._read_plain(column, moments, values)
        if found is None:
            found = self._read_singly(column, moments.times, values)
        self._keep(column.series, found)

    def _read_plain(self, column: Column, moments: Moments, values: Sequence[Any]) -> ByMinute | None:
        _, series, rule = column
        readings = self._memory.readings
        try:
            if rule.kind is Kind.GAUGE:
                return gauge(values, moments, rule)
            found = counter(values, moments, rule, readings.get(series.id))
        except TypeError:  # one is a text
            return None
        if found is not None:
            readings[series.id] = Reading(moments.times[-1], +values[-1])  # of true, 1
        return found

    def _read_singly(self, column: Column, times: Sequence[int], values: Sequence[Any]) -> ByMinute:
        """What isn't plain: no numbers, or numbers written as texts; late readings, counters that began anew."""
        numbers = self._numbers(times, values)
        if not numbers:
            return []
        if column.rule.kind is Kind.COUNTER:
            return self._growth(column, numbers)
        rising = 1 if column.rule.factor > 0 else -1
        numbers.sort(key=lambda one: (one[0], rising * one[1]))  # of two at one time the larger counts as last
        times, values = zip(*numbers, strict=True)
        return [
            (minute, gauge_rollup(values[begin:end], times[end - 1], column.rule))
            for minute, begin, end in spans_of(times)
        ]

    def _read_kinds(self, column: Column, kinds: Iterable[Values]) -> ByMinute:
        """A counter of several kinds of records, which isn't plain when all are put in the order of their times."""
        numbers = [some for kind in kinds if (some := self._numbers(*kind))]
        if not numbers:
            return []
        taken = surely_ordered(numbers, self._memory.readings.get(column.series.id))
        self.losses.late += sum(map(len, numbers)) - len(taken)
        return self._growth(column, taken)

    def _numbers(self, times: Sequence[int], values: Sequence[Any]) -> list[tuple[int, float]]:
        found = [(at, number) for at, value in zip(times, values, strict=True)
                 if (number := number_of(value)) is not None]  # fmt: skip
        self.losses.no_numbers += len(values) - len(found)
        return found

    def _growth(self, column: Column, numbers: Sequence[tuple[int, float]]) -> ByMinute:
        (times, values), series = zip(*numbers, strict=True), column.series.id
        newest = self._memory.readings
        found, newest[series], late = growth(times, values, column.rule, newest.get(series))
        self.losses.late += late
        return found

    def _add_summaries(self, summary: Summary, moments: Moments, parts: Sequence[list[Any]]) -> None:
        """Adds what an agent has summed up, as if each value had been sent."""
        try:
            found = summed_up(parts, moments, summary.column.rule)
        except TypeError:  # one is a text
            found = None
        if found is None:
            found = list(self._summed_singly(summary, zip(moments.times, *parts, strict=True)))
        self._keep(summary.column.series, found)

    def _summed_singly(self, summary: Summary, rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[int, Rollup]]:
        for time, *parts in rows:
            count, low, high, mean = map(number_of, parts)
            if count is None or low is None or high is None or mean is None or not 1 <= count <= MOST_COUNT:
                self.losses.no_numbers += 1
                continue
            one = gauge_rollup((low, high, mean), time, summary.column.rule)
            yield time // MINUTE, replace(one, count=int(count), sum=one.last * int(count))

    def _keep(self, series: Series, found: ByMinute) -> None:
        if not found:
            return
        minutes = self._rollups.setdefault(series, {})
        before = len(minutes)
        for minute, rollup in found:  # two or three
            minutes[minute] = minutes[minute].merged(rollup) if minute in minutes else rollup
        self.cells += len(minutes) - before


def _column(values: list[Any], place: int, width: int, order: list[int] | None) -> list[Any]:
    column = values[place::width]
    return column if order is None else [column[row] for row in order]
