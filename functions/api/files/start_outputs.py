"""Kept outputs of failed start tasks: `…/nodes/{node}/output`; `DELETE …/pools/{pool}/outputs` deletes a pool's."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType

from functions.api.endpoints import POOL
from functions.api.files.file_answers import require_file_reader
from functions.api.files.outputs import StreamAnswer, stream_answer
from functions.http.answers import Answer, stamp
from functions.http.handling import Query, RouteRequest, RouteResponse, Routes
from functions.http.parameters import Time, given
from shared.domain.core.stamps import from_milliseconds, to_milliseconds
from shared.domain.outputs.failed_starts import start_of
from shared.domain.outputs.unkept_outputs import sentence_of

if TYPE_CHECKING:
    from shared.services.files.kept_start_outputs import StartOutputReport


class StartOutputQuery(Query):
    """The run of the start task that began at `start`, as in `startTaskInfo.startTime`; the latest kept without it."""

    start: Time | UnsetType = UNSET


class StartOutputAnswer(Answer):
    """What was kept of a failed run of a node's start task, from `startTime` to `endTime`; null where nothing was."""

    pool_id: str
    node_id: str
    kept_time: datetime | None
    expiry_time: datetime | None
    start_time: datetime | None
    end_time: datetime | None
    attempt: int | None
    exit_code: int | None
    stderr: StreamAnswer
    stdout: StreamAnswer


def add_start_outputs(routes: Routes) -> None:
    @routes.route("GET", f"{POOL}/nodes/{{node}}/output", query=StartOutputQuery, returns=StartOutputAnswer)
    async def get_node_output(call: RouteRequest[StartOutputQuery, None]) -> RouteResponse:
        """Returns the ends of a failed start task's stderr and stdout as they were kept, or why they weren't."""
        require_file_reader(call)
        services, path, start = await call.services(), call.path, given(call.query.start)
        began = None if start is None else to_milliseconds(start)
        report = await services.kept_start_outputs.output(path["account"], path["pool"], path["node"], began)
        return RouteResponse(_answer(report), headers={"Cache-Control": "no-store"})

    @routes.route("DELETE", f"{POOL}/outputs", returns=None, statuses=(204,), refusals=(409,))
    async def delete_pool_outputs(call: RouteRequest[Query, None]) -> RouteResponse:
        """Deletes what was kept of the outputs of a pool's start tasks; those that fail later are kept again."""
        services = await call.services()
        await services.kept_start_outputs.delete(call.path["account"], call.path["pool"])
        return RouteResponse("", media="application/json")


def _answer(report: "StartOutputReport") -> StartOutputAnswer:
    kept = report.kept
    if kept is None:
        none = StreamAnswer(reason=report.reason, message=sentence_of(report.reason))
        return StartOutputAnswer(
            pool_id=report.pool_id,
            node_id=report.node_id,
            kept_time=None,
            expiry_time=None,
            start_time=None,
            end_time=None,
            attempt=None,
            exit_code=None,
            stderr=none,
            stdout=none,
        )
    run = kept.run
    return StartOutputAnswer(
        pool_id=report.pool_id,
        node_id=report.node_id,
        kept_time=kept.kept_at.astimezone(UTC),
        expiry_time=from_milliseconds(0) + timedelta(days=kept.expires),
        start_time=stamp(start_of(run)),
        end_time=stamp(run.ended),
        attempt=run.attempt,
        exit_code=run.exit_code,
        stderr=stream_answer(kept, "stderr.txt"),
        stdout=stream_answer(kept, "stdout.txt"),
    )
