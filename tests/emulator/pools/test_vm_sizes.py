"""Pools of several VM sizes and with set vCPUs, which api-version 2026-10-01 brings; capacity that ends by size."""

from collections import Counter
from typing import Any

import pytest

from tests.emulator.support.direct import Direct

NEW, OLD = "2026-10-01", "2025-06-01"
A, B, C = "standard_d4s_v5", "standard_d4as_v5", "standard_e4s_v5"
_IMAGE = {"imageReference": {"publisher": "p", "offer": "o", "sku": "s"}, "nodeAgentSKUId": "a"}


def _mixed(strategy: str | None = "prioritized", **more: Any) -> dict[str, Any]:
    ranked = strategy == "prioritized"
    sizes = [{"name": size, **({"rank": rank} if ranked else {})} for rank, size in enumerate((A, B, C))]
    profile = {"vmSizes": sizes, **({"allocationStrategy": strategy} if strategy else {})}
    return {"vmSize": "Mix", "vmSkuProfile": profile, "targetDedicatedNodes": 6, "taskSlotsPerNode": 2, **more}


def _hardware(**properties: Any) -> dict[str, Any]:
    return {"virtualMachineConfiguration": {**_IMAGE, "hardwareProfile": {"vmSizeProperties": properties}}}


def _add(direct: Direct, name: str, spec: dict[str, Any], version: str = NEW) -> tuple[int, Any]:
    found = direct.call("POST", f"/pools?api-version={version}", {"id": name, **spec})
    direct.advance(60)
    return found


def _sizes(direct: Direct, pool: str = "pool") -> Counter[str]:
    return Counter(node["vmSize"] for node in direct.rows(f"/pools/{pool}/nodes"))


def _pool(direct: Direct, name: str = "pool", version: str = NEW) -> Any:
    return direct.call("GET", f"/pools/{name}?api-version={version}")[1]


def _truth(direct: Direct, pool: str = "pool") -> Any:
    return direct.emulator.truth()["accounts"]["demo"]["pools"][pool]


def _limited(capacity: str) -> Direct:
    direct = Direct(1)
    direct.emulator.settings.vmSizeCapacity = capacity
    return direct


def test_a_pool_takes_sizes_by_rank_as_far_as_there_is_capacity() -> None:
    direct = _limited(f"{A}=1 {B}=2")
    assert _add(direct, "pool", _mixed()) == (201, None)
    assert _sizes(direct) == _truth(direct)["vmSizes"] == {A: 1, B: 2, C: 3}
    shown = _pool(direct)
    assert (shown["vmSize"], shown.get("resizeErrors"), shown["allocationState"]) == ("Mix", None, "steady")
    assert [size["rank"] for size in shown["vmSkuProfile"]["vmSizes"]] == [0, 1, 2]


def test_a_pool_without_capacity_in_any_of_its_sizes_names_them_in_its_resize_error() -> None:
    direct = _limited(f"{A}=1 {B.upper()}=0 {C}=2")
    _add(direct, "pool", _mixed())
    assert _sizes(direct) == {A: 1, C: 2}
    (error,) = _pool(direct)["resizeErrors"]
    assert error["code"] == "AllocationFailed"
    assert all(size in error["message"] for size in (A, B, C))


def test_a_pool_of_one_size_has_capacity_too() -> None:
    direct = _limited(f"{A}=1")
    _add(direct, "pool", {"vmSize": A, "targetDedicatedNodes": 2}, OLD)
    assert _sizes(direct) == {A: 1}
    assert A in _pool(direct, version=OLD)["resizeErrors"][0]["message"]


def test_the_default_strategy_takes_the_first_size_and_that_for_capacity_any() -> None:
    direct = Direct(1)
    _add(direct, "cheap", _mixed(None))
    _add(direct, "any", _mixed("capacityOptimized", targetDedicatedNodes=40))
    assert _sizes(direct, "cheap") == {A: 6}
    assert set(_sizes(direct, "any")) == {A, B, C}


def test_preempted_nodes_come_back_with_their_size() -> None:
    direct = _limited(f"{A}=2 {B}=2")
    _add(direct, "pool", _mixed(targetDedicatedNodes=0, targetLowPriorityNodes=6))
    sizes = {node["id"]: node["vmSize"] for node in direct.rows("/pools/pool/nodes")}
    seen = set()
    for _ in range(60):
        direct.advance(20)
        nodes = direct.rows("/pools/pool/nodes")
        assert {node["id"]: node["vmSize"] for node in nodes} == sizes
        machines = [node for node in nodes if node["state"] != "preempted"]
        assert _truth(direct)["cores"] == 4 * len(machines)
        seen.add(len(machines))
    assert len(seen) > 1


@pytest.mark.parametrize(
    ("properties", "vcpus"),
    [({"vCPUsAvailable": 2}, 2), ({"vCPUsPerCore": 1}, 4), ({"vCPUsPerCore": 2}, 8), ({}, 8),
     ({"vCPUsAvailable": 6, "vCPUsPerCore": 1}, 6), ({"vCPUsAvailable": "4"}, 4)],
)  # fmt: skip
def test_set_vcpus_count_before_those_of_the_size(properties: dict[str, Any], vcpus: int) -> None:
    direct = Direct(1)
    spec = {"vmSize": "standard_d8s_v5", "targetDedicatedNodes": 3, "taskSlotsPerNode": 4, **_hardware(**properties)}
    assert _add(direct, "pool", spec) == (201, None)
    direct.call("POST", "/jobs", {"id": "job", "poolInfo": {"poolId": "pool"}})
    direct.call("POST", "/jobs/job/tasks", {"id": "task", "commandLine": "sleep 900", "requiredSlots": 2})
    direct.advance(5)
    assert (_truth(direct)["cores"], _truth(direct)["busyCores"]) == (3 * vcpus, vcpus / 2)


def test_earlier_versions_show_neither_sizes_nor_set_vcpus() -> None:
    direct = Direct(1)
    _add(direct, "pool", {**_mixed(), **_hardware(vCPUsAvailable=2)})
    now, before = _pool(direct), _pool(direct, version=OLD)
    assert now["virtualMachineConfiguration"]["hardwareProfile"] == {"vmSizeProperties": {"vCPUsAvailable": 2}}
    assert (before["vmSize"], before["virtualMachineConfiguration"]) == ("Mix", _IMAGE)
    assert now.keys() - before.keys() == {"vmSkuProfile"}
    for path in (f"/pools/pool?api-version={OLD}", f"/pools?api-version={OLD}"):
        assert direct.call("GET", path, select="id,vmSkuProfile")[0] == 400


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"vmSize": "standard_d4s_v5"}, "InvalidPropertyValue"),
        ({"vmSkuProfile": None}, "MissingRequiredProperty"),
        ({"vmSkuProfile": {"vmSizes": []}}, "InvalidPropertyValue"),
        ({"vmSkuProfile": {"vmSizes": [{"name": A}] * 6}}, "InvalidPropertyValue"),
        ({"vmSkuProfile": {"vmSizes": [{"rank": 1}]}}, "MissingRequiredProperty"),
        ({"vmSkuProfile": {"vmSizes": [{"name": A, "rank": 1}]}}, "InvalidPropertyValue"),
        ({"vmSkuProfile": {"vmSizes": [{"name": A}], "allocationStrategy": "prioritized"}}, "InvalidPropertyValue"),
        ({"vmSkuProfile": {"vmSizes": [{"name": A}], "allocationStrategy": "cheapest"}}, "InvalidPropertyValue"),
        ({"vmSkuProfile": {"vmSizes": [{"name": A}, {"name": "standard_d8s_v5"}]}}, "InvalidPropertyValue"),
        ({"vmSkuProfile": {"vmSizes": [{"name": A, "colour": "red"}]}}, "UnsupportedProperty"),
        (_hardware(vCPUsAvailable=0), "InvalidPropertyValue"),
        (_hardware(vCPUsAvailable=5), "InvalidPropertyValue"),
        (_hardware(vCPUsAvailable="few"), "InvalidPropertyValue"),
        (_hardware(vCPUsPerCore=3), "InvalidPropertyValue"),
        (_hardware(vCPUs=3), "UnsupportedProperty"),
    ],
)
def test_wrong_sizes_and_vcpus_are_refused(change: dict[str, Any], code: str) -> None:
    assert _add(Direct(1), "pool", _mixed() | change) == (400, code)


def test_what_came_later_is_refused_in_earlier_versions_and_in_pools_of_jobs() -> None:
    direct = Direct(1)
    assert _add(direct, "a", _mixed(), OLD) == (400, "UnsupportedProperty")
    plain = {"vmSize": A, **_hardware(vCPUsAvailable=2)}
    assert _add(direct, "b", plain, OLD) == (400, "UnsupportedProperty")
    for pool, code in ((_mixed(), "UnsupportedProperty"), (plain, "InvalidPropertyValue")):
        own = {"autoPoolSpecification": {"poolLifetimeOption": "job", "pool": pool}}
        assert direct.call("POST", f"/jobs?api-version={NEW}", {"id": "job", "poolInfo": own}) == (400, code)


def test_sizes_change_while_a_pool_is_empty_only() -> None:
    direct = Direct(1)
    _add(direct, "pool", {"vmSize": A, "targetDedicatedNodes": 0})
    path = f"/pools/pool?api-version={NEW}"
    change = {name: _mixed()[name] for name in ("vmSize", "vmSkuProfile")}
    assert direct.call("PATCH", path, change)[0] == 200
    assert direct.call("POST", "/pools/pool/resize", {"targetDedicatedNodes": 2})[0] == 202
    direct.advance(60)
    assert _sizes(direct) == {A: 2}
    assert direct.call("PATCH", path, change) == (409, "OperationNotValidOnPool")
    assert direct.call("POST", "/pools/pool/resize", {"targetDedicatedNodes": 0})[0] == 202
    direct.advance(60)
    assert direct.call("PATCH", path, {"vmSize": B})[0] == 200
    shown = _pool(direct)
    assert (shown["vmSize"], shown.get("vmSkuProfile")) == (B, None)


def test_retained_data_and_pool_usage_are_gone() -> None:
    direct = Direct(1)
    _add(direct, "pool", {"vmSize": A, "targetDedicatedNodes": 1}, OLD)
    (node,) = direct.rows("/pools/pool/nodes")
    verbs = {
        f"/pools/pool/nodes/{node['id']}/reboot": {"nodeRebootOption": "retaineddata"},
        f"/pools/pool/nodes/{node['id']}/reimage": {"nodeReimageOption": "retaineddata"},
        f"/pools/pool/nodes/{node['id']}/deallocate": {"nodeDeallocateOption": "retaineddata"},
        "/pools/pool/resize": {"targetDedicatedNodes": 0, "nodeDeallocationOption": "retaineddata"},
        "/pools/pool/removenodes": {"nodeList": [node["id"]], "nodeDeallocationOption": "retaineddata"},
    }
    for path, body in verbs.items():
        assert direct.call("POST", f"{path}?api-version={NEW}", body) == (400, "InvalidPropertyValue")
    assert direct.call("POST", "/pools/pool/resize", verbs["/pools/pool/resize"])[0] == 202
    assert direct.call("GET", f"/poolusagemetrics?api-version={NEW}") == (404, "ResourceNotFound")
    assert direct.call("GET", f"/poolusagemetrics?api-version={OLD}")[0] == 200


@pytest.mark.parametrize("text", ["standard_d4s_v5", "=3", "standard_d4s_v5=few", "standard_d4s_v5=-1"])
def test_a_wrong_capacity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="vmSizeCapacity"):
        Direct(1).emulator.settings.with_changes({"vmSizeCapacity": text})
