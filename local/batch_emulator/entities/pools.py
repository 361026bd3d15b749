"""Pools, their nodes, and leases of nodes that have left."""

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from local.batch_emulator.core.lagged_value import LaggedValue
from local.batch_emulator.core.vm_sizes import MIX, vcpus
from local.batch_emulator.entities.auto_scale import AutoScaleState
from local.batch_emulator.entities.jobs import Job, Json
from local.batch_emulator.entities.tasks import Run, StartTask, Task

if TYPE_CHECKING:
    from local.batch_emulator.entities.account import Account
    from local.batch_emulator.entities.scheduling_index import SchedulingIndex

USABLE_STATES = ("idle", "running")
_WITHOUT_MACHINE = ("preempted", "deallocated")


@dataclass(slots=True, eq=False)
class Node:
    """A node. `life` counts its boots and losses, so that events planned in an earlier life do nothing.

    `image` counts reimages, and its disk is empty since `fresh`. `removed` are files that users deleted, by path, with
    the moment. All these times are by the node's clock. `away` is the state that it enters when free (rebooting,
    reimaging, deallocating). `errors` are those of this life, as JSON. Only `entered` is by the service's clock: when
    the node entered its state, 0 if that was before the emulator started.
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
    entered: int = 0
    state: str = "creating"
    booted: int | None = None
    life: int = 0
    leaving: bool = False
    away: str = ""
    scheduling: str = "enabled"
    users: list[str] = field(default_factory=list)
    image: int = 0
    start_task: "StartTask | None" = None
    runs: dict["Run", None] = field(default_factory=dict)
    visible_runs: dict["Run", None] = field(default_factory=dict)
    total: int = 0
    succeeded: int = 0
    fresh: int = 0
    removed: dict[str, int] = field(default_factory=dict)
    errors: list[Json] = field(default_factory=list)
    recent: deque[tuple[Job, Task]] = field(default_factory=lambda: deque(maxlen=10))
    vm_size: str = field(kw_only=True)
    agent_version: str = field(kw_only=True)

    @property
    def vcpus(self) -> int:
        return vcpus(self.vm_size, self.pool.spec)

    @property
    def has_machine(self) -> bool:
        return self.state not in _WITHOUT_MACHINE

    @property
    def idle_state(self) -> str:
        """The state of a usable node without tasks."""
        return "idle" if self.scheduling == "enabled" else "offline"

    @property
    def is_usable(self) -> bool:
        """Whether the node can accept tasks."""
        return self.state in USABLE_STATES and self.scheduling == "enabled" and not (self.leaving or self.away)

    @property
    def running(self) -> list["Run"]:
        return [run for run in self.visible_runs if run.task.state == "running"]


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
    scheduling_index: "SchedulingIndex"
    state: str = "active"
    allocation: str = "resizing"
    resizes: int = 0
    errors: list[Json] = field(default_factory=list)
    nodes: dict[str, Node] = field(default_factory=dict)
    is_scheduling_planned: bool = False
    scaling: AutoScaleState | None = None
    lagged_node_counts: LaggedValue[Counter[tuple[str, bool]]] = field(default_factory=LaggedValue)

    @property
    def slots_per_node(self) -> int:
        return int(self.spec.get("taskSlotsPerNode") or 1)

    @property
    def is_packed(self) -> bool:
        """Whether tasks go to the node with the fewest free slots that suffice, instead of the one with the most."""
        return self._policy("nodeFillType") == "pack"

    @property
    def takes_oldest_first(self) -> bool:
        """Whether of jobs of equal priority the oldest goes first, instead of all of them in turns."""
        return self._policy("jobDefaultOrder") == "creationtime"

    @property
    def vm_size(self) -> str:
        """The size of its nodes, `Mix` where it allows several."""
        return MIX if self.spec.get("vmSkuProfile") else str(self.spec["vmSize"]).lower()

    @property
    def is_autoscaled(self) -> bool:
        return bool(self.spec.get("enableAutoScale", False))

    @property
    def has_agent(self) -> bool:
        """Whether an agent measures its nodes, so that the emulator doesn't."""
        return {"name": "telemetry", "value": "agent"} in (self.spec.get("metadata") or [])

    @property
    def is_interconnected(self) -> bool:
        return bool(self.spec.get("enableInterNodeCommunication", False))

    @property
    def runs_multi_instance_tasks(self) -> bool:
        """Whether multi-instance tasks are scheduled (documented); elsewhere they stay active."""
        return self.is_interconnected and self.slots_per_node == 1

    @property
    def is_deleted(self) -> bool:
        return self.account.pools.get(self.key) is not self

    def _policy(self, name: str) -> str:
        return str((self.spec.get("taskSchedulingPolicy") or {}).get(name, "")).lower()

    def node_counts(self) -> Counter[tuple[str, bool]]:
        """Returns the number of nodes by state and kind (dedicated or not)."""
        return Counter((node.state, node.dedicated) for node in self.nodes.values())

    def node_count(self, *, dedicated: bool) -> int:
        return sum(node.dedicated == dedicated for node in self.nodes.values())


@dataclass(frozen=True, slots=True, eq=False)
class Lease:
    """The time from a node's allocation until it left its pool; times are ticks."""

    number: int
    pool_id: str
    vm_size: str
    start: int
    end: int
