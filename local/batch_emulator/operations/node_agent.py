"""Operations of a node's agent: virtual machine extensions, and uploads of its logs.

Nothing is uploaded: the response is like the service's, and the container stays unchanged.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from local.batch_emulator.core.errors import BatchError, invalid_property
from local.batch_emulator.core.stamps import SECOND, parse_stamp
from local.batch_emulator.entities import Json, Node
from local.batch_emulator.filtering.filters import MATCH_ALL
from local.batch_emulator.operations.nodes import require_reachable
from local.batch_emulator.protocol import bodies
from local.batch_emulator.protocol.paging import Renderers, page, render_entity, select_renderers, sorted_from_position
from local.batch_emulator.protocol.requests import Request, Response, entity_response
from local.batch_emulator.wire.endpoints import is_windows

_UPLOAD = bodies.BodyProperties(
    frozenset(["containerUrl", "startTime", "endTime", "identityReference"]),
    ("containerUrl", "startTime"),
    kind="Upload",
)
_LOGS_AN_HOUR = 2
_HOUR = 3600 * SECOND
_SUCCEEDED = {"code": "ProvisioningState/succeeded", "displayStatus": "Provisioning succeeded", "level": "Info"}
_BATCH_EXTENSION: Json = {
    "name": "batchNodeExtension",
    "publisher": "Microsoft.Azure.Extensions",
    "type": "CustomScript",
    "typeHandlerVersion": "2.0",
    "autoUpgradeMinorVersion": True,
}
_BATCH_EXTENSION_ON_WINDOWS: Json = _BATCH_EXTENSION | {
    "publisher": "Microsoft.Compute",
    "type": "CustomScriptExtension",
    "typeHandlerVersion": "1.10",
}
_RENDERERS: Renderers = {
    "provisioningState": lambda _: "Succeeded",
    "vmExtension": lambda extension: extension.spec,
    "instanceView": lambda extension: {"name": extension.spec["name"], "statuses": [_SUCCEEDED]},
}


@dataclass(frozen=True, slots=True)
class NodeExtension:
    """An extension; `id` keeps the order of lists: the pool's as sent, then the service's own."""

    id: str
    spec: Json


def list_node_extensions(request: Request) -> Response:
    found = _extensions(_node(request))
    return page(request, "nodevmextensions", sorted_from_position(request, found), MATCH_ALL.matches, _RENDERERS)


def get_node_extension(request: Request) -> Response:
    name = request.ids["extensionName"]
    for extension in _extensions(_node(request)).values():
        if str(extension.spec["name"]).lower() == name.lower():
            return entity_response(
                request, "nodevmextensions", render_entity(extension, select_renderers(request, _RENDERERS))
            )
    raise BatchError(404, "ResourceNotFound", "The specified resource does not exist.", {"ExtensionName": name})


def upload_node_logs(request: Request) -> Response:
    node, body = _node(request), request.body
    _UPLOAD.check(body)
    if not str(body["containerUrl"]).lower().startswith(("https://", "http://")):
        raise invalid_property("containerUrl", body["containerUrl"], "It is the address of a container.")
    start, end = _time(body, "startTime", 0), _time(body, "endTime", request.now)
    if body.get("endTime") and end < start:
        raise invalid_property("endTime", body["endTime"], "It is before startTime.")
    guid = uuid.UUID(int=request.simulation.context.rng.getrandbits(128), version=4)
    payload = {
        "virtualDirectoryName": f"{node.pool.id}/{node.id}/{guid}",
        "numberOfFilesUploaded": _files(node, start, min(end, request.now)),
    }
    return entity_response(request, "uploadbatchservicelogs", payload)


def _files(node: Node, start: int, end: int) -> int:
    """Returns the number of log files for a time: some per hour since the node's start."""
    since = max(start, node.booted or 0)
    return _LOGS_AN_HOUR * (end // _HOUR - since // _HOUR + 1) if since <= end else 0


def _node(request: Request) -> Node:
    node = request.node()
    require_reachable(node)
    return node


def _extensions(node: Node) -> Mapping[str, NodeExtension]:
    """Returns a node's extensions, without protected settings (documented)."""
    sent = (node.pool.spec.get("virtualMachineConfiguration") or {}).get("extensions") or []
    visible = [{name: value for name, value in each.items() if name != "protectedSettings"} for each in sent]
    visible.append(_BATCH_EXTENSION_ON_WINDOWS if is_windows(node.pool) else _BATCH_EXTENSION)
    return {f"{position:03}": NodeExtension(f"{position:03}", spec) for position, spec in enumerate(visible)}


def _time(body: bodies.Body, name: str, default: int) -> int:
    text = body.get(name)
    if text is None:
        return default
    try:
        return parse_stamp(str(text))
    except ValueError as error:
        raise invalid_property(name, text, str(error)) from None


ACTIONS = (list_node_extensions, get_node_extension, upload_node_logs)
