"""The result of ingesting a blob's steps: everything to be stored, and counts of dropped data."""

from dataclasses import dataclass, field

from shared.domain.events.batch_events import BatchEvent
from shared.domain.telemetry.records.metrics import InvalidPart, Metric
from shared.domain.telemetry.records.startup_records import identity_of_tags
from shared.domain.telemetry.rollups.folding import Fold
from shared.domain.telemetry.rollups.intake_counts import DroppedCounts
from shared.domain.telemetry.rollups.rollups import Rollups
from shared.domain.telemetry.sessions.attempt_records import MeasuredAttempt, attempt_of
from shared.domain.telemetry.sessions.event_records import MAX_EVENTS, event_of
from shared.domain.telemetry.sessions.session import Session, Writer


@dataclass(slots=True)
class IngestResult:
    """The result of one or more successive steps, up to `end` of the blob.

    `rollups` are by session number. `cells` counts their minutes of series, `hours` are the affected pairs of session
    and hour since 1970. `sessions` are those that began or received new facts. `events` are those of known nodes,
    `attempts` the ended runs of tasks.
    """

    end: int
    cells: int = 0
    hours: set[tuple[int, int]] = field(default_factory=set)
    rollups: dict[int, Rollups] = field(default_factory=dict)
    sessions: dict[int, Session] = field(default_factory=dict)
    events: list[BatchEvent] = field(default_factory=list)
    attempts: list[MeasuredAttempt] = field(default_factory=list)
    rejected: tuple[InvalidPart, ...] = ()
    dropped: DroppedCounts = field(default_factory=DroppedCounts)

    def leave_out(self, metric: Metric, writer: Writer, session: Session | None) -> None:
        """Counts a record without a session, or without an accepted time."""
        if session is None and writer.is_of_task:
            self.dropped.of_too_many_tasks += 1
        elif session is None:
            self.dropped.of_too_many_nodes += 1
        elif metric.time is None:
            self.dropped.without_time += 1
        else:
            self.dropped.out_of_window += 1

    def add_event(self, metric: Metric, time: int, session: Session) -> None:
        """Adds the event that a record reports; beyond the limit of a step, or of an unknown node, it is counted.

        `session` is the node's; only tags of the event itself name its task.
        """
        if not session.whose.node:
            self.dropped.unread_fields += len(metric.fields)
        elif len(self.events) >= MAX_EVENTS:
            self.dropped.beyond_limit += 1
        else:
            self.events.append(event_of(metric, time, session.whose.of_task(identity_of_tags(metric.tags))))

    def add_attempt(self, metric: Metric, session: Session) -> None:
        """Adds the run of a task that a record sums up at its end."""
        if attempt := attempt_of(metric, session.whose, session.facts.vm_size):
            self.attempts.append(attempt)

    def add(self, session: int, fold: Fold) -> None:
        """Adds a fold's counts for a session; its rollups are already present."""
        self.cells += fold.cells
        self.hours.update((session, hour) for hour in fold.hours)
        if not self.rollups[session]:
            del self.rollups[session]
