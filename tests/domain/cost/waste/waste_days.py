"""Days of usage for tests of rules on waste: hours of pools' nodes by class, at round prices."""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal

from shared.domain.cost.priced_days import PricedDay
from shared.domain.cost.usage_days import DAY, JobDay, NodeKind, PoolDay, UsageDay
from shared.domain.cost.waste.evidence import WasteEvidence
from shared.domain.cost.waste.gathering import waste_evidence
from shared.domain.findings.thresholds import MIN_WASTE_DAYS
from shared.domain.pools.pool_facts import PoolFacts, Size
from shared.domain.pools.pool_settings import AutoScale
from shared.domain.pools.pools import Pool
from shared.domain.prices.price_history import PriceHistory, PriceInterval
from shared.domain.prices.price_keys import MeterKey
from shared.domain.prices.price_table import PriceTable

HOUR = 3_600_000
NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)  # a Monday
TODAY = int(NOW.timestamp()) // 86_400
OWN, SPOT, UNPRICED = (
    NodeKind("standard_d2s_v5", True),
    NodeKind("standard_d2s_v5", False),
    NodeKind("standard_x9", True),
)
type Hours = Mapping[int, Mapping[NodeKind, Mapping[str, float]]]
"""Hours of nodes by class and kind of node, by hour of the day."""


def prices() -> PriceTable:
    """Returns prices of 1 for an hour of a dedicated node, and 0.25 for one of a spot node."""
    meters = {MeterKey("linux", "dedicated"): Decimal(1), MeterKey("linux", "spot"): Decimal("0.25")}
    begun = datetime(2020, 1, 1, tzinfo=UTC)
    intervals = {meter: (PriceInterval(price, begun, None, "m"),) for meter, price in meters.items()}
    history = PriceHistory("westeurope", "standard_d2s_v5", intervals, {}, begun)
    return PriceTable("USD", histories={history.place: history})


def pool(name: str = "P", *, nodes: int | None = 4, spot: int = 0, slots: int = 1, autoscale: bool = False) -> Pool:
    facts = PoolFacts(
        name, NOW, "active", NOW, "standard_d2s_v5",
        dedicated=Size(nodes or 0, nodes), spot=Size(spot, spot), slots_per_node=slots,
        auto_scale=AutoScale("$TargetDedicatedNodes = 1;") if autoscale else None,
    )  # fmt: skip
    return Pool(facts, NOW)


def day(back: int, hours: Hours, *, slots: int = 1, jobs: Mapping[str, JobDay] | None = None) -> PricedDay:
    """Returns the day `back` days before today, with the usage of the pool `p`."""
    number = TODAY - back
    units = {
        hour: {
            kind: {name: round(time * HOUR * slots) for name, time in classes.items()}
            for kind, classes in kinds.items()
        }
        for hour, kinds in hours.items()
    }
    whole: dict[NodeKind, Counter[str]] = {}
    for kinds in units.values():
        for kind, classes in kinds.items():
            whole.setdefault(kind, Counter()).update(classes)
    found = PoolDay("P", slots, "westeurope", "linux", "none", whole)
    usage = UsageDay(number, (number + 1) * DAY, {"p": found}, {"p": units}, jobs or {})
    return PricedDay(usage, prices())


def evidence(hours: Hours, *, of: Pool | None = None, days: int = 7, slots: int = 1) -> WasteEvidence:
    """Returns the evidence of days with the same hours, up to yesterday: of full ones from three on."""
    same = [day(back, hours, slots=slots) for back in range(days, 0, -1)]
    before = [day(days + 1, {})] if days >= MIN_WASTE_DAYS else []
    found = waste_evidence([*before, *same], {"p": of or pool(slots=slots)}, TODAY)
    assert found
    return found
