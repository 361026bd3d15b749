"""Charges of a day: their rounded amounts add up to the rounded day, for parts of any size."""

from datetime import UTC, datetime
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.cost.allocation import OUTCOMES
from shared.domain.cost.focus_charges import focus_charges
from shared.domain.cost.priced_days import PricedDay, Sharing
from shared.domain.cost.usage_days import DAY, JobDay, JobUsageKey, NodeKind, PoolDay, UsageDay
from shared.domain.prices.price_history import PriceHistory, PriceInterval
from shared.domain.prices.price_keys import MeterKey
from shared.domain.prices.price_table import PriceTable
from tests.profiles import half_as_many

_DAY = 20_789  # 2026-12-02
_LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
_OWN, _SPOT, _UNKNOWN = (
    NodeKind("standard_d2s_v5", True),
    NodeKind("standard_d2s_v5", False),
    NodeKind("standard_x9", True),
)
_METERS = {MeterKey("linux", "dedicated"): Decimal("0.1"), MeterKey("linux", "spot"): Decimal("0.023")}
_HISTORY = PriceHistory(
    *("westeurope", "standard_d2s_v5"),
    {meter: (PriceInterval(price, _LONG_AGO, None, "m"),) for meter, price in _METERS.items()},
    {},
    _LONG_AGO,
)
_PRICES = PriceTable("USD", histories={_HISTORY.place: _HISTORY})
_CLASSES = (*OUTCOMES, "idle", "idleSlots", "unattributed", "unwatched", "preempted")


@st.composite
def _days(draw: st.DrawFn) -> UsageDay:
    amounts = st.dictionaries(st.sampled_from(_CLASSES), st.integers(1, 10**9))
    kinds = draw(st.dictionaries(st.sampled_from((_OWN, _SPOT, _UNKNOWN)), amounts))
    pool = PoolDay("P1", draw(st.integers(1, 7)), "westeurope", "linux", "none", kinds)
    keys = st.builds(JobUsageKey, st.just("p1"), st.sampled_from((_OWN, _SPOT)), st.sampled_from(OUTCOMES))
    jobs = {name: JobDay(name, draw(st.dictionaries(keys, st.integers(1, 10**9)))) for name in ("a", "s:job-1")}
    return UsageDay(_DAY, _DAY * DAY, {"p1": pool}, jobs=jobs)


@half_as_many()
@given(_days(), st.sampled_from(("proportional", "even", "none")))
def test_charges_add_up_to_the_days_cost_and_none_is_negative(day: UsageDay, sharing: Sharing) -> None:
    priced = PricedDay(day, _PRICES)
    charges = list(focus_charges(priced, sharing))
    whole = sum(
        (line.amount or Decimal(0) for line in priced.pool_lines() if line.cost_class != "unwatched"), Decimal(0)
    )
    assert abs(sum((one.cost for one in charges), Decimal(0)) - whole) <= Decimal("1e-10")
    assert all(one.cost >= 0 for one in charges)
    assert {one.cost_class for one in charges}.isdisjoint({"unwatched", "preempted"})
    assert all((one.job_id is None) == (one.method is None) for one in charges)


def test_a_charge_has_its_day_and_the_month_of_the_bill() -> None:
    pool = PoolDay("P1", 2, "westeurope", "linux", "none", {_OWN: {"idle": 2 * 3_600_000}})
    (charge,) = focus_charges(PricedDay(UsageDay(_DAY, 0, {"p1": pool}), _PRICES), "none")
    assert (charge.since, charge.until) == (datetime(2026, 12, 2, tzinfo=UTC), datetime(2026, 12, 3, tzinfo=UTC))
    assert charge.billing_period == (datetime(2026, 12, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC))
    assert (charge.cost, charge.hours, charge.job_id) == (Decimal("0.1"), Decimal(1), None)
