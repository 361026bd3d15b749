"""Counts of a blob's records and values in no rollup: everything dropped is counted."""

from dataclasses import dataclass, field

from shared.domain.telemetry.sessions.ingest_result import IngestResult

_MAX_NAMES = 100
_OTHERS = "…"


@dataclass(frozen=True, slots=True)
class DroppedCounts:
    """Counts over `records` read: `unknown` by name of uncatalogued measurements, `refused` units without telemetry.

    `without_time`, `out_of_window`, `of_too_many_nodes` and `of_too_many_tasks` count records; gauges of the last ones
    count for their node. The others count values of accepted records: fields without a series, series beyond a node's
    limit, late readings of counters, and values that aren't numbers.
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

    def plus(self, other: "DroppedCounts") -> "DroppedCounts":
        numbers = {name: getattr(self, name) + getattr(other, name) for name in _NUMBERS}
        unknown = dict(self.unknown)
        for name, records in other.unknown.items():
            kept = name if name in unknown or len(unknown) < _MAX_NAMES else _OTHERS
            unknown[kept] = unknown.get(kept, 0) + records
        return DroppedCounts(**numbers, unknown=unknown)


_NUMBERS = tuple(name for name in DroppedCounts.__slots__ if name != "unknown")


def left_out(taken: IngestResult, refused: int) -> DroppedCounts:
    """Returns the counts of one step."""
    return DroppedCounts(
        records=taken.records,
        refused=refused,
        without_time=taken.without_time,
        out_of_window=taken.out_of_window,
        of_too_many_nodes=taken.of_too_many_nodes,
        of_too_many_tasks=taken.of_too_many_tasks,
        unread_fields=taken.unread_fields,
        beyond_limit=taken.losses.beyond_limit,
        late=taken.losses.late,
        no_numbers=taken.losses.no_numbers,
        unknown=dict(taken.unknown),
    )
