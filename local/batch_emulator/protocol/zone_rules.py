"""Rules for the placement of a pool's nodes in availability zones, by the specification of api-version 2026-10-01.

Nodes don't show their zone in any version, so placement has no effect on them.
"""

from collections.abc import Mapping
from typing import Any

from local.batch_emulator.core.errors import invalid_property
from local.batch_emulator.protocol import bodies
from local.batch_emulator.protocol.requests import nested

ZONES = ("placement", "resiliencyPolicy")
_MACHINE, _NODE_PLACEMENT = "virtualMachineConfiguration", "nodePlacementConfiguration"
_PLACEMENT, _RESILIENCY = ZONES
_MAX_PERCENT = 100


def check_zones(body: bodies.Body) -> None:
    """Raises BatchError for a wrong placement or resiliency policy of a pool."""
    machine = nested(body, _MACHINE)
    bodies.choice(nested(machine, _NODE_PLACEMENT), "policy", "regional", ("regional", "zonal"))
    bodies.choice(nested(machine, _PLACEMENT), "zonePlacementPolicy", "auto", ("auto",))
    if _PLACEMENT in machine and _NODE_PLACEMENT in machine:
        raise invalid_property(_PLACEMENT, "", f"It can't be combined with {_NODE_PLACEMENT}.")
    if _RESILIENCY in machine and not nested(machine, _PLACEMENT).get("zonePlacementPolicy"):
        raise invalid_property(_RESILIENCY, "", "It requires placement.zonePlacementPolicy to be Auto.")
    allocation = nested(nested(machine, _RESILIENCY), "zoneAllocationPolicy")
    bodies.number(allocation, "maxZoneCount", 1, minimum=1)
    share = nested(allocation, "maxInstancePercentPerZonePolicy")
    bodies.number(share, "value", 1, minimum=1, maximum=_MAX_PERCENT)


def with_kept_zones(body: dict[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a change of a pool with the policies that the pool has and a changed machine configuration omits."""
    if _MACHINE not in body:
        return body
    old = nested(before, _MACHINE)
    return {**body, _MACHINE: {name: old[name] for name in ZONES if name in old} | dict(nested(body, _MACHINE))}
