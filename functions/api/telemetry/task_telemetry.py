"""GET accounts/{account}/jobs/{job}/tasks/{task}/telemetry: measurements of its node while a task ran."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from functions.api.endpoints import JOB
from functions.api.telemetry.node_telemetry import TelemetryAnswer, TelemetryQuery, telemetry_answer, telemetry_table
from functions.http.answers import Answer
from functions.http.handling import RouteRequest, RouteResponse, Routes

if TYPE_CHECKING:  # not needed at start
    from shared.domain.telemetry.query.ended_attempts import EndedAttempt
    from shared.domain.telemetry.query.task_runs import TaskRun
    from shared.services.telemetry.task_telemetry import TaskTelemetry


RunsBack = Annotated[
    int, Meta(ge=0, le=1000, description="0 is the latest run, 1 the first of `runsBefore`, and so on.")
]


class TaskTelemetryQuery(TelemetryQuery):
    """The range, the step and the series, as for a node; and the run."""

    run: RunsBack = 0


class RunBeforeAnswer(Answer):
    """A run before the latest; it ended by `endTime`, which equals the start if only the start was logged.

    If it was `retriedInternally`, Batch then restarted the task without counting a retry.
    """

    pool_id: str | None
    node_id: str | None
    start_time: datetime
    end_time: datetime
    retried_internally: bool


class EndedAttemptAnswer(Answer):
    """What an attempt of the task used, as the node agent wrote at its end; null where the agent has no figure.

    Times are by the node's clock. The agent saw the end at `endTime`, up to `durationUncertainty` seconds late.
    `cpuMissed` is the most that `cpuSeconds` lacks. `readBytes` and `writtenBytes` are those of disks, `threads` the
    most at a sample, and `gpuUsage` the mean number of GPUs in use.
    """

    start_time: datetime
    end_time: datetime
    duration: float | None
    duration_uncertainty: float | None
    cpu_seconds: float | None
    cpu_missed: float | None
    cpu_source: str | None
    memory_peak: int | None
    memory_source: str | None
    read_bytes: int | None
    written_bytes: int | None
    threads: int | None
    gpu_memory_peak: int | None
    gpu_usage: float | None


class SharingAnswer(Answer):
    """The number of `otherTasks` whose latest run overlapped on the node; a lower bound if not `complete`."""

    other_tasks: int
    complete: bool


class TaskTelemetryAnswer(Answer):
    """Measurements of the node of a task's latest run, or a requested earlier one, from its start to its end.

    `startTime`, `endTime` (null while it runs), pool and node of the run are as of `asOf`. `earlierRuns` counts the
    runs before it, by Batch's count or by events if they show more. `runsBefore` lists runs before the latest, from
    stored events. `endedAttempts` are the latest 20 that the node agent recorded, whichever run is shown. `basis` is
    `task` if blobs name the task (in `attempts`, if they name any), `node` if everything from the node is shown, and
    null if nothing is. A node measures all tasks together; `sharing` counts the others. `reason` explains a missing
    result, else it is null.
    """

    as_of: datetime | None
    pool_id: str | None
    node_id: str | None
    start_time: datetime | None
    end_time: datetime | None
    earlier_runs: int
    runs_before: list[RunBeforeAnswer]
    basis: Literal["task", "node"] | None
    attempts: list[str]
    ended_attempts: list[EndedAttemptAnswer]
    sharing: SharingAnswer | None
    reason: str | None
    telemetry: TelemetryAnswer | None


def add_task_telemetry(routes: Routes) -> None:
    @routes.route("GET", f"{JOB}/tasks/{{task}}/telemetry", query=TaskTelemetryQuery, returns=TaskTelemetryAnswer)
    async def get_task_telemetry(call: RouteRequest[TaskTelemetryQuery, None]) -> TaskTelemetryAnswer | RouteResponse:
        """Returns measurements of its node while a task ran, and the number of other tasks on it at the time."""
        services, query, path = await call.services(), call.query, call.path
        found = await services.task_telemetry.of_task(
            path["account"], path["job"], path["task"], query.selected, back=query.run
        )
        return telemetry_table(found.telemetry) if query.format == "csv" else _answer(found)


def _answer(found: "TaskTelemetry") -> TaskTelemetryAnswer:
    run, sharing = found.run, found.sharing
    return TaskTelemetryAnswer.of(
        found,
        pool_id=run.pool or None if run else None,
        node_id=run.node or None if run else None,
        start_time=run.start if run else None,
        end_time=run.end if run else None,
        earlier_runs=run.earlier if run else 0,
        runs_before=list(map(_before, found.before)),
        basis=found.tie.value if found.tie else None,
        attempts=list(found.attempts),
        ended_attempts=list(map(_ended, found.ended)),
        sharing=SharingAnswer(other_tasks=sharing.tasks, complete=sharing.is_complete) if sharing else None,
        telemetry=telemetry_answer(found.telemetry) if found.telemetry else None,
    )


def _ended(one: "EndedAttempt") -> EndedAttemptAnswer:
    return EndedAttemptAnswer.of(one, start_time=one.start, end_time=one.end, cpu_seconds=one.cpu_time)


def _before(run: "TaskRun") -> RunBeforeAnswer:
    return RunBeforeAnswer(
        pool_id=run.pool or None,
        node_id=run.node or None,
        start_time=run.start,
        end_time=run.end or run.start,
        retried_internally=run.is_retried_internally,
    )
