"""GET accounts/{account}/jobs/{job}/failures/{group}/rerun: a script that runs the tasks of a failure group again.

Batchscope writes nothing to Batch: whoever starts the script does, with rights of their own.
"""

from contextlib import aclosing
from typing import Annotated, Literal

from msgspec import Meta

from functions.api.endpoints import JOB
from functions.http.handling import Query, RouteRequest, RouteResponse, Routes
from functions.http.parameters import BadRequestError
from shared.composition.opening import Services
from shared.domain.leaves.task_filters import TaskFilter
from shared.domain.leaves.task_lists import TaskList
from shared.domain.reports.reports import JobReport
from shared.domain.tasks.failures import FailureGroup
from shared.domain.tasks.rerun_scripts import (
    WHOLE,
    FailedTasks,
    Part,
    python_reactivation,
    python_resubmission,
    shell_reactivation,
)
from shared.errors import NotFoundError

_MAX_TASKS, _MAX_PARTS, _ALL = 20_000, 1_000, 10**9
_MEDIA = "text/plain; charset=utf-8"
_Action = Annotated[
    Literal["reactivate", "resubmit"],
    Meta(description="reactivate: the same tasks; resubmit: copies of them in the same job, under new ids."),
]
_Language = Annotated[Literal["python", "shell"], Meta(description="shell: the Azure CLI, which only reactivates.")]
_Part = Annotated[int, Meta(ge=1, le=_MAX_PARTS, description="Which part of the group the script names.")]
_Parts = Annotated[
    int, Meta(ge=1, le=_MAX_PARTS, description=f"In how many parts of at most {_MAX_TASKS} tasks the group is divided.")
]


class RerunQuery(Query):
    """What the script does, its language, and for which part of the group."""

    action: _Action = "reactivate"
    language: _Language = "python"
    part: _Part = 1
    parts: _Parts = 1


def add_failure_rerun(routes: Routes) -> None:
    @routes.route("GET", f"{JOB}/failures/{{group}}/rerun", query=RerunQuery, returns=str, media=_MEDIA)
    async def get_failure_rerun(call: RouteRequest[RerunQuery, None]) -> RouteResponse:
        """Returns a script that runs tasks of a failure group again, to read and to start with one's own rights."""
        query = call.query
        if query.action == "resubmit" and query.language == "shell":
            raise BadRequestError("A shell script only reactivates tasks; take language=python.", target="language")
        if query.part > query.parts:
            raise BadRequestError(f"There are {query.parts} parts.", target="part")
        services, account, job = await call.services(), call.path["account"], call.path["job"]
        report = await services.queries.job(account, job)
        group = await _group(services, report, call.path["group"])
        tasks = await _failed_tasks(services, report, group, Part(query.part, query.parts))
        part = "" if tasks.part == WHOLE else f"-{query.part}-of-{query.parts}"
        name = f"{query.action}-{group.id}{part}.{'sh' if query.language == 'shell' else 'py'}"
        return RouteResponse(_script(tasks, query), headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _script(tasks: FailedTasks, query: RerunQuery) -> str:
    if query.language == "shell":
        return shell_reactivation(tasks)
    return python_reactivation(tasks) if query.action == "reactivate" else python_resubmission(tasks)


async def _group(services: Services, report: JobReport, group_id: str) -> FailureGroup:
    """Returns a failure group of a job. Raises NotFoundError, CacheConflictError, StorageError."""
    account, job = report.account.id, report.job.facts.id
    failures = (await services.queries.failures(account, job)).failures
    found = next((group for group in failures.groups if group.id == group_id), None) if failures else None
    if found is None:
        raise NotFoundError("failureGroup", group_id, f" in the job '{job}'")
    return found


async def _failed_tasks(services: Services, report: JobReport, group: FailureGroup, part: Part) -> FailedTasks:
    """Returns a part of a group's tasks. Raises BadRequestError if a script can't have so many, and storage errors."""
    wanted = TaskList(_ALL, TaskFilter(failure_groups=frozenset({group.id})))
    ids = list[str]()
    async with aclosing(services.tasks.tasks(report.account.id, report.job.facts.id, wanted)) as batches:
        async for batch in batches:
            ids += [task.id for task in batch if part.has(task.id)]
            if len(ids) > _MAX_TASKS:
                raise BadRequestError(
                    f"These are more than {_MAX_TASKS:,} tasks, the most that a script names: divide the group into "
                    f"more 'parts' and take one 'part' after the other. It has about {group.count:,} tasks.",
                    target="parts",
                )
    snapshot, account = report.job.snapshot, report.account
    return FailedTasks(
        account=account.name,
        endpoint=account.endpoint,
        token_scope=account.token_scope,
        job_id=report.job.facts.id,
        cause=_cause(group),
        as_of=snapshot.as_of if snapshot else report.job.facts.creation_time,
        ids=ids,
        part=part,
    )


def _cause(group: FailureGroup) -> str:
    category, code = group.failure
    named = " ".join(filter(None, (category, code))) or "without failure information"
    return named if group.exit_code is None else f"{named}, exit code {group.exit_code}"
