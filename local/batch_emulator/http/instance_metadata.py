"""An instance metadata service like that of Azure's VMs, for the node that this machine plays.

That is the oldest node that has booted in a pool with the metadata item `telemetry=agent`. A VM asks at a link-local
address; here it is `/metadata/` of the emulator, from this machine only.
"""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import orjson
from aiohttp import web

from local.batch_emulator.emulator import Emulator
from local.batch_emulator.entities import Json, Node
from local.batch_emulator.http.controls import is_loopback
from local.batch_emulator.http.machine_vm import machine_node, resource_name

PREFIX = "/metadata/"
_LOCATION, _SUBSCRIPTION = "westeurope", "00000000-0000-0000-0000-000000000000"
_TOKEN_SECONDS = 86_400
type Answer = Callable[[Node, Mapping[str, str]], Json]


class MetadataHandler:
    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator
        self._answers: Mapping[str, Answer] = {
            "instance": _instance,
            "identity/oauth2/token": _token,
            "scheduledevents": self._scheduled_events,
        }

    async def handle(self, incoming: web.BaseRequest) -> web.Response:
        """Answers as the service does: 400 without the header or a version, 404 for an unknown path or without a node.

        403 where another machine asks.
        """
        if not is_loopback(incoming.remote):
            return _error(403, "Metadata is for this machine only")
        answer = self._answers.get(incoming.path.removeprefix(PREFIX).rstrip("/"))
        node = machine_node(self._emulator)
        if answer is None or node is None or incoming.method != "GET":
            return _error(404, "Not found")
        if incoming.headers.get("Metadata", "").lower() != "true":
            return _error(400, "Required metadata header not specified")
        if not incoming.query.get("api-version"):
            return _error(400, "Bad request. api-version was not specified in the request.")
        if answer is _token and not incoming.query.get("resource"):
            return _error(400, "invalid_request")
        return web.json_response(answer(node, incoming.query), dumps=lambda body: orjson.dumps(body).decode())

    def _scheduled_events(self, _node: Node, _: Mapping[str, str]) -> Json:
        return self._emulator.scheduled_events.document()


def _instance(node: Node, _: Mapping[str, str]) -> Json:
    configuration = node.pool.spec.get("virtualMachineConfiguration") or {}
    image: Any = configuration.get("imageReference") or {}
    compute = {
        "azEnvironment": "AzurePublicCloud",
        "location": _LOCATION,
        "name": resource_name(node),
        "offer": image.get("offer", ""),
        "osType": "Linux",
        "platformFaultDomain": "0",
        "platformUpdateDomain": "0",
        "priority": "" if node.dedicated else "Spot",
        "evictionPolicy": "" if node.dedicated else "Delete",
        "publisher": image.get("publisher", ""),
        "resourceGroupName": "batch-nodes",
        "sku": image.get("sku", ""),
        "subscriptionId": _SUBSCRIPTION,
        "version": image.get("version", ""),
        "vmId": str(uuid5(NAMESPACE_OID, node.id)),
        "vmSize": node.vm_size,
        "zone": "",
    }
    address = {"privateIpAddress": node.ip, "publicIpAddress": ""}
    return {"compute": compute, "network": {"interface": [{"ipv4": {"ipAddress": [address]}}]}}


def _token(node: Node, query: Mapping[str, str]) -> Json:
    """Returns a token of the form that the service issues; nothing here accepts it."""
    return {
        "access_token": f"emulated.{node.id}",
        "client_id": _SUBSCRIPTION,
        "expires_in": str(_TOKEN_SECONDS),
        "resource": query["resource"],
        "token_type": "Bearer",
    }


def _error(status: int, message: str) -> web.Response:
    return web.json_response({"error": message}, status=status)
