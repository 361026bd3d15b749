"""Which tasks of a large job are compared: the same ones each time, by a checksum of their keys.

Failed and succeeded tasks are sampled apart, as a job has few failed ones. Shares of either, odds ratios and tests stay
right (a case-control design); rates of failure don't.
"""

from array import array
from collections.abc import Iterable
from typing import NamedTuple
from zlib import crc32

from shared.domain.leaves.leaves import Leaf
from shared.domain.tasks.tasks import COMPLETED, FAILURE, SUCCESS, Task, TaskCounts

MAX_FAILED, MAX_SUCCEEDED = 15_000, 25_000
_ALL = 1 << 32


class TaskSample(NamedTuple):
    """Checksums below which failed, and succeeded, tasks are compared."""

    failed: int = _ALL
    succeeded: int = _ALL

    @classmethod
    def of(cls, counts: TaskCounts, share: float = 1.0) -> "TaskSample":
        """Returns the sample of a job with these counts, or a `share` of its largest size."""
        failed, succeeded = round(MAX_FAILED * share), round(MAX_SUCCEEDED * share)
        return cls(_limit(failed, counts.failed), _limit(succeeded, counts.succeeded))

    @property
    def is_all(self) -> bool:
        return self.failed == self.succeeded == _ALL

    def places(self, leaf: Leaf, places: Iterable[int]) -> list[int]:
        """Returns the compared tasks among some rows of a leaf: ended ones with a result."""
        states, results = leaf.column("state"), leaf.column("result")
        limits = {SUCCESS: self.succeeded, FAILURE: self.failed}
        ended = [at for at in places if states[at] == COMPLETED and results[at] in limits]
        if self.is_all:
            return ended
        keys = leaf.keys
        return [at for at in ended if crc32(keys[at].encode()) < limits[results[at]]]


class ComparedTasks:
    """Collects a job's compared tasks, and the creation of all of its tasks, from leaves in the order of keys."""

    def __init__(self, sample: TaskSample) -> None:
        self.tasks: list[Task] = []
        self._sample = sample
        self._rows: list[int] = []
        self._creations = array("q")

    def add(self, leaf: Leaf, places: range) -> None:
        """Takes adjacent rows of the next leaf."""
        chosen, before = self._sample.places(leaf, places), len(self._creations) - places.start
        self.tasks += leaf.rows(chosen)
        self._rows += [before + at for at in chosen]
        self._creations.extend(leaf.column("creation")[places.start : places.stop])

    def positions(self) -> list[int]:
        """Returns the position of each compared task in the job, from 1: by creation, of one creation by key."""
        ranks = array("q", bytes(8 * len(self._creations)))
        for rank, row in enumerate(sorted(range(len(ranks)), key=self._creations.__getitem__), 1):
            ranks[row] = rank
        return [ranks[row] for row in self._rows]


def _limit(most: int, number: int) -> int:
    return _ALL if number <= most else _ALL * most // number
