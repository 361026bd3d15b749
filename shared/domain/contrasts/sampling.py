"""Which tasks of a large job are compared: the same ones each time, by a checksum of their keys.

Failed and succeeded tasks are sampled apart, as a job has few failed ones. Shares of either, odds ratios and tests stay
right (a case-control design); rates of failure don't.
"""

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
    def of(cls, counts: TaskCounts) -> "TaskSample":
        """Returns the sample of a job with these counts."""
        return cls(_limit(MAX_FAILED, counts.failed), _limit(MAX_SUCCEEDED, counts.succeeded))

    @property
    def is_all(self) -> bool:
        return self.failed == self.succeeded == _ALL

    def tasks(self, leaf: Leaf, places: Iterable[int]) -> list[Task]:
        """Returns the compared tasks among some rows of a leaf: ended ones with a result."""
        states, results = leaf.column("state"), leaf.column("result")
        limits = {SUCCESS: self.succeeded, FAILURE: self.failed}
        ended = (at for at in places if states[at] == COMPLETED and results[at] in limits)
        if self.is_all:
            return leaf.rows(ended)
        keys = leaf.keys
        return leaf.rows([at for at in ended if crc32(keys[at].encode()) < limits[results[at]]])


def _limit(most: int, number: int) -> int:
    return _ALL if number <= most else _ALL * most // number
