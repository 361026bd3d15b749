"""The Batch service's JSON of pools and nodes -> the domain's, without secrets. Names: REST 2025-06-01.

What asks for secrets is not even asked for: `POOL_FIELDS` leaves out users, certificates, mounts and resource files'
owners. A start task comes whole, and only its command line and environment are taken, redacted.
"""

from collections import Counter
from datetime import datetime

from msgspec import Struct, field
from msgspec.json import Decoder

from shared.domain.nodes import Node, NodeCounts, NodeError, RecentTask, StartRun, ordered
from shared.domain.pools import AutoScale, PoolFacts, Problem, Size, StartTask
from shared.domain.redaction import redacted
from shared.domain.stamps import from_milliseconds, parse_milliseconds

POOL_FIELDS = (
    "id", "displayName", "creationTime", "state", "stateTransitionTime", "allocationState",
    "allocationStateTransitionTime", "vmSize", "currentDedicatedNodes", "currentLowPriorityNodes",
    "targetDedicatedNodes", "targetLowPriorityNodes", "taskSlotsPerNode", "resizeErrors", "enableAutoScale",
    "autoScaleFormula", "autoScaleEvaluationInterval", "autoScaleRun", "startTask",
)  # fmt: skip
NODE_FIELDS = (
    "id", "state", "stateTransitionTime", "isDedicated", "schedulingState", "lastBootTime", "allocationTime",
    "runningTasksCount", "runningTaskSlotsCount", "totalTasksRun", "totalTasksSucceeded", "vmSize", "startTaskInfo",
    "errors",
)  # fmt: skip
RECENT = "recentTasks"
_TOTAL = "total"


class _Problem(Struct, rename="camel"):
    code: str | None = None
    message: str | None = None
    category: str | None = None


class _Setting(Struct):
    name: str
    value: str | None = None


class _StartTask(Struct, rename="camel"):
    command_line: str
    environment_settings: list[_Setting] | None = None
    wait_for_success: bool | None = None
    max_task_retry_count: int | None = None


class _Evaluation(Struct):
    timestamp: str | None = None
    results: str | None = None
    error: _Problem | None = None


class _Pool(Struct, rename="camel"):
    id: str
    creation_time: str
    state: str
    state_transition_time: str
    vm_size: str
    display_name: str | None = None
    allocation_state: str | None = None
    allocation_state_transition_time: str | None = None
    current_dedicated_nodes: int | None = None
    current_low_priority_nodes: int | None = None
    target_dedicated_nodes: int | None = None
    target_low_priority_nodes: int | None = None
    task_slots_per_node: int | None = None
    resize_errors: list[_Problem] | None = None
    enable_auto_scale: bool | None = None
    auto_scale_formula: str | None = None
    auto_scale_evaluation_interval: str | None = None
    auto_scale_run: _Evaluation | None = None
    start_task: _StartTask | None = None


class _StartRun(Struct, rename="camel", gc=False):
    state: str
    result: str | None = None
    exit_code: int | None = None
    start_time: str | None = None
    end_time: str | None = None
    retry_count: int | None = None
    failure_info: _Problem | None = None


class _Recent(Struct, rename="camel", gc=False):
    job_id: str | None = None
    task_id: str | None = None
    task_state: str | None = None


class _Node(Struct, rename="camel", gc=False):
    id: str
    state: str
    state_transition_time: str | None = None
    is_dedicated: bool | None = None
    scheduling_state: str | None = None
    last_boot_time: str | None = None
    allocation_time: str | None = None
    running_tasks_count: int | None = None
    running_task_slots_count: int | None = None
    total_tasks_run: int | None = None
    total_tasks_succeeded: int | None = None
    vm_size: str | None = None
    start_task_info: _StartRun | None = None
    errors: list[_Problem] | None = None
    recent_tasks: list[_Recent] | None = None


class _Counts(Struct, rename="camel"):
    pool_id: str
    dedicated: dict[str, int] | None = None
    low_priority: dict[str, int] | None = None


class _Page[T](Struct):
    value: list[T]
    link: str | None = field(default=None, name="odata.nextLink")


_POOLS, _NODES, _COUNTS = Decoder(_Page[_Pool]), Decoder(_Page[_Node]), Decoder(_Page[_Counts])
_POOL = Decoder(_Pool)


def pools_of(body: bytes) -> tuple[list[PoolFacts], str | None]:
    """The pools of a page and its next link. Raises one of NONSENSE where it makes no sense, as all here do."""
    page = _POOLS.decode(body)
    return [_facts(row) for row in page.value], page.link


def pool_of(body: bytes) -> PoolFacts:
    """One pool as the service sent it."""
    return _facts(_POOL.decode(body))


def nodes_of(body: bytes, recent_at: int) -> tuple[list[Node], str | None]:
    """The nodes of a page and its next link; `recent_at` is as of when recent tasks are, 0 if none were asked for."""
    page = _NODES.decode(body)
    return [_node(row, recent_at) for row in page.value], page.link


def counts_of(body: bytes) -> tuple[dict[str, NodeCounts], str | None]:
    """Node counts by pool id, and the next link."""
    page = _COUNTS.decode(body)
    return {row.pool_id: _counts(row) for row in page.value}, page.link


def _facts(row: _Pool) -> PoolFacts:
    return PoolFacts(
        id=row.id,
        creation_time=_time(row.creation_time),
        state=row.state,
        state_transition_time=_time(row.state_transition_time),
        vm_size=row.vm_size,
        allocation_state=row.allocation_state,
        allocation_state_transition_time=_maybe_time(row.allocation_state_transition_time),
        dedicated=Size(row.current_dedicated_nodes or 0, row.target_dedicated_nodes),
        spot=Size(row.current_low_priority_nodes or 0, row.target_low_priority_nodes),
        slots_per_node=max(row.task_slots_per_node or 1, 1),
        resize_errors=tuple(map(_problem, row.resize_errors or ())),
        auto_scale=_auto_scale(row) if row.enable_auto_scale else None,
        start_task=_start_task(row.start_task) if row.start_task else None,
        display_name=_clean(row.display_name),
    )


def _auto_scale(row: _Pool) -> AutoScale:
    run = row.auto_scale_run or _Evaluation()
    return AutoScale(
        formula=_clean(row.auto_scale_formula),
        interval=row.auto_scale_evaluation_interval,
        evaluated_at=_maybe_time(run.timestamp),
        results=_clean(run.results),
        error=_problem(run.error) if run.error else None,
    )


def _start_task(task: _StartTask) -> StartTask:
    settings = task.environment_settings or ()
    return StartTask(
        command_line=redacted(task.command_line),
        environment=tuple((setting.name, _clean_value(setting)) for setting in settings),
        waits_for_success=task.wait_for_success is not False,
        retries=task.max_task_retry_count or 0,
    )


def _clean_value(setting: _Setting) -> str:
    """A value without what looks like a secret, by itself or by its name."""
    prefix = f"{setting.name}="
    whole = redacted(prefix + (setting.value or ""))
    return whole[len(prefix) :] if whole.startswith(prefix) else redacted(setting.value or "")


def _node(row: _Node, recent_at: int) -> Node:
    return Node(
        id=row.id,
        state=row.state.lower(),
        dedicated=row.is_dedicated is not False,
        transition=_stamp(row.state_transition_time),
        booted=_stamp(row.last_boot_time),
        allocated=_stamp(row.allocation_time),
        scheduling=(row.scheduling_state or "enabled").lower(),
        tasks=row.running_tasks_count or 0,
        slots=row.running_task_slots_count or 0,
        tasks_run=row.total_tasks_run or 0,
        tasks_succeeded=row.total_tasks_succeeded or 0,
        vm_size=row.vm_size or "",
        start=_start_run(row.start_task_info) if row.start_task_info else None,
        errors=tuple(NodeError(e.code or "", redacted(e.message or "")) for e in row.errors or ()),
        recent=tuple(
            RecentTask(task.job_id or "", task.task_id or "", task.task_state or "") for task in row.recent_tasks or ()
        ),
        recent_at=recent_at,
    )


def _start_run(run: _StartRun) -> StartRun:
    failure = run.failure_info or _Problem()
    return StartRun(
        state=run.state,
        result=(run.result or "").lower(),
        exit_code=run.exit_code,
        start=_stamp(run.start_time),
        end=_stamp(run.end_time),
        retries=run.retry_count or 0,
        category=failure.category or "",
        code=failure.code or "",
        message=redacted(failure.message or ""),
    )


def _counts(row: _Counts) -> NodeCounts:
    kinds = ((True, row.dedicated), (False, row.low_priority))
    return ordered(
        Counter(
            {
                (state.lower(), dedicated): number
                for dedicated, found in kinds
                for state, number in (found or {}).items()
                if state != _TOTAL
            }
        )
    )


def _problem(found: _Problem) -> Problem:
    return Problem(found.code or "", redacted(found.message or ""))


def _clean(text: str | None) -> str | None:
    return redacted(text) if text else text


def _stamp(text: str | None) -> int:
    return parse_milliseconds(text) if text else 0


def _time(text: str) -> datetime:
    return from_milliseconds(parse_milliseconds(text))


def _maybe_time(text: str | None) -> datetime | None:
    return _time(text) if text else None
