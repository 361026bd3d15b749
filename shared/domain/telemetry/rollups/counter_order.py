"""The order of a counter's readings that came in records of several kinds.

Readings of one kind are in order of arrival. Only time stamps show how the kinds alternated, and these are wrong after
a clock was set: then a counter that only grows seems to fall, and each fall would count as a reset, with the counter's
full value as growth. So time stamps are trusted only where nothing contradicts them.
"""

from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from operator import itemgetter
from typing import Any

from shared.domain.telemetry.rollups.summaries import CounterValue

type Values = tuple[Sequence[int], Sequence[Any]]
"""Times, and a field's values at these times."""
type Number = tuple[int, float]


def by_time(kinds: Iterable[Values]) -> tuple[list[int], list[Any]]:
    """Returns the times and values of all kinds, ordered by time."""
    pairs = sorted(chain.from_iterable(zip(*kind, strict=True) for kind in kinds), key=itemgetter(0))
    return [at for at, _ in pairs], [value for _, value in pairs]


def surely_ordered(kinds: Sequence[Sequence[Number]], before: CounterValue | None) -> Sequence[Number]:
    """Returns all readings ordered by time; if times may be wrong, only those of the largest kind, in order of arrival.

    Each kind must have readings, all later than `before`. A falling counter was really reset if it fell within one
    kind, or below `before`; otherwise a clock was set.
    """
    together = sorted(chain.from_iterable(kinds))
    if _falls(together):
        is_lower = before is not None and min(value for _, value in together) < before.value
        began_anew = is_lower or any(map(_falls, kinds))
        if not began_anew or any(map(_goes_back, kinds)):
            return max(kinds, key=len)
    return together


def _falls(readings: Iterable[Number]) -> bool:
    return any(later < earlier for (_, earlier), (_, later) in pairwise(readings))


def _goes_back(readings: Iterable[Number]) -> bool:
    return any(later < earlier for (earlier, _), (later, _) in pairwise(readings))
