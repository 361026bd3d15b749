"""GET accounts/{account}/jobs/{job}/tasks: the stored tasks of a job, in pages or as a long table."""

from collections.abc import Callable, Iterable
from contextlib import aclosing
from datetime import datetime, timedelta
from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from functions.api.endpoints import JOB
from functions.api.jobs.job_models import JudgedPage, TaskAnswer, TaskResult, TaskState, judged, task_answer
from functions.http.csv_table import CsvTable
from functions.http.handling import Page, Query, RouteRequest, RouteResponse, Routes
from functions.http.lists import continuation_of, position_of
from functions.http.parameters import BadRequestError, Format, Ids, Key, Time
from functions.http.rendering import LOOKS
from shared.domain.core.stamps import to_milliseconds
from shared.domain.leaves.task_filters import Between, TaskFilter
from shared.domain.leaves.task_lists import TaskList
from shared.domain.leaves.task_order import TaskOrder
from shared.domain.tasks.tasks import RESULTS, STATES

_MAX_JSON, _MAX_CSV = 1000, 100_000
_MAX_SORTED_CSV = 25_000  # these and as many again stay in memory until the last leaf is read: some 50 MB
_DESCENDING = " desc"
_MS = timedelta(milliseconds=1)

Numbers = Annotated[tuple[int, ...], Meta(max_length=100)]
type TasksPageSize = Annotated[
    int,
    Meta(
        ge=1,
        le=_MAX_CSV,
        description=f"Tasks a page, 1 to {_MAX_JSON}; with format=csv to {_MAX_CSV}, or to {_MAX_SORTED_CSV} in"
        " another order than by id.",
    ),
]
type OrderBy = Annotated[
    Literal[
        "id", "id desc",
        "creationTime", "creationTime desc",
        "stateTransitionTime", "stateTransitionTime desc",
        "startTime", "startTime desc",
        "endTime", "endTime desc",
        "runTime", "runTime desc",
        "waitTime", "waitTime desc",
    ],
    Meta(description="Tasks without the value come last. Orders other than by id read all that matches for each page."),
]  # fmt: skip


class TasksQuery(Query):
    """Filters and order of the task list."""

    state: tuple[TaskState, ...] = ()
    result: tuple[TaskResult, ...] = ()
    exit_code: Numbers = ()
    node_id: Ids = ()
    pool_id: Ids = ()
    failure_group: Ids = ()
    prefix: Key = ""
    slots: Numbers = ()
    started_from: Time | UnsetType = UNSET
    started_to: Time | UnsetType = UNSET
    run_time_from: timedelta | UnsetType = UNSET
    run_time_to: timedelta | UnsetType = UNSET
    orderby: OrderBy = "id"
    format: Format = "json"
    maxpagesize: TasksPageSize = 100
    continuation: Key = ""

    @property
    def order(self) -> TaskOrder:
        return TaskOrder(self.orderby.removesuffix(_DESCENDING), self.orderby.endswith(_DESCENDING))

    @property
    def wanted(self) -> TaskFilter:
        return TaskFilter(
            states=frozenset(map(STATES.index, self.state)),
            results=frozenset(map(RESULTS.index, self.result)),
            exit_codes=frozenset(self.exit_code),
            nodes=frozenset(self.node_id),
            pools=frozenset(self.pool_id),
            failure_groups=frozenset(self.failure_group),
            prefix=self.prefix,
            slots=frozenset(self.slots),
            started=Between(_time(self.started_from), _time(self.started_to)),
            run_time=Between(_span(self.run_time_from), _span(self.run_time_to)),
        )

    def listed(self) -> TaskList:
        """Returns the query for the service: one task more than a page holds, to detect a next page."""
        if self.maxpagesize > self._most:
            raise BadRequestError(
                f"The query parameter 'maxpagesize' can't be '{self.maxpagesize}'; it is a whole number from 1 to"
                f" {_MAX_JSON}, with format=csv to {_MAX_CSV}, or to {_MAX_SORTED_CSV} in another order than by id.",
                target="maxpagesize",
            )
        after = position_of(self.orderby, self.continuation, int)
        return TaskList(self.maxpagesize + 1, self.wanted, self.order, after)

    @property
    def _most(self) -> int:
        if self.format != "csv":
            return _MAX_JSON
        return _MAX_CSV if self.order.is_by_id else _MAX_SORTED_CSV


def _time(at: datetime | UnsetType) -> int | None:
    return None if at is UNSET else to_milliseconds(at)


def _span(span: timedelta | UnsetType) -> int | None:
    return None if span is UNSET else span // _MS


def add_tasks(routes: Routes) -> None:
    @routes.route("GET", f"{JOB}/tasks", query=TasksQuery, returns=JudgedPage[TaskAnswer], looks=LOOKS)
    async def list_tasks(call: RouteRequest[TasksQuery, None]) -> JudgedPage[TaskAnswer] | RouteResponse:
        """Lists the last known states of a job's tasks, from storage."""
        services, query = await call.services(), call.query
        listed = query.listed()
        if query.failure_group and not query.continuation:
            await services.queries.require_groups(call.path["account"], call.path["job"], query.failure_group)
        report = await services.queries.job(call.path["account"], call.path["job"])  # before its tasks, which are newer
        snapshot, found = report.job.snapshot, list[TaskAnswer]()
        table = CsvTable(TaskAnswer) if query.format == "csv" else None
        link = await _read_page(call, listed, table.add if table else found.extend)
        count = listed.wanted.count(snapshot.counts) if snapshot else None
        page = judged(Page(value=found, next_link=link, count=count), report.verdict)
        return table.reply(page) if table else page


async def _read_page(
    call: RouteRequest[TasksQuery, None], listed: TaskList, take: Callable[[Iterable[TaskAnswer]], None]
) -> str | None:
    """Passes a page of tasks on, batch by batch, as only the text of a table stays in memory.

    Returns the link to the next page, None without one.
    """
    services, query = await call.services(), call.query
    left, last, link = query.maxpagesize, None, None
    async with aclosing(services.tasks.tasks(call.path["account"], call.path["job"], listed)) as batches:
        async for batch in batches:
            page = batch[:left]
            take(map(task_answer, page))
            left, last = left - len(page), page[-1] if page else last
            if last and len(batch) > len(page):
                link = call.next_link(continuation_of(query.orderby, query.order.position(last)))
    return link
