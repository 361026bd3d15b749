"""A pool's own properties, as the Batch service lists them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, get_args

from shared.domain.core.keys import key_of
from shared.domain.core.well_typed import is_left_out
from shared.domain.pools.machine_settings import MachineSettings
from shared.domain.pools.pool_settings import AutoScale, Problem, StartTask
from shared.domain.pools.resize_errors import Attempt

type JobOrder = Literal["none", "creationtime"]
_ORDERS: tuple[JobOrder, ...] = get_args(JobOrder.__value__)
_ORDER, _FILL = "taskSchedulingPolicy.jobDefaultOrder", "taskSchedulingPolicy.nodeFillType"


@dataclass(frozen=True, slots=True)
class Size:
    """The current and target number of nodes of a kind; `target` is None where the service reports none."""

    current: int = 0
    target: int | None = None


@dataclass(frozen=True, slots=True)
class PoolFacts:
    """A pool's own properties, named as in the Batch REST API; times are aware UTC.

    `spot` are low-priority nodes in that API's words; `resize_errors` are those of the last resize. `settings` and
    `last_modified`, the time of the last change by users, are None in rows of an earlier version. `settings_left_out`
    names settings that Batch sent in another type than expected. `hidden` has short digests of settings with secrets,
    by dotted name, from which only their changes follow; it is None in rows of an earlier version.
    """

    id: str
    creation_time: datetime
    state: str
    state_transition_time: datetime
    vm_size: str
    allocation_state: str | None = None
    allocation_state_transition_time: datetime | None = None
    dedicated: Size = Size()
    spot: Size = Size()
    slots_per_node: int = 1
    resize_errors: tuple[Problem, ...] = ()
    auto_scale: AutoScale | None = None
    start_task: StartTask | None = None
    display_name: str | None = None
    settings: MachineSettings | None = field(default=None, repr=False)
    last_modified: datetime | None = field(default=None, repr=False)
    settings_left_out: tuple[str, ...] = field(default=(), repr=False)
    hidden: Mapping[str, int] | None = field(default=None, repr=False)

    @property
    def key(self) -> str:
        return key_of(self.id)

    @property
    def nodes(self) -> int:
        """The service's number of nodes."""
        return self.dedicated.current + self.spot.current

    @property
    def has_only_spot_nodes(self) -> bool:
        """Whether it has or wishes for spot nodes, and for no dedicated ones."""
        return bool(self.spot.current or self.spot.target) and not (self.dedicated.current or self.dedicated.target)

    @property
    def lacking(self) -> int:
        """The number of nodes missing from the targets, as far as the service reports these."""
        return sum(max((size.target or 0) - size.current, 0) for size in (self.dedicated, self.spot))

    @property
    def has_its_targets(self) -> bool:
        """True where no node is missing from known targets."""
        return None not in {self.dedicated.target, self.spot.target} and not self.lacking

    @property
    def is_resized(self) -> bool:
        """True during a resize, even one that is being stopped."""
        return self.allocation_state in {"resizing", "stopping"}

    @property
    def is_empty(self) -> bool:
        """True without nodes, unless the pool is being resized and may have some by now."""
        return self.allocation_state == "steady" and not self.nodes

    def lacks(self, setting: str) -> bool:
        """Returns whether a setting, by its dotted name, isn't known in full as Batch sent it in another type."""
        return is_left_out(setting, self.settings_left_out)

    @property
    def job_order(self) -> JobOrder | None:
        """The order among jobs of equal priority, None where it isn't known; without one Batch takes `none`."""
        policy = self.settings.task_scheduling_policy if self.settings else None
        named = ((policy.job_default_order if policy else None) or "none").lower()
        return None if self.lacks(_ORDER) else next((order for order in _ORDERS if order == named), None)

    @property
    def takes_oldest_first(self) -> bool:
        """True where of jobs of equal priority the older one goes first; False gives them equal shares."""
        return self.job_order == "creationtime"

    @property
    def spreads_tasks(self) -> bool:
        """True where the node with the most free slots gets the next task, as by default; False if that isn't known."""
        policy = self.settings.task_scheduling_policy if self.settings else None
        named = ((policy.node_fill_type if policy else None) or "spread").lower()
        return self.settings is not None and not self.lacks(_FILL) and named == "spread"

    @property
    def attempt(self) -> Attempt:
        """The last resize, which may be running."""
        problems = tuple((problem.code, problem.message) for problem in self.resize_errors)
        return Attempt(self.allocation_state_transition_time, self.allocation_state == "resizing", problems)
