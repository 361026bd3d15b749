"""What a pool's nodes cost by the hour: billed time at the price of the day, and time without a price."""

from datetime import UTC, datetime
from decimal import Decimal

from shared.domain.cost.pool_costs import BilledCost, billed_costs
from shared.domain.cost.usage_days import HOURS, PoolDay
from shared.domain.prices.price_history import PriceHistory, PriceInterval
from shared.domain.prices.price_keys import MeterKey
from shared.domain.prices.price_table import PriceTable
from shared.domain.usage.billing_classes import BillingClass
from shared.domain.usage.usage_ledger import HOUR, UsageKind
from shared.domain.usage.usage_steps import UsageRange

_DAY = 20_000
_FIRST = _DAY * HOURS
_LONG_AGO, _NOON = datetime(2020, 1, 1, tzinfo=UTC), datetime(2024, 10, 4, 12, tzinfo=UTC)


def _prices() -> PriceTable:
    """Returns prices that change at noon of the day."""
    intervals = (
        PriceInterval(Decimal("0.1"), _LONG_AGO, _NOON, "m"),
        PriceInterval(Decimal("0.3"), _NOON, None, "m"),
    )
    history = PriceHistory("westeurope", "standard_d2s_v5", {MeterKey("linux", "dedicated"): intervals}, {}, _NOON)
    return PriceTable("USD", histories={history.place: history})


def _kind(billing_class: BillingClass, *, dedicated: bool = True) -> UsageKind:
    return UsageKind(billing_class, dedicated, "Standard_D2s_v5")


def test_a_price_holds_for_the_day_at_whose_start_it_is_valid() -> None:
    hours = {hour: {_kind("idle"): HOUR} for hour in (_FIRST, _FIRST + 23, _FIRST + 24)}
    wanted = UsageRange(_FIRST, _FIRST + 48, 24)
    pool = PoolDay("p", 4, "westeurope", "linux", "none")
    assert billed_costs(hours, wanted, pool, _prices()) == [
        BilledCost(Decimal("0.2"), priced=2 * HOUR),
        BilledCost(Decimal("0.3"), priced=HOUR),
    ]


def test_unbilled_and_unwatched_time_costs_nothing_and_time_without_a_price_is_counted() -> None:
    hour = {
        _kind("preempted"): HOUR,
        _kind("unwatched"): HOUR,
        _kind("startTask"): HOUR,
        _kind("idle", dedicated=False): 5,
    }
    pool = PoolDay("p", 4, "westeurope", "linux", "none")
    (found,) = billed_costs({_FIRST: hour}, UsageRange(_FIRST, _FIRST + 1, 1), pool, _prices())
    assert found == BilledCost(Decimal("0.1"), 5, HOUR)
    assert BilledCost(unpriced=5).known is None
    assert BilledCost().known == 0


def test_a_price_of_nothing_is_known_beside_time_without_a_price() -> None:
    free = PriceInterval(Decimal(0), _LONG_AGO, None, "m")
    history = PriceHistory("westeurope", "standard_d2s_v5", {MeterKey("linux", "dedicated"): (free,)}, {}, _NOON)
    prices = PriceTable("USD", histories={history.place: history})
    hour = {_kind("idle"): HOUR, _kind("idle", dedicated=False): 5}
    pool = PoolDay("p", 4, "westeurope", "linux", "none")
    (found,) = billed_costs({_FIRST: hour}, UsageRange(_FIRST, _FIRST + 1, 1), pool, prices)
    assert (found.known, found.unpriced) == (Decimal(0), 5)
