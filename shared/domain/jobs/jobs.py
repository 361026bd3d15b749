"""A job as the Batch service describes it, and its stored state: its snapshot, generations and samples."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from shared.domain.core.keys import key_of
from shared.domain.core.stamps import to_milliseconds
from shared.domain.jobs.job_counters import JobCounters
from shared.domain.jobs.job_efficiency import JobEfficiency
from shared.domain.jobs.job_rules import JobRules
from shared.domain.jobs.job_samples import JobSample
from shared.domain.jobs.snapshots import Confirmation, JobSnapshot
from shared.domain.nodes.failing_nodes import FailingNodes
from shared.domain.tasks.task_counters import TaskCounters
from shared.domain.tasks.tasks import VALIDATED_TASKS

COMPLETED = "completed"
ENDING = frozenset((COMPLETED, "terminating", "deleting"))
"""States in which no waiting task of a job will run: it has ended, or is about to."""
NO_RULES = JobRules()


@dataclass(frozen=True, slots=True)
class JobFacts:
    """A job's own properties, named as in the Batch REST API; times are aware UTC.

    `metadata` has names and values of the setting COST_LABELS alone. Another value is no change of the job.
    """

    id: str
    creation_time: datetime
    state: str
    state_transition_time: datetime
    previous_state: str | None = None
    start_time: datetime | None = None
    end_time: datetime | None = None
    pool_id: str | None = None
    priority: int | None = None
    display_name: str | None = None
    terminate_reason: str | None = None
    rules: JobRules = NO_RULES
    metadata: tuple[tuple[str, str], ...] = field(default=(), compare=False)

    @property
    def key(self) -> str:
        return key_of(self.id)

    @property
    def schedule_id(self) -> str | None:
        """The job schedule that created this job, from a name like `schedule:job-1`; None for other jobs."""
        schedule, separator, _ = self.id.rpartition(":")
        return schedule if separator else None

    def is_later_than(self, other: "JobFacts") -> bool:
        """Returns whether these facts are newer than `other` of the same id, by two times that the service sets."""
        ours, theirs = ((facts.creation_time, facts.state_transition_time) for facts in (self, other))
        return ours > theirs


@dataclass(frozen=True, slots=True)
class Retired:
    """A generation that nothing references `since` then; readers that still use it end some time later."""

    generation: str
    since: datetime


@dataclass(frozen=True, slots=True)
class Job:
    """The stored state of one job.

    `building` is the generation that a full read has been filling since `building_since`. `retired` generations are
    awaiting deletion. `finalized` means completed and read for good. `dirty` means that leaves of the served generation
    may have changed since the snapshot. `ended` are the samples before the snapshot's that aren't in the job's history:
    one in a stored row, any number before it is written. `counters` are None before the first read, `efficiency` before
    the first measured run. `failing_nodes` are None where none was found. `counted` is the generation that `counters`
    are of while no snapshot says so: that of a row that couldn't be read.
    """

    facts: JobFacts
    snapshot: JobSnapshot | None = None
    building: str | None = None
    building_since: datetime | None = None
    retired: tuple[Retired, ...] = ()
    finalized: bool = False
    dirty: bool = False
    deleted_at: datetime | None = None
    ended: tuple[JobSample, ...] = ()
    counters: JobCounters | None = None
    efficiency: JobEfficiency | None = None
    failing_nodes: FailingNodes | None = None
    counted: str | None = None
    etag: str | None = None

    @property
    def key(self) -> str:
        return self.facts.key

    @property
    def deleted(self) -> bool:
        return self.deleted_at is not None

    @property
    def is_live(self) -> bool:
        """True where its tasks may still change."""
        return not self.deleted and not self.finalized

    def seen(self, facts: JobFacts) -> "Job":
        """Returns the job after a list or a GET showed it.

        Another creation time means another job under the same id: its tasks are read from scratch and the old
        generation retires.
        """
        if facts.creation_time == self.facts.creation_time:
            moved = replace(facts, rules=self.facts.rules) != self.facts
            return replace(self, facts=facts, finalized=self.finalized and not moved, deleted_at=None)
        retired = self._with_retired(facts.creation_time, self.building, self.counted_generation)
        counters = self.counters.begun_anew() if self.counters else None
        return Job(facts, retired=retired, ended=self.samples, counters=counters, etag=self.etag)

    @property
    def counted_generation(self) -> str | None:
        """The generation whose leaves `counters` are of, None before the first read."""
        return self.snapshot.generation if self.snapshot else self.counted

    @property
    def samples(self) -> tuple[JobSample, ...]:
        """The samples that aren't in the job's history, in order: the ended ones and the snapshot's."""
        return (*self.ended, self.snapshot.sample) if self.snapshot else self.ended

    def confirmed(self, confirmation: Confirmation | None) -> "Job":
        """Returns the job with a later poll's confirmation, which unseals a job sealed as of an earlier time."""
        if self.snapshot is None or confirmation is None:
            return self
        finalized = self.finalized and confirmation.as_of <= self.snapshot.as_of
        return replace(self, snapshot=self.snapshot.confirmed(confirmation), finalized=finalized)

    def with_snapshot(self, snapshot: JobSnapshot) -> "Job":
        """Returns the job after a read. The previous sample ends, unless the new snapshot only confirms it."""
        old = self.snapshot
        is_same = old is None or (old.moved_at, old.counts) == (snapshot.moved_at, snapshot.counts)
        counters = self.counters
        if snapshot.counters is not None:
            counters = self._counters().counted(snapshot.counters, self.facts.pool_id)
        ended = self.ended if is_same else self.samples
        return replace(self, snapshot=snapshot, dirty=False, ended=ended, counters=counters)

    def begun(self, generation: str, at: datetime) -> "Job":
        """Returns the job as stored before the first row of a new generation is written; an unfinished one retires."""
        return replace(self, building=generation, building_since=at, retired=self._with_retired(at, self.building))

    def switched(self, snapshot: JobSnapshot, counted_before: TaskCounters | None = None) -> "Job":
        """Returns the job after its new generation is complete and served; the previous one retires.

        `counted_before` are the counters of the previous one's leaves as of the new one's tasks; None without one.
        """
        counters = self._counters()
        if counted_before is not None and snapshot.counters is not None:
            counters = counters.continued(counted_before, snapshot.counters)
        retired = self._with_retired(snapshot.looked_at, self.counted_generation)
        switched = replace(self, counters=counters, counted=None).with_snapshot(snapshot)
        return replace(switched, building=None, building_since=None, retired=retired)

    def abandoned(self, at: datetime, *, before: datetime) -> "Job":
        """Returns the job without an unfinished generation begun `before` then, which a worker may still be filling."""
        if not self.building or not self.building_since or self.building_since >= before:
            return self
        return replace(self, building=None, building_since=None, retired=self._with_retired(at, self.building))

    def unsealed(self) -> "Job":
        """Returns the job after Get Task Counts of a sealed job differed, so that it is polled again."""
        return replace(self, finalized=False)

    def gone(self, at: datetime) -> "Job":
        """Returns the job marked as deleted, after a GET answered 404 JobNotFound. Its known data stays."""
        return replace(self, deleted_at=at)

    def _counters(self) -> JobCounters:
        return self.counters or JobCounters(to_milliseconds(self.facts.creation_time))

    def _with_retired(self, since: datetime, *generations: str | None) -> tuple[Retired, ...]:
        return (*self.retired, *(Retired(generation, since) for generation in generations if generation))

    def is_final(self, as_of: datetime, overlap: timedelta) -> bool:
        """Returns whether all changes of a completed job, even late ones, are visible to a read begun at `as_of`."""
        return self.facts.state == COMPLETED and as_of >= self.facts.state_transition_time + overlap

    def may_be_finalized(self, overlap: timedelta) -> bool:
        """Returns whether a completed job was read for good and Get Task Counts agreed since.

        Above VALIDATED_TASKS tasks no agreement is needed.
        """
        snapshot = self.snapshot
        if snapshot is None or not self.is_final(snapshot.as_of, overlap):
            return False
        agreement = snapshot.agreement
        agreed = not agreement.disagreements and agreement.at is not None and self.is_final(agreement.at, overlap)
        return agreed or snapshot.counts.total > VALIDATED_TASKS
