"""The functions that an app declares, each with one trigger and its other bindings, as the worker indexed them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from local.functions_host.app.messages import RpcFunctionMetadata, RpcRetryOptions

HTTP, TIMER, QUEUE, BLOB = "httpTrigger", "timerTrigger", "queueTrigger", "blobTrigger"


@dataclass(frozen=True, slots=True)
class Binding:
    """One binding of a function; `options` is its whole entry under the names of function.json."""

    kind: str
    name: str
    direction: str
    options: Mapping[str, Any]

    @classmethod
    def parse(cls, raw: str) -> "Binding":
        options = json.loads(raw)
        return cls(options["type"], options["name"], str(options.get("direction", "IN")).upper(), options)

    @property
    def connection(self) -> str:
        """The setting that identifies the storage account."""
        return self.options.get("connection") or "AzureWebJobsStorage"


@dataclass(frozen=True, slots=True)
class Function:
    id: str
    name: str
    trigger: Binding
    others: tuple[Binding, ...] = ()
    retry: RpcRetryOptions | None = None

    @classmethod
    def parse(cls, found: RpcFunctionMetadata) -> "Function":
        bindings = [Binding.parse(raw) for raw in found.raw_bindings]
        trigger = next(one for one in bindings if one.kind.lower().endswith("trigger"))
        others = tuple(one for one in bindings if one is not trigger)
        return cls(found.function_id, found.name, trigger, others, found.retry_options)

    @property
    def scans(self) -> bool:
        """Whether the trigger scans its container for blobs instead of receiving Event Grid events."""
        return self.trigger.kind == BLOB and str(self.trigger.options.get("source", "")).lower() != "eventgrid"

    @property
    def storage_name(self) -> str:
        """The function's name in host storage, for locks and timer states, as in Azure."""
        return f"Host.Functions.{self.name}"

    @property
    def outputs(self) -> tuple[Binding, ...]:
        """Bindings that the host must write after a run; the HTTP reply isn't among them."""
        return tuple(one for one in self.others if one.direction == "OUT" and one.kind != "http")

    @property
    def auth_level(self) -> str:
        return str(self.trigger.options.get("authLevel", "FUNCTION")).upper()
