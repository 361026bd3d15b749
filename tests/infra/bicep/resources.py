"""What a deployment is made of: scopes, resources and modules, and what of resources the platform alone knows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.infra.bicep.functions import environment_of
from tests.infra.bicep.syntax import BicepError

if TYPE_CHECKING:
    from tests.infra.bicep.files import File

SUBSCRIPTION = "11111111-0000-0000-0000-000000000000"


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a file is deployed: a subscription, or a resource group in one, of a cloud."""

    subscription: str
    group: str | None = None
    cloud: str = "AzureCloud"

    @property
    def id(self) -> str:
        group = f"/resourceGroups/{self.group}" if self.group else ""
        return f"/subscriptions/{self.subscription}{group}"


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource; `body` has every property as it would be sent. `existing` ones are only referred to."""

    symbol: str
    file: str
    type: str
    api_version: str
    id: str
    name: str
    scope: str
    existing: bool
    body: Mapping[str, Any]
    cloud: str = "AzureCloud"

    def get(self, path: str, default: Any = None) -> Any:
        """A property by its dotted path."""
        found: Any = self.body
        for part in path.split("."):
            if not isinstance(found, Mapping) or part not in found:
                return default
            found = found[part]
        return found


@dataclass(frozen=True, slots=True)
class Module:
    """One deployed module: what it holds and gives."""

    symbol: str
    name: str
    scope: Scope
    file: "File"


_BATCH = {
    "AzureCloud": "westeurope.batch.azure.com",
    "AzureUSGovernment": "usgovvirginia.batch.usgovcloudapi.net",
    "AzureChinaCloud": "chinaeast2.batch.chinacloudapi.cn",
}


def _storage_endpoint(service: str) -> Callable[[Resource], str]:
    return lambda r: f"https://{r.name}.{service}.{environment_of(r.cloud)['suffixes']['storage']}/"


_SAMPLES: dict[tuple[str, str], Callable[[Resource], Any]] = {
    ("Microsoft.Batch/batchAccounts", "properties.accountEndpoint"): lambda r: f"{r.name}.{_BATCH[r.cloud]}",
    ("Microsoft.Insights/components", "properties.ConnectionString"): lambda r: f"address of {r.id}",
    ("Microsoft.ManagedIdentity/userAssignedIdentities", "properties.clientId"): lambda r: f"client of {r.id}",
    ("Microsoft.ManagedIdentity/userAssignedIdentities", "properties.principalId"): lambda r: f"principal of {r.id}",
    **{
        ("Microsoft.Storage/storageAccounts", f"properties.primaryEndpoints.{service}"): _storage_endpoint(service)
        for service in ("blob", "queue", "table")
    },
    ("Microsoft.Web/sites", "properties.defaultHostName"): lambda r: f"{r.name}.azurewebsites.net",
}


@dataclass(frozen=True, slots=True)
class Property:
    """A path into a resource on its way to a value: what the file itself says, or a sample of what Azure would."""

    resource: Resource
    path: str

    def step(self, name: str) -> Any:
        path = f"{self.path}.{name}".lstrip(".")
        if path in {"id", "name", "type"}:
            return getattr(self.resource, path)
        if path == "apiVersion":
            return self.resource.api_version
        if (self.resource.type, path) in _SAMPLES:
            return _SAMPLES[self.resource.type, path](self.resource)
        value = self.resource.get(path)
        if value is not None and not isinstance(value, Mapping):
            return value
        if any(kind == self.resource.type and known.startswith(f"{path}.") for kind, known in _SAMPLES):
            return Property(self.resource, path)
        raise BicepError(f"{self.resource.file}: {self.resource.symbol}.{path} isn't known at this time")
