"""Activity of nodes in at most a hundred equal parts of a window, where there are too many runs to show each.

Each run costs the same, however many parts it spans: only its first and last parts are updated, and the parts in
between are summed at the end.
"""

from collections.abc import Iterable
from itertools import accumulate

from shared.domain.tasks.tasks import FAILURE
from shared.domain.timeline.timeline import MAX_BUCKETS, Bucket, Node, NodeTimeline, Run, Window


class NodeBuckets:
    """Buckets of the given nodes, from `start` to before a later `end`; running tasks are known until `known`."""

    def __init__(self, start: int, end: int, known: int, nodes: Iterable[Node], *, most: int = MAX_BUCKETS) -> None:
        self._window = Window(start, end, known)
        self._start, self._end = start, end
        self._width = -(-(end - start) // most)
        count = -(-(end - start) // self._width)
        self._nodes = {node: _Sums(count) for node in nodes}

    def take(self, runs: Iterable[Run]) -> None:
        for run in runs:
            sums = self._nodes.get(run.node)
            part = self._window.clipped(run) if sums else None
            if sums and part:
                self._add(sums, run, *part)

    def nodes(self) -> list[NodeTimeline]:
        """Returns the nodes that ran tasks, the busiest first, each with the buckets in which it did."""
        found = [self._timeline(node, sums) for node, sums in self._nodes.items()]
        return sorted((node for node in found if node.buckets), key=lambda found: (-found.busy, found.node))

    def _add(self, sums: "_Sums", run: Run, start: int, end: int) -> None:
        first = (start - self._start) // self._width
        last = max(first, (end - 1 - self._start) // self._width)
        sums.tasks[first] += 1
        sums.tasks[last + 1] -= 1
        if first == last:
            sums.busy[first] += (end - start) * run.slots
        else:
            sums.busy[first] += (self._edge(first + 1) - start) * run.slots
            sums.busy[last] += (end - self._edge(last)) * run.slots
            sums.whole[first + 1] += run.slots
            sums.whole[last] -= run.slots
        if run.result == FAILURE and run.end is not None and run.end <= self._end:
            sums.failed[last] += 1

    def _edge(self, bucket: int) -> int:
        return self._start + bucket * self._width

    def _timeline(self, node: Node, sums: "_Sums") -> NodeTimeline:
        rows = zip(accumulate(sums.tasks), sums.busy, accumulate(sums.whole), sums.failed, strict=True)
        buckets = [
            Bucket(self._edge(at), min(self._edge(at + 1), self._end), tasks, busy + slots * self._width, failed)
            for at, (tasks, busy, slots, failed) in enumerate(rows)
            if tasks
        ]
        return NodeTimeline(node, sum(bucket.busy for bucket in buckets), buckets=buckets)


class _Sums:
    """Per bucket: changes in the number of tasks and of slots busy throughout, busy time of partial slots, failures."""

    __slots__ = ("busy", "failed", "tasks", "whole")

    def __init__(self, count: int) -> None:
        self.tasks, self.busy, self.whole, self.failed = ([0] * (count + 1) for _ in range(4))
