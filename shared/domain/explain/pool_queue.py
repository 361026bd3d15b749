"""The queue of a pool: its jobs with waiting tasks, in the order in which Batch takes tasks from them.

Source: "Jobs and tasks in Azure Batch", and the references of TaskSchedulingPolicy and allowTaskPreemption. Batch
orders jobs, not the tasks of a job. A task that needs several slots of one node may be passed by narrower ones.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import inf

from shared.domain.explain.competing_jobs import CompetingJob, Rank, minutes_until, rank_of, tasks_of
from shared.domain.explain.evidence import Evidence
from shared.domain.explain.explanation import TURNS, explain
from shared.domain.explain.pool_nodes import PoolNodes
from shared.domain.findings.finding import Finding
from shared.domain.findings.thresholds import MAX_ESTIMATED_WAIT
from shared.domain.jobs.jobs import JobFacts
from shared.domain.jobs.observations import RequiredSlots
from shared.domain.pools.pools import Pool

_MAX_EQUAL = 20  # jobs of the same rank with which a cause is found; more don't change it
_UNSURE = "How many of its waiting tasks wait for other tasks isn't stored; the job's explanation asks Batch."
_OVERSIZED = "Some of its waiting tasks fit on no node; how many of the others can start isn't known."

_BOUND = "Its next task starts when one of its own ends, as it runs as many as its maxParallelTasks allows."
_BEYOND = "It runs more tasks than its maxParallelTasks as read last, which was changed: its next start isn't known."
_NO_ORDER = "Which job of equal priority goes first isn't known."
_RETAKEN = "Jobs that go first retake the slots that their tasks free, and as tasks ended lately, no others come free."


@dataclass(frozen=True, slots=True)
class WaitingJob:
    """A job on a pool, as stored; `waiting` are the slots of its first waiting tasks, None where they weren't read."""

    facts: JobFacts
    job: CompetingJob
    waiting: RequiredSlots | None = None

    @property
    def is_unsure(self) -> bool:
        """Returns whether it is unknown how many of its waiting tasks can start."""
        return self.lacks_dependencies or not self.job.is_held_exact

    @property
    def lacks_dependencies(self) -> bool:
        """Returns whether it is unknown how many of its waiting tasks wait for other tasks."""
        found = self.job.dependencies
        is_known = found is not None and found.whole and not found.unsure
        return self.job.is_in_line and self.job.rules.uses_task_dependencies and not is_known

    @property
    def is_ready_unsure(self) -> bool:
        """Returns whether it is unknown how many tasks would take free slots: at its maxParallelTasks, none would."""
        most = self.job.rules.max_parallel_tasks
        return self.is_unsure and self.job.state == "active" and (most is None or self.job.running < most)

    @property
    def may_take_slots(self) -> bool:
        """Returns whether some of its waiting tasks would take free slots now, or may."""
        return self.job.contending > 0 or self.is_ready_unsure

    @property
    def is_in_line(self) -> bool:
        """Returns whether some of its waiting tasks would take slots, or may, now or when its own tasks end."""
        return self.job.is_in_line or self.is_ready_unsure

    def with_slots(self, waiting: RequiredSlots | None, slots_per_node: int) -> "WaitingJob":
        """Returns the job with the slots of its first waiting tasks; some may fit on no node."""
        return replace(self, waiting=waiting, job=self.job.with_slots(waiting, slots_per_node))


@dataclass(frozen=True, slots=True)
class QueueEvidence:
    """The stored facts about a pool as of a time: `jobs` are all of its jobs with running or waiting tasks.

    `nodes` are empty where the pool's totals suffice. `per_minute` is how many tasks of all jobs ended a minute lately.
    """

    as_of: datetime
    pool: Pool
    nodes: PoolNodes
    per_minute: float | None
    jobs: tuple[WaitingJob, ...]

    def rank_of(self, job: CompetingJob) -> Rank:
        return rank_of(job.priority, job.creation_time, oldest_first=self.pool.facts.takes_oldest_first)

    def minutes_until(self, tasks: float, ahead: Sequence[WaitingJob]) -> float:
        """Returns the minutes until so many slots came free that no job ahead retakes; infinite where none will."""
        bound = [each.job for each in ahead if each.job.retaking]
        running = [each for each in self.jobs if each.job.running]
        others_run = len(running) > sum(job.running > 0 for job in bound)
        return minutes_until(tasks, self.per_minute or 0.0, bound, others_run=others_run)

    @property
    def in_order(self) -> list[WaitingJob]:
        """Returns the jobs with waiting tasks: those in line for slots by rank, then the others by rank."""
        waiting = [each for each in self.jobs if each.job.counts.active]
        return sorted(waiting, key=lambda each: (not each.is_in_line, self.rank_of(each.job), each.facts.key))


@dataclass(frozen=True, slots=True)
class QueuedJob:
    """A job's place in the queue of its pool; None is unknown.

    `rank` counts from 1, None where none of its tasks can start. Jobs of one rank have equal shares of the slots that
    lower ranks leave; `share` is from 0 to 1, 0 at its maxParallelTasks: then it gets no more slots, but keeps those
    that it has. `ready` is the number of tasks that would take free slots now. `cause` is why its next task waits, by
    the stored facts, and `expected_start` when that starts, or `reason` why it is unknown.
    """

    waiting: WaitingJob
    rank: int | None = None
    ready: int | None = None
    share: float | None = None
    cause: Finding | None = None
    expected_start: datetime | None = None
    reason: str | None = None


def queue_of(e: QueueEvidence, top: int) -> list[QueuedJob]:
    """Returns the first `top` jobs of the queue."""
    ordered = e.in_order
    by_rank: dict[Rank, list[WaitingJob]] = {}
    for each in ordered:
        if each.is_in_line:
            by_rank.setdefault(e.rank_of(each.job), []).append(each)
    places = {rank: (number, _share(e, equal)) for number, (rank, equal) in enumerate(by_rank.items(), start=1)}
    return [_queued(e, each, by_rank, places) for each in ordered[:top]]


def _queued(
    e: QueueEvidence,
    each: WaitingJob,
    by_rank: Mapping[Rank, Sequence[WaitingJob]],
    places: Mapping[Rank, tuple[int, float | None]],
) -> QueuedJob:
    """Returns the entry of a job; `by_rank` are the jobs in line, `places` the number of each rank and the share."""
    rank, queued = e.rank_of(each.job), QueuedJob(each, ready=None if each.is_ready_unsure else each.job.contending)
    ahead, equal = [job for lower, jobs in by_rank.items() if lower < rank for job in jobs], by_rank.get(rank, ())
    others = [other for other in equal[: _MAX_EQUAL + 1] if other is not each]
    if each.is_in_line:
        number, share = places[rank]
        queued = replace(queued, rank=number, share=share if each.may_take_slots else 0.0)
    equals = len(equal) - each.is_in_line
    return _explained(e, queued, _cause(e, each, (*ahead, *others)), ahead, equals)


def _share(e: QueueEvidence, equal: Sequence[WaitingJob]) -> float | None:
    """Returns the share of each job of a rank that takes slots, None where it isn't known which of them does."""
    if len(equal) > 1 and (e.pool.facts.job_order is None or any(each.is_ready_unsure for each in equal)):
        return None
    sharing = sum(each.may_take_slots for each in equal)
    return round(1 / sharing, 6) if sharing else 0.0


def _cause(e: QueueEvidence, each: WaitingJob, competing: Sequence[WaitingJob]) -> Finding | None:
    """Returns the first finding of a job's explanation by the stored facts."""
    evidence = Evidence(
        e.as_of,
        each.facts,
        rules=each.job.rules,
        counts=each.job.counts,
        waiting_slots=each.job.waiting_slots,
        waiting=each.waiting,
        pool=e.pool,
        nodes=e.nodes,
        competing_jobs=tuple(other.job for other in competing),
        dependencies=each.job.dependencies,
    )
    return next(iter(explain(evidence).findings), None)


def _explained(
    e: QueueEvidence, queued: QueuedJob, cause: Finding | None, ahead: Sequence[WaitingJob], equal: int
) -> QueuedJob:
    """Returns the entry with its cause and its expected start, or the reason for none."""
    each = queued.waiting
    if cause is None or (cause.rule == "slotsFree" and each.is_unsure):
        return replace(queued, reason=_unsure(each) or "The stored facts don't show why it waits.")
    no_order = _NO_ORDER if equal and e.pool.facts.job_order is None else None
    if reason := next(_doubts(e, each, cause, ahead), no_order):
        return replace(queued, cause=cause, reason=reason)
    tasks = tasks_of([other.job for other in ahead]) + 1 + equal / 2  # its next one, taking turns with equal jobs
    minutes = e.minutes_until(tasks, ahead)
    if minutes == inf:
        return replace(queued, cause=cause, reason=_RETAKEN)
    if minutes > MAX_ESTIMATED_WAIT / timedelta(minutes=1):
        return replace(queued, cause=cause, reason="As tasks ended lately, it would take more than a year.")
    return replace(queued, cause=cause, expected_start=e.as_of + timedelta(seconds=round(minutes * 60)))


def _doubts(e: QueueEvidence, each: WaitingJob, cause: Finding, ahead: Sequence[WaitingJob]) -> Iterator[str]:
    """Yields why the next start of a job can't be estimated, as sentences."""
    if cause.rule == "slotsFree":
        yield "Slots are free for it: Batch mostly starts tasks within seconds."
    if each.job.retaking and not each.job.contending and cause.rule == "maxParallelTasks":
        yield _BOUND if each.job.running == each.job.rules.max_parallel_tasks else _BEYOND
    if cause.rule not in TURNS or not each.may_take_slots:
        yield f"{cause.title}."
    if unsure := _unsure(each):
        yield unsure
    if first := next((other for other in ahead if other.is_unsure), None):
        yield f"Whether the waiting tasks of '{first.facts.id}', which go first, can start isn't stored."
    if any(_yields(other.job, each.job) for other in e.jobs):
        yield "Batch may requeue running tasks of lower jobs for it at any time, as those allow preemption."
    if each.waiting and each.waiting.least_slots > 1:
        yield f"Its next task needs {each.waiting.least_slots} free slots on one node, which narrower ones may take."
    if e.per_minute is None:
        yield "How fast tasks on the pool ended lately isn't known."
    if not e.per_minute:
        yield "No task of the pool's jobs ended in the last hour, the current minute aside."


def _unsure(each: WaitingJob) -> str | None:
    """Returns why it is unknown how many of a job's waiting tasks can start."""
    return (_UNSURE if each.lacks_dependencies else _OVERSIZED) if each.is_unsure else None


def _yields(job: CompetingJob, to: CompetingJob) -> bool:
    """Returns whether Batch may requeue running tasks of a job for another."""
    return job.running > 0 and job.rules.allows_preemption and job.priority < to.priority
