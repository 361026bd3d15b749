"""The group of tasks with which an attribute separates failed from succeeded tasks best, and how many were tried.

Bounds are tried on a grid that doesn't depend on outcomes: values at equal ranks, denser at both ends. Each trial
counts for the correction. The bound of the best group is then placed exactly, which counts for its rank.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import log
from typing import Any, NamedTuple

from shared.domain.contrasts.attributes import Attribute
from shared.domain.contrasts.statistics import Tally

MIN_TASKS, MIN_FAILED = 4, 3
_CELLS = 64
_WIDTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48)
_SETTLED = 8  # placements of a bound, at most


class Bounds(NamedTuple):
    """Values from `low` to `high`, both included; None: no bound. A single value has it twice."""

    low: Any
    high: Any

    def has(self, value: Any) -> bool:
        return (
            value is not None and (self.low is None or value >= self.low) and (self.high is None or value <= self.high)
        )


@dataclass(frozen=True, slots=True)
class ContrastGroup:
    """Tasks with a value within bounds. `tried` groups of the attribute were compared, the best by `tally`.

    `freedom` is the logarithm of the number of groups that the attribute could make of the tasks.
    """

    attribute: Attribute
    bounds: Bounds
    tally: Tally
    tried: int
    freedom: float

    @property
    def score(self) -> float:
        """How well the group separates outcomes, less what choosing it from so many gains by chance."""
        return self.tally.gain - self.freedom


class Steps(NamedTuple):
    """Distinct values in order, with the numbers of tasks and of failed tasks before each and after the last."""

    values: Sequence[Any]
    totals: Sequence[int]
    failed: Sequence[int]

    def tally(self, first: int, end: int) -> Tally:
        return Tally(
            self.failed[end] - self.failed[first],
            self.totals[end] - self.totals[first],
            self.failed[-1],
            self.totals[-1],
        )


def best_group(attribute: Attribute, failed: bytes, active: bytes, *, falling: bool = False) -> ContrastGroup | None:
    """Returns the best group among the active rows, None where none has enough tasks.

    `failed` and `active` have a byte for each row. `falling` groups a rising attribute's values up to a bound.
    """
    if attribute.kind == "nominal":
        return _best_value(attribute, failed, active)
    steps = _steps(attribute, failed, active)
    count = len(steps.values)
    best, tried = None, 0
    for first, end in _ranges(attribute, steps, falling=falling):
        if steps.totals[end] - steps.totals[first] < MIN_TASKS:
            continue
        tried += 1
        if steps.failed[end] - steps.failed[first] >= MIN_FAILED:
            tally = steps.tally(first, end)
            gain = tally.gain
            if gain > 0 and (best is None or gain > best[0]):
                best = gain, tally, first, end
    if best is None:
        return None
    _, tally, first, end = best
    return ContrastGroup(attribute, _bounds(steps, first, end), tally, tried, _freedom(count, first, end))


def placed(group: ContrastGroup, failed: bytes, active: bytes) -> ContrastGroup:
    """Returns the group with its bounds where they separate best; a single value stays."""
    if group.attribute.kind == "nominal":
        return group
    steps = _steps(group.attribute, failed, active)
    low, high = group.bounds
    best = group
    for _ in range(_SETTLED):
        first, end = _heaviest(steps, best.tally, is_open_below=low is None, is_open_above=high is None)
        tally = steps.tally(first, end)
        if tally.gain <= best.tally.gain or min(tally.total - MIN_TASKS, tally.failed - MIN_FAILED) < 0:
            break
        freedom = _freedom(len(steps.values), first, end)
        best = ContrastGroup(group.attribute, _bounds(steps, first, end), tally, group.tried, freedom)
    return best


def members(group: ContrastGroup) -> bytes:
    """Returns a byte for each row, 1 for those of the group."""
    low, high = group.bounds
    values = group.attribute.values
    if group.attribute.kind == "nominal":
        return bytes([value == low for value in values])
    if high is None:
        return bytes([value is not None and value >= low for value in values])
    return bytes(map(group.bounds.has, values))


def _best_value(attribute: Attribute, failed: bytes, active: bytes) -> ContrastGroup | None:
    rows = [value for value, is_active in zip(attribute.values, active, strict=True) if is_active and value is not None]
    chosen = zip(attribute.values, failed, active, strict=True)
    totals = Counter(rows)
    failures = Counter(
        value for value, has_failed, is_active in chosen if has_failed and is_active and value is not None
    )
    whole, whole_failed = len(rows), failures.total()
    tried = [value for value, total in totals.items() if total >= MIN_TASKS]
    if len(totals) <= 1:
        return None
    tallies = {
        value: Tally(failures[value], totals[value], whole_failed, whole)
        for value in tried
        if failures[value] >= MIN_FAILED
    }
    gain, best = max(((tally.gain, value) for value, tally in tallies.items()), default=(0.0, None), key=_by_gain)
    if gain <= 0:
        return None
    return ContrastGroup(attribute, Bounds(best, best), tallies[best], len(tried), log(len(totals)))


def _by_gain(one: tuple[float, Any]) -> tuple[float, str]:
    return one[0], str(one[1])


def _steps(attribute: Attribute, failed: bytes, active: bytes) -> Steps:
    values, totals, failures = list[Any](), list[int](), list[int]()
    last: Any = None
    for at in attribute.order:
        if not active[at]:
            continue
        value = attribute.values[at]
        if value == last and totals:
            totals[-1] += 1
            failures[-1] += failed[at]
        else:
            values.append(value)
            totals.append(1)
            failures.append(failed[at])
            last = value
    return Steps(values, [0, *accumulate(totals)], [0, *accumulate(failures)])


def _ranges(attribute: Attribute, steps: Steps, *, falling: bool) -> Iterator[tuple[int, int]]:
    """Yields the ranges of steps to try."""
    cuts, count = _cuts(steps), len(steps.values)
    if attribute.kind == "interval" or not falling:
        yield from ((cut, count) for cut in cuts)
    if attribute.kind == "interval" or falling:
        yield from ((0, cut) for cut in cuts)
    if attribute.kind == "interval":
        inner = [0, *cuts, count]
        for width in _WIDTHS:
            yield from ((inner[at], inner[at + width]) for at in range(1, len(inner) - 1 - width))


def _cuts(steps: Steps) -> list[int]:
    """Returns the indexes at which steps are cut: all if they are few, else at equal ranks and at both ends."""
    count, rows = len(steps.values), steps.totals[-1]
    if count <= _CELLS:
        return list(range(1, count))
    ranks = {rows * cell // _CELLS for cell in range(1, _CELLS)} | set(_ends(rows))
    return sorted({bisect_left(steps.totals, rank) for rank in ranks} - {0, count})


def _ends(rows: int) -> Iterable[int]:
    """Returns ranks near both ends, each half as far as the one before."""
    far = rows // (2 * _CELLS)
    while far >= MIN_TASKS:
        yield far
        yield rows - far
        far //= 2


def _bounds(steps: Steps, first: int, end: int) -> Bounds:
    count = len(steps.values)
    return Bounds(steps.values[first] if first else None, steps.values[end - 1] if end < count else None)


def _freedom(count: int, first: int, end: int) -> float:
    return log(count) if first == 0 or end == count else log(max(count * count / 2, 1))


def _heaviest(steps: Steps, tally: Tally, *, is_open_below: bool, is_open_above: bool) -> tuple[int, int]:
    """Returns the range of steps whose outcomes the two rates of a tally fit best, by Kadane's sum."""
    inside, outside = (min(max(rate, 1e-4), 1 - 1e-4) for rate in (tally.rate, tally.other_rate))
    for_failed, for_good = log(inside / outside), log((1 - inside) / (1 - outside))
    count = len(steps.values)
    heights = [
        failed * for_failed + (total - failed) * for_good
        for failed, total in zip(steps.failed, steps.totals, strict=True)
    ]
    if is_open_above:
        return min(range(count), key=heights.__getitem__), count
    if is_open_below:
        return 0, max(range(1, count + 1), key=heights.__getitem__)
    best, lowest = (0, count), 0
    highest = heights[count] - heights[0]
    for end in range(1, count + 1):
        if heights[end] - heights[lowest] > highest:
            highest, best = heights[end] - heights[lowest], (lowest, end)
        if heights[end] < heights[lowest]:
            lowest = end
    return best
