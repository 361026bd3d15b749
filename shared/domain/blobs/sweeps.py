"""How a sweep over blobs went: what of them is still to be read, and what couldn't be."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from shared.domain.telemetry.sessions.telemetry_totals import TelemetryTotals

_LATE = timedelta(minutes=10)
_RECENT = timedelta(days=1)
_NOTHING = TelemetryTotals()
_HALF_A_UNIT = 64 * 1024  # bytes; of a blob: a flush of an agent that hasn't come whole has less
_HALF_A_RECORD = 1024 * 1024  # bytes; what is cut off at the end of a blob stays unread, and is no more than this


@dataclass(frozen=True, slots=True)
class LaneSweep:
    """The last sweep over the blobs of a lane. `behind` is what was left unread when it ended.

    `asleep` of the blobs needn't be opened, as nothing had happened to them; `latest` is the last write to any.
    `behind_since` is the last write of the blob that has waited longest with something unread; `problems` say in
    sentences which blobs couldn't be read, the first few of them, or why the container couldn't be listed.
    """

    at: datetime
    blobs: int
    behind_blobs: int = 0
    behind_bytes: int = 0
    behind_since: datetime | None = None
    problems: tuple[str, ...] = ()
    asleep: int = 0
    latest: datetime | None = None

    def says_the_same(self, other: "LaneSweep") -> bool:
        """True where two differ in nothing but when they were."""
        return replace(self, at=other.at) == other


@dataclass(frozen=True, slots=True)
class Totals:
    """What was taken in so far. A crash counts nothing twice: they change with the rows that they count."""

    units: int = 0
    stored: int = 0
    repeats: int = 0
    refused: int = 0
    bytes: int = 0
    latest: datetime | None = None


@dataclass(frozen=True, slots=True)
class IngestionReport:
    """How events of an account came in. `container` is None where no storage is configured to read them from.

    `telemetry` is the last sweep over what its nodes write, None before the first with such a blob, and
    `telemetry_totals` what came of it.
    """

    account: str
    container: str | None
    sweep: LaneSweep | None
    totals: Totals
    telemetry: LaneSweep | None = None
    telemetry_totals: TelemetryTotals = _NOTHING

    def problem(self, now: datetime) -> str | None:
        """What is wrong with events in a sentence; None where all is well, or where there are no logs."""
        return _problem(self.sweep, "logs", now, _HALF_A_RECORD)

    def telemetry_problem(self, now: datetime) -> str | None:
        """The same of telemetry; also where some of it is lost, for a day after more of it was."""
        halves = _HALF_A_UNIT * self.telemetry.behind_blobs if self.telemetry else 0
        return _problem(self.telemetry, "blobs", now, halves) or self._loss(now)

    def _loss(self, now: datetime) -> str | None:
        lost_at = self.telemetry_totals.lost_at
        if lost_at is None or now - lost_at > _RECENT:
            return None
        lost, since = self.telemetry_totals.lost, _written(lost_at)
        return f"{lost} bytes stand behind damaged streams and can't be read (see the rejects), the last since {since}."


def _problem(sweep: LaneSweep | None, things: str, now: datetime, halves: int) -> str | None:
    """`halves` is how many bytes may be unread for long, as what isn't whole yet."""
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
