"""What a Batch account holds. Times are ticks; specifications are the JSON that clients sent."""

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

type Json = dict[str, Any]
TASK_STATES = ("active", "preparing", "running", "completed")


@dataclass(slots=True)
class Run:
    """The latest run of a task."""

    start: int | None = None
    end: int | None = None
    exit_code: int | None = None
    failure: Json | None = None
    result: str | None = None


@dataclass(slots=True)
class Task:
    """`token` changes whenever what was planned for the task is off, so that its pending events do nothing."""

    id: str
    spec: Mapping[str, Any]
    created: int
    state: str = "active"
    state_at: int = 0
    previous: str | None = None
    previous_at: int | None = None
    run: Run = field(default_factory=Run)
    retries: int = 0
    requeues: int = 0
    node: "Node | None" = None
    where: Json | None = None
    token: int = 0
    shown: Json | None = None
    shown_until: int = 0

    @property
    def slots(self) -> int:
        return int(self.spec.get("requiredSlots") or 1)


@dataclass(slots=True)
class Job:
    """`tally` counts tasks by state, `succeeded` and `failed`, `slot_tally` their slots; `late` ones show late.

    `changes` are (stateTransitionTime, key) in order, `order` the keys of a list, None when out of date.
    """

    id: str
    spec: Json
    created: int
    modified: int
    state: str = "active"
    state_at: int = 0
    previous: str | None = None
    previous_at: int | None = None
    ended: int | None = None
    reason: str | None = None
    tasks: dict[str, Task] = field(default_factory=dict)
    waiting: deque[str] = field(default_factory=deque)
    changes: list[tuple[int, str]] = field(default_factory=list)
    order: list[str] | None = None
    tally: Counter[str] = field(default_factory=Counter)
    slot_tally: Counter[str] = field(default_factory=Counter)
    late: int = 0

    @property
    def pool_id(self) -> str:
        return str((self.spec.get("poolInfo") or {}).get("poolId") or "")

    @property
    def priority(self) -> int:
        return int(self.spec.get("priority") or 0)


@dataclass(slots=True)
class Node:
    id: str
    pool: "Pool"
    dedicated: bool
    skew: int
    allocated: int
    state: str = "creating"
    state_at: int = 0
    booted: int | None = None
    start_task: Json | None = None
    tasks: dict[tuple[str, str], Task] = field(default_factory=dict)
    token: int = 0

    @property
    def free(self) -> int:
        if self.state not in ("idle", "running"):
            return 0
        return self.pool.slots_per_node - sum(task.slots for task in self.tasks.values())


@dataclass(slots=True)
class Pool:
    id: str
    spec: Json
    created: int
    modified: int
    state: str = "active"
    state_at: int = 0
    allocation: str = "steady"
    allocation_at: int = 0
    nodes: dict[str, Node] = field(default_factory=dict)
    serial: int = 0

    @property
    def slots_per_node(self) -> int:
        return int(self.spec.get("taskSlotsPerNode") or 1)


@dataclass(slots=True)
class Account:
    name: str
    key: str
    jobs: dict[str, Job] = field(default_factory=dict)
    pools: dict[str, Pool] = field(default_factory=dict)
