"""Blobs without charts: the apparent format of each, and the reason."""

from dataclasses import dataclass, replace

from shared.domain.blobs.blobs import BlobRows
from shared.domain.telemetry.decode.formats import EMPTY, PROMETHEUS, is_readable
from shared.domain.telemetry.rollups.intake_counts import DroppedCounts

_MAX_NAMES = 3
_FORMATS = "agents write line protocol, Telegraf's JSON, OTLP or Prometheus text"
_ADD_TIMES = (
    "Add time stamps: milliseconds since 1970 at the end of each line, or the lines “# timestamp SECONDS” before and "
    "“# EOF” after each exposition."
)
_REASONS = (
    ("refused", "can't be read"), ("without_time", "have no time"), ("out_of_window", "are of a time that isn't kept"),
    ("of_too_many_nodes", "are of too many nodes"), ("of_too_many_tasks", "are of too many tasks"),
    ("beyond_limit", "are of too many series or events"), ("late", "are late readings"),
    ("no_numbers", "are no numbers"), ("unread_fields", "have no chart"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ArrivedBlob:
    """A blob that arrived; `format` is its apparent format, empty where it wasn't determined.

    `pool` is the pool in its name, if any; `names_node` is False where the name contains no node.
    """

    rows: BlobRows
    blob: str
    format: str
    pool: str = ""
    names_node: bool = True

    def after(self, earlier: "ArrivedBlob | None") -> "ArrivedBlob":
        """Returns the arrival with the format detected on an earlier day, when the blob's beginning was read."""
        if earlier is None or earlier.rows != self.rows:
            return self
        return replace(self, format=self.format or earlier.format)


@dataclass(frozen=True, slots=True)
class UnchartedBlob:
    """An arrival, and a sentence with the reason why nothing of it is in a chart."""

    arrival: ArrivedBlob
    reason: str


def why_undrawn(seems: str, counts: DroppedCounts) -> str:
    """Returns a sentence about a blob without any series."""
    if seems == EMPTY:
        return "There is nothing in it yet."
    if seems and not is_readable(seems) and not counts.records:
        return f"It seems to be {seems}, which isn't read: {_FORMATS}."
    if not counts.records and not counts.refused:
        return "It ends before its first record does; the rest is waited for."
    parts = [f"{number:,} {words}" for name, words in _REASONS if (number := getattr(counts, name))]
    if counts.unknown:
        parts.insert(0, _unknown(counts.unknown))
    sentence = f"Of its {counts.records:,} records {', '.join(parts) or 'none has a series'}."
    return f"{sentence} {_ADD_TIMES}" if seems.endswith(PROMETHEUS) and counts.without_time else sentence


def _unknown(found: dict[str, int]) -> str:
    names = sorted(found, key=lambda name: (-found[name], name))
    shown = ", ".join(f"“{name}”" for name in names[:_MAX_NAMES])
    more = f" and {len(names) - _MAX_NAMES} others" if len(names) > _MAX_NAMES else ""
    return f"{sum(found.values()):,} are of measurements without numbers ({shown}{more})"
