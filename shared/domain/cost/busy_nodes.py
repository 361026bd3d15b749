"""How long nodes ran tasks, and for how long tasks held slots, within one window: from tasks' stamps.

Nodes' states that last less than a poll are invisible, so busy time comes from the start and end of runs of
tasks. The runs on a node overlap where it has several slots: the node is busy for the length of their union. A run of a
multi-instance task takes place on several nodes, and names only the primary's.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, NamedTuple

from shared.domain.tasks.tasks import FAILURE, SUCCESS
from shared.domain.timeline.timeline import Node, Run, Window

HOUR = 3_600_000  # milliseconds
ENDS = HOUR // 6
"""Ends of runs are distinguished by this many milliseconds."""
MAX_HOURS = 72
"""So many hours of a run before those that are made anew get the outcome with which it ends."""
_SKEW = 60_000  # milliseconds by which a node's clock may be behind
type Outcome = Literal["succeeded", "failed", "retried", "interrupted", "running"]
"""How a run ended.

A `retried` one failed, and the task ran again or will; an `interrupted` one left its node without a result, as a
preempted or requeued one does.
"""


class SlotHolder(NamedTuple):
    """Runs that are summed: those of a job on the nodes of a pool, by outcome."""

    job: str
    node: Node
    outcome: Outcome


class EndedRun(NamedTuple):
    """Runs that ended within ten minutes, given by their start, by an earlier hour since 1970 in which they went on."""

    ended: int
    hour: int
    holder: SlotHolder


class RunSum(NamedTuple):
    """Runs that ended: how many, and the slot milliseconds that they held from their start to their end."""

    runs: int = 0
    units: int = 0

    def plus(self, runs: int, units: int) -> "RunSum":
        return RunSum(self.runs + runs, self.units + units)


class UnionOfIntervals:
    """The union of half-open intervals of integers, kept as disjoint ones in order."""

    __slots__ = ("_ends", "_starts")

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def add(self, start: int, end: int) -> None:
        """Adds an interval; one that doesn't end after its start adds nothing."""
        if end <= start:
            return
        first, last = bisect_left(self._ends, start), bisect_right(self._starts, end)
        if first < last:
            start, end = min(start, self._starts[first]), max(end, self._ends[last - 1])
        self._starts[first:last] = [start]
        self._ends[first:last] = [end]

    @property
    def length(self) -> int:
        return sum(self._ends) - sum(self._starts)


@dataclass(slots=True)
class TaskUsage:
    """Sums over the runs of many jobs within a window, in milliseconds.

    `has_one_slot` says of a pool, by id, that each of its nodes runs one task at a time: then the runs on a node don't
    overlap, and only their sum is kept. `others` is how long nodes that aren't named ran multi-instance tasks, by the
    node of the primary; as such tasks have nodes for themselves, their runs don't overlap either.
    """

    window: Window
    has_one_slot: Callable[[str], bool]
    slots: Counter[SlotHolder] = field(default_factory=Counter)
    others: Counter[Node] = field(default_factory=Counter)
    _sums: Counter[Node] = field(default_factory=Counter)
    _unions: defaultdict[Node, UnionOfIntervals] = field(default_factory=lambda: defaultdict(UnionOfIntervals))

    def take(self, job: str, runs: Iterable[Run]) -> None:
        """Adds the latest runs of tasks of a job, given by its key."""
        for run in runs:
            self.add(job, run, outcome_of(run))

    def add(self, job: str, run: Run, outcome: Outcome, instances: int = 1) -> None:
        """Adds any run, which takes place on as many nodes as its task has instances."""
        part = self.window.clipped(run)
        if part is None:
            return
        start, end = part
        self.slots[SlotHolder(job, run.node, outcome)] += (end - start) * run.slots * instances
        if instances > 1:
            self.others[run.node] += (end - start) * (instances - 1)
        if self.has_one_slot(run.node[0]):
            self._sums[run.node] += end - start
        else:
            self._unions[run.node].add(start, end)

    def busy(self) -> Mapping[Node, int]:
        """Returns how long each named node ran any task."""
        return {**self._sums, **{node: union.length for node, union in self._unions.items()}}


def outcome_of_result(result: int) -> Outcome:
    """Returns the outcome of a run that ended with a result."""
    return "succeeded" if result == SUCCESS else "failed" if result == FAILURE else "interrupted"


def outcome_of(run: Run) -> Outcome:
    """Returns how a task's latest run ended."""
    return "running" if run.end is None else outcome_of_result(run.result)


class Settling(NamedTuple):
    """Hours since 1970 before `before` are settled now: in them runs that end at `outcomes_as_of` or later go on."""

    before: int
    outcomes_as_of: int


class TaskUsageByHour:
    """Task usage of the hours of a time span, each a window of its own; hours are counted since 1970 (UTC).

    `ended` are slot milliseconds of runs that ended in hours that are settled now, in hours before the time span.
    `ends` has the runs that ended within it, by the hour of their end. Those of an earlier job with the same id aren't
    in it, and `earlier` has the keys of such jobs.
    """

    def __init__(
        self,
        hours: range,
        known: int,
        has_one_slot: Callable[[str], bool],
        settling: Settling,
        behind: Mapping[str, int] = MappingProxyType({}),
        *,
        created: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        """`known` is the time up to which running tasks are known to have run, in milliseconds since 1970.

        `behind` is that time of jobs, by key, whose tasks are known as of before. `created` are the seconds (since
        1970) in which jobs were created, by key, as far as they are known.
        """
        self.hours = {hour: TaskUsage(Window(hour * HOUR, (hour + 1) * HOUR, known), has_one_slot) for hour in hours}
        self.ended: Counter[EndedRun] = Counter()
        self.ends: defaultdict[tuple[int, SlotHolder], RunSum] = defaultdict(RunSum)
        self.earlier: set[str] = set()
        self._created = created
        self._range = hours
        self._known = known
        self.settling = settling
        self._behind = behind

    def take(self, job: str, runs: Iterable[Run]) -> None:
        """Adds the latest runs of tasks of a job, given by its key, to the hours in which they were."""
        for run in runs:
            self.add(job, run, outcome_of(run))

    def add(self, job: str, run: Run, outcome: Outcome, instances: int = 1) -> None:
        """Adds any run to the hours in which it was."""
        before, outcomes_as_of = self.settling
        if run.end is None and job in self._behind:
            run = run._replace(end=max(run.start, min(self._behind[job], self._known)))
        last = (self._known if run.end is None else run.end) // HOUR
        settled: Outcome = outcome if run.end is None or run.end < outcomes_as_of else "running"
        for hour in range(max(run.start // HOUR, self._range.start), min(last + 1, self._range.stop)):
            self.hours[hour].add(job, run, settled if hour < before else outcome, instances)
        if outcome != "running" and run.end is not None and last in self._range:
            self._add_end(SlotHolder(job, run.node, outcome), run, run.end, instances)
            if last < before:
                self._add_ended(SlotHolder(job, run.node, outcome), run, run.end, instances)

    def _add_ended(self, holder: SlotHolder, run: Run, end: int, instances: int) -> None:
        for hour in range(max(run.start // HOUR, self._range.start - MAX_HOURS), self._range.start):
            time = min(end, (hour + 1) * HOUR) - max(run.start, hour * HOUR)
            self.ended[EndedRun(end - end % ENDS, hour, holder)] += time * run.slots * instances

    def _add_end(self, holder: SlotHolder, run: Run, end: int, instances: int) -> None:
        """Adds a run to those that ended in an hour, unless it is one of an earlier job with the same id."""
        if run.start < self._created.get(holder.job, 0) * 1000 - _SKEW:
            self.earlier.add(holder.job)
            return
        one = end // HOUR, holder
        self.ends[one] = self.ends[one].plus(1, (end - run.start) * run.slots * instances)
