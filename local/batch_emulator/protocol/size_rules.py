"""Rules for the VM sizes and vCPUs of pools, by the specification of api-version 2026-10-01.

What the service itself refuses beyond that isn't known: whether sizes exist, and which may be in a pool together.
"""

from collections.abc import Mapping
from typing import Any

from local.batch_emulator.core.errors import BatchError, invalid_property, missing_property
from local.batch_emulator.core.vm_sizes import MIX, cores, preferred_sizes, size_properties
from local.batch_emulator.protocol import bodies
from local.batch_emulator.protocol.requests import nested
from local.batch_emulator.protocol.versions import has_several_sizes
from local.batch_emulator.protocol.zone_rules import ZONES

_MAX_SIZES = 5
_PRIORITIZED = "prioritized"
_STRATEGIES = ("lowestprice", "capacityoptimized", _PRIORITIZED)
_HARDWARE = "hardwareProfile"
COMING_MACHINE_SETTINGS = (_HARDWARE, *ZONES)
"""Properties of virtualMachineConfiguration that earlier versions neither take nor show."""


def check_vm_sizes(body: bodies.Body, version: str, before: Mapping[str, Any] | None = None) -> None:
    """Raises BatchError for wrong sizes or vCPUs in the body of a new pool, or of a change of the pool `before`."""
    machine = nested(body, "virtualMachineConfiguration")
    _check_known(machine, version)
    spec = {**(before or {}), **body}
    is_mixed = str(spec["vmSize"]).lower() == MIX.lower()
    if is_mixed and not spec.get("vmSkuProfile"):
        raise missing_property("vmSkuProfile")
    if not is_mixed and "vmSkuProfile" not in body:
        spec.pop("vmSkuProfile", None)
    if "vmSkuProfile" in body:
        if not is_mixed:
            raise invalid_property("vmSize", spec["vmSize"], f"It is {MIX} where vmSkuProfile is specified.")
        _check_profile(nested(body, "vmSkuProfile"))
    if _HARDWARE in machine or "vmSize" in body:
        _check_vcpus(spec)


def _check_known(machine: bodies.Body, version: str) -> None:
    coming = [name for name in COMING_MACHINE_SETTINGS if name in machine]
    if coming and not has_several_sizes(version):
        text = "A property in the request's body is not supported."
        name = f"virtualMachineConfiguration.{coming[0]}"
        raise BatchError(400, "UnsupportedProperty", text, {"PropertyName": name})


def check_one_size(specification: bodies.Body) -> None:
    """Raises BatchError for several sizes or set vCPUs in the pool of a job or schedule."""
    if str(specification.get("vmSize")).lower() == MIX.lower():
        raise invalid_property("vmSize", specification["vmSize"], "A pool of a job's own has one size.")
    if _HARDWARE in nested(specification, "virtualMachineConfiguration"):
        raise invalid_property(_HARDWARE, "", "It can't be specified for a pool of a job's own.")


def _check_profile(profile: bodies.Body) -> None:
    sizes = bodies.objects(profile, "vmSizes")
    if not 1 <= len(sizes) <= _MAX_SIZES:
        raise invalid_property("vmSkuProfile.vmSizes", len(sizes), f"It has 1 to {_MAX_SIZES} sizes.")
    strategy = bodies.choice(profile, "allocationStrategy", _STRATEGIES[0], _STRATEGIES)
    for size in sizes:
        if not size.get("name") or not isinstance(size["name"], str):
            raise missing_property("vmSkuProfile.vmSizes.name")
        if ("rank" in size) != (strategy == _PRIORITIZED):
            rule = "It is specified for each size where the allocationStrategy is prioritized, and nowhere else."
            raise invalid_property("vmSkuProfile.vmSizes.rank", size.get("rank"), rule)
        bodies.number(size, "rank", 0)
    if len({cores(size["name"]) for size in sizes}) > 1:
        raise invalid_property("vmSkuProfile.vmSizes", "", "All sizes have the same number of vCPUs.")


def _check_vcpus(spec: Mapping[str, Any]) -> None:
    properties = size_properties(spec)
    most = min(map(cores, preferred_sizes(spec)))
    bodies.number(properties, "vCPUsAvailable", most, minimum=1, maximum=most)
    bodies.number(properties, "vCPUsPerCore", 1, minimum=1, maximum=2)
