"""External endpoints of nodes: they use addresses reserved for examples, so none is reachable."""

from local.batch_emulator.entities import Json, Node, Pool

_ADDRESS = "192.0.2.1"
_LOGIN_PORTS = 50000
_FIRST_HOST = 4


def login_endpoint(node: Node) -> Json:
    """Returns the endpoint that the service adds for SSH or remote desktop."""
    return _endpoint(node, "SSHRule", "tcp", _LOGIN_PORTS, 3389 if is_windows(node.pool) else 22)


def is_windows(pool: Pool) -> bool:
    machine = pool.spec.get("virtualMachineConfiguration") or {}
    return "windows" in str(machine.get("nodeAgentSKUId", "")).lower()


def endpoints(node: Node) -> Json:
    """Returns the endpoints of the pool's inbound NAT pools, and the login endpoint."""
    configuration = _network(node.pool).get("endpointConfiguration") or {}
    own = [
        _endpoint(
            node,
            str(each.get("name")),
            str(each.get("protocol", "tcp")).lower(),
            int(each.get("frontendPortRangeStart") or 0),
            int(each.get("backendPort") or 0),
        )
        for each in configuration.get("inboundNATPools") or ()
    ]
    return {"inboundEndpoints": [*own, login_endpoint(node)]}


def ipv6_address(node: Node) -> str | None:
    """Returns a node's IPv6 address; None unless the pool requests the family."""
    families = (_network(node.pool).get("publicIPAddressConfiguration") or {}).get("ipFamilies") or ()
    has_it = any(str(family).lower() == "ipv6" for family in families)
    return f"2001:db8::{_index(node) + 1:x}" if has_it else None


def _endpoint(node: Node, name: str, protocol: str, first_port: int, backend: int) -> Json:
    index = _index(node)
    return {
        "name": f"{name}.{index}",
        "protocol": protocol,
        "publicIPAddress": _ADDRESS,
        "publicFQDN": f"{node.pool.id}.example.org",
        "frontendPort": first_port + index,
        "backendPort": backend,
    }


def _network(pool: Pool) -> Json:
    return dict(pool.spec.get("networkConfiguration") or {})


def _index(node: Node) -> int:
    return max(0, int(node.ip.rpartition(".")[2]) - _FIRST_HOST)
