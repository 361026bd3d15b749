"""Counts of the units that a session dropped, as fields of the agent's own record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class DroppedCounts(NamedTuple):
    """Units that were dropped since a session began, their stored bytes, and their records."""

    units: int = 0
    bytes: int = 0
    records: int = 0

    def plus(self, sizes: Iterable[tuple[int, int]]) -> DroppedCounts:
        """Returns the counts after more units were dropped, each given by its bytes and records."""
        found = list(sizes)
        return DroppedCounts(
            self.units + len(found),
            self.bytes + sum(size for size, _ in found),
            self.records + sum(records for _, records in found),
        )

    def fields(self) -> Mapping[str, int]:
        return {"dropped_units": self.units, "dropped_bytes": self.bytes, "dropped_records": self.records}


def dropped_of(stored: Mapping[str, object]) -> DroppedCounts:
    """Returns counts as they were kept in a file; those that make no sense are 0."""
    counts = (stored.get(f"dropped_{name}") for name in DroppedCounts._fields)
    return DroppedCounts(*(count if isinstance(count, int) and count >= 0 else 0 for count in counts))
