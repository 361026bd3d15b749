"""The changes that would have saved most: each once, and no money twice."""

import re
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.cost import waste
from shared.domain.cost.priced_days import NO_JOB, CostLine
from shared.domain.cost.usage_days import NodeKind
from shared.domain.cost.waste.savings import Cell, Claim, CostCells, most_rewarding

OWN, SPOT = NodeKind("standard_d4s_v5", dedicated=True), NodeKind("standard_d4s_v5", dedicated=False)
LINES = [
    CostLine("pool", "a", OWN, "succeeded", 1, Decimal(60)),
    CostLine("pool", "b", OWN, "succeeded", 1, Decimal(20)),
    CostLine("pool", "b", SPOT, "interrupted", 1, Decimal(5)),
    CostLine("pool", "a", OWN, "idle", 1, Decimal(12), is_shared=True),
    CostLine("pool", NO_JOB, OWN, "idle", 1, Decimal(8)),
    CostLine("other", "a", OWN, "failed", 1, Decimal(4)),
    CostLine("other", NO_JOB, OWN, "idleSlots", 1, None),
]


def cells(lines: list[CostLine] = LINES) -> CostCells:
    found = CostCells()
    for line in lines:
        found.add(line)
    return found


def test_time_that_no_task_held_belongs_to_its_pool_and_what_tasks_held_to_their_job() -> None:
    costs = cells()
    assert costs.wasted("idlePool", pool="pool") == [Cell("pool", NO_JOB, OWN, "idle")]
    assert costs.total(costs.wasted("idlePool", pool="pool")) == 20
    assert costs.total(costs.held("a")) == 64
    assert costs.total(costs.held("b", dedicated=True)) == 20
    assert costs.held("a", vm_size="unknown") == costs.held("a")
    assert costs.held(NO_JOB) == []
    assert costs.total(costs.wasted("failedTasks", job="a")) == 4
    assert costs.total(costs.wasted("spotInstead", pool="pool")) == 80
    assert costs.total(costs.wasted("preemptedRuns", pool="pool")) == 5
    assert costs.wasted("interruptedRuns", pool="pool") == costs.wasted("idleSlots", pool="other") == []


def test_a_finding_about_the_same_time_as_a_dearer_one_counts_with_what_that_leaves() -> None:
    costs = cells()
    job, pool = Claim(costs.held("a"), Decimal(48)), Claim(costs.wasted("spotInstead", pool="pool"), Decimal(40))
    idle = Claim(costs.wasted("idlePool", pool="pool"), Decimal(20))
    found = most_rewarding([pool, idle, job], costs, 10)
    # of 60 for job a on the pool, its finding saves three quarters: half of the other 15, and of b's 20, is left
    assert [tuple(one) for one in found] == [(2, 64, 48), (1, 20, 20), (0, 80, Decimal("17.5"))]
    assert most_rewarding([pool, idle, job], costs, 2) == found[:2]


def test_the_dearer_of_two_findings_on_all_of_the_same_time_takes_everything() -> None:
    costs = cells()
    idle = costs.wasted("idlePool", pool="pool")
    for amounts, dearest in (((12, 20), 1), ((20, 30), 0)):
        (one,) = most_rewarding([Claim(idle, Decimal(amount)) for amount in amounts], costs, 10)
        assert tuple(one) == (dearest, 20, 20)


def test_a_finding_on_time_without_a_price_saves_nothing() -> None:
    assert most_rewarding([Claim((), Decimal(7))], cells(), 10) == []


@given(st.lists(st.tuples(st.sets(st.sampled_from(range(5))), st.integers(1, 99)), max_size=8))
def test_all_changes_together_save_at_most_what_their_time_costs_and_the_dearest_comes_first(
    drawn: list[tuple[set[int], int]],
) -> None:
    costs = cells()
    every = list(costs.amounts)
    claims = [Claim([every[at] for at in sorted(places)], Decimal(money)) for places, money in drawn]
    found = most_rewarding(claims, costs, 10)
    claimed = {cell for claim in claims for cell in claim.cells}
    assert sum(one.amount for one in found) <= costs.total(claimed) + Decimal("1e-9")
    assert [one.amount for one in found] == sorted((one.amount for one in found), reverse=True)
    assert all(one.amount <= claims[one.place].amount + Decimal("1e-9") for one in found)
    if found:
        dearest = max(min(claim.amount, costs.total(claim.cells)) for claim in claims)
        assert abs(found[0].amount - dearest) < Decimal("1e-9")


def test_the_time_of_every_rule_on_waste_is_known() -> None:
    folder, costs = Path(waste.__file__).parent, CostCells()
    texts = [path.read_text(encoding="utf-8") for path in folder.rglob("*.py")]
    codes = {code for text in texts for code in re.findall(r'return e\.found\(\s*"(\w+)"', text)}
    assert len(codes) == 12
    for code in codes:
        assert costs.wasted(code, pool="pool") == []
    with pytest.raises(KeyError):
        costs.wasted("otherRule", pool="pool")
