"""A job as the Batch service describes it, and what Batchscope knows of its tasks."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Literal

from shared.domain.insight import StoredInsight
from shared.domain.keys import key_of
from shared.domain.samples import Sample
from shared.domain.stamps import to_milliseconds
from shared.domain.tasks import VALIDATED_TASKS, TaskCounts

type Source = Literal["firstRead", "delta", "repair", "fullRead"]
COMPLETED = "completed"
AGREEMENT_LASTS = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class JobFacts:
    """A job's own properties, named as in the Batch REST API; times are aware UTC."""

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

    @property
    def key(self) -> str:
        return key_of(self.id)

    @property
    def schedule_id(self) -> str | None:
        """The job schedule that made this job: such jobs are named `schedule:job-1`."""
        schedule, separator, _ = self.id.rpartition(":")
        return schedule if separator else None

    def is_later_than(self, other: "JobFacts") -> bool:
        """True where these facts follow `other` of the same job, or of one before it; the service sets both times."""
        ours, theirs = ((facts.creation_time, facts.state_transition_time) for facts in (self, other))
        return ours > theirs


@dataclass(frozen=True, slots=True)
class Agreement:
    """How Get Task Counts compared with the cache.

    `at` is the last agreement, `as_of` the T0 of the read whose counts it confirmed; `disagreements` how many
    comparisons in a row differed since, though nothing moved that would explain it; `service_counts` what the service
    said when it last differed.
    """

    at: datetime | None = None
    disagreements: int = 0
    service_counts: TaskCounts | None = None
    as_of: datetime | None = None

    def differed(self, service: TaskCounts) -> "Agreement":
        """After one more comparison that nothing explains."""
        return replace(self, disagreements=self.disagreements + 1, service_counts=service)


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A later poll that found nothing changed: the picture of that `version` holds as of then, too."""

    version: str
    as_of: datetime
    agreement: Agreement

    @property
    def looked_at(self) -> tuple[datetime, datetime]:
        """Orders confirmations of one version: by what was read, then by what was counted."""
        return self.as_of, self.agreement.at or self.as_of


@dataclass(frozen=True, slots=True)
class Picture:
    """Counts of a job's tasks as of T0, and where they come from.

    `as_of` is T0: the date of a response received before the first request of the read. `full_read_at` is the T0 of
    the read that built the generation; `moved_at` that of the last read that changed a task; `live_read_at` that of the
    last read that listed every task that hadn't completed. `insight` is None where leaves of a version before it are
    among the generation's.
    """

    generation: str
    as_of: datetime
    source: Source
    counts: TaskCounts
    full_read_at: datetime
    moved_at: datetime
    live_read_at: datetime
    agreement: Agreement = Agreement()
    insight: StoredInsight | None = None

    @property
    def version(self) -> str:
        """What a confirmation names: any poll that changes what is stored, even one that was overtaken, changes it."""
        told = (self.generation, self.moved_at.timestamp(), self.live_read_at.timestamp(), self.counts)
        return blake2b(repr(told).encode(), digest_size=8).hexdigest()

    @property
    def looked_at(self) -> datetime:
        """When Batch was last asked about the job's tasks, be it for their counts alone."""
        return max(self.as_of, self.agreement.at or self.as_of)

    @property
    def agreed_since_it_moved(self) -> bool:
        """True where the counts that agreed are these: whatever was read since was nothing new."""
        return self.agreement.as_of is not None and self.moved_at <= self.agreement.as_of

    @property
    def confirmed_as_of(self) -> datetime:
        """As of when the counts are known to be right: a read that found nothing new waits for its confirmation."""
        return self.agreement.as_of if self.agreement.as_of and self.agreed_since_it_moved else self.as_of

    def is_settled(self, overlap: timedelta) -> bool:
        """True where nothing moved for so long that the service's own counts can't lag behind it, and they agreed.

        Preparing tasks are told from running ones by a list only.
        """
        agreement = self.agreement
        if agreement.disagreements or agreement.at is None or self.counts.preparing:
            return False
        return self.agreed_since_it_moved and agreement.at >= self.moved_at + overlap

    @property
    def confirmation(self) -> Confirmation:
        """What says of the same picture as it is stored that it holds as this one does."""
        return Confirmation(self.version, self.as_of, self.agreement)

    @property
    def sample(self) -> Sample:
        """What goes into the job's history; exact is only what Get Task Counts agreed with itself."""
        agreed = self.agreement.as_of if self.agreed_since_it_moved else None
        return Sample(
            at=to_milliseconds(self.moved_at),
            through=to_milliseconds(self.looked_at if agreed else self.as_of),
            exact_through=to_milliseconds(agreed) if agreed else None,
            counts=self.counts,
            doubted=self.agreement.disagreements > 0,
        )

    def watermark(self, overlap: timedelta) -> datetime:
        """The instant from which the next delta asks for changes, inclusive."""
        return self.as_of - overlap

    def is_news(self, before: "Picture | None") -> bool:
        """False where this is the picture of `before` that holds longer, which a confirmation says as well."""
        if before is None:
            return True
        return replace(self, as_of=before.as_of, source=before.source, agreement=before.agreement) != before

    def confirmed(self, confirmation: Confirmation | None) -> "Picture":
        if confirmation is None or confirmation.version != self.version or confirmation.as_of < self.as_of:
            return self
        return replace(self, as_of=confirmation.as_of, source="delta", agreement=confirmation.agreement)


@dataclass(frozen=True, slots=True)
class Retired:
    """A generation that nothing points to `since` then; whoever still uses it will have ended some time later."""

    generation: str
    since: datetime


@dataclass(frozen=True, slots=True)
class Job:
    """What is stored of one job.

    `building` is the generation that a full read is filling since `building_since`; `retired` are generations to be
    collected; `sealed` means completed and read for good. `ended` are the samples before the picture's that aren't in
    the job's history yet: one as stored, any number before it is.
    """

    facts: JobFacts
    picture: Picture | None = None
    building: str | None = None
    building_since: datetime | None = None
    retired: tuple[Retired, ...] = ()
    sealed: bool = False
    deleted_at: datetime | None = None
    ended: tuple[Sample, ...] = ()
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
        return not self.deleted and not self.sealed

    def seen(self, facts: JobFacts) -> "Job":
        """After a list or a GET showed the job.

        Another creation time is another job under the same id: its tasks are read anew, the old generation retires.
        """
        if facts.creation_time == self.facts.creation_time:
            moved = facts != self.facts
            return replace(self, facts=facts, sealed=self.sealed and not moved, deleted_at=None)
        return Job(facts, retired=self._retired_all(facts.creation_time), ended=self.samples, etag=self.etag)

    @property
    def samples(self) -> tuple[Sample, ...]:
        """What isn't in the job's history yet, in order: what ended, and what the picture shows."""
        return (*self.ended, self.picture.sample) if self.picture else self.ended

    def confirmed(self, confirmation: Confirmation | None) -> "Job":
        """As a later poll found it that didn't write it."""
        return replace(self, picture=self.picture.confirmed(confirmation)) if self.picture else self

    def pictured(self, picture: Picture) -> "Job":
        """After a read: unless it only confirms what was there, that has ended."""
        old = self.picture
        is_same = old is None or (old.moved_at, old.counts) == (picture.moved_at, picture.counts)
        return replace(self, picture=picture, ended=self.ended if is_same else self.samples)

    def begun(self, generation: str, at: datetime) -> "Job":
        """Before the first row of a new generation is written; one that was begun before and never served retires."""
        retired = (*self.retired, Retired(self.building, at)) if self.building else self.retired
        return replace(self, building=generation, building_since=at, retired=retired)

    def switched(self, picture: Picture) -> "Job":
        """After the generation that was being built is complete: it is served, and the one before retires."""
        old = self.picture
        retired = (*self.retired, Retired(old.generation, picture.looked_at)) if old else self.retired
        return replace(self.pictured(picture), building=None, building_since=None, retired=retired)

    def abandoned(self, at: datetime, *, before: datetime) -> "Job":
        """Without a generation whose building began `before` then and never ended; somebody may still go on with it."""
        if not self.building or not self.building_since or self.building_since >= before:
            return self
        retired = (*self.retired, Retired(self.building, at))
        return replace(self, building=None, building_since=None, retired=retired)

    def unsealed(self) -> "Job":
        """After Get Task Counts of a sealed job differed: it is polled again."""
        return replace(self, sealed=False)

    def gone(self, at: datetime) -> "Job":
        """After a GET answered 404: what was known of it stays, marked as deleted."""
        return replace(self, deleted_at=at)

    def _retired_all(self, since: datetime) -> tuple[Retired, ...]:
        generations = [self.building, self.picture.generation if self.picture else None]
        return (*self.retired, *(Retired(generation, since) for generation in generations if generation))

    def is_final(self, as_of: datetime, overlap: timedelta) -> bool:
        """True once a completed job's last changes, late ones too, must be visible to a read begun at `as_of`."""
        return self.facts.state == COMPLETED and as_of >= self.facts.state_transition_time + overlap

    def may_be_sealed(self, overlap: timedelta) -> bool:
        """True once a completed job was read for good and, where Get Task Counts means anything, it agreed since."""
        picture = self.picture
        if picture is None or not self.is_final(picture.as_of, overlap):
            return False
        agreement = picture.agreement
        agreed = not agreement.disagreements and agreement.at is not None and self.is_final(agreement.at, overlap)
        return agreed or picture.counts.total > VALIDATED_TASKS
