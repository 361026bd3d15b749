"""GET accounts/{account}/pools/{pool}/queue: the jobs that wait on a pool, in Batch's order, from storage."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta

from functions.api.endpoints import POOL
from functions.http.answers import Answer
from functions.http.csv_table import csv_reply
from functions.http.handling import Page, Query, RouteRequest, RouteResponse, Routes
from functions.http.parameters import Format
from functions.http.rendering import LOOKS
from shared.domain.explain.pool_queue import QueuedJob
from shared.services.explain.pool_queues import PoolQueueReport

_Top = Annotated[int, Meta(ge=1, le=100, description="Only this many jobs, those that go first.")]


class QueueQuery(Query):
    """How many jobs to list, and in which format."""

    top: _Top = 20
    format: Format = "json"


class QueuedJobAnswer(Answer):
    """A job in the queue; null is unknown.

    `rank` counts from 1 and is null where none of its tasks can start. Jobs of one rank have equal shares of the slots
    that lower ranks leave: `share`, 0 at `maxParallelTasks`: it gets no more, but keeps those that its own tasks free.
    `readyTasks` are waiting tasks that would take free slots now, `heldTasks` those that wait for other tasks, or fit
    on no node. `leastSlots` and `mostSlots` are those of the waiting tasks that were looked at. `cause` is the code of
    the finding that explains why its next task waits, by stored data. `expectedStart` is that task's, else `reason`
    says why there is none.
    """

    id: str
    state: str
    priority: int
    creation_time: datetime
    rank: int | None
    waiting_tasks: int
    waiting_slots: int
    ready_tasks: int | None
    held_tasks: int | None
    running_tasks: int
    least_slots: int | None
    most_slots: int | None
    max_parallel_tasks: int | None
    allow_task_preemption: bool
    share: float | None
    cause: str | None
    title: str | None
    expected_start: datetime | None
    reason: str | None


class QueueAnswer(Answer):
    """A pool's queue: `count` jobs wait, `moreJobs` of them aren't listed, with `waitingTasks` in all.

    `jobDefaultOrder` is the order among jobs of equal priority, null where it isn't known. All stored data
    used is as of `asOf` or later; `unknown` are sentences on facts that aren't known or up to date.
    """

    value: list[QueuedJobAnswer]
    count: int
    account: str
    pool: str
    as_of: datetime | None
    job_default_order: Literal["none", "creationtime"] | None
    free_slots: int | None
    tasks_ended_per_minute: float | None
    waiting_tasks: int
    more_jobs: int
    unknown: list[str]


def add_pool_queue(routes: Routes) -> None:
    @routes.route("GET", f"{POOL}/queue", query=QueueQuery, returns=QueueAnswer, cacheable=True, looks=LOOKS)
    async def get_pool_queue(call: RouteRequest[QueueQuery, None]) -> QueueAnswer | RouteResponse:
        """Lists the jobs that wait on a pool in the order in which Batch takes their tasks."""
        services = await call.services()
        found = await services.pool_queues.of_pool(call.path["account"], call.path["pool"], call.query.top)
        answer = _answer(found)
        if call.query.format == "csv":
            return csv_reply(Page(value=answer.value, count=answer.count), QueuedJobAnswer)
        return answer


def _answer(report: PoolQueueReport) -> QueueAnswer:
    pool = report.pool.pool
    return QueueAnswer.of(
        report,
        value=list(map(_job_answer, report.jobs)),
        count=report.waiting_jobs,
        account=report.pool.account.id,
        pool=pool.facts.id,
        job_default_order=pool.facts.job_order,
        free_slots=pool.snapshot.summary.free if pool.snapshot else None,
        tasks_ended_per_minute=report.per_minute,
        more_jobs=report.waiting_jobs - len(report.jobs),
        unknown=list(report.unknown),
    )


def _job_answer(queued: QueuedJob) -> QueuedJobAnswer:
    facts, job, slots = queued.waiting.facts, queued.waiting.job, queued.waiting.waiting
    return QueuedJobAnswer.of(
        queued,
        id=facts.id,
        state=facts.state,
        priority=job.priority,
        creation_time=facts.creation_time,
        waiting_tasks=job.counts.active,
        waiting_slots=job.waiting_slots,
        ready_tasks=queued.ready,
        held_tasks=None if queued.waiting.is_unsure else job.held,
        running_tasks=job.running,
        least_slots=slots.least_slots if slots else None,
        most_slots=slots.most_slots if slots else None,
        max_parallel_tasks=job.rules.max_parallel_tasks,
        allow_task_preemption=job.rules.allows_preemption,
        cause=queued.cause.rule if queued.cause else None,
        title=queued.cause.title if queued.cause else None,
    )
