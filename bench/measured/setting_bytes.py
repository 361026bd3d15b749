"""Bytes that a round over pools reads with and without the pools' settings and the versions of nodes' agents.

`python -m bench.measured.setting_bytes` prints a table for 60 pools with 5,000 nodes, as the emulator sends them, plain
and as gzip, which the app requests. Pools have settings in every part; most real ones have fewer. Together are lists of
most rounds: pools, and nodes without their agents.
"""

import sys
from collections.abc import Collection, Iterator
from typing import Any

import orjson

from local.batch_emulator.core.settings import EmulatorSettings
from local.batch_emulator.emulator import Emulator
from local.batch_emulator.http.routing import find_operation
from local.batch_emulator.protocol.auth import DEVELOPMENT_KEY
from local.batch_emulator.protocol.encoding import compress_body
from local.batch_emulator.protocol.requests import Request
from shared.stores.batch.batch_addresses import API_VERSION
from shared.stores.batch.batch_node_rows import AGENT, NODE_FIELDS
from shared.stores.batch.batch_pool_rows import POOL_FIELDS

_POOLS, _NODES = 60, 5_000
_SETTINGS = frozenset(
    (
        *("virtualMachineConfiguration", "networkConfiguration", "taskSchedulingPolicy"),
        *("enableInterNodeCommunication", "upgradePolicy", "identity", "metadata", "lastModified"),
    )
)
_RESOURCE = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/render-production/providers"


def _spec(number: int, nodes: int) -> dict[str, Any]:
    """Returns a pool with settings in every part; names and tags differ from pool to pool."""
    image = {"publisher": "canonical", "offer": "ubuntu-24_04-lts", "sku": "server", "version": "latest"}
    upgrade = {"maxBatchInstancePercent": 20, "pauseTimeBetweenBatches": "PT0S", "prioritizeUnhealthyInstances": True}
    return {
        "id": f"pool-{number:03}",
        "vmSize": "standard_d4s_v5",
        "taskSlotsPerNode": 4,
        "targetDedicatedNodes": nodes,
        "taskSchedulingPolicy": {"nodeFillType": "pack", "jobDefaultOrder": "creationtime"},
        "enableInterNodeCommunication": False,
        "virtualMachineConfiguration": {
            "imageReference": image,
            "nodeAgentSKUId": "batch.node.ubuntu 24.04",
            "osDisk": {"caching": "readonly", "diskSizeGB": 128, "managedDisk": {"storageAccountType": "premium_lrs"}},
            "securityProfile": {"securityType": "trustedLaunch", "uefiSettings": {"secureBootEnabled": True}},
            "nodePlacementConfiguration": {"policy": "zonal"},
            "containerConfiguration": {
                "type": "dockerCompatible",
                "containerImageNames": [f"registry.example.io/render-{number}:2026.11", "registry.example.io/tool:1"],
            },
        },
        "networkConfiguration": {
            "subnetId": f"{_RESOURCE}/Microsoft.Network/virtualNetworks/batch/subnets/pool-{number}",
            "publicIPAddressConfiguration": {"provision": "nopublicipaddresses"},
            "enableAcceleratedNetworking": True,
        },
        "identity": {
            "type": "UserAssigned",
            "userAssignedIdentities": [
                {"resourceId": f"{_RESOURCE}/Microsoft.ManagedIdentity/userAssignedIdentities/pool-{number}"}
            ],
        },
        "upgradePolicy": {"mode": "rolling", "rollingUpgradePolicy": upgrade},
        "metadata": [{"name": name, "value": f"{name}-{number}"} for name in ("team", "owner", "cost", "stage", "app")],
    }


class _Account:
    """A stepped emulator with pools, whose operations are called without HTTP."""

    def __init__(self) -> None:
        self._emulator = Emulator({"demo": DEVELOPMENT_KEY}, stepped=True, settings=EmulatorSettings())
        simulation = self._emulator.simulations["demo"]
        for number in range(_POOLS):
            simulation.pools.create(f"pool-{number:03}", _spec(number, _nodes_of(number)))
        self._emulator.event_queue.advance(120)

    def sizes(self, path: str, fields: Collection[str]) -> tuple[int, int]:
        """Returns the bytes of a list with these properties, plain and compressed."""
        operation, ids = find_operation("GET", path)
        query = {"api-version": API_VERSION, "$select": ",".join(fields)}
        simulation = self._emulator.simulations["demo"]
        request = Request("GET", "http://x", path, ids, query, {}, b"", simulation, self._emulator.settings)
        body = orjson.dumps(operation.run(request).body)
        return len(body), len(compress_body(body, "gzip") or body)


def _nodes_of(number: int) -> int:
    return _NODES // _POOLS + (number < _NODES % _POOLS)


def _rows() -> Iterator[tuple[str, tuple[int, int], tuple[int, int]]]:
    account = _Account()
    without = [name for name in POOL_FIELDS if name not in _SETTINGS]
    yield "list of pools", account.sizes("/pools", without), account.sizes("/pools", POOL_FIELDS)
    paths = [f"/pools/pool-{number:03}/nodes" for number in range(_POOLS)]
    lists = (NODE_FIELDS, (*NODE_FIELDS, AGENT))
    plain, agents = (_sum([account.sizes(path, fields) for path in paths]) for fields in lists)
    yield "lists of nodes", plain, plain
    yield "lists of nodes while a version isn't known", plain, agents


def _sum(sizes: Collection[tuple[int, int]]) -> tuple[int, int]:
    return sum(plain for plain, _ in sizes), sum(packed for _, packed in sizes)


def main() -> int:
    """Prints a line for each kind of lists, and for a round."""
    rows = list(_rows())
    pools, nodes, *_ = rows
    rows.append(("together", _sum([pools[1], nodes[1]]), _sum([pools[2], nodes[2]])))
    print(f"{_POOLS} pools, {_NODES:,} nodes: KB without and with settings, the same compressed")
    for name, (plain, packed), (more, more_packed) in rows:
        share = f"{100 * (more - plain) / plain:+.1f} %, {100 * (more_packed - packed) / packed:+.1f} %"
        print(f"{name}: {plain / 1e3:,.1f} {more / 1e3:,.1f}, {packed / 1e3:,.1f} {more_packed / 1e3:,.1f} ({share})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
