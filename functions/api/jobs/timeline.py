"""GET accounts/{account}/jobs/{job}/timeline: the tasks that each node ran over time."""

from datetime import UTC, datetime
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType, field

from functions.api.endpoints import JOB
from functions.api.jobs.job_models import TaskResult
from functions.http.answers import Answer
from functions.http.handling import Query, RouteRequest, Routes
from functions.http.parameters import BadRequestError, given
from shared.domain.core.stamps import EPOCH, from_milliseconds
from shared.domain.reports.reports import TimelineReport
from shared.domain.tasks.tasks import FAILURE, SUCCESS
from shared.domain.timeline.timeline import Bucket, NodeTimeline, Run

_LAST = datetime(9999, 1, 1, tzinfo=UTC)
_MILLISECONDS = 1000

type Moment = Annotated[datetime, Meta(tz=True)]


class TimelineQuery(Query):
    """The range; by default from the first run to the latest known moment."""

    start: Moment | UnsetType = field(default=UNSET, name="from")
    end: Moment | UnsetType = field(default=UNSET, name="to")


class RunAnswer(Answer):
    """The latest run of a task; `end` is null while it runs."""

    task: str
    start: datetime
    end: datetime | None
    result: TaskResult | None
    slots: int


class BucketAnswer(Answer):
    """A node's work in a part of the time: tasks that ran, busy time, and tasks whose runs failed in it."""

    start: datetime
    end: datetime
    tasks: int
    busy_slot_seconds: float
    failed: int


class NodeTimelineAnswer(Answer):
    """A node with `runs` or, in an aggregated timeline, `buckets`; ids are null for tasks without a node."""

    pool_id: str | None
    node_id: str | None
    busy_slot_seconds: float
    runs: list[RunAnswer] | UnsetType = UNSET
    buckets: list[BucketAnswer] | UnsetType = UNSET


class TimelineAnswer(Answer):
    """The latest runs of a job's tasks by node, busiest first, from `from` to before `to`.

    Running tasks count as busy until `asOf`. `otherNodes` counts less busy nodes that aren't shown.
    """

    as_of: datetime | None
    start: datetime = field(name="from")
    end: datetime = field(name="to")
    nodes: list[NodeTimelineAnswer]
    other_nodes: int
    aggregated: bool


def add_timeline(routes: Routes) -> None:
    @routes.route("GET", f"{JOB}/timeline", query=TimelineQuery, returns=TimelineAnswer, cacheable=True)
    async def get_timeline(call: RouteRequest[TimelineQuery, None]) -> TimelineAnswer:
        """Returns the tasks that each node ran over time, from the latest run of every task."""
        services = await call.services()
        start, end = given(call.query.start), given(call.query.end)
        _require_order(start, end or await services.clock.now())
        report = await services.timelines.timeline(call.path["account"], call.path["job"], start=start, end=end)
        return _answer(report)


def _require_order(start: datetime | None, end: datetime) -> None:
    """Raises BadRequestError for a time out of range or an empty range."""
    for name, moment in (("from", start), ("to", end)):
        if moment and not EPOCH <= moment < _LAST:
            raise BadRequestError(f"The query parameter '{name}' is a time from 1970 to 9998.", target=name)
    if start and start >= end:
        raise BadRequestError(
            "The query parameter 'from' is a time before 'to' or, where that isn't given, before now.", target="from"
        )


def _answer(report: TimelineReport) -> TimelineAnswer:
    timeline = report.timeline
    return TimelineAnswer.of(
        timeline,
        as_of=report.as_of,
        start=from_milliseconds(timeline.start),
        end=from_milliseconds(timeline.end),
        nodes=[_node_answer(node, aggregated=timeline.aggregated) for node in timeline.nodes],
    )


def _node_answer(node: NodeTimeline, *, aggregated: bool) -> NodeTimelineAnswer:
    pool_id, node_id = node.node
    return NodeTimelineAnswer(
        pool_id=pool_id or None,
        node_id=node_id or None,
        busy_slot_seconds=node.busy / _MILLISECONDS,
        runs=UNSET if aggregated else list(map(_run_answer, node.runs)),
        buckets=list(map(_bucket_answer, node.buckets)) if aggregated else UNSET,
    )


def _run_answer(run: Run) -> RunAnswer:
    start, end = from_milliseconds(run.start), None if run.end is None else from_milliseconds(run.end)
    return RunAnswer(task=run.task, start=start, end=end, result=_RESULTS.get(run.result), slots=run.slots)


def _bucket_answer(bucket: Bucket) -> BucketAnswer:
    start, end = from_milliseconds(bucket.start), from_milliseconds(bucket.end)
    return BucketAnswer.of(bucket, start=start, end=end, busy_slot_seconds=bucket.busy / _MILLISECONDS)


_RESULTS: dict[int, TaskResult] = {SUCCESS: "success", FAILURE: "failure"}
