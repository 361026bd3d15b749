"""Counts of a blob's records and values in no rollup: everything dropped is counted."""

from dataclasses import dataclass, field

_MAX_NAMES = 100
_OTHERS = "…"


@dataclass(slots=True)
class DroppedCounts:
    """Counts over `records` read: `unknown` by name of uncatalogued measurements, `refused` units without telemetry.

    `without_time`, `out_of_window`, `of_too_many_nodes` and `of_too_many_tasks` count records; gauges of the last ones
    count for their node. The others count values of accepted records: fields without a series, series beyond a node's
    limit, late readings of counters, and values that aren't numbers. `unread_fields` includes those of events whose
    node is unknown, `beyond_limit` events beyond the limit of a step. Beyond the limit of names, `unknown` counts under
    `…`.
    """

    records: int = 0
    refused: int = 0
    without_time: int = 0
    out_of_window: int = 0
    of_too_many_nodes: int = 0
    of_too_many_tasks: int = 0
    unread_fields: int = 0
    beyond_limit: int = 0
    late: int = 0
    no_numbers: int = 0
    unknown: dict[str, int] = field(default_factory=dict)

    def count_unknown(self, name: str, records: int) -> None:
        counted = name if name in self.unknown or len(self.unknown) < _MAX_NAMES else _OTHERS
        self.unknown[counted] = self.unknown.get(counted, 0) + records

    def plus(self, other: "DroppedCounts") -> "DroppedCounts":
        numbers = {name: getattr(self, name) + getattr(other, name) for name in _NUMBERS}
        found = DroppedCounts(**numbers, unknown=dict(self.unknown))
        for name, records in other.unknown.items():
            found.count_unknown(name, records)
        return found


_NUMBERS = tuple(name for name in DroppedCounts.__slots__ if name != "unknown")
