"""Converts the Batch service's JSON of nodes and node counts, without secrets. Field names: REST 2025-06-01.

A pool may have thousands of nodes, so only stored properties are requested: no endpoints, images or addresses.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Raw, Struct
from msgspec.json import Decoder

from shared.domain.core.stamps import parse_milliseconds
from shared.domain.nodes.nodes import Node, NodeCounts, NodeError, RecentTask, StartRun, ordered
from shared.domain.redaction.redaction import redacted
from shared.stores.batch.batch_pool_rows import ErrorRow
from shared.stores.batch.batch_rows import Rows

NODE_FIELDS = (
    "id", "state", "stateTransitionTime", "isDedicated", "schedulingState", "lastBootTime", "allocationTime",
    "runningTasksCount", "runningTaskSlotsCount", "totalTasksRun", "totalTasksSucceeded", "vmSize", "startTaskInfo",
    "errors",
)  # fmt: skip
RECENT = "recentTasks"
AGENT = "nodeAgentInfo"
_TOTAL = "total"
_MAX_VERSION = 50  # characters


class _StartRun(Struct, rename="camel", gc=False):
    state: str
    result: str | None = None
    exit_code: int | None = None
    start_time: str | None = None
    end_time: str | None = None
    retry_count: int | None = None
    failure_info: ErrorRow | None = None


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
    errors: list[ErrorRow] | None = None
    recent_tasks: list[_Recent] | None = None
    node_agent_info: Any = None  # lenient: nothing but a display depends on it


class _Counts(Struct, rename="camel"):
    pool_id: str
    dedicated: dict[str, int] | None = None
    low_priority: dict[str, int] | None = None


_NODES, _NODE, _RAW, _COUNTS = Decoder(Rows[_Node]), Decoder(_Node), Decoder(Rows[Raw]), Decoder(Rows[_Counts])
type SentNode = tuple[bytes, Node]
"""A node, and its original bytes."""


def nodes_of(body: bytes, recent_at: int) -> tuple[list[Node], str | None]:
    """Returns the nodes of a page and its next link; recent tasks are as of `recent_at`, 0 if not requested."""
    page = _NODES.decode(body)
    return [_node(row, recent_at) for row in page.value], page.link


def node_of(body: bytes) -> Node:
    """Returns one node, without its recent tasks."""
    return _node(_NODE.decode(body), 0)


def known_nodes_of(body: bytes, known: Mapping[bytes, Node]) -> tuple[list[SentNode], str | None]:
    """Returns the page without recent tasks; nodes with `known` bytes aren't parsed again."""
    page = _RAW.decode(body)
    raw_nodes = map(bytes, page.value)
    return [(raw, known.get(raw) or _node(_NODE.decode(raw), 0)) for raw in raw_nodes], page.link


def counts_of(body: bytes) -> tuple[dict[str, NodeCounts], str | None]:
    """Returns node counts by pool id, and the next link."""
    page = _COUNTS.decode(body)
    return {row.pool_id: _counts(row) for row in page.value}, page.link


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
        errors=tuple(NodeError(e.code or "", redacted(e.message or "")) for e in row.errors) if row.errors else (),
        recent=tuple(map(_recent, row.recent_tasks)) if row.recent_tasks else (),
        recent_at=recent_at,
        agent=_agent_version(row.node_agent_info),
    )


def _agent_version(info: Any) -> str:
    """Returns the version in a nodeAgentInfo, which a node has from its first boot on; empty for anything else."""
    version = info.get("version") if isinstance(info, dict) else None
    return version[:_MAX_VERSION] if isinstance(version, str) else ""


def _recent(task: _Recent) -> RecentTask:
    return RecentTask(task.job_id or "", task.task_id or "", task.task_state or "")


def _start_run(run: _StartRun) -> StartRun:
    failure = run.failure_info or ErrorRow()
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
    kinds = ((True, row.dedicated or {}), (False, row.low_priority or {}))
    numbers = [((state.lower(), dedicated), number) for dedicated, kind in kinds for state, number in kind.items()]
    return ordered({state: number for state, number in numbers if state[0] != _TOTAL})


def _stamp(text: str | None) -> int:
    return parse_milliseconds(text) if text else 0
