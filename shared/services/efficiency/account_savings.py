"""The changes that would have saved an account most: findings on jobs' efficiency and on waste, each in money.

Advice on measured runs is that of hourly summaries. Findings that rest on costs are made from the days of usage: kinds
of nodes by job, and the rules on waste by pool. All are about the same range, so that they can be ranked.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from shared.domain.core.keys import key_of
from shared.domain.cost.allocation import OUTCOMES
from shared.domain.cost.job_node_use import NodeKindTime, other_price
from shared.domain.cost.priced_days import NO_JOB, CostLine, PricedDay
from shared.domain.cost.usage_days import NodeKind
from shared.domain.cost.waste.evidence import Waste
from shared.domain.cost.waste.gathering import evidence_of
from shared.domain.cost.waste.rules import waste_found
from shared.domain.cost.waste.savings import Cell, Claim, CostCells, most_rewarding
from shared.domain.efficiency.day_use import Advice
from shared.domain.efficiency.job_context import NodeKindUse
from shared.domain.efficiency.spot_notes import SpotNote, spot_note
from shared.domain.findings.finding import Scope
from shared.domain.findings.thresholds import MIN_WASTE_DAYS
from shared.domain.pools.pools import Pool

MAX_SAVINGS = 10
MAX_SAVINGS_OF_WASTE = 92
"""Days up to which hours of usage are read for the rules on waste."""
_HELD = frozenset(OUTCOMES)


class Saving(NamedTuple):
    """A finding's advice on a job or a pool, and what the time that it concerns costs in the range.

    `own_amount` is what it would have saved by itself, `amount` what is left of that beside those before it. `vm_size`
    is empty where it isn't about one.
    """

    scope: Scope
    code: str
    vm_size: str
    title: str
    advice: str
    cost: Decimal
    own_amount: Decimal
    amount: Decimal


@dataclass(slots=True)
class SavingsTally:
    """What jobs and pools cost in a range, by the time that findings concern."""

    cells: CostCells = field(default_factory=CostCells)
    names: dict[str, str] = field(default_factory=dict)
    _kinds: defaultdict[tuple[str, bool], NodeKindTime] = field(default_factory=lambda: defaultdict(NodeKindTime))
    _others: dict[tuple[str, NodeKind], Decimal | None] = field(default_factory=dict)

    def begin(self, day: PricedDay) -> None:
        """Begins a day, whose prices may be others than those of the day before."""
        self._others.clear()
        self.names |= {key: one.job_id for key, one in day.usage.jobs.items()}

    def add(self, day: PricedDay, line: CostLine) -> None:
        """Adds a line of a job with its share of idle time, or of no job."""
        self.cells.add(line)
        if line.job != NO_JOB and not line.is_shared and line.cost_class in _HELD:
            priced = (line.pool, line.kind)
            if priced not in self._others:
                self._others[priced] = other_price(day, *priced)
            self._kinds[line.job, line.kind.dedicated].add(line, self._others[priced])

    def spot_notes(self) -> dict[str, SpotNote]:
        """Returns the notes with money on jobs' kinds of nodes, by key of the job."""
        nothing, found = NodeKindTime(), dict[str, SpotNote]()
        for job in sorted({job for job, _ in self._kinds}):
            kinds = (_use(self._kinds.get((job, dedicated), nothing)) for dedicated in (True, False))
            note = spot_note(*kinds)
            if note and note.saving:
                found[job] = note
        return found


def waste_of(days: Sequence[PricedDay], pools: Mapping[str, Pool], today: int) -> list[Waste]:
    """Returns what was wasted on days with hours; without samples of pools.

    Today counts only where there are fewer than three other days. No amount is one of a month, so days that were
    watched in part count, too.
    """
    over = [day for day in days if day.usage.day < today]
    evidence = evidence_of(over if len(over) >= MIN_WASTE_DAYS else days, pools, len(over), today)
    return waste_found(evidence) if evidence else []


def best_savings(tally: SavingsTally, advice: Mapping[str, Sequence[Advice]], waste: Sequence[Waste]) -> list[Saving]:
    """Returns the ten findings that would have saved most; where several concern the same time, none counts twice."""
    made = [*_advised(tally, advice), *_on_spot(tally), *_wasted(tally, waste)]
    ranked = most_rewarding([claim for _, claim in made], tally.cells, MAX_SAVINGS)
    return [
        made[one.place][0]._replace(cost=one.cost, own_amount=made[one.place][1].amount, amount=one.amount)
        for one in ranked
    ]


def _advised(tally: SavingsTally, advice: Mapping[str, Sequence[Advice]]) -> list[tuple[Saving, Claim]]:
    found = list[tuple[Saving, Claim]]()
    for key in sorted(advice.keys() & tally.names.keys()):
        for one in advice[key]:
            cells = _cells_of(tally.cells, key, one.vm_size)
            amount = tally.cells.total(cells) * Decimal(str(one.share))
            scope = Scope("job", tally.names[key])
            saving = _saving(scope, one.rule, one.title, one.advice, one.vm_size)
            found.append((saving, Claim(cells, amount)))
    return found


def _cells_of(cells: CostCells, job: str, vm_size: str) -> list[Cell]:
    """Returns what a job's tasks held on nodes of a size, where there were none of it on those of unknown size."""
    return [cell for cell in cells.held(job, vm_size=vm_size) if cell.kind.vm_size in {vm_size, ""}]


def _on_spot(tally: SavingsTally) -> list[tuple[Saving, Claim]]:
    return [
        (
            _saving(Scope("job", tally.names[key]), note.rule, note.title, note.advice),
            Claim(tally.cells.held(key, dedicated=note.dedicated), note.saving or Decimal(0)),
        )
        for key, note in tally.spot_notes().items()
    ]


def _wasted(tally: SavingsTally, waste: Sequence[Waste]) -> list[tuple[Saving, Claim]]:
    found = list[tuple[Saving, Claim]]()
    for one in waste:
        scope, rule = one.finding.scope, one.finding.rule
        where = {scope.kind: key_of(scope.id)}
        if one.cost.amount and scope.kind in {"pool", "job"}:
            cells = tally.cells.wasted(rule, pool=where.get("pool", ""), job=where.get("job", ""))
            found.append((_saving(scope, rule, one.finding.title, one.finding.advice), Claim(cells, one.cost.amount)))
    return found


def _saving(scope: Scope, code: str, title: str, advice: str, vm_size: str = "") -> Saving:
    """Returns a saving whose money isn't known yet."""
    nothing = Decimal(0)
    return Saving(scope, code, vm_size, title, advice, nothing, nothing, nothing)


def _use(found: NodeKindTime) -> NodeKindUse:
    return NodeKindUse(found.held, found.interrupted, found.cost, found.otherwise)
