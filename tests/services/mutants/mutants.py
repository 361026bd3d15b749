"""Planted bugs of the delta algorithm, one row of `MUTANTS` each: the defect, and a scenario that shows it.

The scenarios pass for the real code. test_mutants.py checks both, and that the state machine finds the bugs unaided.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import compress
from typing import Any, override

from shared.domain.core import stored_times
from shared.domain.jobs import verdicts
from shared.domain.jobs.jobs import Job, JobFacts
from shared.domain.jobs.snapshots import AGREEMENT_LASTS, Agreement, Confirmation, JobSnapshot
from shared.domain.leaves.leaves import Leaf
from shared.domain.polling import rounds
from shared.domain.reads.id_ranges import IdRange
from shared.domain.reads.read_plans import ReadPlan
from shared.domain.tasks.tasks import Task
from shared.errors import CacheConflictError, LongReadError, NotFoundError, OvertakenError
from shared.services.jobs import discovery
from shared.services.reading import comparison, read_state, task_poll
from shared.services.reading.dirty_mark import DirtyMark
from shared.services.reading.folding import fold
from shared.services.reading.generations import Generations
from shared.services.reading.incarnation import Incarnation
from shared.services.reading.long_reads import LongReads
from shared.services.reading.range_lists import RangeLists
from shared.services.reading.read_state import ReadState, finish, is_long_list
from shared.services.reading.task_poll import PollResult, TaskPoll
from shared.stores.batch.batch import BatchAccount, JobPage
from shared.stores.jobs.jobs import generation_partition
from shared.stores.jobs.leaf_rows import LeafReplacement
from shared.stores.jobs.task_cache import Directory, TaskCache
from tests.services.fakes.fake_batch import FakeBatch
from tests.services.mutants.clocks_apart import OwnClock, a_round_in_the_future, hosts_an_hour_apart
from tests.services.mutants.lost_messages import a_lost_message
from tests.services.mutants.scenarios import (
    NO_TIME,
    a_change_behind_a_slow_full_read,
    a_change_behind_a_slow_long_read,
    a_change_behind_a_slow_read,
    a_change_seen_at_the_last_instant,
    a_change_seen_late,
    a_change_that_shows_late_during_a_long_read,
    a_clock_that_runs_ahead,
    a_death_at_every_call,
    a_death_at_every_call_of_a_long_read,
    a_death_at_every_call_where_no_count_moves,
    a_death_while_pages_come_beside_slow_writes,
    a_faster_poll_while_another_generation_takes_over,
    a_job_created_anew,
    a_job_created_anew_behind_the_list,
    a_job_that_is_listed_late,
    a_list_that_lost_a_job,
    a_long_read_that_two_processes_carry_on_in_turn,
    a_page_received_after_a_later_one,
    a_poll_after_one_that_marked_leaves_and_died,
    a_report_after_the_end_of_its_job,
    a_report_that_comes_too_late,
    a_slower_poll_that_ends_after_a_faster_one,
    a_task_added_during_a_full_read,
    tasks_deleted_after_a_poll_that_broke_off,
    tasks_deleted_after_a_poll_that_was_throttled,
)
from tests.services.mutants.tasks_that_prepare import more_pages_of_preparing_tasks_than_a_round_reads
from tests.services.worlds.process import OVERLAP, Recipe
from tests.services.worlds.world import SECOND, World

type Patch = tuple[object, str, Any]


class ExclusiveBatch(FakeBatch):
    @override
    def matches(self, stamp: datetime, since: datetime) -> bool:
        return stamp > since


class OwnClockBatch(FakeBatch):
    """Takes T0 from an own clock that is a minute ahead."""

    @override
    async def fetch_jobs(self, *, changed_since: datetime | None = None) -> JobPage:
        page = await super().fetch_jobs(changed_since=changed_since)
        return replace(page, date=page.date + 60 * SECOND if page.date else None)


class DeltaPoll(TaskPoll):
    """Polls deltas alone: no full read corrects missed changes before they are visible."""

    @override
    async def reconcile(self, polled: PollResult, t0: datetime | None) -> PollResult:
        return polled


class ListedSinceBatch(FakeBatch):
    """Requests the jobs that changed since the last list, without the overlap."""

    @override
    async def fetch_jobs(self, *, changed_since: datetime | None = None) -> JobPage:
        return await super().fetch_jobs(changed_since=changed_since + OVERLAP if changed_since else None)


class ReadEndPoll(DeltaPoll):
    @override
    async def _settled(self, job: Job, snapshot: JobSnapshot) -> PollResult:
        assert isinstance(self._source, FakeBatch)
        end = self._source.last_date or snapshot.as_of
        return await super()._settled(job, replace(snapshot, as_of=max(end, snapshot.as_of)))


class NewestChangePoll(DeltaPoll):
    @override
    async def _settled(self, job: Job, snapshot: JobSnapshot) -> PollResult:
        assert isinstance(self._source, FakeBatch)
        newest = datetime.fromtimestamp(self._source.newest / 1000, snapshot.as_of.tzinfo)
        return await super()._settled(job, replace(snapshot, as_of=max(newest, snapshot.as_of)))


class WatermarkFirstPoll(TaskPoll):
    @override
    async def _delta(self, job: Job, snapshot: JobSnapshot, as_of: datetime, **options: Any) -> PollResult:
        early = replace(job, snapshot=replace(snapshot, as_of=as_of))
        job = await self._records.save(self._source.account.key, early)
        return await super()._delta(job, snapshot, as_of, **options)


async def split_has_to_be_listed(source: BatchAccount, job: Job, read_state: ReadState) -> bool:
    """Returns False if the list of preparing tasks has more pages than a round reads."""
    if len(read_state.preparing) == read_state.directory.counts.preparing:
        return True
    pages = 0
    async for page in source.fetch_task_pages(job.facts.id, state="preparing"):
        pages += 1
        if page.next_link and is_long_list(pages):
            return False
    return True


class HoldingCache(TaskCache):
    """Holds the leaves of a delta back; `flush` writes them."""

    def __init__(self, tables: Any) -> None:
        super().__init__(tables)
        self.held: list[tuple[Directory, list[LeafReplacement]]] = []

    @override
    async def save_leaves(self, directory: Directory, rewrites: Iterable[LeafReplacement]) -> Directory:
        if directory.head_etag is None:
            return await super().save_leaves(directory, rewrites)
        many = list(rewrites)
        self.held.append((directory, many))
        entries = {entry.row: entry for entry in directory.leaves}
        for rewrite in many:
            for row, leaf in zip(rewrite.rows(), rewrite.leaves, strict=True):
                entries[row] = replace(rewrite.entry, row=row, counts=leaf.counts())
        return replace(directory, leaves=tuple(entries.values()))

    async def flush(self) -> None:
        held, self.held = self.held, []
        for directory, rewrites in held:
            await super().save_leaves(directory, rewrites)
            self.forget(directory.partition)


class HeadFirstPoll(TaskPoll):
    @override
    async def _settled(self, job: Job, snapshot: JobSnapshot) -> PollResult:
        polled = await super()._settled(job, snapshot)
        assert isinstance(self._cache, HoldingCache)
        await self._cache.flush()
        return polled


def never(*_: object) -> bool:
    """Replaces a check by False."""
    return False


async def nobody_asks(*_: object) -> None:
    """Replaces the check of which incarnation owns the tasks."""


async def sweep_in_place(self: Generations, job: Job, t0: datetime | None) -> Job:
    """Removes unlisted tasks from the served generation instead of building a new one."""
    if job.snapshot is None or t0 is None:
        return await REAL_READ_ANEW(self, job, t0)
    listed = [task async for page in self._source.fetch_task_pages(job.facts.id) for task in page.tasks]
    partition = generation_partition(self._source.account.key, job.key, job.snapshot.generation)
    directory = await self._cache.read_directory(partition)
    leaves = await self._cache.load_leaves(partition, directory.leaves)
    ids = {task.id for task in listed}
    swept = [
        LeafReplacement(entry, [Leaf(task for task in leaf if task.id in ids)])
        for entry, leaf in zip(directory.leaves, leaves, strict=True)
    ]
    directory = await self._cache.save_leaves(directory, swept)
    snapshot = replace(job.snapshot, counts=directory.counts, full_read_at=t0, agreement=Agreement(t0))
    stored = await self._records.load(self._source.account.key, job.facts.id)
    swept_job = replace(stored or job, snapshot=snapshot)
    return await self._records.save(self._source.account.key, swept_job)


async def not_caught_up(
    _self: Generations, _job: Job, done: ReadState, *, since: datetime, as_of: datetime
) -> tuple[ReadState, datetime]:
    assert since <= as_of
    return done, max(as_of, done.date or as_of)


def exact_while_agreed_lately(snapshot: JobSnapshot, _confirmed: datetime) -> tuple[str, str]:
    agreed = snapshot.agreement.at
    return ("exact", "") if agreed and snapshot.as_of - agreed <= AGREEMENT_LASTS else ("unverified", "")


def fold_later_stamps(leaf: Leaf, keys: Sequence[str], tasks: Sequence[Task]) -> bool:
    stamps = {task.id: task.transition for task in leaf}
    later = [task.transition >= stamps.get(task.id, 0) for task in tasks]
    return REAL_FOLD_SORTED(leaf, list(compress(keys, later)), list(compress(tasks, later)))


async def fold_under_new_etags(
    cache: TaskCache, directory: Directory, tasks: Sequence[Task], **_: object
) -> tuple[Directory, bool]:
    return await fold(cache, await cache.read_directory(directory.partition), tasks, leaf_rows=4)


async def fold_before_it_is_noted(
    cache: TaskCache, directory: Directory, tasks: Sequence[Task], *, mark: DirtyMark | None = None
) -> tuple[Directory, bool]:
    directory, moved = await fold(cache, directory, tasks)
    if moved and mark:
        await mark.make()
    return directory, moved


async def gone_when_not_listed(source: BatchAccount, job: Job, date: datetime | None) -> Job:
    return job.gone(date or job.facts.state_transition_time)


def seen_as_the_same_job(job: Job, facts: JobFacts) -> Job:
    return replace(job, facts=facts, deleted_at=None)


def final_at_once(job: Job, as_of: datetime, overlap: timedelta) -> bool:
    return job.facts.state == "completed" and as_of >= job.facts.state_transition_time


async def plan_before_leaves(self: RangeLists) -> None:
    read_state, self.reading = self.reading, replace(self.reading, rest=[])
    await REAL_STORE(self)
    self.reading = read_state
    await finish(self._cache, read_state)


async def late_tasks_in_plan_only(self: RangeLists) -> None:
    """Records tasks that arrived while the leaves were written in the plan, but in no leaf."""
    rest = self.reading.rest
    self.reading.rest = []
    self.reading.directory, _ = await fold(self._cache, self.reading.directory, rest)
    kept, self.reading.rest = self.reading.rest, []
    await REAL_STORE(self)
    self.reading.rest = kept + self.reading.rest


def without_the_first_part(self: RangeLists, parts: tuple[IdRange, ...]) -> None:
    REAL_ADD(self, parts[1:])


def caught_up_since_its_end(plan: ReadPlan, overlap: timedelta) -> ReadPlan:
    later = REAL_CATCHING_UP(plan, overlap)
    return replace(later, since=later.as_of - overlap)


def caught_up_without_overlap(plan: ReadPlan, _overlap: timedelta) -> ReadPlan:
    return REAL_CATCHING_UP(plan, timedelta())


async def carry_on_from_memory(self: LongReads, job_id: str, t0: datetime | None, *, deadline: float) -> bool:
    for _ in range(4):
        job = await self._records.load(self._source.account.key, job_id)
        if job is None or not job.is_live:
            raise NotFoundError("live job", job_id)
        try:
            polled = await self._carry_on(job, t0, deadline)
            if polled and polled.confirmation:
                await self._records.save(self._source.account.key, polled.job)
        except (CacheConflictError, LongReadError):
            self._forget(job)
        else:
            return polled is not None
    raise OvertakenError(job_id)


def compares_counts_only(snapshot: JobSnapshot, directory: Directory) -> bool:
    return snapshot.counts == directory.counts


def confirmed_in_its_own_version(snapshot: JobSnapshot, confirmation: Confirmation | None) -> JobSnapshot:
    is_its_own = confirmation is not None and confirmation.version == snapshot.version
    return REAL_CONFIRMED(snapshot, confirmation if is_its_own else None)


def confirmed_as_if_overtaken(snapshot: JobSnapshot, confirmation: Confirmation | None) -> JobSnapshot:
    return REAL_CONFIRMED(snapshot, replace(confirmation, version="another") if confirmation else None)


REAL_CONFIRMED = JobSnapshot.confirmed
REAL_STORE = RangeLists.store
REAL_ADD = RangeLists._add
REAL_CATCHING_UP = ReadPlan.catching_up
REAL_READ_ANEW = Generations.read_anew
REAL_FOLD_SORTED = Leaf.fold_sorted


@dataclass(frozen=True, slots=True)
class Mutant:
    """A planted bug: other parts, or patches.

    `unaided` is False if the state machine rarely meets it; `uncompared` is True if Get Task Counts would mask it.
    """

    name: str
    scenario: Callable[[World], None]
    recipe: Recipe = field(default_factory=Recipe)
    patches: tuple[Patch, ...] = ()
    unaided: bool = True
    uncompared: bool = False


MUTANTS = (
    Mutant("overlap too short", a_change_seen_late, Recipe(overlap=NO_TIME)),
    Mutant("gt for ge", a_change_seen_at_the_last_instant, Recipe(batch=ExclusiveBatch), unaided=False),
    Mutant("watermark at read end", a_change_behind_a_slow_read, Recipe(task_poll=ReadEndPoll)),
    Mutant("watermark by our own clock", a_change_seen_late, Recipe(batch=OwnClockBatch)),
    Mutant("watermark = newest change", a_clock_that_runs_ahead, Recipe(task_poll=NewestChangePoll)),
    Mutant("watermark before rows", a_death_at_every_call, Recipe(task_poll=WatermarkFirstPoll)),
    Mutant("head before leaves", a_death_at_every_call, Recipe(task_poll=HeadFirstPoll, cache=HoldingCache)),
    Mutant(
        "an older T0 over a later one",
        a_slower_poll_that_ends_after_a_faster_one,
        patches=((JobSnapshot, "confirmed", confirmed_in_its_own_version),),
        unaided=False,
    ),
    Mutant(
        "an older T0 of another generation over a later one",
        a_faster_poll_while_another_generation_takes_over,
        patches=((JobSnapshot, "confirmed", confirmed_in_its_own_version),),
        unaided=False,
    ),
    Mutant(
        "a confirmation is never one of the version that is stored",
        a_poll_after_one_that_marked_leaves_and_died,
        patches=((JobSnapshot, "confirmed", confirmed_as_if_overtaken),),
        unaided=False,
    ),
    Mutant("later stamp wins", a_clock_that_runs_ahead, patches=((Leaf, "fold_sorted", fold_later_stamps),)),
    Mutant(
        "ETags taken after listing",
        a_page_received_after_a_later_one,
        patches=((read_state, "fold", fold_under_new_etags),),
        unaided=False,
    ),
    Mutant(
        "deletion by absence from a list",
        a_list_that_lost_a_job,
        patches=((discovery, "_look_up", gone_when_not_listed),),
        unaided=False,
    ),
    Mutant("a re-created job keeps its cache", a_job_created_anew, patches=((Job, "seen", seen_as_the_same_job),)),
    Mutant(
        "a first read that doesn't ask whose tasks it shows",
        a_job_created_anew_behind_the_list,
        patches=((Generations, "refuse_another", nobody_asks),),
        unaided=False,
    ),
    Mutant(
        "a delta that doesn't ask whose tasks it shows",
        a_job_created_anew_behind_the_list,
        patches=((Incarnation, "confirm", nobody_asks),),
        unaided=False,
    ),
    Mutant(
        "sweep in place",
        a_task_added_during_a_full_read,
        patches=((Generations, "read_anew", sweep_in_place),),
        unaided=False,
    ),
    Mutant(
        "no catch-up after a full read",
        a_change_behind_a_slow_full_read,
        patches=((Generations, "_caught_up", not_caught_up),),
    ),
    Mutant(
        "exact while a repair is pending",
        a_report_that_comes_too_late,
        patches=(
            (verdicts, "_judge_agreement", exact_while_agreed_lately),
            (JobSnapshot, "confirmed_as_of", property(lambda snapshot: snapshot.as_of)),
        ),
    ),
    Mutant(
        "plan before leaves",
        a_death_at_every_call_of_a_long_read,
        patches=((RangeLists, "store", plan_before_leaves),),
        unaided=False,
    ),
    Mutant(
        "a plan as of after the leaves, though more was received meanwhile",
        a_death_while_pages_come_beside_slow_writes,
        patches=((RangeLists, "store", late_tasks_in_plan_only),),
        unaided=False,
    ),
    Mutant(
        "a part of a divided range forgotten",
        a_death_at_every_call_of_a_long_read,
        patches=((RangeLists, "_add", without_the_first_part),),
    ),
    Mutant(
        "a long read caught up since its end",
        a_change_behind_a_slow_long_read,
        patches=((ReadPlan, "catching_up", caught_up_since_its_end),),
        unaided=False,
    ),
    Mutant(
        "a long read caught up without overlap",
        a_change_that_shows_late_during_a_long_read,
        patches=((ReadPlan, "catching_up", caught_up_without_overlap),),
        unaided=False,
    ),
    Mutant("jobs listed without overlap", a_job_that_is_listed_late, Recipe(batch=ListedSinceBatch), unaided=False),
    Mutant(
        "a long read goes on from what its process remembers of leaves",
        a_long_read_that_two_processes_carry_on_in_turn,
        patches=((LongReads, "carry_on", carry_on_from_memory),),
        uncompared=True,
    ),
    Mutant(
        "insight told only where a count moved",
        a_death_at_every_call_where_no_count_moves,
        patches=((task_poll, "_matches_directory", compares_counts_only),),
        unaided=False,
    ),
    Mutant(
        "leaves written without a note",
        tasks_deleted_after_a_poll_that_was_throttled,
        patches=((DirtyMark, "make", nobody_asks),),
        unaided=False,
    ),
    Mutant(
        "leaves written before the note",
        tasks_deleted_after_a_poll_that_broke_off,
        patches=((read_state, "fold", fold_before_it_is_noted),),
        unaided=False,
    ),
    Mutant(
        "counts compared only where the preparing tasks can be listed",
        more_pages_of_preparing_tasks_than_a_round_reads,
        patches=((comparison, "_split_holds", split_has_to_be_listed),),
        unaided=False,
    ),
    Mutant("a host that goes by its own clock", hosts_an_hour_apart, Recipe(clock=OwnClock), unaided=False),
    Mutant(
        "a stored time in the future that is believed",
        a_round_in_the_future,
        patches=((stored_times, "_is_ahead", never),),
        unaided=False,
    ),
    Mutant(
        "a mark that nobody began on lasts as long as work does",
        a_lost_message,
        patches=((rounds, "MESSAGE_COMES", rounds.MESSAGE_LASTS),),
        unaided=False,
    ),
    Mutant("sealed at once", a_report_after_the_end_of_its_job, patches=((Job, "is_final", final_at_once),)),
)
