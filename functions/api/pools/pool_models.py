"""The JSON of pools, and its conversion from service results."""

from datetime import date, datetime

from functions.api.jobs.job_models import TaskCountersAnswer, VerdictAnswer, seconds_of
from functions.api.pools.interruption_models import InterruptionsAnswer, interruptions_answer
from functions.http.answers import Answer
from shared.domain.nodes.nodes import NodeSummary, by_state
from shared.domain.pools.machine_settings import MachineSettings
from shared.domain.pools.pool_settings import AutoScale, Evaluation, Problem, StartTask
from shared.domain.pools.pool_sizes import nodes_by_vm_size, sizes_named
from shared.domain.pools.pools import Pool
from shared.domain.pools.resize_errors import ResizeError
from shared.domain.redaction.redaction import MARK
from shared.domain.reports.pool_tasks import PoolTasks
from shared.domain.reports.reports import PoolReport
from shared.domain.retirements.announcements import Announcement
from shared.domain.retirements.retirement_finding import retirement_finding


class SizeAnswer(Answer):
    """The current and target number of nodes of a kind."""

    current: int
    target: int | None


class CoresAnswer(Answer):
    """vCPUs of all nodes that have a machine (not preempted or deallocated); `busy` ones by the share of used slots.

    A node has the vCPUs that its pool sets, else those of its own VM size.
    """

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

    `current`: Batch still reports it for the last resize, and the pool has lacked nodes of its targets since that
    resize; an error that isn't current keeps its `lastSeen`. `vmSizes` are the pool's sizes that its message names.
    """

    code: str
    message: str
    time: datetime | None
    current: bool
    first_seen: datetime
    last_seen: datetime
    attempts: int
    vm_sizes: list[str]


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


class RetirementFields(Answer):
    """Something that Azure retires; `lastDay` is null where no day is known, `daysLeft` then, too."""

    id: str
    what: str
    last_day: date | None
    days_left: int | None
    effect: str
    instead: str
    source: str
    read_on: date


class PoolRetirementAnswer(RetirementFields):
    """Something that Azure retires and the pool uses, with a `finding` from 180 days before its last day on.

    `leadDays` is 180, 60 or 14 as that day comes nearer, 0 after it, and null before.
    """

    lead_days: int | None
    finding: str | None


class SettingChangeAnswer(Answer):
    """A change of a setting, named as in Batch's REST API; values are text of at most 200 characters, null for none.

    Where both are alike, a part that is [redacted] changed.
    """

    time: datetime
    name: str
    before: str | None
    after: str | None


class PoolLine(Answer):
    """The table columns of a pool; node figures are null until nodes were read.

    `cores` are null, too, while the vCPUs of any machine are unknown; `unknownCores` is the number of these machines.
    """

    id: str
    account: str
    state: str
    allocation_state: str | None
    vm_size: str
    task_slots_per_node: int
    dedicated: SizeAnswer
    spot: SizeAnswer
    cores: CoresAnswer | None
    unknown_cores: int | None
    slots: SlotsAnswer | None
    running_tasks: int | None
    verdict: VerdictAnswer


class PoolAnswer(PoolLine):
    """A pool with node figures and the verdict on them; figures are null while nodes are unknown.

    `vmSizes` are numbers of nodes in any state by VM size, without nodes whose size Batch doesn't name.
    `nodeAgentVersions` are numbers of nodes by the version of Batch's own agent, the oldest first, without those that
    haven't booted so far; null until nodes were read by this version.
    `flappingNodes` counts nodes with three or more transitions into a bad state within an hour. `settings` are named as
    in Batch's REST API, without what it didn't send and without secrets; null until the pool was read by this version.
    `settingsLeftOut` names those that aren't shown because Batch sent another type than expected.
    `failedTasks` counts failed tasks of its jobs by category, `taskCounters` are sums over all jobs it ever had.
    `waitingTasks` counts waiting tasks, and `waitedSeconds` their time, by cause; the oldest of these was found at
    `waitingTasksAsOf`, null where none was found so far.
    `settingChanges` are the latest 20, the last one first; with the last ones `settingChangesLeftOut` more were made.
    """

    display_name: str | None
    creation_time: datetime
    state_transition_time: datetime
    allocation_state_transition_time: datetime | None
    node_counts: dict[str, int] | None
    vm_sizes: dict[str, int] | None
    node_agent_versions: dict[str, int] | None
    flapping_nodes: int | None
    interruptions: InterruptionsAnswer | None
    failed_tasks: dict[str, int]
    waiting_tasks: dict[str, int]
    waiting_tasks_as_of: datetime | None
    waited_seconds: dict[str, float]
    task_counters: TaskCountersAnswer
    resize_errors: list[ResizeErrorAnswer]
    auto_scale: AutoScaleAnswer | None
    start_task: StartTaskAnswer | None
    settings: MachineSettings | None
    settings_left_out: list[str]
    setting_changes: list[SettingChangeAnswer]
    setting_changes_left_out: int
    retirements: list[PoolRetirementAnswer]


def pool_answer(report: PoolReport) -> PoolAnswer:
    pool, facts, snapshot = report.pool, report.pool.facts, report.pool.snapshot
    summary, tally = (snapshot.summary, snapshot.tally) if snapshot else (None, None)
    cores, count, tasks = pool.cores, pool.core_count, report.tasks or PoolTasks()
    return PoolAnswer.of(
        facts,
        account=report.account.id,
        task_slots_per_node=facts.slots_per_node,
        node_counts=by_state(summary.counts) if summary else None,
        vm_sizes=nodes_by_vm_size(pool),
        node_agent_versions=_agent_versions(summary),
        dedicated=SizeAnswer.of(facts.dedicated),
        spot=SizeAnswer.of(facts.spot),
        cores=CoresAnswer.of(cores) if cores else None,
        unknown_cores=count.unknown if count else None,
        slots=SlotsAnswer.of(summary, total=summary.slots) if summary else None,
        running_tasks=summary.tasks if summary else None,
        flapping_nodes=snapshot.flapping_nodes(report.now) if snapshot else None,
        interruptions=interruptions_answer(tally.interruptions, tally.since, report.now) if tally else None,
        failed_tasks=dict(tasks.failed),
        waiting_tasks=dict(tasks.waiting),
        waiting_tasks_as_of=tasks.explained_at,
        waited_seconds=seconds_of(tasks.waited),
        task_counters=TaskCountersAnswer.of(tasks.counters),
        resize_errors=[_resize_error(error, pool) for error in pool.errors],
        auto_scale=_auto_scale(facts.auto_scale) if facts.auto_scale else None,
        start_task=_start_task(facts.start_task) if facts.start_task else None,
        settings_left_out=list(facts.settings_left_out),
        setting_changes=[SettingChangeAnswer.of(one, time=one.at) for one in pool.changes],
        setting_changes_left_out=pool.changes_left_out,
        retirements=[pool_retirement(one, facts.id, report.now.date()) for one in report.retirements],
        verdict=VerdictAnswer.of(report.verdict),
    )


def _agent_versions(summary: NodeSummary | None) -> dict[str, int] | None:
    return None if summary is None or summary.agents is None else dict(summary.agents)


def pool_retirement(one: Announcement, pool_id: str, today: date) -> PoolRetirementAnswer:
    found = retirement_finding(one, pool_id, today)
    return PoolRetirementAnswer.of(
        one,
        days_left=one.days_left(today),
        lead_days=found.evidence["leadDays"] if found else None,
        finding=found.sentence if found else None,
    )


def _resize_error(error: ResizeError, pool: Pool) -> ResizeErrorAnswer:
    return ResizeErrorAnswer.of(
        error,
        time=error.ended_at,
        current=error in pool.current_errors,
        last_seen=pool.last_seen(error),
        vm_sizes=sizes_named(pool, error.message),
    )


def _auto_scale(scale: AutoScale) -> AutoScaleAnswer:
    return AutoScaleAnswer.of(
        scale, evaluation_interval=scale.interval, last_evaluation=scale.evaluated_at, error=_error(scale.error)
    )


def _error(problem: Problem | None) -> ErrorTextAnswer | None:
    return ErrorTextAnswer.of(problem) if problem else None


def evaluation_answer(found: Evaluation) -> EvaluationAnswer:
    return EvaluationAnswer.of(found, timestamp=found.at, error=_error(found.error))


def _start_task(task: StartTask) -> StartTaskAnswer:
    """Returns the start task without values of variables, which rows of older versions may contain."""
    environment = {name: MARK if value else "" for name, value in task.environment}
    return StartTaskAnswer.of(
        task, environment=environment, wait_for_success=task.waits_for_success, max_task_retry_count=task.retries
    )
