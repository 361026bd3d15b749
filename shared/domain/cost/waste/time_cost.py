"""Time of nodes with its money, as far as it has a price."""

from dataclasses import dataclass
from decimal import Decimal

from shared.domain.cost.priced_days import CostLine

_NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True)
class TimeCost:
    """Milliseconds of nodes, the money for those with a price, and milliseconds without one."""

    time: int = 0
    priced: Decimal = _NOTHING
    unpriced: int = 0

    def __add__(self, other: "TimeCost") -> "TimeCost":
        return TimeCost(self.time + other.time, self.priced + other.priced, self.unpriced + other.unpriced)

    def __sub__(self, other: "TimeCost") -> "TimeCost":
        """Returns what is left; at least nothing."""
        return TimeCost(
            max(self.time - other.time, 0),
            max(self.priced - other.priced, _NOTHING),
            max(self.unpriced - other.unpriced, 0),
        )

    @property
    def amount(self) -> Decimal | None:
        """The money, None where no time has a price."""
        return None if self.time and self.unpriced == self.time else self.priced

    def part(self, number: int, of: int) -> "TimeCost":
        """Returns `number` out of `of` equal parts, for a positive `of`."""
        return TimeCost(self.time * number // of, self.priced * number / of, self.unpriced * number // of)


NO_COST = TimeCost()


def cost_of(line: CostLine) -> TimeCost:
    """Returns the time and the money of a line."""
    return TimeCost(line.time, line.amount or _NOTHING, line.time if line.amount is None else 0)
