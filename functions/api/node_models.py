"""The JSON of nodes, and how it is made from what the services give. Times are ISO 8601 in UTC."""

from datetime import UTC, datetime
from typing import Literal

from functions.answers import Answer
from functions.api.pool_models import ErrorTextAnswer
from shared.domain.node_causes import cause_of, last_seen
from shared.domain.nodes import Node
from shared.domain.reports import NodeReport
from shared.domain.stamps import from_milliseconds


class StartTaskInfoAnswer(Answer):
    """The latest run of a node's start task."""

    state: str
    result: str | None
    exit_code: int | None
    start_time: datetime | None
    end_time: datetime | None
    retry_count: int
    failure_category: str | None
    failure_code: str | None
    failure_message: str | None


class RecentTaskAnswer(Answer):
    """A task that ran, or runs, on a node."""

    job: str
    task: str
    state: str


class NodeLine(Answer):
    """What a table tells of a node as it was `asOf`."""

    id: str
    pool: str
    account: str
    state: str
    state_transition_time: datetime | None
    seconds_in_state: float | None
    cause: str | None
    scheduling_state: str
    is_dedicated: bool
    vm_size: str
    last_boot_time: datetime | None
    allocation_time: datetime | None
    running_tasks: int
    running_slots: int
    total_tasks_run: int
    total_tasks_succeeded: int
    as_of: datetime | None
    level: Literal["exact", "unverified", "catchingUp", "stale"]
    last_seen: datetime | None


class NodeAnswer(NodeLine):
    """A node as it was `asOf`; `level` is that of its pool's verdict.

    `secondsInState` is counted until now, `cause` says why it is in that state; `lastSeen` is when Batch last had
    contact with it. `recentTasks` are the latest first, as of `recentTasksAsOf`.
    """

    start_task_info: StartTaskInfoAnswer | None
    errors: list[ErrorTextAnswer]
    recent_tasks: list[RecentTaskAnswer]
    recent_tasks_as_of: datetime | None


def node_answer(report: NodeReport) -> NodeAnswer:
    node, verdict = report.node, report.pool.verdict
    return NodeAnswer(
        id=node.id,
        pool=report.pool.pool.facts.id,
        account=report.pool.account.id,
        state=node.state,
        state_transition_time=_stamp(node.transition),
        seconds_in_state=_seconds_in_state(report),
        cause=cause_of(node),
        scheduling_state=node.scheduling,
        is_dedicated=node.dedicated,
        vm_size=node.vm_size,
        last_boot_time=_stamp(node.booted),
        allocation_time=_stamp(node.allocated),
        running_tasks=node.tasks,
        running_slots=node.slots,
        total_tasks_run=node.tasks_run,
        total_tasks_succeeded=node.tasks_succeeded,
        start_task_info=_start_task_info(node),
        errors=[ErrorTextAnswer(code=error.code, message=error.message) for error in node.errors],
        recent_tasks=[RecentTaskAnswer(job=one.job, task=one.task, state=one.state) for one in node.recent],
        recent_tasks_as_of=_stamp(node.recent_at),
        as_of=_utc(verdict.as_of),
        last_seen=_utc(last_seen(node, verdict.as_of)) if verdict.as_of else None,
        level=verdict.level,
    )


def _start_task_info(node: Node) -> StartTaskInfoAnswer | None:
    run = node.start
    if run is None:
        return None
    return StartTaskInfoAnswer(
        state=run.state,
        result=run.result or None,
        exit_code=run.exit_code,
        start_time=_stamp(run.start),
        end_time=_stamp(run.end),
        retry_count=run.retries,
        failure_category=run.category or None,
        failure_code=run.code or None,
        failure_message=run.message or None,
    )


def _seconds_in_state(report: NodeReport) -> float | None:
    age = report.time_in_state
    return age.total_seconds() if age is not None else None


def _stamp(milliseconds: int) -> datetime | None:
    return from_milliseconds(milliseconds) if milliseconds else None


def _utc(moment: datetime | None) -> datetime | None:
    return moment.astimezone(UTC) if moment else None
