"""Costs of a day so far: the sums by pool and by job are the total, and time without a price is in no amount."""

from datetime import UTC, datetime
from decimal import Decimal

from shared.domain.cost.day_costs import day_costs
from shared.domain.cost.priced_days import PricedDay
from shared.domain.cost.usage_days import DAY, JobDay, JobUsageKey, NodeKind, PoolDay, UsageDay
from shared.domain.prices.price_history import PriceHistory, PriceInterval
from shared.domain.prices.price_keys import MeterKey
from shared.domain.prices.price_table import PriceTable

_HOUR = 3_600_000
_KIND, _UNKNOWN = NodeKind("standard_d2s_v5", True), NodeKind("standard_x9", True)
_LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
_HISTORY = PriceHistory(
    *("westeurope", "standard_d2s_v5"),
    {MeterKey("linux", "dedicated"): (PriceInterval(Decimal("0.1"), _LONG_AGO, None, "m"),)},
    {},
    _LONG_AGO,
)


def test_costs_of_pools_and_of_jobs_add_up_to_the_day() -> None:
    pools = {
        "p1": PoolDay("P1", 2, "westeurope", "linux", "none", {_KIND: {"succeeded": 4 * _HOUR, "idle": 2 * _HOUR}}),
        "p2": PoolDay("P2", 1, "westeurope", "linux", "none", {_KIND: {"starting": _HOUR}, _UNKNOWN: {"idle": _HOUR}}),
    }
    jobs = {"a": JobDay("A", {JobUsageKey("p1", _KIND, "succeeded"): 3 * _HOUR}, {})}
    jobs["b"] = JobDay("B", {}, {JobUsageKey("p1", _KIND, "succeeded"): _HOUR})
    prices = PriceTable("EUR", histories={_HISTORY.place: _HISTORY})
    found = day_costs(PricedDay(UsageDay(20_000, 20_000 * DAY + _HOUR, pools, jobs=jobs), prices))
    assert (found.currency, found.as_of) == ("EUR", datetime(2024, 10, 4, 1, tzinfo=UTC))
    assert found.total.amount == Decimal("0.4")
    assert {pool: one.amount for pool, one in found.pools.items()} == {"P1": Decimal("0.3"), "P2": Decimal("0.1")}
    assert {job: one.amount for job, one in found.jobs.items()} == {"A": Decimal("0.225"), "B": Decimal("0.075")}
    assert (found.total.unpriced, found.pools["P2"].unpriced, found.total.wasted) == (_HOUR, _HOUR, Decimal("0.1"))
    assert found.total.unpriced_times == {"idle": _HOUR}
