"""GET accounts/{account}/jobs/{job}/tasks: the cached tasks of a job."""

from msgspec import UNSET, UnsetType

from functions.api.jobs import Format, Key, PageSize
from functions.api.models import TaskAnswer, TaskResult, TaskState, task_answer
from functions.csv_table import csv_reply
from functions.http import Call, Page, Query, Reply, Routes
from shared.domain.keys import key_of
from shared.domain.tasks import RESULTS, Task


class TasksQuery(Query):
    """Filters of the task list."""

    state: TaskState | UnsetType = UNSET
    result: TaskResult | UnsetType = UNSET
    exit_code: int | UnsetType = UNSET
    node_id: str | UnsetType = UNSET
    prefix: Key = ""
    format: Format = "json"
    maxpagesize: PageSize = 100
    continuation: Key = ""

    def wants(self, task: Task) -> bool:
        """True for a task that every filter but `state` lets through; that one the cache applies itself."""
        return (
            (self.result is UNSET or RESULTS[task.result] == self.result)
            and (self.exit_code is UNSET or task.exit_code == self.exit_code)
            and (self.node_id is UNSET or task.node[1] == self.node_id)
            and key_of(task.id).startswith(key_of(self.prefix))
        )


def add_tasks(routes: Routes) -> None:
    @routes.route("GET", "accounts/{account}/jobs/{job}/tasks", query=TasksQuery, returns=Page[TaskAnswer])
    async def list_tasks(call: Call[TasksQuery, None]) -> Page[TaskAnswer] | Reply:
        """Last known states of a job's tasks, from the cache, by id."""
        page = await _page(call)
        return csv_reply(page, TaskAnswer) if call.query.format == "csv" else page


async def _page(call: Call[TasksQuery, None]) -> Page[TaskAnswer]:
    services, query = await call.services(), call.query
    found: list[Task] = []
    state = None if query.state is UNSET else query.state
    tasks = services.queries.tasks(
        call.path["account"], call.path["job"], after=query.continuation, wanted=query.wants, state=state
    )
    async for task in tasks:
        if len(found) == query.maxpagesize:
            link = call.next_link(key_of(found[-1].id))
            return Page(value=[task_answer(one) for one in found], next_link=link)
        found.append(task)
    return Page(value=[task_answer(one) for one in found])
