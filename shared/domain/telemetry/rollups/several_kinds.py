"""Counters that stand in records of several kinds, as where not all records have the same fields.

Readings of one kind are known in the order in which they came. How the kinds alternated only their times tell, which
are wrong once a clock was set: a counter that only grew then seems to fall, and each fall would count as a new
beginning, with all that the counter shows. So times are believed only where nothing speaks against them.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, pairwise
from operator import itemgetter
from typing import Any

from shared.domain.telemetry.catalog.plans import Column, Plan
from shared.domain.telemetry.catalog.series import Rule
from shared.domain.telemetry.rollups.summaries import Reading

type Values = tuple[Sequence[int], Sequence[Any]]
"""Times, and the values of a field at these."""
type _Number = tuple[int, float]


def in_several(plans: Iterable[Plan]) -> set[str]:
    """The ids of counters that stand in records of more than one kind."""
    ids = [plan.counters for plan in plans]
    if len(frozenset[str]().union(*ids)) == sum(map(len, ids)):
        return set()
    kinds = Counter(chain.from_iterable(ids))
    return {one for one, count in kinds.items() if count > 1}


def brought_together(
    some: Iterable[tuple[Plan, list[int], list[Any]]], several: Collection[str]
) -> Iterator[tuple[Column, list[Values]]]:
    """Counters of those ids, each with its readings in records of each kind."""
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
    """The times and values of all kinds."""
    pairs = sorted(chain.from_iterable(zip(*kind, strict=True) for kind in kinds), key=itemgetter(0))
    return [at for at, _ in pairs], [value for _, value in pairs]


def surely_ordered(kinds: Sequence[Sequence[_Number]], before: Reading | None) -> Sequence[_Number]:
    """All readings by their times; where these may be wrong, those of the kind that has most of them, as they came.

    There must be some of each kind, and `before` came before all. A counter that falls did begin anew if it fell in one
    kind, or below what was read before; else some clock was set.
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
