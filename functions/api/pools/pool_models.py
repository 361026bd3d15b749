"""The JSON of pools and its conversion from service results. Times are ISO 8601 in UTC."""

from datetime import UTC, datetime

from functions.api.jobs.job_models import VerdictAnswer, verdict_answer
from functions.api.pools.record_models import InterruptionsAnswer, interruptions_answer
from functions.http.answers import Answer
from shared.domain.nodes.interruptions import InterruptionCount
from shared.domain.nodes.nodes import by_state
from shared.domain.pools.pool_settings import AutoScale, Evaluation, Problem, StartTask
from shared.domain.pools.pools import NodesSnapshot, Pool, Size
from shared.domain.pools.resize_errors import ResizeError
from shared.domain.redaction.redaction import MARK
from shared.domain.reports.reports import PoolReport


class SizeAnswer(Answer):
    """The current and target number of nodes of a kind."""

    current: int
    target: int | None


class CoresAnswer(Answer):
    """vCPUs of all nodes that have a machine (not preempted or deallocated); `busy` ones by the share of used slots."""

    total: int
    busy: float


class SlotsAnswer(Answer):
    """Task slots of all nodes: `used` by running tasks, and `free` on nodes that can accept tasks.

    The rest is out of service: on nodes that accept no tasks or are temporarily lost.
    """

    total: int
    used: int
    free: int


class ResizeErrorAnswer(Answer):
    """A resize error that `attempts` consecutive observed resizes ended with; `time` is the end of the last.

    `current`: Batch still reports it for the last resize.
    """

    code: str
    message: str
    time: datetime | None
    current: bool
    first_seen: datetime
    last_seen: datetime
    attempts: int


class ErrorTextAnswer(Answer):
    """An error as Batch words it."""

    code: str
    message: str


class AutoScaleAnswer(Answer):
    """Autoscaling: the formula, its evaluation interval (ISO 8601), and the result of the last evaluation."""

    formula: str | None
    evaluation_interval: str | None
    last_evaluation: datetime | None
    results: str | None
    error: ErrorTextAnswer | None


class EvaluationAnswer(Answer):
    """An evaluation of an autoscale formula that a poll saw, with its results or its error."""

    timestamp: datetime
    results: str | None
    error: ErrorTextAnswer | None


class StartTaskAnswer(Answer):
    """The start task of nodes; values of environment variables and likely secrets are [redacted]."""

    command_line: str
    environment: dict[str, str]
    wait_for_success: bool
    max_task_retry_count: int


class PoolLine(Answer):
    """The table columns of a pool; node figures are null until nodes were read and while the VM size is unknown."""

    id: str
    account: str
    state: str
    allocation_state: str | None
    vm_size: str
    task_slots_per_node: int
    dedicated: SizeAnswer
    spot: SizeAnswer
    cores: CoresAnswer | None
    slots: SlotsAnswer | None
    running_tasks: int | None
    verdict: VerdictAnswer


class PoolAnswer(PoolLine):
    """A pool with node figures and the verdict on them; figures are null while nodes or VM size are unknown.

    `flappingNodes` counts nodes with three or more transitions into a bad state within an hour.
    """

    display_name: str | None
    creation_time: datetime
    state_transition_time: datetime
    allocation_state_transition_time: datetime | None
    node_counts: dict[str, int] | None
    flapping_nodes: int | None
    interruptions: InterruptionsAnswer | None
    resize_errors: list[ResizeErrorAnswer]
    auto_scale: AutoScaleAnswer | None
    start_task: StartTaskAnswer | None


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
        flapping_nodes=picture.flapping_nodes(report.now) if picture else None,
        interruptions=_interruptions(picture.tally, report.now) if picture and picture.tally else None,
        resize_errors=[_resize_error(error, pool) for error in pool.errors],
        auto_scale=_auto_scale(facts.auto_scale) if facts.auto_scale else None,
        start_task=_start_task(facts.start_task) if facts.start_task else None,
        verdict=verdict_answer(report.verdict),
    )


def _size(size: Size) -> SizeAnswer:
    return SizeAnswer(current=size.current, target=size.target)


def _cores(pool: Pool) -> CoresAnswer | None:
    cores = pool.cores
    return CoresAnswer(total=cores.total, busy=cores.busy) if cores else None


def _slots(picture: NodesSnapshot) -> SlotsAnswer:
    summary = picture.summary
    return SlotsAnswer(total=summary.slots, used=summary.used, free=summary.free)


def _interruptions(tally: InterruptionCount, now: datetime) -> InterruptionsAnswer:
    return interruptions_answer(tally.interruptions, tally.since, now)


def _resize_error(error: ResizeError, pool: Pool) -> ResizeErrorAnswer:
    return ResizeErrorAnswer(
        code=error.code,
        message=error.message,
        time=_time(error.ended_at),
        current=error.is_current,
        first_seen=error.first_seen.astimezone(UTC),
        last_seen=(error.last_seen or pool.as_of).astimezone(UTC),
        attempts=error.attempts,
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


def evaluation_answer(found: Evaluation) -> EvaluationAnswer:
    return EvaluationAnswer(
        timestamp=found.at.astimezone(UTC),
        results=found.results,
        error=_error(found.error) if found.error else None,
    )


def _start_task(task: StartTask) -> StartTaskAnswer:
    """Returns the start task without values of variables, which rows of older versions may contain."""
    return StartTaskAnswer(
        command_line=task.command_line,
        environment={name: MARK if value else "" for name, value in task.environment},
        wait_for_success=task.waits_for_success,
        max_task_retry_count=task.retries,
    )


def _time(moment: datetime | None) -> datetime | None:
    return moment.astimezone(UTC) if moment else None
