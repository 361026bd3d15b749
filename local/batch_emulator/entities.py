"""What a Batch account holds, as lists show it now. Times are ticks, specifications are the JSON that clients sent.

Nothing here decides anything: `happenings` of jobs, tasks, pools and nodes change these, requests read them.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from local.batch_emulator.auto_scale import Scaling
    from local.batch_emulator.backlog import Backlog, ReadyTasks
    from local.batch_emulator.links import Links
    from local.batch_emulator.tally import Tally
    from local.batch_emulator.task_set import TaskSet

type Json = dict[str, Any]
LIVE = ("idle", "running")


@dataclass(frozen=True, slots=True)
class Failure:
    """failureInfo of a task or start task."""

    category: str
    code: str
    message: str
    details: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True, eq=False)
class Task:
    """`run` is set from its assignment to a node until that run ends; `ticket` outdates its places in queues.

    `waits` counts the tasks and ranges that it still depends on; `updated` is when a user last changed it, 0 never.
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
    ticket: int = 0
    waits: int = 0

    @property
    def modified(self) -> int:
        return self.updated or self.created

    @property
    def kind(self) -> str:
        """The state, with completed split by result."""
        if self.state != "completed":
            return self.state
        return "succeeded" if self.result == "success" else "failed"


@dataclass(slots=True, eq=False)
class Job:
    """`turn` counts requested transitions, so that an overtaken one does nothing.

    `sides` are its preparation and release tasks by node, `unfit` the nodes where preparation
    failed, with the image that they had then.
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
    tally: "Tally"
    ready: "ReadyTasks"
    links: "Links"
    schedule: "Schedule | None" = None
    auto_pool: str = ""
    state: str = "active"
    previous: str | None = None
    previous_changed: int | None = None
    ended: int | None = None
    reason: str | None = None
    turn: int = 0
    runs: dict["Run", None] = field(default_factory=dict)
    sides: dict[str, "Side"] = field(default_factory=dict)
    unfit: dict["Node", int] = field(default_factory=dict)

    @property
    def pool_id(self) -> str:
        return self.auto_pool or str((self.spec.get("poolInfo") or {}).get("poolId") or "")

    @property
    def pool(self) -> "Pool | None":
        return self.account.pools.get(self.pool_id.lower())

    @property
    def has_room(self) -> bool:
        most = int(self.spec.get("maxParallelTasks", -1))
        return most < 0 or len(self.runs) < most


@dataclass(slots=True, eq=False)
class Node:
    """`life` changes at every boot and loss, so that what was planned for an earlier life does nothing.

    `image` counts reimages, `fresh` is since when nothing has run on its disk; `removed` are files that users deleted,
    by path, with the moment. `away` is the state that it enters as soon as it is free (rebooting, reimaging,
    deallocating).
    """

    id: str
    number: int
    pool: "Pool"
    dedicated: bool
    bias: float
    allocated: int
    changed: int
    free: int
    ip: str
    state: str = "creating"
    booted: int | None = None
    life: int = 0
    leaving: bool = False
    away: str = ""
    scheduling: str = "enabled"
    users: set[str] = field(default_factory=set)
    image: int = 0
    start_task: "StartTask | None" = None
    runs: dict["Run", None] = field(default_factory=dict)
    shown: dict["Run", None] = field(default_factory=dict)
    total: int = 0
    succeeded: int = 0
    fresh: int = 0
    removed: dict[str, int] = field(default_factory=dict)
    recent: deque[tuple[Job, Task]] = field(default_factory=lambda: deque(maxlen=10))

    @property
    def resting(self) -> str:
        """The state of a node that could run tasks and has none."""
        return "idle" if self.scheduling == "enabled" else "offline"

    @property
    def is_usable(self) -> bool:
        """Whether it may take tasks."""
        return self.state in LIVE and self.scheduling == "enabled" and not (self.leaving or self.away)

    @property
    def running(self) -> list["Run"]:
        return [run for run in self.shown if run.task.state == "running"]


@dataclass(slots=True, eq=False)
class StartTask:
    """How the start task went in a node's present life."""

    started: int
    state: str = "running"
    ended: int | None = None
    exit_code: int | None = None
    retries: int = 0
    failure: Failure | None = None
    result: str | None = None


@dataclass(slots=True, eq=False)
class Side:
    """A job's preparation and release on one node, of that id; `life` and `image` are the node's when it began.

    Without `node` the node had left before the emulator was started again.
    """

    id: str
    number: int
    pool_id: str
    node: Node | None
    life: int
    image: int
    preparation: StartTask
    release: StartTask | None = None
    has_run: bool = False
    waiting: list["Run"] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class Satisfied:
    """That a task of this key was once done in the sense of those that wait for it, though it may be gone."""

    number: int
    key: str


@dataclass(slots=True, eq=False)
class Schedule:
    """A job schedule. `next_run` is when the next job is due, `due` since when one is that could not begin yet."""

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


@dataclass(slots=True, eq=False)
class Run:
    """One task's stay on a node; `shown` is the last phase of it that became visible."""

    number: int
    job: Job
    task: Task
    node: Node
    started: int = 0
    shown: int = 0


@dataclass(slots=True, eq=False)
class Pool:
    id: str
    key: str
    number: int
    account: "Account"
    spec: Json
    created: int
    modified: int
    changed: int
    allocation_changed: int
    backlog: "Backlog"
    state: str = "active"
    allocation: str = "resizing"
    resizes: int = 0
    errors: list[Json] = field(default_factory=list)
    nodes: dict[str, Node] = field(default_factory=dict)
    is_dispatch_planned: bool = False
    scaling: "Scaling | None" = None

    @property
    def slots_per_node(self) -> int:
        return int(self.spec.get("taskSlotsPerNode") or 1)

    @property
    def vm_size(self) -> str:
        return str(self.spec["vmSize"]).lower()

    @property
    def is_autoscaled(self) -> bool:
        return bool(self.spec.get("enableAutoScale", False))

    @property
    def is_interconnected(self) -> bool:
        return bool(self.spec.get("enableInterNodeCommunication", False))

    @property
    def is_gone(self) -> bool:
        return self.account.pools.get(self.key) is not self

    def current(self, *, dedicated: bool) -> int:
        return sum(node.dedicated == dedicated for node in self.nodes.values())


@dataclass(frozen=True, slots=True, eq=False)
class Lease:
    """A node's stay in a pool, over; times are ticks."""

    number: int
    pool_id: str
    vm_size: str
    start: int
    end: int


@dataclass(slots=True, eq=False)
class Account:
    name: str
    number: int
    jobs: dict[str, Job] = field(default_factory=dict)
    pools: dict[str, Pool] = field(default_factory=dict)
    schedules: dict[str, Schedule] = field(default_factory=dict)
    leases: list[Lease] = field(default_factory=list)
