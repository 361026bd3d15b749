"""Rollups of one series' values of any form; `plain_columns.py` has a faster path."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from operator import sub, truediv
from typing import NamedTuple

from shared.domain.telemetry.catalog.series import ReadingKind, Rule
from shared.domain.telemetry.rollups.rollups import MINUTE, Rollup

MAX = 1e30
"""The largest plausible value; sums of larger ones might overflow."""
_NEVER = 1 << 64
_SECOND = 1_000_000_000
_MAX_RATED = 600 * _SECOND
_WHOLE = re.compile(r"-?\d{1,20}", re.ASCII)
_WORDS = {"true": 1, "false": 0, "active": 1, "not active": 0, "yes": 1, "no": 0}


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
