"""Counters that occur in records of several kinds, as not all records have the same fields.

Readings of one kind are in order of arrival. Only time stamps show how the kinds alternated, and these are wrong after
a clock was set: then a counter that only grows seems to fall, and each fall would count as a reset, with the counter's
full value as growth. So time stamps are trusted only where nothing contradicts them.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, pairwise
from operator import itemgetter
from typing import Any

from shared.domain.telemetry.catalog.field_mappings import Column, FieldMapping
from shared.domain.telemetry.catalog.series import Rule
from shared.domain.telemetry.rollups.summaries import CounterValue

type Values = tuple[Sequence[int], Sequence[Any]]
"""Times, and a field's values at these times."""
type _Number = tuple[int, float]


def in_several(plans: Iterable[FieldMapping]) -> set[str]:
    """Returns the ids of counters that occur in records of more than one kind."""
    ids = [plan.counters for plan in plans]
    if len(frozenset[str]().union(*ids)) == sum(map(len, ids)):
        return set()
    kinds = Counter(chain.from_iterable(ids))
    return {one for one, count in kinds.items() if count > 1}


def brought_together(
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


def by_time(kinds: Iterable[Values]) -> tuple[list[int], list[Any]]:
    """Returns the times and values of all kinds, ordered by time."""
    pairs = sorted(chain.from_iterable(zip(*kind, strict=True) for kind in kinds), key=itemgetter(0))
    return [at for at, _ in pairs], [value for _, value in pairs]


def surely_ordered(kinds: Sequence[Sequence[_Number]], before: CounterValue | None) -> Sequence[_Number]:
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


def _falls(readings: Iterable[_Number]) -> bool:
    return any(later < earlier for (_, earlier), (_, later) in pairwise(readings))


def _goes_back(readings: Iterable[_Number]) -> bool:
    return any(later < earlier for (earlier, _), (later, _) in pairwise(readings))
