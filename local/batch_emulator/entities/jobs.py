"""Jobs, their preparation and release on nodes, and job schedules."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from local.batch_emulator.entities.tasks import Failure, Run, StartTask

if TYPE_CHECKING:
    from local.batch_emulator.entities.account import Account
    from local.batch_emulator.entities.dependencies import TaskDependencies
    from local.batch_emulator.entities.pools import Node, Pool
    from local.batch_emulator.entities.scheduling_index import ReadyTasks
    from local.batch_emulator.entities.task_counts import TaskCounts
    from local.batch_emulator.entities.task_set import TaskSet

type Json = dict[str, Any]


@dataclass(slots=True, eq=False)
class Job:
    """A job. `turn` counts requested state transitions, so that events of superseded ones do nothing.

    `failure` is the reason why the service couldn't start it. `preparation_statuses` are by node.
    `failed_preparations` are the nodes with a failed preparation, with their image at that time.
    """

    id: str
    key: str
    number: int
    account: "Account"
    spec: Json
    created: int
    modified: int
    changed: int
    tasks: "TaskSet"
    task_counts: "TaskCounts"
    ready_tasks: "ReadyTasks"
    dependencies: "TaskDependencies"
    schedule: "Schedule | None" = None
    auto_pool: str = ""
    state: str = "active"
    previous: str | None = None
    previous_changed: int | None = None
    ended: int | None = None
    reason: str | None = None
    failure: Failure | None = None
    turn: int = 0
    runs: dict["Run", None] = field(default_factory=dict)
    preparation_statuses: dict[str, "PreparationStatus"] = field(default_factory=dict)
    failed_preparations: dict["Node", int] = field(default_factory=dict)

    @property
    def pool_id(self) -> str:
        return self.auto_pool or str((self.spec.get("poolInfo") or {}).get("poolId") or "")

    @property
    def pool(self) -> "Pool | None":
        return self.account.pools.get(self.pool_id.lower())

    @property
    def priority(self) -> int:
        return int(self.spec.get("priority") or 0)

    @property
    def allows_preemption(self) -> bool:
        """Whether jobs of a higher priority may requeue its running tasks."""
        return bool(self.spec.get("allowTaskPreemption", False))

    @property
    def may_run_more(self) -> bool:
        max_runs = int(self.spec.get("maxParallelTasks", -1))
        return max_runs < 0 or len(self.runs) < max_runs


@dataclass(slots=True, eq=False)
class PreparationStatus:
    """The status of a job's preparation and release tasks on the node `id`.

    `life` and `image` are those of the node when preparation started. `node` is None if the node had left before the
    emulator was restarted.
    """

    id: str
    number: int
    pool_id: str
    node: "Node | None"
    life: int
    image: int
    preparation: StartTask
    release: StartTask | None = None
    has_run: bool = False
    waiting: list["Run"] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Schedule:
    """A job schedule. The next job is due at `next_run`; one that couldn't begin has been due since `due`."""

    id: str
    key: str
    number: int
    spec: Json
    created: int
    modified: int
    changed: int
    not_before: int | None = None
    not_after: int | None = None
    state: str = "active"
    previous: str | None = None
    previous_changed: int | None = None
    ended: int | None = None
    next_run: int | None = None
    due: int | None = None
    jobs_made: int = 0
    auto_pool: str = ""
    job: Job | None = None
    recent: str | None = None
    turn: int = 0
