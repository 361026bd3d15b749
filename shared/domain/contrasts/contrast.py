"""The answer of a comparison: what sets failed tasks apart, ranked, each with the same tasks seen otherwise."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from shared.domain.contrasts.statistics import Tally, difference_bounds
from shared.domain.tasks.tasks import Task


@dataclass(frozen=True, slots=True)
class Contrast:
    """A group of tasks that failed more often than the others: those with a value, or within bounds.

    `low` and `high` are included, None without a bound; a single value stands in both. `p_value` is corrected for all
    groups that were compared. `alike` are groups of the same tasks by other attributes. `is_serial` is true of times
    and of the order in the job. `inside` has a byte for each compared task, 1 for those of the group.
    """

    attribute: str
    low: Any
    high: Any
    is_value: bool
    tally: Tally
    p_value: float
    alike: "Sequence[Contrast]" = ()
    is_serial: bool = False
    inside: bytes = field(default=b"", repr=False, compare=False)

    @property
    def difference_bounds(self) -> tuple[float, float]:
        return difference_bounds(self.tally)


type ComparisonResult = Literal["apart", "nothing", "noneFailed", "allFailed", "tooFew"]


@dataclass(frozen=True, slots=True)
class TaskComparison:
    """What was compared and found. `consequences` set the failed tasks apart, but follow from failing.

    `tasks` are the compared ones, where there are enough.
    """

    result: ComparisonResult
    failed: int
    succeeded: int
    attributes: Sequence[str] = ()
    tried: int = 0
    contrasts: Sequence[Contrast] = field(default=())
    consequences: Sequence[Contrast] = field(default=())
    tasks: Sequence[Task] = field(default=(), repr=False, compare=False)
