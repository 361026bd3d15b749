"""What is known of one compute node, and counts of many. Field names are the Batch REST API's.

States are kept in the lower case in which node lists tell them (`starttaskfailed`); the service's node counts write
them otherwise.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from shared.domain.keys import key_of

RUNNING, UNKNOWN = "running", "unknown"
_ABLE = ("idle", RUNNING)
_ENABLED = "enabled"

type NodeCounts = tuple[tuple[str, bool, int], ...]
"""How many nodes are in a state, apart for dedicated ones (True) and spot ones, in order; none where there are none."""


class StartRun(NamedTuple):
    """The latest run of a node's start task; times are milliseconds since 1970, 0 where unknown."""

    state: str
    result: str = ""
    exit_code: int | None = None
    start: int = 0
    end: int = 0
    retries: int = 0
    category: str = ""
    code: str = ""
    message: str = ""


class NodeError(NamedTuple):
    """An error that a node encounters now, in the service's words."""

    code: str
    message: str


class RecentTask(NamedTuple):
    """A task that ran, or runs, on a node."""

    job: str
    task: str
    state: str


class Node(NamedTuple):
    """The last known state of one node.

    Times are milliseconds since 1970, 0 where unknown. `tasks` and `slots` are those of the tasks that run on it;
    `recent` are the latest first, as of `recent_at`, as not every list asks for them.
    """

    id: str
    state: str
    dedicated: bool = True
    transition: int = 0
    booted: int = 0
    allocated: int = 0
    scheduling: str = _ENABLED
    tasks: int = 0
    slots: int = 0
    tasks_run: int = 0
    tasks_succeeded: int = 0
    vm_size: str = ""
    start: StartRun | None = None
    errors: tuple[NodeError, ...] = ()
    recent: tuple[RecentTask, ...] = ()
    recent_at: int = 0

    @property
    def key(self) -> str:
        return key_of(self.id)

    @property
    def is_able(self) -> bool:
        """True where the service may give it tasks."""
        return self.state in _ABLE and self.scheduling == _ENABLED

    def with_recent_of(self, before: "Node | None") -> "Node":
        """This node as a list without recent tasks told it, with those that were known before."""
        return self._replace(recent=before.recent, recent_at=before.recent_at) if before else self

    def is_news(self, before: "Node | None") -> bool:
        """False where all is as before, be it told again later."""
        return before is None or self._replace(recent_at=before.recent_at) != before


@dataclass(frozen=True, slots=True)
class NodeSummary:
    """A pool's nodes in a few numbers.

    `slots` are those of all nodes, `free` those of nodes that may get tasks and have room; `used` and `tasks` are the
    slots and number of the tasks that run.
    """

    counts: NodeCounts = ()
    slots: int = 0
    used: int = 0
    free: int = 0
    tasks: int = 0

    @property
    def total(self) -> int:
        return sum(number for _, _, number in self.counts)

    @property
    def is_busy(self) -> bool:
        """True where tasks run, whose number changes without any node changing its state."""
        return bool(self.used or self.tasks) or runs_any(self.counts)


def summary_of(nodes: Iterable[Node], slots_per_node: int) -> NodeSummary:
    """The numbers of a pool's nodes."""
    found = list(nodes)
    return NodeSummary(
        counts=ordered(Counter((node.state, node.dedicated) for node in found)),
        slots=len(found) * slots_per_node,
        used=sum(node.slots for node in found),
        free=sum(max(slots_per_node - node.slots, 0) for node in found if node.is_able),
        tasks=sum(node.tasks for node in found),
    )


def ordered(counted: Counter[tuple[str, bool]]) -> NodeCounts:
    """Counts by state and kind in one order, so that equal ones are equal."""
    return tuple((state, dedicated, number) for (state, dedicated), number in sorted(counted.items()) if number)


def runs_any(counts: NodeCounts) -> bool:
    """True where a node is said to run tasks."""
    return any(state == RUNNING for state, _, _ in counts)


def by_state(counts: NodeCounts) -> dict[str, int]:
    """Dedicated and spot nodes together."""
    found: Counter[str] = Counter()
    for state, _, number in counts:
        found[state] += number
    return dict(sorted(found.items()))


def merged(before: dict[str, Node], told: Iterable[Node], *, whole: bool) -> dict[str, Node]:
    """Nodes by key after a list was read; a `whole` one lacks what is gone. Of one told twice the later word counts.

    A node of which there is nothing new stays as it was.
    """
    found = {} if whole else dict(before)
    for node in told:
        old = before.get(node.key)
        full = node if node.recent_at else node.with_recent_of(old)
        found[node.key] = old if old and not full.is_news(old) else full
    return found
