"""Samples of service-defined variables, and the methods by which formulas read them.

Batch takes a sample every 30 seconds and keeps a day of them (documented). A time frame has the samples that are at
least as old as its newer end, and younger than its older end.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from shared.domain.autoscale.values import (
    SECOND,
    Interval,
    Scalar,
    Timestamp,
    ValueProblemError,
    type_name,
)

PERIOD = timedelta(seconds=30)
_KEPT = timedelta(days=1)
_MILLISECOND = timedelta(milliseconds=1)
_PERIOD_MS = PERIOD // _MILLISECOND
_MAX_SAMPLES = _KEPT // PERIOD
_TICKS = SECOND // 1000  # of a millisecond


@dataclass(slots=True)
class SampleHistory:
    """Samples with increasing times, in milliseconds since 1970, and their values by variable."""

    times: list[int] = field(default_factory=list)
    values: dict[str, list[float]] = field(default_factory=dict)

    def copy(self) -> "SampleHistory":
        return SampleHistory([*self.times], {name: [*values] for name, values in self.values.items()})

    def add(self, at: int, counts: Mapping[str, float]) -> None:
        """Adds a sample, which has the same variables as those before."""
        self.times.append(at)
        for name, value in counts.items():
            self.values.setdefault(name, []).append(value)


@dataclass(frozen=True, slots=True)
class SampledMetric:
    """One variable as of `now`, in milliseconds since 1970: samples from before then, and its value as `latest`."""

    name: str
    latest: float
    history: SampleHistory
    now: int

    def call(self, method: str, arguments: tuple[Scalar, ...]) -> Scalar:
        """Returns the value of a method. Raises ValueProblemError."""
        match method, *arguments:
            case "GetSample", float(count):
                return self._last(count)
            case "GetSample", (Timestamp() | Interval()), *_:
                return self._sample(arguments)
            case "GetSamplePercent", (Timestamp() | Interval()), *_:
                return self._frame(arguments)[1]
            case ["Count"]:
                return float(len(self._kept()))
            case ["GetSamplePeriod"]:
                return Interval(_PERIOD_MS * _TICKS)
            case ["HistoryBeginTime"]:
                return self._begin()
        types = ", ".join(map(type_name, arguments))
        raise ValueProblemError(f"{self.name} has no method {method}({types})")

    def _kept(self) -> range:
        """Returns the places of samples from before now, at most those of a day."""
        end = bisect_left(self.history.times, self.now)
        return range(max(end - _MAX_SAMPLES, 0), end)

    def _last(self, count: float) -> tuple[float, ...]:
        kept = self._kept()
        number = 0 if math.isnan(count) else int(min(max(count, 0), len(kept)))
        return tuple(self._values()[kept.stop - number : kept.stop])

    def _sample(self, arguments: tuple[Scalar, ...]) -> tuple[float, ...]:
        *frame, last = arguments
        wanted = last if frame and isinstance(last, float) else None
        found, percent = self._frame(arguments if wanted is None else tuple(frame))
        if wanted is not None and percent < wanted:
            raise ValueProblemError(f"{self.name} has {percent:.0f} % of the samples, and {wanted:g} % are required")
        return found

    def _frame(self, ends: tuple[Scalar, ...]) -> tuple[tuple[float, ...], float]:
        """Returns the values between two times, the second now if there is one, and their share in percent."""
        begin, *others = map(self._moment, ends)
        end = others[0] if others else float(self.now)
        if len(others) > 1 or begin == end:
            raise ValueProblemError(f"{self.name} takes a time frame of one or two different times")
        begin, end = min(begin, end), max(begin, end)
        kept, times = self._kept(), self.history.times
        first = max(bisect_right(times, begin), kept.start)
        last = min(bisect_right(times, end), kept.stop)
        values = tuple(self._values()[first:last])
        return values, min(100.0, 100 * len(values) * _PERIOD_MS / (end - begin))

    def _moment(self, end: Scalar) -> float:
        """Returns a time in milliseconds since 1970; an interval is an age."""
        if isinstance(end, Interval):
            return self.now - end.ticks / _TICKS
        if isinstance(end, Timestamp):
            return end.ticks / _TICKS
        raise ValueProblemError(f"{self.name} takes times, and a {type_name(end)} is none")

    def _begin(self) -> Timestamp:
        kept = self._kept()
        if not kept:
            raise ValueProblemError(f"{self.name} has no samples")
        return Timestamp(self.history.times[kept.start] * _TICKS)

    def _values(self) -> Sequence[float]:
        return self.history.values.get(self.name, [])
