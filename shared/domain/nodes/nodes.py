"""The stored properties of one compute node, and counts of many. Field names are the Batch REST API's.

States are stored in lower case, as in node lists (`starttaskfailed`); the service's node counts spell them differently.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from shared.domain.core.keys import key_of, keys_of
from shared.domain.nodes.interruptions import NONE, InterruptionCount
from shared.domain.nodes.node_records import FLAPS, NO_RECORD, NodeRecord, NodeVersion, first_record, followed

RUNNING, UNKNOWN = "running", "unknown"
SUCCESS, FAILURE = "success", "failure"
START_TASK_FAILED = "starttaskfailed"
_WAITING_FOR_START = "waitingforstarttask"
_ABLE = ("idle", RUNNING)
_SETTLED = ("idle", "offline")  # idle nodes with disabled scheduling become offline
_WITHOUT_MACHINE = ("preempted", "deallocated")
_ENABLED = "enabled"

type NodeCounts = tuple[tuple[str, bool, int], ...]
"""Numbers of nodes by state, separate for dedicated (True) and spot ones, in order, without zeros."""


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
        """True where it failed and hasn't succeeded since; during a retry, the service may report only their number."""
        return self.result == FAILURE or (self.retries > 0 and self.result != SUCCESS)


class NodeError(NamedTuple):
    """A node's present error, in the service's words."""

    code: str
    message: str


class RecentTask(NamedTuple):
    """A task that ran, or runs, on a node."""

    job: str
    task: str
    state: str


class Node(NamedTuple):
    """The last known state of one node.

    Times are milliseconds since 1970, 0 where unknown. `tasks` and `slots` are those of running tasks. `recent` are the
    latest tasks, latest first, as of `recent_at`, because not every list requests them. `record` is the node's history,
    which no list contains. `agent` is the version of Batch's own agent, empty where a list doesn't name it.
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
    agent: str = ""

    @property
    def key(self) -> str:
        return key_of(self.id)

    @property
    def is_able(self) -> bool:
        """True where the service may give it tasks."""
        return self.state in _ABLE and self.scheduling == _ENABLED

    @property
    def is_retried(self) -> bool:
        """True during retries of a failed start task, which never end with a maxTaskRetryCount of -1."""
        return self.state == _WAITING_FOR_START and self.start is not None and self.start.has_failed

    @property
    def stamps(self) -> NodeVersion:
        return NodeVersion(self.state, self.transition, self.booted)

    def after(self, before: "Node", *, known_as_of: int, at: int) -> "Node":
        """Returns this listed node with the history of `before`, or `before` itself where nothing is new.

        A list without recent tasks, or without the version of the agent, keeps the known ones.
        """
        agent = self.agent or before.agent
        if not self.recent_at and self[:_TOLD] == before[:_TOLD] and agent == before.agent:
            return before
        record = before.record
        if before.stamps != self.stamps:
            spot = not self.dedicated
            record = followed(record, before.stamps, self.stamps, known_as_of=known_as_of, at=at, spot=spot)
        recent, recent_at = (self.recent, self.recent_at) if self.recent_at else (before.recent, before.recent_at)
        node = self._replace(recent=recent, recent_at=recent_at, record=record, agent=agent)
        return node if node._replace(recent_at=before.recent_at) != before else before


_TOLD = Node._fields.index("recent")  # fields that every list contains


class SizeSummary(NamedTuple):
    """Numbers of a pool's nodes of one VM size: all, those with a machine, and slots of running tasks.

    `vm_size` is empty for nodes whose size isn't known.
    """

    vm_size: str
    nodes: int
    machines: int
    used: int


@dataclass(frozen=True, slots=True)
class NodeSummary:
    """Numbers of a pool's nodes.

    `slots` are those of all nodes in any state, `free` those of nodes that may get tasks and have room. `used` and
    `tasks` are the slots and number of running tasks. `sizes` are numbers by VM size, in the order of their names.
    `agents` are numbers of nodes by the version of Batch's agent, the oldest first. Both are None in rows of an earlier
    version.
    """

    counts: NodeCounts = ()
    slots: int = 0
    used: int = 0
    free: int = 0
    tasks: int = 0
    sizes: tuple[SizeSummary, ...] | None = field(default=None, repr=False)
    agents: tuple[tuple[str, int], ...] | None = field(default=None, repr=False)

    @property
    def total(self) -> int:
        return sum(number for _, _, number in self.counts)

    @property
    def machines(self) -> int:
        """Nodes that have a machine, unlike preempted and deallocated ones."""
        return sum(number for state, _, number in self.counts if state not in _WITHOUT_MACHINE)

    @property
    def is_settled(self) -> bool:
        """True where a node can't change without its state: no task runs, and each node is idle or offline.

        Any other node may have its scheduling changed.
        """
        return not (self.used or self.tasks) and are_settled(self.counts)


def summary_of(nodes: Iterable[Node], slots_per_node: int) -> NodeSummary:
    """Returns the numbers of a pool's nodes."""
    listed = list(nodes)
    counted: Counter[tuple[str, bool]] = Counter()
    used = free = tasks = 0
    sizes: dict[str, list[int]] = {}
    for node in listed:
        counted[node.state, node.dedicated] += 1
        size = sizes.setdefault(node.vm_size, [0, 0, 0])
        size[0] += 1
        size[1] += node.state not in _WITHOUT_MACHINE
        size[2] += node.slots
        used += node.slots
        tasks += node.tasks
        if node.slots < slots_per_node and node.is_able:
            free += slots_per_node - node.slots
    by_size = tuple(SizeSummary(size, *numbers) for size, numbers in sorted(sizes.items()))
    agents = agent_versions(node.agent for node in listed)
    return NodeSummary(ordered(counted), counted.total() * slots_per_node, used, free, tasks, by_size, agents)


def agent_versions(found: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """Returns the numbers of nodes by version, the oldest first, without nodes whose version isn't known.

    Numbers within versions are compared as such: 1.9 is older than 1.10.
    """
    counted = Counter(version for version in found if version)
    return tuple(sorted(counted.items(), key=lambda each: (_version_order(each[0]), each[0])))


def _version_order(version: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.findall(r"\d{1,9}|[^\d.]+", version)]


def ordered(counted: Mapping[tuple[str, bool], int]) -> NodeCounts:
    """Returns counts by state and kind in canonical order, so that equal ones compare equal."""
    return tuple((state, dedicated, number) for (state, dedicated), number in sorted(counted.items()) if number)


def are_settled(counts: NodeCounts) -> bool:
    """Returns whether each node is idle or offline."""
    return all(state in _SETTLED for state, _, _ in counts)


def by_state(counts: NodeCounts) -> dict[str, int]:
    """Returns counts by state, dedicated and spot nodes together."""
    found: Counter[str] = Counter()
    for state, _, number in counts:
        found[state] += number
    return dict(sorted(found.items()))


def merged(
    before: Mapping[str, Node], told: Iterable[Node], *, whole: bool, at: int, known_as_of: int | None
) -> dict[str, Node]:
    """Returns nodes by key after a list as of `at` was read; nodes missing from a `whole` list are gone.

    `before` was known as of then (None: never); times are milliseconds since 1970. Where a node is listed twice, the
    later entry wins. An unchanged node stays the same object.
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


def tallied(tally: InterruptionCount, before: Mapping[str, Node], after: Mapping[str, Node]) -> InterruptionCount:
    """Returns a pool's interruptions after its nodes changed, with only the new ones of each node added."""
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
    """Returns numbers of flapping nodes by the time that they stop unless they fall again, in ms since 1970."""
    counted = Counter(node.record.flaps_until for node in nodes if len(node.record.falls) >= FLAPS)
    return tuple(sorted(counted.items()))
