"""Rollups of one series' values: of any form, and by a fast path.

The fast path (`gauge`, `counter`, `summed_up`) is for columns that contain only numbers, counters that only grow, and
ascending times: nearly all of them. Its functions return None for other columns, which the reference implementation
(`gauge_rollup`, `growth`) reads value by value. Both return the same rollups, up to rounding of fractional sums.
Sorting a minute's values is the fastest way to their minimum and maximum, and adding them up detects texts faster than
checking each one.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from math import sumprod
from operator import sub, truediv
from typing import Any, NamedTuple

from shared.domain.telemetry.catalog.series import ReadingKind, Rule
from shared.domain.telemetry.rollups.rollups import MINUTE, Rollup

MAX = 1e30
"""The largest plausible value; sums of larger ones might overflow."""
MAX_COUNT = 1_000_000_000
"""The most values that an agent's aggregate of a minute may count."""
_NEVER = 1 << 64
_SECOND = 1_000_000_000
_MAX_RATED = 600 * _SECOND
_WHOLE = re.compile(r"-?\d{1,20}", re.ASCII)
_WORDS = {"true": 1, "false": 0, "active": 1, "not active": 0, "yes": 1, "no": 0}
type ByMinute = list[tuple[int, Rollup]]


class CounterValue(NamedTuple):
    """A counter's last reading; `at` in nanoseconds since 1970. A whole number stays one, however large."""

    at: int
    value: int | float


class MinuteRange(NamedTuple):
    """Positions `begin` to `end` of a column whose times are within one minute."""

    minute: int
    begin: int
    end: int


class StepDurations(NamedTuple):
    """Nanoseconds between successive times: `each`, the `least`, and `even`, the common one or 0."""

    each: list[int]
    least: int
    even: int


class TimeColumn:
    """One or more ascending times, in nanoseconds since 1970, computed once for all columns of the records."""

    __slots__ = ("_lengths", "spans", "times")

    def __init__(self, times: Sequence[int]) -> None:
        self.times = times
        self.spans = spans_of(times)
        self._lengths: dict[int, StepDurations] = {}

    def since(self, before: int) -> StepDurations:
        """Returns the lengths, the first of them from a time before all others."""
        found = self._lengths.get(before)
        if found is None:
            each = list(map(sub, self.times, (before, *self.times)))  # one time more, unused
            kinds = set(each)
            found = self._lengths[before] = StepDurations(each, min(kinds), each[0] if len(kinds) == 1 else 0)
        return found


def spans_of(times: Sequence[int]) -> list[MinuteRange]:
    """Returns the minutes of ascending times."""
    found, begin = [], 0
    while begin < len(times):
        minute = times[begin] // MINUTE
        end = bisect_left(times, (minute + 1) * MINUTE, begin)
        found.append(MinuteRange(minute, begin, end))
        begin = end
    return found


def number_of(value: object) -> float | None:
    """Returns a value as a number, or None; agents write some numbers and booleans as texts, even quoted."""
    if isinstance(value, str):
        text = value.strip().strip('"').strip()
        if text.lower() in _WORDS:
            return _WORDS[text.lower()]
        try:
            value = int(text) if _WHOLE.fullmatch(text) else float(text)
        except ValueError:
            return None
    return +value if isinstance(value, int | float) and -MAX <= value <= MAX else None


def gauge_rollup(values: Sequence[float], at: int, rule: Rule) -> Rollup:
    """Returns the rollup of one or more values in order of time, the last at `at`."""
    factor, offset = rule.factor, rule.offset
    low, high, last = min(values) * factor + offset, max(values) * factor + offset, values[-1] * factor + offset
    if factor < 0:
        low, high = high, low
    return Rollup(len(values), low, high, sum(values) * factor + offset * len(values), last, at)


def growth(
    times: Sequence[int], values: Sequence[float], rule: Rule, before: CounterValue | None
) -> tuple[list[tuple[int, Rollup]], CounterValue, int]:
    """Returns a counter's growth as rollups by minute, its newest reading, and the number of late readings.

    There must be readings, in order of arrival; those not after the newest one are late and ignored. The others ascend
    in both orders, so their growth never exceeds the counter's. Sorting instead would turn each reading that a set
    clock puts among earlier ones into a fall. A counter below its previous reading was reset and has grown by its
    value; growth before the reset is lost.
    """
    if before:
        times, values = (before.at, *times), (before.value, *values)
    count, late = len(times), 0
    lengths = list(map(sub, times[1:], times))
    if lengths and min(lengths) <= 0:
        times, values = _ascending(times, values)
        lengths, late = list(map(sub, times[1:], times)), count - len(times)
    newest = CounterValue(times[-1], values[-1])
    steps = list(map(sub, values[1:], values))
    if steps and min(steps) < 0:
        steps = [step if step >= 0 else max(value, 0) for step, value in zip(steps, values[1:], strict=True)]
    rates = list(map(truediv, steps, lengths))
    return [(span.minute, _growth(span, times, steps, rates, rule)) for span in spans_of(times[1:])], newest, late


def totals(
    times: Sequence[int], values: Sequence[float], rule: Rule, before: CounterValue | None
) -> tuple[list[float], Rule]:
    """Returns totals for readings of a counter's growth, or of its growth per second, and the rule for these totals.

    A rate holds for the time since the last reading, for ten minutes at most. Totals continue the reading before.
    """
    newest, total = before or CounterValue(times[0], 0)
    found = []
    for time, value in zip(times, values, strict=True):
        if time > newest:  # others are late
            grown = value * rule.factor + rule.offset
            total += max(grown, 0) * (
                min(time - newest, _MAX_RATED) / _SECOND if rule.reading is ReadingKind.RATE else 1
            )
            newest = time
        found.append(total)
    return found, replace(rule, factor=1, offset=0)


def _growth(span: MinuteRange, times: Sequence[int], steps: list[float], rates: list[float], rule: Rule) -> Rollup:
    """Returns the rollup of steps that end within a minute; the first step ends at the second time."""
    scale, some = rule.factor * _SECOND, rates[span.begin : span.end]
    grown = sum(steps[span.begin : span.end]) * rule.factor
    return Rollup(len(some), min(some) * scale, max(some) * scale, grown, some[-1] * scale, times[span.end])


def _ascending(times: Sequence[int], values: Sequence[float]) -> tuple[Sequence[int], Sequence[float]]:
    """Returns the readings that are later than all before them."""
    kept, newest = [], -_NEVER
    for place, time in enumerate(times):
        if time > newest:
            kept.append(place)
            newest = time
    return [times[place] for place in kept], [values[place] for place in kept]


def gauge(values: Sequence[Any], moments: TimeColumn, rule: Rule) -> ByMinute | None:
    """Returns a gauge's rollups. Raises TypeError where a value is a text."""
    times, factor, offset = moments.times, rule.factor, rule.offset
    is_scaled = factor != 1 or offset != 0
    found = []
    for minute, begin, end in moments.spans:
        if end - begin > 1 and times[end - 2] == times[end - 1]:  # ambiguous last value
            return None
        some = sorted(values[begin:end])
        low, high, last = +some[0], +some[-1], +values[end - 1]  # true and false become 1 and 0
        if low < -MAX or high > MAX:
            return None
        total = sum(some)
        if is_scaled:
            low, high, total = low * factor + offset, high * factor + offset, total * factor + offset * (end - begin)
            last = last * factor + offset
            if factor < 0:
                low, high = high, low
        found.append((minute, Rollup(end - begin, low, high, total, last, times[end - 1])))
    return found


def counter(values: Sequence[Any], moments: TimeColumn, rule: Rule, before: CounterValue | None) -> ByMinute | None:
    """Returns a counter's growth since the reading before; without one, growth begins with the second reading.

    Raises TypeError where a reading is a text.
    """
    times, first = moments.times, before or CounterValue(moments.times[0] - 1, values[0])
    lengths = moments.since(first.at)
    if lengths.least <= 0 or values[-1] > MAX or (grown := _grown(values, first.value)) is None:
        return None
    rates, length = (grown, lengths.even) if lengths.even else (list(map(truediv, grown, lengths.each)), 1)
    scale = rule.factor * _SECOND
    value = first.value
    found = []
    for minute, begin, end in moments.spans:
        start = begin or before is None  # the very first reading shows no growth
        if start == end:
            continue
        some, last = sorted(rates[start:end]), rates[end - 1]
        low, high = some[0] / length * scale, some[-1] / length * scale
        total = (values[end - 1] - value) * rule.factor
        value = values[end - 1]
        found.append((minute, Rollup(end - start, low, high, total, last / length * scale, times[end - 1])))
    return found


def summed_up(parts: Sequence[list[Any]], moments: TimeColumn, rule: Rule) -> ByMinute | None:
    """Returns rollups of an agent's counts, minima, maxima and means, as if each value had been sent.

    Raises TypeError where one is a text.
    """
    counts, lows, highs, means = parts
    lengths = moments.since(moments.times[0] - 1)
    if lengths.least <= 0 or not all(type(one) is int and 1 <= one <= MAX_COUNT for one in set(counts)):
        return None
    times, factor, offset = moments.times, rule.factor, rule.offset
    found = []
    for minute, begin, end in moments.spans:
        some = sorted(lows[begin:end] + highs[begin:end] + means[begin:end])
        low, high = some[0], some[-1]
        if low < -MAX or high > MAX:
            return None
        low, high, last = low * factor + offset, high * factor + offset, means[end - 1] * factor + offset
        if factor < 0:
            low, high = high, low
        count = int(sum(counts[begin:end]))  # a whole number may have a decimal point
        total = sumprod(means[begin:end], counts[begin:end]) * factor + offset * count
        found.append((minute, Rollup(count, low, high, total, last, times[end - 1])))
    return found


def _grown(values: Sequence[Any], before: float) -> list[float] | None:
    """Returns the growth of each reading; None where one falls, or is too large for a measurement."""
    try:
        grown = list(map(sub, values, (before, *values)))
    except OverflowError:
        return None
    return grown if min(grown) >= 0 and before >= -MAX else None
