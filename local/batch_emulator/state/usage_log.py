"""How long nodes were in their states and runs of tasks held slots, by the service's clock, to compare costs with.

The log stores what has ended, in memory; what still lasts is read from the entities. A restarted emulator begins a
new one.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, Literal, NamedTuple

from local.batch_emulator.entities import Account, Node, Run

type Outcome = Literal[
    "succeeded", "failed", "retried", "preempted", "lost", "requeued", "taskPreempted", "preparationFailed",
    "terminated", "deleted", "running",
]  # fmt: skip
MAX_INTERVALS = 1_000_000


class NodeInterval(NamedTuple):
    """The time that a node was in a state; times are ticks."""

    pool: str
    node: str
    vm_size: str
    dedicated: bool
    state: str
    start: int
    end: int


class RunInterval(NamedTuple):
    """The time that a run of a task held slots of a node, from its assignment on; times are ticks.

    A run with several instances has one of each of its nodes.

    `created` is when the task was added, and `started` when the run started on the node, at the `end` if it never did.
    """

    pool: str
    node: str
    job: str
    task: str
    created: int
    attempt: int
    outcome: Outcome
    slots: int
    start: int
    started: int
    end: int


class UsageLog:
    """The log of an account, complete from `since` on. The older half of too many ended intervals is dropped."""

    def __init__(self, since: int, *, max_intervals: int = MAX_INTERVALS) -> None:
        self.since = since
        self._max_intervals = max_intervals
        self._nodes = _IntervalColumns(NodeInterval._make, NodeInterval.__annotations__)
        self._runs = _IntervalColumns(RunInterval._make, RunInterval.__annotations__)

    def end_state(self, node: Node, moment: int) -> None:
        """Records that a node leaves its state, for another one or with its pool."""
        if moment > node.entered:
            self._append(self._nodes, _node_interval(node, moment))

    def end_run(self, run: Run, outcome: Outcome, moment: int) -> None:
        """Records that a run gives its slots back."""
        for node in run.nodes:
            self._append(self._runs, _run_interval(run, node, outcome, moment))

    def node_intervals(self, account: Account, now: int) -> Iterator[NodeInterval]:
        """Returns the intervals of all nodes; those that last end `now`."""
        return chain(self._nodes, (_node_interval(node, now) for node in _nodes(account)))

    def run_intervals(self, account: Account, now: int) -> Iterator[RunInterval]:
        """Returns the intervals of all runs; those that last end `now`."""
        running = ((run, node) for node in _nodes(account) for run in node.runs)
        return chain(self._runs, (_run_interval(run, node, "running", now) for run, node in running))

    def _append[Interval: NodeInterval | RunInterval](
        self, columns: "_IntervalColumns[Interval]", interval: Interval
    ) -> None:
        columns.append(interval)
        if len(columns) > self._max_intervals:
            self.since = max(self.since, columns.drop(len(columns) // 2))


class _IntervalColumns[Interval: NodeInterval | RunInterval]:
    """Intervals in the order of their ends, by column, which takes a quarter of the memory of tuples."""

    def __init__(self, make: Callable[[Iterable[Any]], Interval], kinds: dict[str, Any]) -> None:
        self._make = make
        self._columns: list[Any] = [array("q") if kind is int else [] for kind in kinds.values()]
        self._appends = [column.append for column in self._columns]

    def __len__(self) -> int:
        return len(self._columns[-1])

    def __iter__(self) -> Iterator[Interval]:
        return map(self._make, zip(*self._columns, strict=True))

    def append(self, interval: Interval) -> None:
        for append, value in zip(self._appends, interval, strict=True):
            append(value)

    def drop(self, count: int) -> int:
        """Drops the first intervals; returns the latest end among them."""
        latest: int = max(self._columns[-1][:count])
        for column in self._columns:
            del column[:count]
        return latest


def _nodes(account: Account) -> Iterator[Node]:
    return (node for pool in account.pools.values() for node in pool.nodes.values())


def _node_interval(node: Node, end: int) -> NodeInterval:
    return NodeInterval(node.pool.id, node.id, node.vm_size, node.dedicated, node.state, node.entered, end)


def _run_interval(run: Run, node: Node, outcome: Outcome, end: int) -> RunInterval:
    task = run.task
    return RunInterval(
        node.pool.id,
        node.id,
        run.job.id,
        task.id,
        task.created,
        task.attempts,
        outcome,
        task.slots,
        run.assigned,
        run.begun or run.started or end,
        end,
    )
