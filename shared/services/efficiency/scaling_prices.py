"""The prices of a pool's nodes in replays of its scaling."""

from dataclasses import dataclass
from decimal import Decimal

from shared.domain.cost.usage_days import NodeKind
from shared.domain.prices.price_keys import NO_PRICE, NoPriceReason, Price
from shared.services.efficiency.scaling_evidence import PoolEvidence

_HOUR = 3_600_000  # milliseconds


@dataclass(frozen=True, slots=True)
class NodePrices:
    """What an hour of a dedicated and of a spot node costs, or why that isn't known."""

    dedicated: Decimal | NoPriceReason
    spot: Decimal | NoPriceReason

    @classmethod
    def of(cls, evidence: PoolEvidence) -> "NodePrices":
        """Returns the prices that counted when the range began."""
        return cls(*(_hourly(evidence, dedicated=dedicated) for dedicated in (True, False)))

    def cost(self, dedicated: float, spot: float) -> Decimal | None:
        """Returns what milliseconds of nodes cost; None where the price of some isn't known."""
        total = Decimal(0)
        for time, hourly in ((dedicated, self.dedicated), (spot, self.spot)):
            if time and not isinstance(hourly, Decimal):
                return None
            if time and isinstance(hourly, Decimal):
                total += hourly * Decimal(str(time)) / _HOUR
        return total

    @property
    def missing(self) -> str | None:
        """Why nodes of a kind have no price, None where both have one."""
        return next((NO_PRICE[each] for each in (self.dedicated, self.spot) if not isinstance(each, Decimal)), None)


def _hourly(evidence: PoolEvidence, *, dedicated: bool) -> Decimal | NoPriceReason:
    if evidence.priced is None:
        return "osUnknown"
    kind = NodeKind(evidence.facts.vm_size.lower(), dedicated=dedicated)
    price = evidence.prices.at(evidence.priced.price_key(kind), evidence.since)
    return price.hourly if isinstance(price, Price) else price
