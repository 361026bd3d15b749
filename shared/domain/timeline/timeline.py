"""Timelines of nodes, from the latest run of every task: earlier runs of a retried task aren't known.

A run includes its start, but not its end. The end of a running task is unknown, so the run counts up to when the cache
was read. A task that left its node without an end (as preempted ones do) ran until its state changed. Times are
milliseconds since 1970, busy times milliseconds multiplied by slots: integers, so that sums are exact. Where there are
too many runs to show each, `RunStatistics` finds the busiest nodes, and `timeline_buckets` aggregates theirs in a
second pass.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, islice
from typing import Any, NamedTuple

from shared.domain.leaves.leaves import Leaf
from shared.domain.tasks.tasks import RUNNING

MAX_RUNS, MAX_NODES, MAX_BUCKETS = 2000, 200, 100

type Node = tuple[str, str]
"""Pool id and node id; empty where the task has none."""


@dataclass(frozen=True, slots=True)
class Window:
    """From `start` to before `end`; running tasks are known to have run until `known`.

    A `start` of None is the first run, an `end` of None the last known moment, which may be in the future, as nodes'
    clocks run ahead.
    """

    start: int | None
    end: int | None
    known: int

    def clipped(self, run: "Run") -> tuple[int, int] | None:
        """Returns the part of a run within the window, or None; a run may be shorter than a millisecond."""
        start, ended = run.start, self.known if run.end is None else run.end
        ended = max(ended, start)
        low = start if self.start is None else self.start
        high = max(ended, start + 1) if self.end is None else self.end
        if start >= high or ended < low or (ended == low and start < low):
            return None
        return max(start, low), min(ended, high)


class Run(NamedTuple):
    """The latest run of a task; `end` is None while it runs."""

    start: int
    task: str
    end: int | None
    result: int
    slots: int
    node: Node


@dataclass(frozen=True, slots=True)
class Bucket:
    """A node's activity in an interval: tasks that ran, busy time, and tasks whose runs failed then."""

    start: int
    end: int
    tasks: int
    busy: int
    failed: int


@dataclass(frozen=True, slots=True)
class NodeTimeline:
    """One node's runs in order of start or, where there are too many, the buckets with any run."""

    node: Node
    busy: int
    runs: Sequence[Run] = ()
    buckets: Sequence[Bucket] = ()


@dataclass(frozen=True, slots=True)
class Timeline:
    """The busiest nodes, in descending order, and the number of other nodes that ran tasks."""

    start: int
    end: int
    nodes: Sequence[NodeTimeline]
    other_nodes: int
    aggregated: bool


def runs_of(leaf: Leaf, places: range, *, without: Collection[int] = ()) -> Iterator[Run]:
    """Yields the runs of the tasks at a range of positions in a leaf; tasks that never ran have none.

    It decodes columns of the whole leaf, so positions to leave out are given in one call, in a set if they are many.
    """
    names = ("start", "id", "end", "transition", "state", "result", "slots", "node")
    rows: Iterable[Any] = islice(zip(*map(leaf.column, names), strict=True), places.start, places.stop)
    if without:
        rows = compress(rows, (at not in without for at in places))
    made = tuple.__new__  # faster, as a leaf has thousands
    for start, name, end, transition, state, result, slots, node in rows:
        if start:
            ended = None if state == RUNNING else max(start, end or transition)
            yield made(Run, (start, name, ended, result, slots, node))


class RunStatistics:
    """Busy times by node in a window, the start of the first run, and every run as long as they are few."""

    def __init__(self, window: Window, *, max_runs: int = MAX_RUNS) -> None:
        self._window = window
        self._max_runs = max_runs
        self._busy: dict[Node, int] = {}
        self._runs: list[Run] = []
        self._first: int | None = None
        self._last = window.known
        self.is_full = False

    def take(self, runs: Iterable[Run]) -> None:
        for run in runs:
            part = self._window.clipped(run)
            if part is None:
                continue
            start, end = part
            self._busy[run.node] = self._busy.get(run.node, 0) + (end - start) * run.slots
            self._first = start if self._first is None else min(start, self._first)
            self._last = max(self._last, end, start + 1)
            if not self.is_full:
                self._runs.append(run)
                self.is_full = len(self._runs) > self._max_runs
        if self.is_full:
            self._runs.clear()

    @property
    def start(self) -> int:
        """Returns the start of the window, or else of the first run; the end where nothing ran."""
        starts = (self._window.start, self._first, self._window.end, self._last)
        return next(start for start in starts if start is not None)

    @property
    def end(self) -> int:
        """Returns the end of the window, or else of the last run; not before the start."""
        return max(self._last, self.start) if self._window.end is None else self._window.end

    def busiest(self, most: int = MAX_NODES) -> list[Node]:
        return sorted(self._busy, key=lambda node: (-self._busy[node], node))[:most]

    def other_nodes(self, most: int = MAX_NODES) -> int:
        return max(0, len(self._busy) - most)

    def nodes(self, most: int = MAX_NODES) -> list[NodeTimeline]:
        """Returns the busiest nodes with their runs; only valid while the census isn't full."""
        runs: dict[Node, list[Run]] = {node: [] for node in self.busiest(most)}
        for run in sorted(self._runs):
            if run.node in runs:
                runs[run.node].append(run)
        return [NodeTimeline(node, self._busy[node], runs=found) for node, found in runs.items()]
