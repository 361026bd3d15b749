"""Which changes would have saved most, where several findings concern the same time of nodes: no money counts twice.

The dearest finding comes first. Of each further one what is left counts: its share of the money that those before it
leave of the same time. Two findings concern the same time if they name the same pool or job, kind of node and class.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from shared.domain.cost.allocation import OUTCOMES
from shared.domain.cost.priced_days import NO_JOB, CostLine
from shared.domain.cost.usage_days import NodeKind
from shared.domain.cost.waste.evidence import BUSY
from shared.domain.usage.billing_classes import UNBILLED

_HELD = frozenset(OUTCOMES)
_NOTHING, _WHOLE = Decimal(0), Decimal(1)


class Cell(NamedTuple):
    """Time of nodes: of a job what its tasks held, of NO_JOB what no task held. `pool` and `job` are keys."""

    pool: str
    job: str
    kind: NodeKind
    cost_class: str


class Claim(NamedTuple):
    """What a finding would have saved by itself, of the time that it concerns."""

    cells: Collection[Cell]
    amount: Decimal


class RankedClaim(NamedTuple):
    """A claim by its place among all, what its time costs, and what of it is left beside those before it."""

    place: int
    cost: Decimal
    amount: Decimal


class _ClaimedTime(NamedTuple):
    classes: Collection[str]
    dedicated: bool | None = None


_CLAIMED: Mapping[str, _ClaimedTime] = {
    "idlePool": _ClaimedTime(("idle",)),
    "idleWeekends": _ClaimedTime(("idle",)),
    "oversizedPool": _ClaimedTime(("idle",)),
    "idleBetweenTasks": _ClaimedTime(("idle", "idleSlots")),
    "idleSlots": _ClaimedTime(("idleSlots",)),
    "startsWithoutRuns": _ClaimedTime(("starting", "startTask")),
    "failingStartTask": _ClaimedTime(("startTaskFailed",)),
    "interruptedRuns": _ClaimedTime(("interrupted",), dedicated=True),
    "preemptedRuns": _ClaimedTime(("interrupted",), dedicated=False),
    "retriedRuns": _ClaimedTime(("retried",)),
    "failedTasks": _ClaimedTime(("failed",)),
    "spotInstead": _ClaimedTime(BUSY, dedicated=True),
}
"""The time that rules on waste concern: of their pool, or of their job."""


class CostCells:
    """The money of lines by cell, found by pool and by job."""

    def __init__(self) -> None:
        self.amounts: defaultdict[Cell, Decimal] = defaultdict(Decimal)
        self._of_pools: defaultdict[str, set[Cell]] = defaultdict(set)
        self._of_jobs: defaultdict[str, set[Cell]] = defaultdict(set)

    def add(self, line: CostLine) -> None:
        """Adds a line of jobs or of pools with its money, if it has any."""
        if not line.amount or line.cost_class in UNBILLED:
            return
        job = line.job if line.cost_class in _HELD else NO_JOB
        cell = Cell(line.pool, job, line.kind, line.cost_class)
        self.amounts[cell] += line.amount
        self._of_pools[cell.pool].add(cell)
        self._of_jobs[cell.job].add(cell)

    def held(self, job: str, *, vm_size: str = "", dedicated: bool | None = None) -> list[Cell]:
        """Returns the cells of what a job's tasks held: on nodes of a size if it had any, or of one kind."""
        cells = [cell for cell in self._of_jobs.get(job, ()) if job != NO_JOB]
        of_size = [cell for cell in cells if cell.kind.vm_size == vm_size]
        return [cell for cell in of_size or cells if dedicated in {None, cell.kind.dedicated}]

    def wasted(self, rule: str, *, pool: str = "", job: str = "") -> list[Cell]:
        """Returns the cells that a rule on waste concerns, of a pool or of a job. Raises KeyError for another rule."""
        claimed, cells = _CLAIMED[rule], self._of_jobs.get(job, ()) if job else self._of_pools.get(pool, ())
        return [
            cell for cell in cells
            if cell.cost_class in claimed.classes and claimed.dedicated in {None, cell.kind.dedicated}
        ]  # fmt: skip

    def total(self, cells: Iterable[Cell]) -> Decimal:
        return sum((self.amounts[cell] for cell in cells), _NOTHING)


def most_rewarding(claims: Sequence[Claim], costs: CostCells, most: int) -> list[RankedClaim]:
    """Returns the claims that would have saved most, the dearest first; of those alike the first one first."""
    totals = [costs.total(claim.cells) for claim in claims]
    both = zip(claims, totals, strict=True)
    shares = [min(claim.amount / total, _WHOLE) if total else _NOTHING for claim, total in both]
    left: defaultdict[Cell, Decimal] = defaultdict(lambda: _WHOLE)

    def worth(at: int) -> Decimal:
        """Returns what is left of a claim; the cells of one only become less worth."""
        return shares[at] * sum((costs.amounts[cell] * left[cell] for cell in claims[at].cells), _NOTHING)

    return _taken(worth, lambda at: _take(claims[at].cells, shares[at], left), totals, most)


def _take(cells: Iterable[Cell], share: Decimal, left: defaultdict[Cell, Decimal]) -> None:
    for cell in cells:
        left[cell] *= _WHOLE - share


def _taken(
    worth: Callable[[int], Decimal], take: Callable[[int], None], totals: Sequence[Decimal], most: int
) -> list[RankedClaim]:
    """Takes the dearest claim again and again, whose worth is known since those before it were taken."""
    waiting = [(-worth(at), at) for at in range(len(totals))]
    heapify(waiting)
    found = list[RankedClaim]()
    while waiting and len(found) < most:
        known, at = heappop(waiting)
        now = worth(at)
        if not now:
            continue
        if now != -known:
            heappush(waiting, (-now, at))
            continue
        take(at)
        found.append(RankedClaim(at, totals[at], now))
    return found
