"""GET accounts/{account}/jobs/{job}/failures: failed tasks by cause."""

from datetime import datetime

from functions.api.endpoints import JOB
from functions.http.answers import Answer, stamp
from functions.http.handling import Query, RouteRequest, Routes
from shared.domain.reports.reports import FailuresReport
from shared.domain.tasks.failure_advice import advice_on
from shared.domain.tasks.failures import FailureGroup, Failures


class NodeFailuresAnswer(Answer):
    """The number of a group's failed tasks that ran on one node."""

    pool_id: str
    node_id: str
    count: int


class FailureGroupAnswer(Answer):
    """Tasks that failed for one cause; `id` is the value of the task list's `failureGroup` parameter.

    `nodes` are the nodes with the most of them, `otherNodes` counts the tasks that ran elsewhere or never, `tasks` are
    examples.
    """

    id: str
    category: str | None
    code: str | None
    exit_code: int | None
    count: int
    first_time: datetime | None
    last_time: datetime | None
    nodes: list[NodeFailuresAnswer]
    other_nodes: int
    tasks: list[str]
    advice: str | None


class FailuresAnswer(Answer):
    """Failed tasks by cause, most frequent first; `ungrouped` counts those in no group."""

    as_of: datetime | None
    failed: int | None
    groups: list[FailureGroupAnswer]
    ungrouped: int


def add_failures(routes: Routes) -> None:
    @routes.route("GET", f"{JOB}/failures", returns=FailuresAnswer, cacheable=True)
    async def list_failures(call: RouteRequest[Query, None]) -> FailuresAnswer:
        """Lists a job's failed tasks by cause, most frequent first, with advice on well-known causes."""
        services = await call.services()
        return _answer(await services.queries.failures(call.path["account"], call.path["job"]))


def _answer(report: FailuresReport) -> FailuresAnswer:
    failures = report.failures or Failures(ungrouped=report.failed or 0)
    return FailuresAnswer.of(report, groups=list(map(_group, failures.groups)), ungrouped=failures.ungrouped)


def _group(group: FailureGroup) -> FailureGroupAnswer:
    category, code = group.failure
    return FailureGroupAnswer.of(
        group,
        category=category or None,
        code=code or None,
        first_time=stamp(group.first),
        last_time=stamp(group.last),
        nodes=[NodeFailuresAnswer(pool_id=pool, node_id=node, count=count) for (pool, node), count in group.nodes],
        other_nodes=group.elsewhere,
        tasks=list(group.examples),
        advice=advice_on(group.failure, group.exit_code),
    )
