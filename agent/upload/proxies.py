"""The proxy for an address, as HTTP_PROXY, HTTPS_PROXY and NO_PROXY name it."""

from __future__ import annotations

import base64
import ipaddress
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

_DEFAULT_PORT = 3128


class Proxy(NamedTuple):
    """An HTTP proxy, and the headers that admit to it."""

    host: str
    port: int
    headers: Mapping[str, str]


def proxy_of(url: SplitResult, settings: Mapping[str, str]) -> Proxy | None:
    """Returns the proxy for an address, None for none; names of settings in lower case come first.

    Loopback addresses have none. Raises ValueError for a proxy that isn't one of HTTP.
    """
    host = url.hostname or ""
    address = _setting(settings, f"{url.scheme}_proxy")
    if not address or _is_loopback(host) or _is_exempt(host, url.port, _setting(settings, "no_proxy")):
        return None
    return _proxy(address)


def _proxy(address: str) -> Proxy:
    parts = urlsplit(address if "://" in address else f"http://{address}")
    if parts.scheme != "http" or not parts.hostname:
        raise ValueError("the proxy's address doesn't begin with http://")
    headers = {}
    if parts.username:
        login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers["Proxy-Authorization"] = "Basic " + base64.b64encode(login.encode()).decode()
    return Proxy(parts.hostname, parts.port or _DEFAULT_PORT, headers)


def _setting(settings: Mapping[str, str], name: str) -> str:
    return settings.get(name, "") or settings.get(name.upper(), "")


def _is_loopback(host: str) -> bool:
    address = _address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def _is_exempt(host: str, port: int | None, exempt: str) -> bool:
    """Returns whether a list has a host: by `*`, a name, a domain, an address or a network, perhaps with a port."""
    names = (name.strip().lower() for name in exempt.split(","))
    return any(_is_named(host.lower(), port, name) for name in names if name)


def _is_named(host: str, port: int | None, name: str) -> bool:
    address = _address(host)
    if name == "*":
        return True
    if address is not None and "/" in name:
        return _is_within(address, name)
    named, _, named_port = name.rpartition(":") if name.count(":") == 1 else (name, "", "")
    if named_port and named_port != str(port):
        return False
    domain = named.lstrip("*").lstrip(".")
    return host == domain or host.endswith(f".{domain}")


def _is_within(address: ipaddress.IPv4Address | ipaddress.IPv6Address, network: str) -> bool:
    try:
        return address in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
