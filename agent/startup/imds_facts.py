"""Startup record of the facts that IMDS knows about the VM, from a list of those that are let in.

Never among them: customData, userData, publicKeys, the OS profile, tags, which may hold secrets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agent.records.record import Record
from agent.startup.once import fact, once

_FIELDS = {
    "vmSize": "vm_size", "location": "vm_location", "zone": "zone", "priority": "vm_priority",
    "evictionPolicy": "vm_eviction_policy", "publisher": "vm_image_publisher", "offer": "vm_image_offer",
    "sku": "vm_image_sku", "version": "vm_image_version", "osType": "vm_os_type", "vmId": "vm_id",
    "platformFaultDomain": "vm_fault_domain", "platformUpdateDomain": "vm_update_domain",
}  # fmt: skip
_SPOT = ("spot", "low")


def imds_facts(document: Mapping[str, object]) -> Iterable[Record]:
    """Yields the `imds_metadata` record of an instance document; nothing where it has none of the facts."""
    compute = _compute(document)
    found = once("imds_metadata", {field: fact(compute.get(name)) for name, field in _FIELDS.items()})
    if found.fields:
        yield found


def is_spot(document: Mapping[str, object]) -> bool:
    """Returns whether the VM may be evicted, as a Spot or low-priority one."""
    return str(_compute(document).get("priority", "")).lower() in _SPOT


def resource_name(document: Mapping[str, object]) -> str:
    """Returns the VM's name, by which scheduled events name it; empty where it isn't known."""
    return fact(_compute(document).get("name")) or ""


def _compute(document: Mapping[str, object]) -> Mapping[str, object]:
    found = document.get("compute")
    return found if isinstance(found, dict) else {}
