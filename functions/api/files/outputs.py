"""Kept outputs of failed tasks: `…/tasks/{task}/output` returns them, `DELETE …/jobs/{job}/outputs` deletes a job's."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from functions.api.endpoints import JOB
from functions.api.files.file_answers import require_file_reader
from functions.http.answers import Answer, stamp
from functions.http.handling import Query, RouteRequest, RouteResponse, Routes
from shared.domain.core.stamps import from_milliseconds
from shared.domain.outputs.kept_outputs import KeptOutput
from shared.domain.outputs.unkept_outputs import sentence_of, why_unkept

if TYPE_CHECKING:
    from shared.services.files.kept_outputs import OutputReport


class StreamAnswer(Answer):
    """The end of a stream from the byte `offset` of `size` on, secrets masked; without `text`, why it wasn't kept."""

    text: str | None = None
    size: int | None = None
    offset: int | None = None
    reason: str | None = None
    message: str | None = None


class OutputAnswer(Answer):
    """What was kept of a failed task's run, which ended at `endTime`; null where nothing was.

    `latestRun` is false where the task has run again since.
    """

    id: str
    kept_time: datetime | None
    expiry_time: datetime | None
    end_time: datetime | None
    latest_run: bool | None
    attempt: int | None
    exit_code: int | None
    pool_id: str | None
    node_id: str | None
    stderr: StreamAnswer
    stdout: StreamAnswer


def add_outputs(routes: Routes) -> None:
    @routes.route("GET", f"{JOB}/tasks/{{task}}/output", returns=OutputAnswer)
    async def get_task_output(call: RouteRequest[Query, None]) -> RouteResponse:
        """Returns the ends of a failed task's stderr and stdout as they were kept, or why they weren't."""
        require_file_reader(call)
        services, path = await call.services(), call.path
        report = await services.kept_outputs.output(path["account"], path["job"], path["task"])
        return RouteResponse(_answer(report), headers={"Cache-Control": "no-store"})

    @routes.route("DELETE", f"{JOB}/outputs", returns=None, statuses=(204,), refusals=(409,))
    async def delete_job_outputs(call: RouteRequest[Query, None]) -> RouteResponse:
        """Deletes what was kept of the outputs of a job's failed tasks; those that fail later are kept again."""
        services = await call.services()
        await services.kept_outputs.delete(call.path["account"], call.path["job"])
        return RouteResponse("", media="application/json")


def _answer(report: "OutputReport") -> OutputAnswer:
    kept = report.kept
    if kept is None:
        none = StreamAnswer(reason=report.reason, message=sentence_of(report.reason))
        return OutputAnswer(
            id=report.task_id,
            kept_time=None,
            expiry_time=None,
            end_time=None,
            latest_run=None,
            attempt=None,
            exit_code=None,
            pool_id=None,
            node_id=None,
            stderr=none,
            stdout=none,
        )
    run = kept.run
    return OutputAnswer(
        id=run.task_id,
        kept_time=kept.kept_at.astimezone(UTC),
        expiry_time=from_milliseconds(0) + timedelta(days=kept.expires),
        end_time=stamp(run.ended),
        latest_run=report.is_latest,
        attempt=run.attempt,
        exit_code=run.exit_code,
        pool_id=run.node[0],
        node_id=run.node[1],
        stderr=stream_answer(kept, "stderr.txt"),
        stdout=stream_answer(kept, "stdout.txt"),
    )


def stream_answer(kept: KeptOutput, stream: str) -> StreamAnswer:
    tail = kept.tail(stream)
    if tail.reason:
        return StreamAnswer(reason=tail.reason, message=why_unkept(tail.reason, kept.run, kept.kept_at))
    return StreamAnswer(text=tail.text, size=tail.size, offset=tail.start)
