"""What is stored of a pool's past: its tasks with their stamps, its nodes as polls saw them, and its targets.

Batch's own samples aren't stored. Those of tasks follow from the tasks' stamps, those of nodes from the pool's history.
Times are milliseconds since 1970.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from shared.domain.autoscale.evaluation import Targets
from shared.domain.autoscale.samples import PERIOD, SampleHistory

_UNUSABLE = frozenset(
    ("unusable", "starttaskfailed", "unknown", "offline", "preempted", "leavingpool", "deallocated", "deallocating")
)
DAY = 86_400_000
_DATES = 1000  # milliseconds: dates of polls are whole seconds, rounded down
SAMPLE_STEP = int(PERIOD.total_seconds() * 1000)
TASK_VARIABLES = ("$ActiveTasks", "$RunningTasks", "$PendingTasks", "$SucceededTasks", "$FailedTasks")
NODE_VARIABLES = (
    "$CurrentDedicatedNodes",
    "$CurrentLowPriorityNodes",
    "$PreemptedNodeCount",
    "$UsableNodeCount",
    "$SampleNodeCount",
)
UNKNOWN_VARIABLES = (
    "$CPUPercent",
    "$WallClockSeconds",
    "$MemoryBytes",
    "$DiskBytes",
    "$DiskReadBytes",
    "$DiskWriteBytes",
    "$DiskReadOps",
    "$DiskWriteOps",
    "$NetworkInBytes",
    "$NetworkOutBytes",
)
"""Variables whose samples Batch alone has: no API shows them, so none are stored."""
SLOTS = "$TaskSlotsPerNode"


class PoolTask(NamedTuple):
    """A task that was ready to run from `ready` on; `start` and `end` of its run are None until they are known."""

    ready: int
    start: int | None = None
    end: int | None = None
    slots: int = 1
    has_failed: bool = False


class NodePoint(NamedTuple):
    """The nodes that a poll saw, and the targets, None where Batch reported none."""

    at: int
    dedicated: int
    spot: int
    preempted: int
    usable: int
    targets: Targets | None

    @property
    def counts(self) -> Mapping[str, float]:
        total = self.dedicated + self.spot
        numbers = (self.dedicated, self.spot, self.preempted, self.usable, total)
        return dict(zip(NODE_VARIABLES, map(float, numbers), strict=True))


_NO_NODES = NodePoint(0, 0, 0, 0, 0, None)


def is_usable(state: str) -> bool:
    """Returns whether nodes in a state count for `$UsableNodeCount`."""
    return state not in _UNUSABLE


class RecordedEvaluation(NamedTuple):
    """An evaluation of the pool's formula: the targets before and after it; None where no poll saw those after it."""

    at: int
    before: Targets
    after: Targets | None


@dataclass(frozen=True, slots=True)
class RecordedPool:
    """A pool's tasks, and its nodes in the order of time. There are no samples from before `begin`.

    `succeeded` and `failed` are numbers of tasks that ended before all `tasks`. `options` say what resizes did to runs
    on nodes that left, in the order of time.
    """

    begin: int
    tasks: Sequence[PoolTask]
    nodes: Sequence[NodePoint]
    slots: int = 1
    succeeded: int = 0
    failed: int = 0
    options: Sequence[tuple[int, str]] = ()

    def option_within(self, since: int, until: int) -> str | None:
        """Returns the option of the last resize between two polls, None if it isn't recorded."""
        found = [option for at, option in self.options if since <= at < until + _DATES]
        return found[-1] if found else None

    def samples(self, since: int, until: int) -> SampleHistory:
        """Returns samples every 30 seconds before `until`, which itself would be the next, from `since` on."""
        first = until - (until - max(since, self.begin)) // SAMPLE_STEP * SAMPLE_STEP
        return self.counts_at(range(first, until, SAMPLE_STEP))

    def counts_at(self, times: Iterable[int]) -> SampleHistory:
        """Returns the counts of tasks and nodes at increasing times, before what happens in the same millisecond."""
        ready, starts, ends, failures = (sorted(some) for some in self._stamps())
        points = [point.at for point in self.nodes]
        found = SampleHistory()
        for at in times:
            begun, over, failed = (bisect_left(some, at) for some in (starts, ends, failures))
            waiting, running = bisect_left(ready, at) - begun, begun - over
            tasks = (waiting, running, waiting + running, over - failed + self.succeeded, failed + self.failed)
            place = bisect_right(points, at)
            nodes = self.nodes[place - 1] if place else _NO_NODES
            found.add(at, dict(zip(TASK_VARIABLES, map(float, tasks), strict=True)) | dict(nodes.counts))
        return found

    def _stamps(self) -> tuple[list[int], list[int], list[int], list[int]]:
        """Returns when tasks were ready, started, ended and failed; those that never started count as started then."""
        ready, starts, ends, failures = list[int](), list[int](), list[int](), list[int]()
        for task in self.tasks:
            ready.append(task.ready)
            begun = task.end if task.start is None else max(task.start, task.ready)
            if begun is not None:
                starts.append(begun)
            if task.end is not None:
                ends.append(max(task.end, begun or 0))
                if task.has_failed:
                    failures.append(ends[-1])
        return ready, starts, ends, failures

    def nodes_at(self, at: int) -> NodePoint:
        """Returns the nodes as of a time; none before the first poll."""
        place = bisect_right([point.at for point in self.nodes], at)
        return self.nodes[place - 1] if place else _NO_NODES


def recorded_evaluations(
    times: Sequence[int], known: Mapping[int, Targets | None], nodes: Sequence[NodePoint]
) -> list[RecordedEvaluation]:
    """Returns evaluations with their targets: those that Batch stated, or the last that polls saw before the next.

    `known` are targets that Batch stated with its evaluations, by their times; None where one failed.
    """
    found = list[RecordedEvaluation]()
    points = [point.at for point in nodes]
    for at, following in zip(times, [*times[1:], None], strict=False):
        place = bisect_left(points, at)
        before = found[-1].after if found else None
        if before is None:
            before = (nodes[place - 1].targets if place else None) or Targets(0, 0)
        after = (known[at] or before) if at in known else _targets_within(nodes, at, following)
        found.append(RecordedEvaluation(at, before, after))
    return found


def _targets_within(nodes: Sequence[NodePoint], at: int, following: int | None) -> Targets | None:
    """Returns the last targets seen after an evaluation and certainly before the next."""
    last = len(nodes) if following is None else bisect_left(nodes, following - _DATES, key=lambda point: point.at)
    return nodes[last - 1].targets if last and nodes[last - 1].at > at else None
