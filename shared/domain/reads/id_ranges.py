"""Division of a long task list into ranges of ids that can be listed concurrently.

It doesn't depend on the service's order of ids. Each range begins where the previous one ends, by the service's own
comparison, so every id lies in at least one. A poor guess makes ranges of uneven size, or lists a task twice, but never
misses one.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest

_MAX_PARTS = 64
_MIN_PART = 4000  # tasks; dividing further costs more requests than the saved time is worth
_DEEPEST = 4
_DIGITS = re.compile(r"\d+")
_HEX = re.compile(r"[0-9a-f]{8,}")
_NAMES = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class IdRange:
    """Ids from `low` (inclusive) to `high` (exclusive; None: no bound), and the progress of listing them.

    `cursor` is the next link to request, None at the start; `depth` counts the divisions that led to this range.
    """

    low: str | None = None
    high: str | None = None
    cursor: str | None = None
    depth: int = 0

    def divided(self, first_page: Sequence[str], expected: int) -> "tuple[IdRange, ...]":
        """Returns the ranges to divide it into, by the ids of its first page with tasks; itself where none help.

        They start from their beginnings, regardless of its cursor. `expected` is the approximate number of tasks in it.
        """
        points = split_points(first_page, expected) if self.depth < _DEEPEST else []
        inside = [point for point in points if self.high is None or point < self.high.lower()]
        bounds = [self.low, *inside, self.high]
        if not inside:
            return (self,)
        return tuple(IdRange(low, high, depth=self.depth + 1) for low, high in pairwise(bounds))


def split_points(ids: Sequence[str], expected: int) -> list[str]:
    """Returns where to divide a list that begins with `ids`: lower-case ids after them all; none for unsorted ones."""
    names = [name.lower() for name in ids]
    parts = min(_MAX_PARTS, expected // _MIN_PART)
    if parts <= 1 or len(names) <= 1 or any(second <= first for first, second in pairwise(names)):
        return []
    shared = names[0][: next(at for at, pair in enumerate(zip_longest(names[0], names[-1])) if pair[0] != pair[1])]
    return sorted({point for point in _guesses(names, shared, expected, parts) if point > names[-1]})


def _guesses(names: Sequence[str], shared: str, expected: int, parts: int) -> Iterable[str]:
    words = len(shared) - len(re.split(r"[^0-9a-z]", shared)[-1])  # start of the word in which ids first differ
    if all(_HEX.match(name, words) for name in names) and not all(_DIGITS.fullmatch(name, words) for name in names):
        return [f"{shared[:words]}{number:02x}" for number in range(0, 256, -(-256 // parts))]  # ids begin at random
    head = shared.rstrip("0123456789")
    runs = [match.group() for name in names if (match := _DIGITS.match(name, len(head)))]
    if len(runs) < len(names):
        return [shared + letter for letter in _NAMES]
    if len({len(run) for run in runs}) > 1:  # without leading zeros: 1, 10, 100, 1000, 1001
        return [f"{head}{number}" for number in range(10, 100)]
    return (f"{head}{number:0{len(runs[0])}}" for number in _numbers(runs, expected, parts))


def _numbers(runs: Sequence[str], expected: int, parts: int) -> Iterable[int]:
    """Yields numbers, evenly spaced as far as the tasks should reach at this density, and ever wider after that.

    Steps are whole pages, so that the ranges of a dense list end with a page.
    """
    first, last, most = int(runs[0]), int(runs[-1]), 10 ** len(runs[0])
    page = last - first + 1
    span = max(1, expected * page // len(runs))
    step = page * -(-span // (parts * page))
    number = first + step
    while number < most:
        yield number
        number = number + step if number < first + span else first + 2 * (number - first)
