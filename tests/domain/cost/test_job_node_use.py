"""What a job's tasks held on dedicated and on spot nodes, and what nodes of the other kind would have cost."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Literal

import pytest

from shared.domain.cost.job_node_use import job_node_use
from shared.domain.cost.priced_days import PricedDay
from shared.domain.cost.usage_days import DAY, JobDay, JobUsageKey, NodeKind, PoolDay, UsageDay
from shared.domain.prices.price_history import PriceHistory, PriceInterval
from shared.domain.prices.price_keys import MeterKey
from shared.domain.prices.price_table import PriceTable

HOUR = 3_600_000
type Priority = Literal["dedicated", "spot"]
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
OWN, SPOT = NodeKind("standard_d2s_v5", True), NodeKind("standard_d2s_v5", False)


def prices(*priorities: Priority) -> PriceTable:
    known: dict[Priority, Decimal] = {"dedicated": Decimal("0.1"), "spot": Decimal("0.02")}
    meters = {MeterKey("linux", name): (PriceInterval(known[name], LONG_AGO, None, "m"),) for name in priorities}
    history = PriceHistory("westeurope", "standard_d2s_v5", meters, {}, LONG_AGO)
    return PriceTable("USD", histories={history.place: history})


def day(*priorities: Priority) -> PricedDay:
    """Returns a day on which a job held 4 h dedicated and 6 h spot, 2 of these in vain, and another one 4 h."""
    held = {
        JobUsageKey("p", OWN, "succeeded"): 4 * HOUR,
        JobUsageKey("p", SPOT, "succeeded"): 4 * HOUR,
        JobUsageKey("p", SPOT, "interrupted"): 2 * HOUR,
    }
    units = {
        OWN: {"succeeded": 8 * HOUR, "starting": HOUR, "startTask": HOUR, "idle": HOUR, "startTaskFailed": HOUR},
        SPOT: {"succeeded": 4 * HOUR, "interrupted": 2 * HOUR, "starting": 3 * HOUR},
    }
    pools = {"p": PoolDay("P", 1, "westeurope", "linux", "none", units)}
    jobs = {"a": JobDay("A", held), "b": JobDay("B", {JobUsageKey("p", OWN, "succeeded"): 4 * HOUR})}
    return PricedDay(UsageDay(20_000, 20_000 * DAY, pools, jobs=jobs), prices(*priorities))


def test_time_and_money_are_apart_by_kind_of_node_with_the_price_of_the_other_kind() -> None:
    found = job_node_use([day("dedicated", "spot"), day("dedicated", "spot")], "a")
    own, spot = found.dedicated, found.spot
    assert (own.held, own.interrupted, own.cost, own.otherwise) == (8 * HOUR, 0, Decimal("0.8"), Decimal("0.16"))
    assert (spot.held, spot.interrupted) == (12 * HOUR, 4 * HOUR)
    assert (spot.cost, spot.otherwise) == (Decimal("0.24"), Decimal("1.2"))
    assert found.held == 20 * HOUR


def test_money_is_apart_by_vm_size_as_far_as_it_has_a_price() -> None:
    other = NodeKind("standard_x8_v9", dedicated=True)
    held = {JobUsageKey("p", kind, "succeeded"): HOUR for kind in (OWN, SPOT, other)}
    units = {kind: {"succeeded": HOUR} for kind in (OWN, SPOT, other)}
    pools = {"p": PoolDay("P", 1, "westeurope", "linux", "none", units)}
    usage = UsageDay(20_000, 20_000 * DAY, pools, jobs={"a": JobDay("A", held)})
    found = job_node_use([PricedDay(usage, prices("dedicated", "spot"))], "a").amounts
    assert found == {"standard_d2s_v5": Decimal("0.12"), "standard_x8_v9": 0}


def test_start_ups_are_shared_among_jobs_by_what_they_held() -> None:
    found = job_node_use([day("dedicated", "spot")], "a")
    assert found.starting == HOUR + 3 * HOUR  # half of the dedicated nodes', all of the spot nodes'


@pytest.mark.parametrize(("known", "cost", "otherwise"), [("dedicated", Decimal("0.4"), None), ("spot", None, "0.08")])
def test_money_without_a_price_is_unknown(known: Priority, cost: Decimal | None, otherwise: str | None) -> None:
    own = job_node_use([day(known)], "a").dedicated
    assert (own.cost, own.otherwise) == (cost, otherwise and Decimal(otherwise))


def test_a_job_without_usage_held_nothing() -> None:
    found = job_node_use([day("dedicated", "spot")], "other")
    assert (found.held, found.starting, found.dedicated.cost) == (0, 0, Decimal(0))
