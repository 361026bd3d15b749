"""Placement of pools in availability zones: regional or zonal, and the policies of api-version 2026-10-01."""

from typing import Any

import pytest

from tests.emulator.support.direct import Direct

NEW, OLD = "2026-10-01", "2025-06-01"
_IMAGE = {"imageReference": {"publisher": "p", "offer": "o", "sku": "s"}, "nodeAgentSKUId": "a"}
_AUTO = {"zonePlacementPolicy": "Auto"}
_RESILIENCY = {
    "zoneAllocationPolicy": {"maxZoneCount": 2, "maxInstancePercentPerZonePolicy": {"enabled": True, "value": 60}}
}


def _spec(**machine: Any) -> dict[str, Any]:
    return {"vmSize": "standard_d4s_v5", "virtualMachineConfiguration": {**_IMAGE, **machine}}


def _add(direct: Direct, version: str = NEW, **machine: Any) -> tuple[int, Any]:
    return direct.call("POST", f"/pools?api-version={version}", {"id": "pool", **_spec(**machine)})


def _machine(direct: Direct, version: str = NEW) -> Any:
    return direct.call("GET", f"/pools/pool?api-version={version}")[1]["virtualMachineConfiguration"]


@pytest.mark.parametrize("policy", ["regional", "Zonal"])
@pytest.mark.parametrize("version", [OLD, NEW])
def test_nodes_are_placed_regionally_or_zonally_in_each_version(version: str, policy: str) -> None:
    direct = Direct(1)
    assert _add(direct, version, nodePlacementConfiguration={"policy": policy}) == (201, None)
    assert _machine(direct, version)["nodePlacementConfiguration"] == {"policy": policy}


def test_zone_policies_are_shown_from_their_version_on_only() -> None:
    direct = Direct(1)
    assert _add(direct, placement=_AUTO, resiliencyPolicy=_RESILIENCY) == (201, None)
    assert _machine(direct) == {**_IMAGE, "placement": _AUTO, "resiliencyPolicy": _RESILIENCY}
    assert _machine(direct, OLD) == _IMAGE


@pytest.mark.parametrize(("machine", "code"), [
    ({"nodePlacementConfiguration": {"policy": "global"}}, "InvalidPropertyValue"),
    ({"placement": {"zonePlacementPolicy": "None"}}, "InvalidPropertyValue"),
    ({"placement": "cacheDisk"}, "InvalidPropertyValue"),
    ({"placement": {"zones": ["1"]}}, "UnsupportedProperty"),
    ({"placement": _AUTO, "nodePlacementConfiguration": {"policy": "zonal"}}, "InvalidPropertyValue"),
    ({"resiliencyPolicy": _RESILIENCY}, "InvalidPropertyValue"),
    ({"placement": {}, "resiliencyPolicy": _RESILIENCY}, "InvalidPropertyValue"),
    ({"placement": _AUTO, "resiliencyPolicy": {"zoneAllocationPolicy": {"maxZoneCount": 0}}}, "InvalidPropertyValue"),
    ({"placement": _AUTO, "resiliencyPolicy": {"zoneAllocationPolicy": {
        "maxInstancePercentPerZonePolicy": {"value": 101}}}}, "InvalidPropertyValue"),
    ({"placement": _AUTO, "resiliencyPolicy": {"zoneAllocationPolicy": {
        "maxInstancePercentPerZonePolicy": {"value": "most"}}}}, "InvalidPropertyValue"),
])  # fmt: skip
def test_wrong_policies_are_refused(machine: dict[str, Any], code: str) -> None:
    assert _add(Direct(1), **machine) == (400, code)


@pytest.mark.parametrize("machine", [{"placement": _AUTO}, {"placement": _AUTO, "resiliencyPolicy": _RESILIENCY}])
def test_zone_policies_are_refused_in_earlier_versions(machine: dict[str, Any]) -> None:
    assert _add(Direct(1), OLD, **machine) == (400, "UnsupportedProperty")


def test_a_change_of_machines_that_omits_policies_keeps_them() -> None:
    direct = Direct(1)
    _add(direct, placement=_AUTO, resiliencyPolicy=_RESILIENCY)
    other = {"virtualMachineConfiguration": {**_IMAGE, "nodeAgentSKUId": "b"}}
    assert direct.call("PATCH", f"/pools/pool?api-version={NEW}", other)[0] == 200
    assert _machine(direct) == {
        **_IMAGE, "nodeAgentSKUId": "b", "placement": _AUTO, "resiliencyPolicy": _RESILIENCY,
    }  # fmt: skip


def test_the_placement_of_an_ephemeral_disk_is_a_word_as_before() -> None:
    direct = Direct(1)
    disk = {"ephemeralOSDiskSettings": {"placement": "cacheDisk"}}
    assert _add(direct, osDisk=disk) == (201, None)
    assert _machine(direct)["osDisk"] == disk
