"""Totals of an account's ingested node telemetry; a light module, as each Prometheus scrape needs it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

REASONS = (
    "unknown", "unread_fields", "without_time", "out_of_window", "of_too_many_nodes", "of_too_many_tasks",
    "beyond_limit", "late", "no_numbers",
)  # fmt: skip
"""Reasons why records (the first and the third to sixth) or values are in no series, named as in DroppedCounts."""
SUMS = ("bytes", "records", "samples", "refused", "lost")


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
