"""The functions of Bicep that infra/ uses, as far as they can be worked out without Azure."""

import ipaddress
import json
import uuid
from collections.abc import Callable
from hashlib import sha256
from typing import Any

SECRET = "<<secret>>"


TENANT = "77777777-0000-0000-0000-000000000000"


def environment_of(cloud: str) -> dict[str, Any]:
    """What `environment()` gives in a cloud, as far as infra/ asks."""
    login, storage = _CLOUDS[cloud]
    return {"name": cloud, "authentication": {"loginEndpoint": login}, "suffixes": {"storage": storage}}


_CLOUDS = {
    "AzureCloud": ("https://login.microsoftonline.com/", "core.windows.net"),
    "AzureUSGovernment": ("https://login.microsoftonline.us/", "core.usgovcloudapi.net"),
    "AzureChinaCloud": ("https://login.chinacloudapi.cn/", "core.chinacloudapi.cn"),
}


def _union(*values: Any) -> Any:
    if all(isinstance(value, dict) for value in values):
        return {key: entry for value in values for key, entry in value.items()}
    return list(dict.fromkeys(entry for value in values for entry in value))


def _subnet(prefix: str, size: int, place: int) -> str:
    return str(list(ipaddress.ip_network(prefix).subnets(new_prefix=size))[place])


def _list_keys(resource_id: str, api_version: str) -> dict[str, Any]:
    del resource_id, api_version
    return {
        "systemKeys": {"blobs_extension": f"{SECRET} blobs_extension", "masterKey": f"{SECRET} master"},
        "functionKeys": {"default": f"{SECRET} default"},
        "masterKey": f"{SECRET} master",
    }


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "cidrSubnet": _subnet,
    "concat": lambda *parts: [entry for part in parts for entry in part],
    "contains": lambda whole, part: part in whole,
    "empty": lambda value: not value,
    "endsWith": lambda whole, part: whole.endswith(part),
    "first": lambda values: values[0],
    "guid": lambda *parts: str(uuid.uuid5(uuid.NAMESPACE_URL, "|".join(parts))),
    "join": lambda parts, glue: glue.join(parts),
    "last": lambda values: values[-1],
    "length": len,
    "listKeys": _list_keys,
    "range": lambda start, count: list(range(start, start + count)),
    "replace": lambda whole, old, new: whole.replace(old, new),
    "split": lambda whole, mark: whole.split(mark),
    "substring": lambda whole, start, size: whole[start : start + size],
    "string": lambda value: json.dumps(value) if not isinstance(value, str) else value,
    "tenant": lambda: {"tenantId": TENANT},
    "toLower": lambda value: value.lower(),
    "union": _union,
    "uniqueString": lambda *parts: sha256("|".join(parts).encode()).hexdigest()[:13],
}
