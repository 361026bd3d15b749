"""Shares that follow from what a node wrote in a minute, so that nodes with other agents compare.

They follow from the whole minute, not from its parts. A share is unknown where a quantity is missing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from shared.domain.telemetry.catalog.series import Series
from shared.domain.telemetry.query.cpu_total import UTILIZATION

CPU_IN_USE = Series(UTILIZATION)
"""The share of all cores that isn't idle."""
MEMORY_IN_USE = Series("system.memory.utilization", (("system.memory.state", "used"),))
FILE_SYSTEM_IN_USE = Series("system.filesystem.utilization", (("system.filesystem.state", "used"),))
_CPU_IDLE = Series(UTILIZATION, (("cpu.mode", "idle"),))
_MEMORY_USED, _MEMORY_FREE, *_MEMORY_CACHES = (
    Series("system.memory.usage", (("system.memory.state", state),)) for state in ("used", "free", "buffers", "cached")
)
_SLAB = [
    Series("system.memory.linux.slab.usage", (("system.memory.linux.slab.state", state),))
    for state in ("reclaimable", "unreclaimable")
]
_MEMORY_AVAILABLE, _MEMORY_LIMIT = Series("system.memory.linux.available"), Series("system.memory.limit")
_FILES_FREE_SHARE = Series("system.filesystem.utilization", (("system.filesystem.state", "free"),))
_FILES_USED, _FILES_FREE = (
    Series("system.filesystem.usage", (("system.filesystem.state", state),)) for state in ("used", "free")
)
_FILES_LIMIT = Series("system.filesystem.limit")
FILE_SYSTEM_SIZES = frozenset((_FILES_USED, _FILES_FREE, _FILES_LIMIT))
"""Metrics that are kept for each file system where the node doesn't write the share itself."""
_SHARES = ".utilization"
_LOWEST_SHARE, _HIGHEST_SHARE = -0.1, 1.5
"""Beyond these a share is a mistake: they leave room for rounding, and for what is written at other moments."""
_MAX_SUM = 1e37
"""Rows hold numbers up to 3e38, and sums of ten minutes."""


class ShareRule(NamedTuple):
    """A share is `value` divided by the sum of `whole`, or with `is_rest` what that leaves of 1.

    Without `whole`, the value is a share itself. The quantities `beside` belong to the whole where they are written.
    """

    share: Series
    value: Series
    whole: Sequence[Series] = ()
    beside: Sequence[Series] = ()
    is_rest: bool = False


RULES = (
    ShareRule(CPU_IN_USE, _CPU_IDLE, is_rest=True),
    ShareRule(MEMORY_IN_USE, _MEMORY_USED, (_MEMORY_LIMIT,)),
    ShareRule(MEMORY_IN_USE, _MEMORY_AVAILABLE, (_MEMORY_LIMIT,), is_rest=True),
    ShareRule(MEMORY_IN_USE, _MEMORY_USED, (_MEMORY_USED, _MEMORY_FREE), beside=(*_MEMORY_CACHES, *_SLAB)),
)
"""Where several rules give a share, the first counts, and before all of them what the node itself wrote.

The OpenTelemetry Collector writes memory by state; used, free, buffers and cached add up to all; collectd
writes the kernel's slab apart from these. node_exporter writes what is available.
"""
FILE_SYSTEM_RULES = (
    ShareRule(FILE_SYSTEM_IN_USE, _FILES_FREE_SHARE, is_rest=True),
    ShareRule(FILE_SYSTEM_IN_USE, _FILES_USED, (_FILES_USED, _FILES_FREE)),
    ShareRule(FILE_SYSTEM_IN_USE, _FILES_FREE, (_FILES_LIMIT,), is_rest=True),
)
"""The same for each file system; blocks that are reserved for root count as used only where the limit is the whole."""


@dataclass(frozen=True, slots=True)
class DerivedShare:
    """A share with the places of its quantities among the totals of a minute."""

    share: Series
    value: int
    whole: Sequence[int]
    is_rest: bool

    def total(self, sums: Sequence[float], counts: Sequence[int]) -> tuple[float, int] | None:
        """Returns the sum of the share's values and their number; None for a whole of nothing."""
        number = counts[self.value]
        share = sums[self.value] / number
        if self.whole:
            whole = sum([sums[at] / counts[at] for at in self.whole])
            if whole <= 0:
                return None
            share /= whole
        return (1 - share if self.is_rest else share) * number, number


def derived_shares(places: Mapping[Series, int], rules: Sequence[ShareRule] = RULES) -> Iterator[DerivedShare]:
    """Yields the shares that follow from metrics, given their places, unless they are among them."""
    found: set[Series] = set()
    for share, value, whole, beside, is_rest in rules:
        if share not in places and share not in found and {value, *whole} <= places.keys():
            found.add(share)
            parts = (*whole, *(one for one in beside if one in places))
            yield DerivedShare(share, places[value], [places[one] for one in parts], is_rest)


def is_storable(name: str, total: float, number: int) -> bool:
    """Returns whether a metric's sum of values can be stored, and is none of a share far outside of 0 to 1."""
    if name.endswith(_SHARES):
        return _LOWEST_SHARE * number <= total <= _HIGHEST_SHARE * number
    return -_MAX_SUM < total < _MAX_SUM
