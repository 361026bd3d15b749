"""GET accounts/{account}/jobs/{job}/tasks/{task}: one task in full, read from Batch."""

from datetime import datetime

from msgspec.structs import asdict

from functions.api.endpoints import JOB
from functions.api.jobs.job_models import TaskAnswer, task_answer
from functions.http.answers import utc
from functions.http.handling import Query, RouteRequest, Routes
from shared.domain.outputs.exit_codes import exit_code_words
from shared.domain.reports.reports import LiveTask
from shared.domain.tasks.task_details import TaskDetails


class TaskDetailsAnswer(TaskDetails, kw_only=True):
    """A task as Batch describes it now, without secrets; `omittedProperties` names the hidden properties.

    `exitCodeText` is the exit code with its usual meaning, null before there is one. `cached` is the stored task on
    which the job's counts as of `cachedAsOf` are based; null if no read has seen it.
    """

    omitted_properties: list[str]
    exit_code_text: str | None
    cached: TaskAnswer | None
    cached_as_of: datetime | None


def add_task_details(routes: Routes) -> None:
    @routes.route("GET", f"{JOB}/tasks/{{task}}", returns=TaskDetailsAnswer, refusals=(409,))
    async def get_task(call: RouteRequest[Query, None]) -> TaskDetailsAnswer:
        """Returns one task in full, read from Batch now, without its secrets."""
        services = await call.services()
        return _answer(await services.live_tasks.task(call.path["account"], call.path["job"], call.path["task"]))


def _answer(task: LiveTask) -> TaskDetailsAnswer:
    return TaskDetailsAnswer(
        **asdict(task.details),
        omitted_properties=list(task.omitted),
        exit_code_text=_exit_code_text(task.details),
        cached=task_answer(task.cached) if task.cached else None,
        cached_as_of=utc(task.as_of),
    )


def _exit_code_text(task: TaskDetails) -> str | None:
    code = task.execution_info.exit_code if task.execution_info else None
    return None if code is None else exit_code_words(code)
