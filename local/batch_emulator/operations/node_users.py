"""Users of nodes and login settings: only names are stored, since no real node exists."""

from local.batch_emulator.core.errors import conflict, missing_property, not_found
from local.batch_emulator.entities import Node
from local.batch_emulator.protocol import bodies
from local.batch_emulator.protocol.requests import Request, Response, entity_response, write_response
from local.batch_emulator.wire.endpoints import ipv6_address, login_endpoint

_USER = bodies.BodyProperties(frozenset(["name", "isAdmin", "expiryTime", "password", "sshPublicKey"]), ("name",))
_CHANGES = bodies.BodyProperties(frozenset(["expiryTime", "password", "sshPublicKey"]))


def create_node_user(request: Request) -> Response:
    node, body = request.node(), request.body
    _USER.check(body)
    name = str(body["name"])
    if not (body.get("password") or body.get("sshPublicKey")):
        raise missing_property("password")
    if name in node.users:
        raise conflict("NodeUserExists", "The specified node user already exists.")
    node.users.append(name)
    request.mark_changed(node, node.pool)
    return _user_response(request, node, f"users/{name}", 201)


def replace_node_user(request: Request) -> Response:
    _CHANGES.check(request.body)
    name = _user_name(request)
    return _user_response(request, request.node(), f"users/{name}", 200)


def delete_node_user(request: Request) -> Response:
    name, node = _user_name(request), request.node()
    node.users.remove(name)
    request.mark_changed(node, node.pool)
    return Response(200)


def get_node_remote_login_settings(request: Request) -> Response:
    node = request.node()
    endpoint, address = login_endpoint(node), ipv6_address(node)
    body = {
        "remoteLoginIPAddress": endpoint["publicIPAddress"],
        "remoteLoginPort": endpoint["frontendPort"],
    }
    if address:
        body |= {"ipv6RemoteLoginIPAddress": address, "ipv6RemoteLoginPort": endpoint["backendPort"]}
    return entity_response(request, "Microsoft.Azure.Batch.Protocol.Entities.Container.remoteloginsettings", body)


def _user_name(request: Request) -> str:
    name = request.ids["userName"]
    if name not in request.node().users:
        raise not_found("NodeUser")
    return name


def _user_response(request: Request, node: Node, path: str, status: int) -> Response:
    response = write_response(request, status, f"pools/{node.pool.id}/nodes/{node.id}/{path}", 0)
    names = ("DataServiceId", "Location")
    return Response(status, None, {name: value for name, value in response.headers.items() if name in names})


ACTIONS = (create_node_user, replace_node_user, delete_node_user, get_node_remote_login_settings)
