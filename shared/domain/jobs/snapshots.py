"""Snapshots of a job's task counts as of one time, with their source and confirmations.

A snapshot doesn't state whether it is exact: `verdicts.py` decides that when it is served.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Literal

from shared.domain.core.stamps import to_milliseconds
from shared.domain.jobs.job_samples import JobSample
from shared.domain.tasks.failure_categories import FailedTasks
from shared.domain.tasks.job_statistics import StoredJobStatistics
from shared.domain.tasks.task_counters import TaskCounters
from shared.domain.tasks.tasks import TaskCounts

type Source = Literal["firstRead", "delta", "repair", "fullRead"]
AGREEMENT_LASTS = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Agreement:
    """The result of comparing Get Task Counts with the cache.

    `at` is the last agreement, `as_of` the T0 of the read whose counts it confirmed. `disagreements` is how many
    comparisons in a row differed since without an explanation by movement. `service_counts` are the service's counts of
    the last difference.
    """

    at: datetime | None = None
    disagreements: int = 0
    service_counts: TaskCounts | None = None
    as_of: datetime | None = None

    def differed(self, service: TaskCounts) -> "Agreement":
        """Returns the agreement after one more unexplained difference."""
        return replace(self, disagreements=self.disagreements + 1, service_counts=service)

    def beside(self, earlier: "Agreement", as_of: datetime, *, same: bool) -> "Agreement":
        """Combines a later poll's agreement with that of an earlier poll dated `as_of`, so that `asOf` never decreases.

        `same` where both polls found the same version: the more recent comparison holds. Where the versions differ and
        this comparison is older than `as_of`, it is dropped, and the counts are unverified until the next one.
        """
        if self.disagreements or self.as_of is None:
            return self
        if same and earlier.as_of and not earlier.disagreements:
            return earlier if earlier.as_of > self.as_of else self
        if self.as_of >= as_of:
            return self
        return earlier if same else replace(self, at=None, as_of=None)


@dataclass(frozen=True, slots=True)
class TaskRead:
    """The cost of a job's last read of its task list: seconds of waiting for pages, requests to Batch, pages of tasks.

    The requests include those for task counts.
    """

    seconds: float
    requests: int
    pages: int


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A later poll that found nothing changed: the snapshot of that `version` also holds as of then."""

    version: str
    as_of: datetime
    agreement: Agreement
    read: TaskRead | None = None

    @property
    def looked_at(self) -> tuple[datetime, datetime]:
        """The sort key of confirmations: time of the read, then of the comparison."""
        return self.as_of, self.agreement.at or self.as_of

    def merged(self, other: "Confirmation") -> "Confirmation":
        """Returns the later of two confirmations, with the more recent comparison of counts."""
        later, earlier = (self, other) if other.looked_at <= self.looked_at else (other, self)
        same = later.version == earlier.version
        return replace(later, agreement=later.agreement.beside(earlier.agreement, earlier.as_of, same=same))


@dataclass(frozen=True, slots=True)
class JobSnapshot:
    """Counts of a job's tasks as of T0, and their source.

    `as_of` is T0: the date of a response received before the first request of the read. `full_read_at` is the T0 of the
    read that built the generation, `moved_at` that of the last read that changed a task, `live_read_at` that of the
    last read that listed every uncompleted task. `statistics` and `failed_tasks` are None where leaves are of an older
    version, `read` where the row was stored before reads were measured. `counters` are the sum over the leaves, None
    for a snapshot from a row.
    """

    generation: str
    as_of: datetime
    source: Source
    counts: TaskCounts
    full_read_at: datetime
    moved_at: datetime
    live_read_at: datetime
    agreement: Agreement = Agreement()
    statistics: StoredJobStatistics | None = None
    read: TaskRead | None = None
    failed_tasks: FailedTasks | None = None
    counters: TaskCounters | None = field(default=None, compare=False)

    @property
    def version(self) -> str:
        """The version that a confirmation names; a poll that changes stored tasks changes it, even an overtaken one."""
        identity = (self.generation, self.moved_at.timestamp(), self.live_read_at.timestamp(), self.counts)
        return blake2b(repr(identity).encode(), digest_size=8).hexdigest()

    @property
    def looked_at(self) -> datetime:
        """The last time that Batch was asked about the job's tasks, even for their counts alone."""
        return max(self.as_of, self.agreement.at or self.as_of)

    @property
    def agreed_since_it_moved(self) -> bool:
        """True where Get Task Counts agreed with these counts: no read since changed a task."""
        return self.agreement.as_of is not None and self.moved_at <= self.agreement.as_of

    @property
    def confirmed_as_of(self) -> datetime:
        """The time as of which the counts are known to be right: a read without changes waits for its confirmation.

        After an unexplained difference, it is the time as of which they were read.
        """
        if self.agreement.disagreements:
            return self.as_of
        return self.agreement.as_of if self.agreement.as_of and self.agreed_since_it_moved else self.as_of

    def is_settled(self, overlap: timedelta) -> bool:
        """Returns whether the counts agreed, with no task moved for longer than the service's counts can lag.

        It is False with preparing tasks, because only a list distinguishes these from running ones.
        """
        agreement = self.agreement
        if agreement.disagreements or agreement.at is None or self.counts.preparing:
            return False
        return self.agreed_since_it_moved and agreement.at >= self.moved_at + overlap

    @property
    def confirmation(self) -> Confirmation:
        """The confirmation that makes the stored snapshot of this version hold as long as this one."""
        return Confirmation(self.version, self.as_of, self.agreement, self.read)

    @property
    def sample(self) -> JobSample:
        """The sample for the job's history; it is exact only as of agreements with Get Task Counts."""
        agreed = self.agreement.as_of if self.agreed_since_it_moved else None
        return JobSample(
            at=to_milliseconds(self.moved_at),
            through=to_milliseconds(self.looked_at if agreed else self.as_of),
            exact_through=to_milliseconds(agreed) if agreed else None,
            numbers=self.counts,
            doubted=self.agreement.disagreements > 0,
        )

    def watermark(self, overlap: timedelta) -> datetime:
        """Returns the instant from which the next delta asks for changes, inclusive."""
        return self.as_of - overlap

    def is_news(self, before: "JobSnapshot | None") -> bool:
        """Returns False where this is the snapshot `before` and only holds longer, so that a confirmation suffices."""
        if before is None:
            return True
        same = replace(self, as_of=before.as_of, source=before.source, agreement=before.agreement, read=before.read)
        return same != before

    def confirmed(self, confirmation: Confirmation | None) -> "JobSnapshot":
        """Returns the snapshot after a later poll that found nothing new.

        If that poll found another version, slower polls have since overwritten it with this one. Their changes came
        after its T0, so `as_of` never decreases. The counts are unverified then, because tasks may have been deleted
        since they agreed.
        """
        if confirmation is None:
            return self
        same = confirmation.version == self.version
        if confirmation.as_of < self.as_of or (confirmation.as_of == self.as_of and not same):
            if not same and not self.agreed_since_it_moved:  # no earlier agreement covers it anyway
                return self
            agreement = self.agreement.beside(confirmation.agreement, confirmation.as_of, same=same)
            return self if agreement == self.agreement else replace(self, agreement=agreement)
        if not same:
            return replace(self, as_of=confirmation.as_of, agreement=replace(self.agreement, at=None, as_of=None))
        return replace(
            self,
            as_of=confirmation.as_of,
            source="delta",
            agreement=confirmation.agreement.beside(self.agreement, self.as_of, same=True),
            read=confirmation.read or self.read,
        )
