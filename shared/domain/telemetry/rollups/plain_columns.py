"""A fast path for columns that contain only numbers, counters that only grow, and ascending times: nearly all of them.

Functions return None for other columns, and the reference implementation in `summaries.py` reads these value by value.
Both return the same rollups, up to rounding of fractional sums. Sorting a minute's values is the fastest way to their
minimum and maximum, and adding them up detects texts faster than checking each one.
"""

from collections.abc import Sequence
from math import sumprod
from operator import sub, truediv
from typing import Any

from shared.domain.telemetry.catalog.series import Rule
from shared.domain.telemetry.rollups.rollups import Rollup
from shared.domain.telemetry.rollups.summaries import MAX, CounterValue, TimeColumn

_SECOND = 1_000_000_000
MAX_COUNT = 1_000_000_000
"""The most values that an agent's aggregate of a minute may count."""
type ByMinute = list[tuple[int, Rollup]]


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
