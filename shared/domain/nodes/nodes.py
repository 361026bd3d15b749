"""What is known of one compute node, and counts of many. Field names are the Batch REST API's.

States are kept in the lower case in which node lists tell them (`starttaskfailed`); the service's node counts write
them otherwise.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from shared.domain.core.keys import key_of, keys_of
from shared.domain.nodes.interruptions import NONE, Tally
from shared.domain.nodes.node_records import FLAPS, NO_RECORD, NodeRecord, Stamps, first_record, followed

RUNNING, UNKNOWN = "running", "unknown"
SUCCESS, FAILURE = "success", "failure"
START_TASK_FAILED = "starttaskfailed"
_WAITING_FOR_START = "waitingforstarttask"
_ABLE = ("idle", RUNNING)
_SETTLED = ("idle", "offline")  # of idle nodes those that are to get no tasks become offline
_WITHOUT_MACHINE = ("preempted", "deallocated")
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

    @property
    def has_failed(self) -> bool:
        """True where it failed and hasn't succeeded since; of a retry under way its number may be all that is told."""
        return self.result == FAILURE or (self.retries > 0 and self.result != SUCCESS)


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
    `recent` are the latest first, as of `recent_at`, as not every list asks for them. `record` is what was seen of it
    before, which no list tells.
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
    record: NodeRecord = NO_RECORD

    @property
    def key(self) -> str:
        return key_of(self.id)

    @property
    def is_able(self) -> bool:
        """True where the service may give it tasks."""
        return self.state in _ABLE and self.scheduling == _ENABLED

    @property
    def is_retried(self) -> bool:
        """True while a start task that failed is tried again, which with a maxTaskRetryCount of -1 never ends."""
        return self.state == _WAITING_FOR_START and self.start is not None and self.start.has_failed

    @property
    def stamps(self) -> Stamps:
        return Stamps(self.state, self.transition, self.booted)

    def after(self, before: "Node", *, known_as_of: int, at: int) -> "Node":
        """This node as a list told it, with what was known before; `before` itself where there is nothing new.

        A list without recent tasks leaves those that were known.
        """
        if before.record.since and not self.recent_at and self[:_TOLD] == before[:_TOLD]:
            return before
        record = before.record if before.record.since else before.record._replace(since=at)
        if before.stamps != self.stamps:
            spot = not self.dedicated
            record = followed(record, before.stamps, self.stamps, known_as_of=known_as_of, at=at, spot=spot)
        recent, recent_at = (self.recent, self.recent_at) if self.recent_at else (before.recent, before.recent_at)
        node = self._replace(recent=recent, recent_at=recent_at, record=record)
        return node if node._replace(recent_at=before.recent_at) != before else before


_TOLD = Node._fields.index("recent")  # fields that every list tells


@dataclass(frozen=True, slots=True)
class NodeSummary:
    """A pool's nodes in a few numbers.

    `slots` are those of all nodes, whatever their state, `free` those of nodes that may get tasks and have room; `used`
    and `tasks` are the slots and number of the tasks that run.
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
    def machines(self) -> int:
        """Nodes that have a machine: Azure took that of a preempted one, and a deallocated one gave it back."""
        return sum(number for state, _, number in self.counts if state not in _WITHOUT_MACHINE)

    @property
    def is_settled(self) -> bool:
        """True where nothing of a node changes without its state: no tasks run, and each node is idle or offline.

        Of any other node it may change whether it is to get tasks.
        """
        return not (self.used or self.tasks) and are_settled(self.counts)


def summary_of(nodes: Iterable[Node], slots_per_node: int) -> NodeSummary:
    """The numbers of a pool's nodes."""
    counted: Counter[tuple[str, bool]] = Counter()
    used = free = tasks = 0
    for node in nodes:
        counted[node.state, node.dedicated] += 1
        used += node.slots
        tasks += node.tasks
        if node.slots < slots_per_node and node.is_able:
            free += slots_per_node - node.slots
    return NodeSummary(ordered(counted), counted.total() * slots_per_node, used, free, tasks)


def ordered(counted: Counter[tuple[str, bool]]) -> NodeCounts:
    """Counts by state and kind in one order, so that equal ones are equal."""
    return tuple((state, dedicated, number) for (state, dedicated), number in sorted(counted.items()) if number)


def are_settled(counts: NodeCounts) -> bool:
    """True where each node is idle or offline."""
    return all(state in _SETTLED for state, _, _ in counts)


def by_state(counts: NodeCounts) -> dict[str, int]:
    """Dedicated and spot nodes together."""
    found: Counter[str] = Counter()
    for state, _, number in counts:
        found[state] += number
    return dict(sorted(found.items()))


def merged(
    before: Mapping[str, Node], told: Iterable[Node], *, whole: bool, at: int, known_as_of: int | None
) -> dict[str, Node]:
    """Nodes by key after a list as of `at` was read; a `whole` one lacks what is gone.

    `before` was known as of then (None: never); times are milliseconds since 1970. Of a node told twice the later word
    counts. A node of which there is nothing new stays as it was.
    """
    found = {} if whole else dict(before)
    listed = list(told)
    for key, node in zip(keys_of([node.id for node in listed]), listed, strict=True):
        old = found.get(key) or before.get(key)
        if old is None:
            found[key] = node._replace(record=first_record(node.stamps, since=at, known_as_of=known_as_of))
        else:
            found[key] = node.after(old, known_as_of=at if known_as_of is None else known_as_of, at=at)
    return found


def tallied(tally: Tally, before: Mapping[str, Node], after: Mapping[str, Node]) -> Tally:
    """A pool's interruptions after its nodes changed: what befell each since, and nothing that it brought along."""
    found = tally.interruptions
    for key, node in after.items():
        old = before.get(key)
        if old is node:
            continue
        known = old.record.interruptions if old else NONE
        now = node.record.interruptions
        for _ in range(now.total - known.total):
            found = found.interrupted(now.latest)
        for _ in range(now.unexplained - known.unexplained):
            found = found.restarted()
    return tally._replace(interruptions=found)


def flapping_of(nodes: Iterable[Node]) -> tuple[tuple[int, int], ...]:
    """How many nodes flap, by until when they do unless they fall again, in milliseconds since 1970."""
    counted = Counter(node.record.flaps_until for node in nodes if len(node.record.falls) >= FLAPS)
    return tuple(sorted(counted.items()))
