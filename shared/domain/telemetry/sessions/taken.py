"""What comes of steps of a blob: all that is to be kept of them, and counts of what is not."""

from collections import Counter
from dataclasses import dataclass, field

from shared.domain.telemetry.records.metrics import Metric, Rejected
from shared.domain.telemetry.rollups.folding import Fold, Losses
from shared.domain.telemetry.rollups.rollups import Rollups
from shared.domain.telemetry.sessions.session import Session, Writer

_MOST_UNKNOWN = 100  # names
_OTHERS = "…"


@dataclass(slots=True)
class Taken:
    """What came of one step or of some in a row, up to `end` of the blob.

    `rollups` are by the number of their session, `cells` minutes of series in all, of those `hours` (session, and hour
    since 1970); `sessions` are those that began, or told something new. `unknown` counts records of measurements that
    the catalog doesn't have, by name, the rest of too many names under `…`.
    """

    end: int
    cells: int = 0
    hours: set[tuple[int, int]] = field(default_factory=set)
    rollups: dict[int, Rollups] = field(default_factory=dict)
    sessions: dict[int, Session] = field(default_factory=dict)
    rejected: tuple[Rejected, ...] = ()
    unknown: Counter[str] = field(default_factory=Counter)
    unread_fields: int = 0
    records: int = 0
    without_time: int = 0
    out_of_window: int = 0
    of_too_many_nodes: int = 0
    of_too_many_tasks: int = 0
    losses: Losses = field(default_factory=Losses)

    def leave_out(self, metric: Metric, writer: Writer, session: Session | None) -> None:
        """Counts a record that has no session, no time, or none that samples may have."""
        if session is None and writer.is_of_task:
            self.of_too_many_tasks += 1
        elif session is None:
            self.of_too_many_nodes += 1
        elif metric.time is None:
            self.without_time += 1
        else:
            self.out_of_window += 1

    def count_unknown(self, name: str, records: int) -> None:
        self.unknown[name if name in self.unknown or len(self.unknown) < _MOST_UNKNOWN else _OTHERS] += records

    def add(self, session: int, fold: Fold) -> None:
        """Adds what came of a part of a session's records, beside the rollups, which are there already."""
        self.losses.add(fold.losses)
        self.cells += fold.cells
        self.hours.update((session, hour) for hour in fold.hours)
        if not self.rollups[session]:
            del self.rollups[session]
