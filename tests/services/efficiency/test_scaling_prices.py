from decimal import Decimal

import pytest

from shared.services.efficiency.scaling_prices import NodePrices

_HOUR = 3_600_000.0


def test_hours_of_both_kinds_of_nodes_are_paid_at_their_own_prices() -> None:
    prices = NodePrices(Decimal("0.20"), Decimal("0.05"))
    assert prices.cost(2 * _HOUR, 4 * _HOUR) == Decimal("0.60")
    assert prices.cost(0, 0) == 0
    assert prices.missing is None


@pytest.mark.parametrize(("dedicated", "spot", "cost"), [(1, 0, Decimal("0.20")), (0, 1, None), (1, 1, None)])
def test_nodes_without_a_price_leave_the_cost_unknown_where_there_are_any(
    dedicated: float, spot: float, cost: Decimal | None
) -> None:
    prices = NodePrices(Decimal("0.20"), "osUnknown")
    assert prices.cost(dedicated * _HOUR, spot * _HOUR) == cost
    assert prices.missing
