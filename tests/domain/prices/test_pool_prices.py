"""Which prices the nodes of a pool have."""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from shared.domain.nodes.nodes import NodeSummary, SizeSummary
from shared.domain.pools.machine_settings import MachineSettings
from shared.domain.pools.pool_facts import PoolFacts, Size
from shared.domain.pools.pools import NodesSnapshot, Pool, first_seen
from shared.domain.prices.pool_prices import hourly_prices, price_keys
from shared.domain.prices.price_history import PriceHistory, PriceInterval
from shared.domain.prices.price_keys import MeterKey, Priority
from shared.domain.prices.price_table import PriceTable

NOW = datetime(2026, 11, 29, tzinfo=UTC)


def settings(agent: str | None, license_type: str | None = None, **others: Any) -> MachineSettings:
    machine = {"nodeAgentSKUId": agent, "licenseType": license_type}
    return msgspec.convert({"virtualMachineConfiguration": machine, **others}, MachineSettings)


LINUX = settings("batch.node.ubuntu 22.04")


def pool(size: str = "Standard_D4s_v5", found: MachineSettings | None = LINUX, **facts: Any) -> Pool:
    given = {"dedicated": Size(1, 1), "settings": found, **facts}
    return first_seen(PoolFacts("p", NOW, "active", NOW, size, **given), NOW)


def keys(one: Pool, region: str | None = "westeurope") -> list[tuple[Any, ...]]:
    return [tuple(key) for key in price_keys(one, region)]


@pytest.mark.parametrize(("found", "expected"), [
    (LINUX, ("linux", "none")),
    (settings("batch.node.windows amd64"), ("windows", "included")),
    (settings("Batch.Node.Windows amd64", "None"), ("windows", "included")),
    (settings("batch.node.windows amd64", "Windows_Server"), ("windows", "hybridBenefit")),
    (settings("batch.node.windows amd64", "Windows_Client"), ("windows", "hybridBenefit")),
    (settings(None), (None, None)),
    (MachineSettings(), (None, None)),
    (None, (None, None)),
])  # fmt: skip
def test_the_system_is_that_of_the_node_agent_and_the_licence_that_of_the_pool(
    found: MachineSettings | None, expected: tuple[str | None, str | None]
) -> None:
    assert keys(pool(found=found)) == [("standard_d4s_v5", "westeurope", *expected, "dedicated")]


def test_settings_that_batch_sent_in_another_type_are_unknown() -> None:
    windows = settings("batch.node.windows amd64")
    lost = pool(found=windows, settings_left_out=("virtualMachineConfiguration.licenseType",))
    assert keys(lost) == [("standard_d4s_v5", "westeurope", "windows", None, "dedicated")]
    assert [key.unknown for key in price_keys(lost, "westeurope")] == ["osUnknown"]
    assert keys(pool(settings_left_out=("virtualMachineConfiguration",)))[0][2:4] == (None, None)


def test_priorities_are_those_of_nodes_that_it_has_or_wishes_for_and_both_without_any() -> None:
    def priorities(dedicated: Size, spot: Size) -> list[str]:
        return [key.priority for key in price_keys(pool(dedicated=dedicated, spot=spot), "westeurope")]

    assert priorities(Size(1, 0), Size()) == ["dedicated"]
    assert priorities(Size(), Size(0, 2)) == ["spot"]
    assert priorities(Size(1, 1), Size(1, 1)) == ["dedicated", "spot"]
    assert priorities(Size(0, 0), Size(0, 0)) == ["dedicated", "spot"]


def test_a_pool_of_several_sizes_has_a_price_for_each_that_is_named() -> None:
    profile = {"vmSizes": [{"name": "Standard_E8s_v5"}, {"name": "standard_e8as_v5"}]}
    mixed = settings("batch.node.ubuntu 22.04", vmSkuProfile=profile)
    assert [key[0] for key in keys(pool("Mix", mixed))] == ["standard_e8as_v5", "standard_e8s_v5"]
    (unnamed,) = price_keys(pool("Mix"), "westeurope")
    assert (unnamed.vm_size, unnamed.unknown) == ("mix", "sizeUnknown")


def test_a_size_of_nodes_that_the_pool_no_longer_names_has_a_price_too() -> None:
    summary = NodeSummary((("idle", True, 1),), sizes=(SizeSummary("standard_d8s_v5", 1, 1, 0),))
    resized = replace(pool(), snapshot=NodesSnapshot(NOW, NOW, "fullRead", summary, "digest"))
    assert [key[0] for key in keys(resized)] == ["standard_d4s_v5", "standard_d8s_v5"]


def test_prices_of_other_sizes_are_those_of_the_pools_region_system_and_priority() -> None:
    known = {
        MeterKey("linux", "spot"): (PriceInterval(Decimal("0.02"), NOW, None, "spot"),),
        MeterKey("linux", "dedicated"): (PriceInterval(Decimal("0.1"), NOW, None, "own"),),
    }
    histories = [PriceHistory("westeurope", size, known, {}, NOW) for size in ("standard_d2s_v5", "standard_d4s_v5")]
    prices = PriceTable("USD", histories={one.place: one for one in histories})
    sizes = ["standard_d2s_v5", "standard_e2s_v5"]
    places: list[tuple[str | None, Priority]] = [
        ("westeurope", "spot"), ("westeurope", "dedicated"), ("eastus", "spot"), (None, "spot"),
    ]  # fmt: skip
    found = [hourly_prices(prices, pool().facts, region, priority, sizes=sizes, at=NOW) for region, priority in places]
    assert found == [{"standard_d2s_v5": Decimal("0.02")}, {"standard_d2s_v5": Decimal("0.1")}, {}, {}]
