"""Nodes on which tasks of a job fail beyond what chance explains, as stored with the job."""

from datetime import datetime
from typing import Any, NamedTuple, Self

import msgspec

from shared.domain.core.stamps import to_milliseconds
from shared.domain.findings.thresholds import FAILING_NODES_HOLD

type NodePlace = tuple[str, str]
"""A node as its pool's id and its own."""


class FailingNode(NamedTuple):
    """A node and its tasks in `jobs`; `expected` failed ones by the rates of other nodes, p corrected for all nodes."""

    place: NodePlace
    ended: int
    failed: int
    expected: float
    other_nodes: int
    jobs: int
    p_value: float


class FailingNodes(NamedTuple):
    """The failing nodes of a job as of a time in milliseconds since 1970, when `failed` of its tasks had failed.

    `is_part`: only a part of the job's tasks was counted.
    """

    as_of: int
    failed: int
    nodes: tuple[FailingNode, ...]
    is_part: bool = False

    def holds(self, failed: int, now: datetime) -> bool:
        """Returns whether this may be stated `now` that `failed` tasks have failed: nothing changed, or only lately."""
        age = to_milliseconds(now) - self.as_of
        return failed == self.failed or (failed > 0 and age < FAILING_NODES_HOLD.total_seconds() * 1000)

    def plain(self) -> list[Any]:
        """Returns numbers and texts, for storage."""
        return [self.as_of, self.failed, [list(one) for one in self.nodes], self.is_part]

    @classmethod
    def of_plain(cls, stored: Any) -> Self:
        """Returns the inverse of `plain`. Raises ValueError."""
        return msgspec.convert(stored, cls)
