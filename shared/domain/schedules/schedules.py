"""A job schedule as the Batch service describes it, and the stored state from which its runs can be counted.

The service numbers a schedule's jobs and reports when the next is due, but keeps no record of missed runs. A count of
those needs two moments with no change of the schedule between them, which are stored here.
`shared/domain/schedules/missed_runs.py` does the counting.
"""

import re
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import blake2b

import msgspec

from shared.domain.core.keys import key_of
from shared.domain.jobs.jobs import COMPLETED
from shared.domain.schedules.job_specifications import JobSpecification

_JOB_NUMBER = re.compile(r":job-([0-9]{1,18})\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Recurrence:
    """When jobs are created; durations as the service writes them (ISO 8601), None where unlimited."""

    do_not_run_until: datetime | None = None
    do_not_run_after: datetime | None = None
    start_window: str | None = None
    interval: str | None = None


@dataclass(frozen=True, slots=True)
class ScheduleFacts:
    """A job schedule's own properties, named as in the Batch REST API; times are aware UTC.

    `last_modified` moves with changes by users, never with its jobs; `recent_job` is an id.
    """

    id: str
    creation_time: datetime
    last_modified: datetime
    state: str
    state_transition_time: datetime
    previous_state: str | None = None
    previous_state_transition_time: datetime | None = None
    display_name: str | None = None
    recurrence: Recurrence = Recurrence()
    next_run_time: datetime | None = None
    recent_job: str | None = None
    end_time: datetime | None = None

    @property
    def key(self) -> str:
        return key_of(self.id)

    @property
    def start(self) -> datetime:
        """The time at which its first job was due, valid while it is unchanged."""
        return max(self.creation_time, self.recurrence.do_not_run_until or self.creation_time)

    @property
    def jobs_made(self) -> int | None:
        """The number of jobs created, which are numbered from 1; None where the recent one has no number."""
        return 0 if self.recent_job is None else job_number(self.recent_job)

    @property
    def is_counting(self) -> bool:
        """True while jobs fall due repeatedly and the service reports the next time."""
        recurs = self.recurrence.interval is not None
        return recurs and self.state == "active" and self.next_run_time is not None

    @property
    def is_untouched(self) -> bool:
        """True where the schedule was never changed, disabled or enabled after its creation."""
        return self.previous_state is None and self.last_modified == self.creation_time

    def is_undisturbed_since(self, before: "ScheduleFacts") -> bool:
        """Returns whether the schedule was neither changed, disabled nor enabled since `before`."""
        stamps = [(facts.last_modified, facts.state_transition_time, facts.recurrence) for facts in (self, before)]
        return stamps[0] == stamps[1]


@dataclass(frozen=True, slots=True)
class Baseline:
    """The start of counting: `since` is a time when a job is due, `made` the number of jobs that count as earlier.

    `next_was_due` is True where the next job was for a run due before `since`, None while unknown. It is stored because
    that job may be forgotten long before the schedule ends.
    """

    since: datetime
    made: int | None
    next_was_due: bool | None = None


@dataclass(frozen=True, slots=True)
class LastCount:
    """The service's last report while jobs fell due: when the next did, and the number created, as of then."""

    next_run_time: datetime
    made: int | None
    as_of: datetime


@dataclass(frozen=True, slots=True)
class Schedule:
    """The stored state of one job schedule; `seen_at` is the date of the list that first showed these facts.

    `specification` is its job template without secrets, as of `specified_at` (its `last_modified` then). If that is
    older than the facts, it couldn't be read since. `omitted` names properties that aren't shown, `unspecified` is why
    none can be. `written_as_of` is the time as of which it held when written, None in rows of an earlier version.
    """

    facts: ScheduleFacts
    seen_at: datetime
    baseline: Baseline | None = None
    last_count: LastCount | None = None
    specification: JobSpecification | None = None
    omitted: tuple[str, ...] = ()
    unspecified: str | None = None
    specified_at: datetime | None = None
    deleted_at: datetime | None = None
    written_as_of: datetime | None = field(default=None, repr=False)  # not part of the version
    etag: str | None = None

    @property
    def key(self) -> str:
        return self.facts.key

    @property
    def deleted(self) -> bool:
        return self.deleted_at is not None

    @property
    def is_live(self) -> bool:
        """True where it may still change."""
        return not self.deleted and self.facts.state != COMPLETED

    @property
    def wants_specification(self) -> bool:
        return not self.deleted and self.specified_at != self.facts.last_modified

    @property
    def version(self) -> str:
        """The version that a round's row names to confirm this row; of the specification it includes only the date."""
        content = replace(self, specification=None, etag=None, seen_at=self.facts.creation_time)
        return blake2b(repr(content).encode(), digest_size=8).hexdigest()

    @property
    def first_counted_job(self) -> str | None:
        """The id of the first counted job, while the run that it was created for is unknown; otherwise None."""
        baseline, made = self.baseline, self.facts.jobs_made
        if baseline is None or baseline.made is None or baseline.next_was_due is not None:
            return None
        if baseline.since == self.facts.start or made is None or made <= baseline.made:
            return None
        return f"{self.facts.id}:job-{baseline.made + 1}"

    def seen(self, facts: ScheduleFacts, at: datetime, before: datetime) -> "Schedule":
        """Returns the schedule after a list dated `at` showed it; the stored facts were last known to hold at `before`.

        Another creation time means another schedule under the same id.
        """
        if facts.creation_time != self.facts.creation_time:
            return replace(first_seen(facts, at), etag=self.etag)
        if facts == self.facts and not self.deleted:
            return self
        continues = self.facts.is_counting and facts.is_undisturbed_since(self.facts) and not self.deleted
        if continues and facts.is_counting:
            return replace(self, facts=facts, seen_at=at)
        kept = self._stopped(before)
        if facts.is_counting:
            kept = replace(kept, baseline=_baseline(facts), last_count=None)
        return replace(kept, facts=facts, seen_at=at, deleted_at=None)

    def specified(
        self, specification: JobSpecification | None, omitted: tuple[str, ...] = (), *, unspecified: str | None = None
    ) -> "Schedule":
        """Returns the schedule after its job specification was read, or proved `unspecified` until it is modified."""
        at = self.facts.last_modified
        return replace(self, specification=specification, omitted=omitted, unspecified=unspecified, specified_at=at)

    def counted_from(self, made: datetime) -> "Schedule":
        """Returns the schedule after the creation time of its first counted job became known."""
        if self.baseline is None or made < self.facts.creation_time:
            return self
        return replace(self, baseline=replace(self.baseline, next_was_due=made < self.baseline.since))

    def gone(self, at: datetime, before: datetime) -> "Schedule":
        """Returns the schedule marked as deleted after a GET answered 404 JobScheduleNotFound; known data stays."""
        return replace(self._stopped(before), deleted_at=at)

    def _stopped(self, before: datetime) -> "Schedule":
        """Returns the schedule with its last count stored, because the service will report no more."""
        if self.facts.next_run_time is None or not self.facts.is_counting or self.deleted:
            return self
        return replace(self, last_count=LastCount(self.facts.next_run_time, self.facts.jobs_made, before))


def first_seen(facts: ScheduleFacts, at: datetime) -> Schedule:
    """Returns a schedule that the list dated `at` showed for the first time."""
    untouched = facts.is_counting and facts.is_untouched
    baseline = Baseline(facts.start, 0) if untouched else _baseline(facts)
    return Schedule(facts, at, baseline)


def _baseline(facts: ScheduleFacts) -> Baseline | None:
    if facts.next_run_time is None or not facts.is_counting:
        return None
    return Baseline(facts.next_run_time, facts.jobs_made)


def job_number(job_id: str) -> int | None:
    """Returns the number of a schedule's job: 7 for `nightly:job-7`; None without one."""
    found = _JOB_NUMBER.search(job_id)
    return int(found[1]) if found else None


def duration_of(text: str | None) -> timedelta | None:
    """Returns a duration in days, hours, minutes and seconds (ISO 8601); None for other text, and for None."""
    if text is None:
        return None
    try:
        return msgspec.convert(text, timedelta)
    except msgspec.ValidationError:
        return None
