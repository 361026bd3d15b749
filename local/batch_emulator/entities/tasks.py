"""Tasks, their runs on nodes, and failures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from local.batch_emulator.entities.jobs import Job
    from local.batch_emulator.entities.pools import Node


@dataclass(frozen=True, slots=True)
class Failure:
    """The failureInfo of a task or start task."""

    category: str
    code: str
    message: str
    details: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True, eq=False)
class Task:
    """A task. `run` is set from its assignment to a node until that run ends; `ticket` invalidates its queue entries.

    `open_dependencies` counts the tasks and ranges that it still depends on. `updated` is the time of a user's last
    change, 0 for none. `has_started` is False until the first start since creation or reactivation. `attempts` counts
    its runs since its creation, or since the emulator started. `subtask_nodes` are the nodes of its subtasks in the
    latest run, by their ids less 1.
    """

    id: str
    key: str
    number: int
    spec: Mapping[str, Any]
    slots: int
    max_retries: int
    created: int
    changed: int
    state: str = "active"
    previous: str | None = None
    previous_changed: int | None = None
    started: int | None = None
    ended: int | None = None
    exit_code: int | None = None
    failure: Failure | None = None
    result: str | None = None
    retries: int = 0
    last_retry: int | None = None
    requeues: int = 0
    last_requeue: int | None = None
    pool_id: str | None = None
    node_id: str | None = None
    run: "Run | None" = None
    updated: int = 0
    subtask_nodes: Sequence[str] = ()
    ticket: int = 0
    open_dependencies: int = 0
    has_started: bool = False
    attempts: int = 0

    @property
    def modified(self) -> int:
        return self.updated or self.created

    @property
    def instances(self) -> int:
        """The number of nodes that a multi-instance task needs at once, 0 for any other task."""
        settings = self.spec.get("multiInstanceSettings")
        return int(settings.get("numberOfInstances") or 1) if settings else 0

    @property
    def kind(self) -> str:
        """The state, with completed split by result."""
        if self.state != "completed":
            return self.state
        return "succeeded" if self.result == "success" else "failed"


@dataclass(slots=True, eq=False)
class Run:
    """One run of a task on a node; `visible_phase` is the last phase that lists show: 1 preparing, 2 running.

    It was `assigned` and had `begun` by the service's clock, both 0 if that was before the emulator started, and has
    `started` by the node's. `others` are the nodes of a multi-instance task's subtasks.
    """

    number: int
    job: "Job"
    task: Task
    node: "Node"
    started: int = 0
    visible_phase: int = 0
    assigned: int = 0
    begun: int = 0
    others: "Sequence[Node]" = ()

    @property
    def nodes(self) -> "Sequence[Node]":
        """All nodes that it occupies, that of the primary first."""
        return (self.node, *self.others)


@dataclass(slots=True, eq=False)
class StartTask:
    """A start task since the node's last boot, or a preparation or release task.

    Between retries `result` is that of the previous run.
    """

    started: int
    state: str = "running"
    ended: int | None = None
    exit_code: int | None = None
    retries: int = 0
    failure: Failure | None = None
    result: str | None = None
    last_retry: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SatisfiedDependency:
    """A record that the task with this key has satisfied its dependents, even if it was deleted since."""

    number: int
    key: str
