"""A pool as the Batch service describes it, and its stored state: nodes in numbers, resize errors and samples.

The service reports errors of the last resize, and only while the pool is steady. An error that it no longer reports is
stale, and kept as such.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import blake2b

from shared.domain.core.stamps import to_milliseconds
from shared.domain.jobs.snapshots import Source
from shared.domain.jobs.verdicts import OVERTAKEN
from shared.domain.nodes.interruptions import InterruptionCount
from shared.domain.nodes.nodes import NodeSummary, SizeSummary
from shared.domain.nodes.start_ups import MAX_UNSEEN
from shared.domain.pools.cores import CoreCount, Cores, core_count, is_mixed, nodes_by_size, vcpus_in_pool
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.pools.pool_samples import PoolNumbers, PoolSample
from shared.domain.pools.pool_settings import Evaluation
from shared.domain.pools.resize_errors import ResizeError, errors_after, satisfied
from shared.domain.pools.resizes import Resize, resizes_after
from shared.domain.pools.setting_changes import MAX_CHANGES, SettingChange, changes_between

MAX_EVALUATIONS = 20  # of an autoscale formula, including the latest


@dataclass(frozen=True, slots=True)
class NodesSnapshot:
    """A pool's nodes in numbers as of T0: the date of a list of pools received before the nodes were listed.

    `full_read_at` is the T0 of the last list of all nodes with all of their properties. `digest` identifies the stored
    nodes. `doubt` is why the numbers may not be those of one instant, None where nothing suggests that. `tally` counts
    interruptions, None in rows of an earlier version. `flapping` are numbers of nodes by when they stop counting as
    flapping, in milliseconds since 1970.
    """

    as_of: datetime
    full_read_at: datetime
    source: Source
    summary: NodeSummary
    digest: str
    doubt: str | None = None
    tally: InterruptionCount | None = None
    flapping: tuple[tuple[int, int], ...] = ()

    def flapping_nodes(self, now: datetime) -> int:
        """Returns the number of nodes that flap `now`."""
        return sum(number for until, number in self.flapping if until > to_milliseconds(now))


@dataclass(frozen=True, slots=True)
class PoolConfirmation:
    """A later round that found nothing changed: the pool of that `version` also holds as of then."""

    version: str
    as_of: datetime
    full_read_at: datetime
    source: Source


@dataclass(frozen=True, slots=True)
class Pool:
    """The stored state of one pool; `seen_at` is the date of the list that first showed these facts.

    `sample` is from the snapshot's round, None in rows of an earlier version. `ended` are the earlier samples that
    aren't in the pool's history. `evaluations` of its autoscale formula are those before the facts', the latest first;
    so are `changes` of its settings, and `resizes`. `changes_left_out` is the number of changes beyond `changes` that
    the latest read with any found at once.
    """

    facts: PoolFacts
    seen_at: datetime
    errors: tuple[ResizeError, ...] = ()
    snapshot: NodesSnapshot | None = None
    sample: PoolSample | None = None
    ended: tuple[PoolSample, ...] = ()
    evaluations: tuple[Evaluation, ...] = ()
    changes: tuple[SettingChange, ...] = ()
    resizes: tuple[Resize, ...] = ()
    changes_left_out: int = 0
    etag: str | None = None

    @property
    def key(self) -> str:
        return self.facts.key

    @property
    def as_of(self) -> datetime:
        """The time as of which the facts are known to hold."""
        return max(self.seen_at, self.snapshot.as_of) if self.snapshot else self.seen_at

    @property
    def nodes_as_of(self) -> datetime | None:
        """The time as of which its nodes are known, None before they were listed."""
        return self.snapshot.as_of if self.snapshot else None

    @property
    def content(self) -> tuple[object, ...]:
        """The content that the version covers, without times of polls.

        Without a sample, it is that of versions before samples.
        """
        snapshot = self.snapshot
        nodes = (snapshot.digest, snapshot.summary, snapshot.doubt) if snapshot else None
        content = (self.facts, self.errors, nodes)
        return (*content, self.sample.at) if self.sample else content

    @property
    def version(self) -> str:
        """The version that a confirmation names; it changes with the pool's content."""
        return blake2b(repr(self.content).encode(), digest_size=8).hexdigest()

    @property
    def is_overtaken(self) -> bool:
        """True where a round with an older list overwrote a version that another round confirmed as of later."""
        return self.snapshot is not None and self.snapshot.doubt == OVERTAKEN

    @property
    def samples(self) -> tuple[PoolSample, ...]:
        """The samples that aren't in the pool's history, in order: the ended ones and the snapshot's."""
        return (*self.ended, self.sample) if self.sample else self.ended

    @property
    def all_evaluations(self) -> tuple[Evaluation, ...]:
        """The latest evaluations of its autoscale formula that polls saw, the latest first."""
        latest = self.facts.auto_scale.evaluation if self.facts.auto_scale else None
        return (latest, *self.evaluations) if latest else self.evaluations

    @property
    def current_errors(self) -> tuple[ResizeError, ...]:
        """The errors of the last resize while the pool has lacked nodes since; Batch reports them until the next."""
        return () if self.facts.has_its_targets else tuple(error for error in self.errors if error.is_current)

    def last_seen(self, error: ResizeError) -> datetime:
        """Returns when a list last showed an error, or when it became history although Batch still reports it.

        In rows of an earlier version, that is the first list with the pool's present facts.
        """
        at = self.seen_at if self.facts.has_its_targets else self.as_of
        return error.last_seen or error.satisfied_at or at

    @property
    def sizes(self) -> tuple[SizeSummary, ...] | None:
        """Its nodes by VM size, None before they were read."""
        return nodes_by_size(self.snapshot.summary, self.facts.vm_size) if self.snapshot else None

    @property
    def core_count(self) -> CoreCount | None:
        """The cores of its machines as far as they are known, None before its nodes were read."""
        return None if self.sizes is None else core_count(self.sizes, self.facts)

    @property
    def cores(self) -> Cores | None:
        """The pool's cores, None where those of any machine, or of its only VM size, or its nodes are unknown."""
        count, size = self.core_count, self.facts.vm_size
        if count is None or count.unknown or not (is_mixed(size) or vcpus_in_pool(size, self.facts)):
            return None
        return count.known

    def seen(self, facts: PoolFacts, at: datetime) -> "Pool":
        """Returns the pool after the list of pools dated `at` showed it.

        Another creation time means another pool under the same id. Resizes from before a time without polls are
        forgotten: another one may have ended within it.
        """
        if facts.creation_time != self.facts.creation_time:
            return replace(first_seen(facts, at), ended=self.samples, etag=self.etag)
        if facts == self.facts:
            return self
        known = satisfied(self.errors, self.seen_at) if self.facts.has_its_targets else self.errors
        errors = errors_after(known, facts.attempt, self.facts.attempt, at=at, last_looked=self.as_of)
        latest = facts.auto_scale.evaluation if facts.auto_scale else None
        earlier = tuple(one for one in self.all_evaluations if latest is None or one.at != latest.at)
        kept = earlier[: MAX_EVALUATIONS - (latest is not None)]
        changes = changes_between(self.facts, facts)
        return replace(
            self,
            facts=facts,
            seen_at=at,
            errors=satisfied(errors, at) if facts.has_its_targets else errors,
            evaluations=kept,
            changes=(*changes, *self.changes)[:MAX_CHANGES],
            changes_left_out=max(len(changes) - MAX_CHANGES, 0) if changes else self.changes_left_out,
            resizes=resizes_after(self.resizes if at - self.as_of <= MAX_UNSEEN else (), facts),
        )

    def listed(self, snapshot: NodesSnapshot) -> "Pool":
        """Returns the pool after its nodes were read. The previous sample ends, unless the new one only confirms it."""
        old, found, at = self.snapshot, replace(self, snapshot=snapshot), to_milliseconds(snapshot.as_of)
        sample = PoolSample(at, through=at, exact=snapshot.doubt is None, numbers=found.numbers(snapshot))
        is_unchanged = old is not None and old.digest == snapshot.digest and self.seen_at < snapshot.as_of
        if self.sample and self.sample.continues(sample, is_unchanged=is_unchanged):
            return replace(found, sample=self.sample.confirmed(snapshot.as_of))
        return replace(found, sample=sample, ended=self.samples)

    def numbers(self, snapshot: NodesSnapshot) -> PoolNumbers:
        """Returns the numbers of these facts and nodes for the pool's history."""
        summary, facts, cores = snapshot.summary, self.facts, self.cores
        return PoolNumbers(
            counts=summary.counts,
            slots=summary.slots,
            used=summary.used,
            free=summary.free,
            tasks=summary.tasks,
            dedicated=(facts.dedicated.current, facts.dedicated.target),
            spot=(facts.spot.current, facts.spot.target),
            cores=(cores.total, cores.busy) if cores else None,
            resize_errors=len(self.current_errors),
            interruptions=snapshot.tally.interruptions.total if snapshot.tally else 0,
            counted_since=snapshot.tally.since if snapshot.tally else 0,
        )

    def confirmed(self, confirmation: PoolConfirmation | None) -> "Pool":
        """Returns the pool after a later round's confirmation.

        If that round found another version, it overlapped the one that wrote this row from an older list. Then `as_of`
        doesn't decrease, and the next round decides which of them is right.
        """
        snapshot = self.snapshot
        if snapshot is None or confirmation is None or confirmation.as_of < snapshot.as_of:
            return self
        if confirmation.version != self.version:
            overtaken = replace(snapshot, as_of=confirmation.as_of, doubt=OVERTAKEN)
            return replace(self, snapshot=overtaken) if confirmation.as_of > snapshot.as_of else self
        moved = replace(
            snapshot,
            as_of=confirmation.as_of,
            full_read_at=max(snapshot.full_read_at, confirmation.full_read_at),
            source=confirmation.source,
        )
        return replace(self, snapshot=moved, sample=self.sample and self.sample.confirmed(confirmation.as_of))

    def confirmation(self) -> PoolConfirmation | None:
        """Returns the entry in the round's row for a pool that holds as stored, None before its nodes were listed.

        For an overtaken pool, it names a version that no row has, so that the pool stays overtaken.
        """
        snapshot = self.snapshot
        if snapshot is None:
            return None
        return PoolConfirmation(self.version, snapshot.as_of, snapshot.full_read_at, snapshot.source)

    def wants_all_nodes(self, now: datetime, interval: timedelta) -> bool:
        """Returns whether a list of changed states isn't enough: more may change, or the last full list is old."""
        snapshot = self.snapshot
        return snapshot is None or not snapshot.summary.is_settled or now - snapshot.full_read_at >= interval


def first_seen(facts: PoolFacts, at: datetime) -> Pool:
    """Returns a pool that the list dated `at` showed for the first time."""
    errors = errors_after((), facts.attempt, None, at=at, last_looked=at)
    known = satisfied(errors, at) if facts.has_its_targets else errors
    return Pool(facts, at, known, resizes=resizes_after((), facts))
