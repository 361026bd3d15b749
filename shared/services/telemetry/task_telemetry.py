"""The telemetry of a task's node while the task ran: the node's series, clipped to a run.

The latest run is stored with the task; earlier ones are found in events, as far as these were ingested. If blobs name
the task, only they count. Otherwise the series are the node's, which other tasks may share.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from shared.clock import Clock
from shared.domain.core.keys import key_of
from shared.domain.core.stamps import from_milliseconds, to_milliseconds
from shared.domain.events.batch_events import BatchEvent
from shared.domain.events.event_lists import EventFilter
from shared.domain.reports.reports import JobReport
from shared.domain.tasks.tasks import Task
from shared.domain.telemetry.query.earlier_runs import STARTED_WITHIN, earlier_runs
from shared.domain.telemetry.query.ended_attempts import EndedAttempt
from shared.domain.telemetry.query.ranges import Range
from shared.domain.telemetry.query.series_query import SeriesQuery
from shared.domain.telemetry.query.task_runs import NodeInterval, TaskAffinity, TaskRun, attempts_of, run_of, tie_of
from shared.errors import HistoryRangeError, NotFoundError
from shared.services.events.event_queries import EventQueries
from shared.services.queries.queries import Queries
from shared.services.tasks.node_sharing import NodeSharingCount, NodeSharingService
from shared.services.tasks.task_queries import TaskQueries
from shared.services.telemetry.ended_attempts import EndedAttemptQueries
from shared.services.telemetry.node_sessions import NodeSession, SessionsByPartition
from shared.services.telemetry.telemetry_queries import NodeTelemetry, TelemetryQueries

_NOT_BEGUN = "The task hasn't begun to run."
_NO_NODE = "It isn't known on which node the task ran."
_OTHER_TIME = "The task didn't run in the time that is asked for."
_PAST = "The task ran before the time of which telemetry is kept."
_OF_OTHERS = "The telemetry of the node in that time names other tasks only."
_NOTHING = "Nothing of that kind that came from the node in that time can be shown."
_CLOCKS_DIFFER = timedelta(minutes=1)  # a node's from Batch's
_EVENTS_AT_ONCE = 1000
_PAGES, _MAX_PAGES = 1, 2  # of events: without earlier runs by Batch's count, and with


@dataclass(frozen=True, slots=True)
class TaskTelemetry:
    """A task's telemetry, as of the task's `as_of`; `attempts` are those named by blobs.

    `run` is the one shown; `before` are runs before the latest found in events, the latest first. `ended` are the sums
    of ended attempts, whichever run is shown, the latest first. `reason` is a sentence why nothing is shown.
    `telemetry` is None without a valid range.
    """

    as_of: datetime | None
    run: TaskRun | None
    tie: TaskAffinity | None = None
    attempts: Sequence[str] = ()
    sharing: NodeSharingCount | None = None
    telemetry: NodeTelemetry | None = None
    reason: str | None = None
    before: Sequence[TaskRun] = ()
    ended: Sequence[EndedAttempt] = ()


@dataclass(frozen=True, slots=True)
class TaskTelemetryQueries:
    queries: Queries
    tasks: TaskQueries
    events: EventQueries
    sharing: NodeSharingService
    telemetry: TelemetryQueries
    clock: Clock

    async def of_task(
        self, account_id: str, job_id: str, task_id: str, asked: SeriesQuery, *, back: int = 0
    ) -> TaskTelemetry:
        """Returns the telemetry of the latest run, or of the run `back` runs before it.

        Raises NotFoundError for a task that no read has seen; HistoryRangeError, CacheConflictError, StorageError.
        """
        report = await self.queries.job(account_id, job_id)
        task = await self.tasks.task(account_id, job_id, key_of(task_id))
        if task is None:
            raise NotFoundError("task", task_id, f" in the job '{report.job.facts.id}', as far as it was read")
        await self.telemetry.require_sense(asked)
        answer = await self._selected_run(report, task, back)
        run = answer.run
        if run is None:
            return replace(answer, reason=_NOT_BEGUN)
        answer = replace(answer, ended=await self._ended(report, task, answer.before))
        if not run.node:
            return replace(answer, reason=_NO_NODE)
        return await self._of_run(answer, report, task, run, asked)

    async def _selected_run(self, report: JobReport, task: Task, back: int) -> TaskTelemetry:
        """Returns the runs of a task, and the requested one. Raises HistoryRangeError if that is unknown."""
        latest = run_of(task)
        before = await self._before(report, task, latest) if latest else ()
        if back > len(before):
            known = f"{len(before)} of its runs" if before else "none"
            raise HistoryRangeError(f"The log has {known} before the latest one.", target="run")
        if latest:
            latest = replace(latest, earlier=max(latest.earlier, len(before)))
        return TaskTelemetry(report.verdict.as_of, before[back - 1] if back else latest, before=before)

    async def _ended(self, report: JobReport, task: Task, before: Sequence[TaskRun]) -> Sequence[EndedAttempt]:
        """Returns the sums of ended attempts; a run that lasts and is the first one has none."""
        latest = run_of(task)
        if latest is None or (latest.end is None and not latest.earlier and not before):
            return ()
        first = from_milliseconds(task.creation) if task.creation else latest.start
        since = min([first, latest.start, *(run.start for run in before)]) - _CLOCKS_DIFFER
        until = latest.end or await self.clock.now()
        attempts = EndedAttemptQueries(self.telemetry)
        return await attempts.of_task(report.account.key, report.job.facts.id, task.id, since, until)

    async def _before(self, report: JobReport, task: Task, latest: TaskRun) -> Sequence[TaskRun]:
        """Returns runs before the latest, from events of the task."""
        since = from_milliseconds(task.creation) if task.creation else None
        until = latest.start + STARTED_WITHIN
        wanted = EventFilter(
            jobs=frozenset({report.job.facts.id}), tasks=frozenset({task.id}), since=since, until=until
        )
        found, after = list[BatchEvent](), None
        for _ in range(_MAX_PAGES if latest.earlier else _PAGES):
            page = await self.events.events(report.account.id, wanted, after=after, most=_EVENTS_AT_ONCE)
            found += page.events
            after = page.more
            if after is None:
                break
        return await asyncio.to_thread(earlier_runs, found, latest)

    async def _of_run(
        self, answer: TaskTelemetry, report: JobReport, task: Task, run: TaskRun, asked: SeriesQuery
    ) -> TaskTelemetry:
        now = await self.clock.now()
        left = to_milliseconds(run.end or max(now, run.start))
        stay = NodeInterval((run.pool, run.node), to_milliseconds(run.start), left)
        answer = replace(answer, sharing=await self.sharing.of(report.account, report.job, task, stay))
        since, end = run.clipped(asked.since, asked.until, now)
        if since >= end:
            return replace(answer, reason=_OTHER_TIME)
        if since >= now:  # by a node's clock that is ahead
            return replace(answer, reason=_NOTHING)
        clipped = replace(asked, since=since, until=end)
        wanted = await self.telemetry.range_of(clipped)
        if wanted.since >= wanted.until:
            return replace(answer, reason=_PAST)
        tied = _tied(await self._sessions(report, task, run, wanted), report.job.facts.id, task.id)
        return await self._shown(answer, tied, wanted, clipped)

    async def _sessions(self, report: JobReport, task: Task, run: TaskRun, wanted: Range) -> SessionsByPartition:
        """Returns the node's sessions, and those that name the task and call the node by another name."""
        sessions, account, job = self.telemetry.sessions, report.account.key, report.job.facts.id
        found = await sessions.find(account, run.pool, run.node, wanted.hours)
        own = await sessions.find_of_task(account, job, task.id, run.pool, wanted.hours)
        return {partition: [*found.get(partition, ()), *own.get(partition, ())] for partition in found | own}

    async def _shown(
        self,
        answer: TaskTelemetry,
        tied: Mapping[TaskAffinity | None, SessionsByPartition],
        wanted: Range,
        asked: SeriesQuery,
    ) -> TaskTelemetry:
        """Returns the task's own telemetry, or else the node's."""
        for tie in TaskAffinity:
            some = tied.get(tie, {})
            telemetry = await self.telemetry.of_sessions(some, wanted, asked)
            if telemetry.rollups:
                attempts = attempts_of(session.whose for sessions in some.values() for session in sessions)
                return replace(answer, tie=tie, attempts=attempts, telemetry=telemetry)
        return replace(answer, telemetry=telemetry, reason=_OF_OTHERS if tied.keys() == {None} else _NOTHING)


def _tied(found: SessionsByPartition, job: str, task: str) -> dict[TaskAffinity | None, SessionsByPartition]:
    """Returns sessions by their tie to a task, and by partition."""
    tied: dict[TaskAffinity | None, dict[str, list[NodeSession]]] = {}
    for partition, sessions in found.items():
        for session in sessions:
            tied.setdefault(tie_of(session.whose, job, task), {}).setdefault(partition, []).append(session)
    return {tie: dict(some) for tie, some in tied.items()}
