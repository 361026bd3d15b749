"""GET accounts/{account}/jobs/{job}/failures: failed tasks by cause."""

from collections.abc import Mapping
from datetime import datetime

from functions.api.endpoints import JOB
from functions.http.answers import Answer, stamp
from functions.http.handling import Query, RouteRequest, Routes
from shared.domain.outputs.output_groups import OutputExample, OutputGroup, OutputGroups
from shared.domain.reports.reports import FailuresReport
from shared.domain.tasks.failure_advice import advice_on
from shared.domain.tasks.failures import FailureGroup, Failures

_MAX_OUTPUTS, _MAX_NODES = 10, 10


class NodeFailuresAnswer(Answer):
    """The number of a group's failed tasks that ran on one node."""

    pool_id: str
    node_id: str
    count: int


class OutputExampleAnswer(Answer):
    """A task whose kept output says this, and when it ended."""

    task_id: str
    end_time: datetime


class OutputGroupAnswer(Answer):
    """Kept outputs that say the same; `id` is that of their signature, `lines` are the first one's.

    `failureCategory` is that of the well-known error that they show. `nodes` are those with the most of their tasks,
    `otherNodes` counts those that ran elsewhere. `tasks` are the ids of those that ended first.
    """

    id: str
    title: str
    count: int
    lines: list[str]
    advice: str | None
    failure_category: str | None
    nodes: list[NodeFailuresAnswer]
    other_nodes: int
    tasks: list[str]
    first: OutputExampleAnswer
    newest: OutputExampleAnswer


class FailureGroupAnswer(Answer):
    """Tasks that failed for one cause; `id` is the value of the task list's `failureGroup` parameter.

    `nodes` are the nodes with the most of them, `otherNodes` counts the tasks that ran elsewhere or never, `tasks` are
    examples. `outputs` are what kept outputs of them say, the most frequent first, `kept` is the number of these.
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
    kept: int
    outputs: list[OutputGroupAnswer]


class FailuresAnswer(Answer):
    """Failed tasks by cause, most frequent first; `ungrouped` counts those in no group."""

    as_of: datetime | None
    failed: int | None
    groups: list[FailureGroupAnswer]
    ungrouped: int


def add_failures(routes: Routes) -> None:
    @routes.route("GET", f"{JOB}/failures", returns=FailuresAnswer, cacheable=True)
    async def list_failures(call: RouteRequest[Query, None]) -> FailuresAnswer:
        """Lists a job's failed tasks by cause, most frequent first, with advice and what kept outputs say."""
        services, account, job = await call.services(), call.path["account"], call.path["job"]
        report = await services.queries.failures(account, job)
        is_for_all = call.runtime.settings.file_readers == "readers"  # as one answer serves all callers
        outputs = await services.kept_outputs.groups(account, job) if is_for_all and report.failed else {}
        return _answer(report, outputs)


def _answer(report: FailuresReport, outputs: Mapping[str, OutputGroups]) -> FailuresAnswer:
    failures = report.failures or Failures(ungrouped=report.failed or 0)
    groups = [_group(group, outputs.get(group.id, OutputGroups())) for group in failures.groups]
    return FailuresAnswer.of(report, groups=groups, ungrouped=failures.ungrouped)


def _group(group: FailureGroup, outputs: OutputGroups) -> FailureGroupAnswer:
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
        kept=outputs.count,
        outputs=list(map(_outputs, outputs.largest(_MAX_OUTPUTS))),
    )


def _outputs(group: OutputGroup) -> OutputGroupAnswer:
    nodes = sorted(group.nodes, key=lambda node: (-node[1], node[0]))[:_MAX_NODES]
    return OutputGroupAnswer(
        id=group.id,
        title=group.title,
        count=group.count,
        lines=list(group.first.excerpt.lines),
        advice=group.known.advice if group.known else None,
        failure_category=group.known.category if group.known else None,
        nodes=[NodeFailuresAnswer(pool_id=pool, node_id=node, count=count) for (pool, node), count in nodes],
        other_nodes=group.count - sum(count for _, count in nodes),
        tasks=list(group.tasks),
        first=_example(group.first),
        newest=_example(group.newest),
    )


def _example(example: OutputExample) -> OutputExampleAnswer:
    return OutputExampleAnswer(task_id=example.task, end_time=example.ended)
