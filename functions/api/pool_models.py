"""The JSON of pools and nodes, and how it is made from what the services give. Times are ISO 8601 in UTC."""

from datetime import UTC, datetime
from typing import Literal

from functions.answers import Answer
from functions.api.models import VerdictAnswer, verdict_answer
from shared.domain.node_causes import cause_of, last_seen
from shared.domain.nodes import Node, by_state
from shared.domain.pools import AutoScale, NodesPicture, Pool, Problem, ResizeError, Size, StartTask
from shared.domain.reports import NodeReport, PoolReport
from shared.domain.stamps import from_milliseconds


class SizeAnswer(Answer):
    """How many nodes of a kind there are, and are to be."""

    current: int
    target: int | None


class CoresAnswer(Answer):
    """vCPUs of all nodes, and those on which running tasks have slots, by the share of slots that is used."""

    total: int
    busy: float


class SlotsAnswer(Answer):
    """Task slots of all nodes, those that running tasks use, and those free on nodes that may get tasks."""

    total: int
    used: int
    free: int


class ResizeErrorAnswer(Answer):
    """An error of a resize; `time` is when that attempt ended. `current`: Batch tells it of the last attempt still."""

    code: str
    message: str
    time: datetime | None
    current: bool
    first_seen: datetime
    last_seen: datetime


class ErrorTextAnswer(Answer):
    """An error in the words of Batch."""

    code: str
    message: str


class AutoScaleAnswer(Answer):
    """Autoscaling: the formula, how often it is evaluated (ISO 8601), and what the last evaluation gave."""

    formula: str | None
    evaluation_interval: str | None
    last_evaluation: datetime | None
    results: str | None
    error: ErrorTextAnswer | None


class StartTaskAnswer(Answer):
    """What nodes run before anything else; what looks like a secret is replaced by [redacted]."""

    command_line: str
    environment: dict[str, str]
    wait_for_success: bool
    max_task_retry_count: int


class PoolAnswer(Answer):
    """A pool with its nodes in numbers, and the verdict on these; null where nodes or VM size aren't known."""

    id: str
    account: str
    state: str
    state_transition_time: datetime
    creation_time: datetime
    allocation_state: str | None
    allocation_state_transition_time: datetime | None
    display_name: str | None
    vm_size: str
    task_slots_per_node: int
    node_counts: dict[str, int] | None
    dedicated: SizeAnswer
    spot: SizeAnswer
    cores: CoresAnswer | None
    slots: SlotsAnswer | None
    running_tasks: int | None
    resize_errors: list[ResizeErrorAnswer]
    auto_scale: AutoScaleAnswer | None
    start_task: StartTaskAnswer | None
    verdict: VerdictAnswer


class PoolLine(Answer):
    """A pool as a line of a table."""

    id: str
    account: str
    state: str
    allocation_state: str | None
    vm_size: str
    dedicated: SizeAnswer
    spot: SizeAnswer
    nodes: int | None
    cores: CoresAnswer | None
    slots: SlotsAnswer | None
    running_tasks: int | None
    resize_error: str | None
    auto_scale_error: str | None
    verdict: VerdictAnswer


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


class NodeAnswer(Answer):
    """A node as it was `asOf`; `secondsInState` is counted until now, `cause` says why it is in that state.

    `lastSeen` is when Batch last had contact with it; `recentTasks` are the latest first, as of `recentTasksAsOf`.
    """

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
    start_task_info: StartTaskInfoAnswer | None
    errors: list[ErrorTextAnswer]
    recent_tasks: list[RecentTaskAnswer]
    recent_tasks_as_of: datetime | None
    as_of: datetime | None
    last_seen: datetime | None
    level: Literal["exact", "unverified", "catchingUp", "stale"]


class NodeLine(Answer):
    """A node as a line of a table."""

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
    running_tasks: int
    running_slots: int
    total_tasks_run: int
    total_tasks_succeeded: int
    start_task_exit_code: int | None
    as_of: datetime | None
    last_seen: datetime | None


def pool_answer(report: PoolReport) -> PoolAnswer:
    pool, facts, picture = report.pool, report.pool.facts, report.pool.picture
    return PoolAnswer(
        id=facts.id,
        account=report.account.id,
        state=facts.state,
        state_transition_time=facts.state_transition_time.astimezone(UTC),
        creation_time=facts.creation_time.astimezone(UTC),
        allocation_state=facts.allocation_state,
        allocation_state_transition_time=_time(facts.allocation_state_transition_time),
        display_name=facts.display_name,
        vm_size=facts.vm_size,
        task_slots_per_node=facts.slots_per_node,
        node_counts=by_state(picture.summary.counts) if picture else None,
        dedicated=_size(facts.dedicated),
        spot=_size(facts.spot),
        cores=_cores(pool),
        slots=_slots(picture) if picture else None,
        running_tasks=picture.summary.tasks if picture else None,
        resize_errors=[_resize_error(error, pool) for error in pool.errors],
        auto_scale=_auto_scale(facts.auto_scale) if facts.auto_scale else None,
        start_task=_start_task(facts.start_task) if facts.start_task else None,
        verdict=verdict_answer(report.verdict),
    )


def pool_line(report: PoolReport) -> PoolLine:
    pool, facts, picture = report.pool, report.pool.facts, report.pool.picture
    scale_error = facts.auto_scale.error if facts.auto_scale else None
    return PoolLine(
        id=facts.id,
        account=report.account.id,
        state=facts.state,
        allocation_state=facts.allocation_state,
        vm_size=facts.vm_size,
        dedicated=_size(facts.dedicated),
        spot=_size(facts.spot),
        nodes=picture.summary.total if picture else None,
        cores=_cores(pool),
        slots=_slots(picture) if picture else None,
        running_tasks=picture.summary.tasks if picture else None,
        resize_error=next((error.code for error in pool.errors if error.is_current), None),
        auto_scale_error=scale_error.code if scale_error else None,
        verdict=verdict_answer(report.verdict),
    )


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
        as_of=_time(verdict.as_of),
        last_seen=_last_seen(report),
        level=verdict.level,
    )


def node_line(report: NodeReport) -> NodeLine:
    node = report.node
    return NodeLine(
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
        running_tasks=node.tasks,
        running_slots=node.slots,
        total_tasks_run=node.tasks_run,
        total_tasks_succeeded=node.tasks_succeeded,
        start_task_exit_code=node.start.exit_code if node.start else None,
        as_of=_time(report.pool.verdict.as_of),
        last_seen=_last_seen(report),
    )


def _size(size: Size) -> SizeAnswer:
    return SizeAnswer(current=size.current, target=size.target)


def _cores(pool: Pool) -> CoresAnswer | None:
    cores = pool.cores
    return CoresAnswer(total=cores.total, busy=cores.busy) if cores else None


def _slots(picture: NodesPicture) -> SlotsAnswer:
    summary = picture.summary
    return SlotsAnswer(total=summary.slots, used=summary.used, free=summary.free)


def _resize_error(error: ResizeError, pool: Pool) -> ResizeErrorAnswer:
    return ResizeErrorAnswer(
        code=error.code,
        message=error.message,
        time=_time(error.ended_at),
        current=error.is_current,
        first_seen=error.first_seen.astimezone(UTC),
        last_seen=(error.last_seen or pool.as_of).astimezone(UTC),
    )


def _auto_scale(scale: AutoScale) -> AutoScaleAnswer:
    return AutoScaleAnswer(
        formula=scale.formula,
        evaluation_interval=scale.interval,
        last_evaluation=_time(scale.evaluated_at),
        results=scale.results,
        error=_error(scale.error) if scale.error else None,
    )


def _error(problem: Problem) -> ErrorTextAnswer:
    return ErrorTextAnswer(code=problem.code, message=problem.message)


def _start_task(task: StartTask) -> StartTaskAnswer:
    return StartTaskAnswer(
        command_line=task.command_line,
        environment=dict(task.environment),
        wait_for_success=task.waits_for_success,
        max_task_retry_count=task.retries,
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


def _last_seen(report: NodeReport) -> datetime | None:
    as_of = report.pool.verdict.as_of
    return last_seen(report.node, as_of).astimezone(UTC) if as_of else None


def _time(moment: datetime | None) -> datetime | None:
    return moment.astimezone(UTC) if moment else None


def _stamp(milliseconds: int) -> datetime | None:
    return from_milliseconds(milliseconds) if milliseconds else None
