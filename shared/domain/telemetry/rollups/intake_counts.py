"""Counts of ingested telemetry: of a blob's records and values in no rollup, and totals of an account.

Everything dropped is counted. A light module, as each Prometheus scrape needs the totals.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

REASONS = (
    "unknown", "unread_fields", "without_time", "out_of_window", "of_too_many_nodes", "of_too_many_tasks",
    "beyond_limit", "late", "no_numbers",
)  # fmt: skip
"""Reasons why records (the first and the third to sixth) or values are in no series, named as in DroppedCounts."""
SUMS = ("bytes", "records", "samples", "refused", "lost")
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


@dataclass(frozen=True, slots=True)
class TelemetryTotals:
    """Totals since `since`, or None where nothing was counted. `samples` are the values in rollups.

    `lost` counts bytes where nothing can be read, `lost_at` is when it last grew; the other totals exclude them. Totals
    are lower bounds: data of a host that died before it reported is stored and counts in answers, but not here.
    """

    since: datetime | None = None
    bytes: int = 0
    records: int = 0
    samples: int = 0
    refused: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    lost: int = 0
    lost_at: datetime | None = None

    def plus(self, other: "TelemetryTotals") -> "TelemetryTotals":
        sums = {name: getattr(self, name) + getattr(other, name) for name in SUMS}
        left_out = {name: self.left_out.get(name, 0) + other.left_out.get(name, 0) for name in REASONS}
        lost_at = max((at for at in (self.lost_at, other.lost_at) if at), default=None)
        return TelemetryTotals(self.since or other.since, **sums, left_out=left_out, lost_at=lost_at)
