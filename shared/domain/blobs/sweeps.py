"""Results of a sweep over blobs: the unread rest, and errors."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from shared.domain.telemetry.rollups.intake_counts import TelemetryTotals

_LATE = timedelta(minutes=10)
_RECENT = timedelta(days=1)
_NOTHING = TelemetryTotals()
_HALF_A_UNIT = 64 * 1024  # bytes per blob: an agent's incomplete flush has less
_HALF_A_RECORD = 1024 * 1024  # bytes: a truncated record at a blob's end stays unread, and has no more


@dataclass(frozen=True, slots=True)
class PartitionSweep:
    """The last sweep over the blobs of an ingest partition; `behind_*` is the part left unread when it ended.

    `up_to_date` counts the unchanged blobs, which needn't be opened; `latest` is the last write to any. `behind_since`
    is the last write of the blob that has waited longest with unread bytes. `problems` are sentences about the first
    few blobs that couldn't be read, or why the container couldn't be listed.
    """

    at: datetime
    blobs: int
    behind_blobs: int = 0
    behind_bytes: int = 0
    behind_since: datetime | None = None
    problems: tuple[str, ...] = ()
    up_to_date: int = 0
    latest: datetime | None = None

    def is_equivalent(self, other: "PartitionSweep") -> bool:
        """Returns whether two sweeps differ only in time."""
        return replace(self, at=other.at) == other


@dataclass(frozen=True, slots=True)
class Totals:
    """Totals of ingested units. A crash counts nothing twice: they change with the rows that they count."""

    units: int = 0
    stored: int = 0
    repeats: int = 0
    refused: int = 0
    bytes: int = 0
    latest: datetime | None = None


@dataclass(frozen=True, slots=True)
class IngestionReport:
    """The state of an account's event ingestion; `container` is None where no storage is configured.

    `telemetry` is the last sweep over its nodes' blobs, None before the first with such a blob, and `telemetry_totals`
    are the totals of their ingestion.
    """

    account: str
    container: str | None
    sweep: PartitionSweep | None
    totals: Totals
    telemetry: PartitionSweep | None = None
    telemetry_totals: TelemetryTotals = _NOTHING

    def problem(self, now: datetime) -> str | None:
        """Returns a sentence about a problem with events; None without one, or without logs."""
        return _problem(self.sweep, "logs", now, _HALF_A_RECORD)

    def telemetry_problem(self, now: datetime) -> str | None:
        """Returns a sentence about a problem with telemetry, also for a day after bytes were lost."""
        halves = _HALF_A_UNIT * self.telemetry.behind_blobs if self.telemetry else 0
        lost, lost_at = self.telemetry_totals.lost, self.telemetry_totals.lost_at
        problem = _problem(self.telemetry, "blobs", now, halves)
        if problem or lost_at is None or now - lost_at > _RECENT:
            return problem
        since = _written(lost_at)
        return f"{lost} bytes stand behind damaged streams and can't be read (see the rejects), the last since {since}."


def _problem(sweep: PartitionSweep | None, things: str, now: datetime, halves: int) -> str | None:
    """Returns a sentence about a problem; `halves` are bytes of incomplete units that may stay unread for long."""
    if sweep is None or not (sweep.blobs or sweep.problems):
        return None
    if now - sweep.at > _LATE:
        return f"the {things} weren't looked at since {_written(sweep.at)}."
    if sweep.problems:
        others = f" ({things.capitalize()} that can't be read: {len(sweep.problems)}.)"
        return f"{sweep.problems[0]}{others * (len(sweep.problems) > 1)}"
    if sweep.behind_since and sweep.behind_bytes > halves and now - sweep.behind_since > _LATE:
        since = _written(sweep.behind_since)
        return f"{sweep.behind_bytes} bytes of {sweep.behind_blobs} {things} are unread, some since {since}."
    return None


def _written(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
