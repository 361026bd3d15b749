"""Builds the routes, timer listeners and queue listeners of functions."""

import asyncio
import json
from collections.abc import Mapping
from typing import Protocol

from azure.storage.queue import QueueMessage

from local.functions_host.app.functions import HTTP, Function
from local.functions_host.app.in_flight_tasks import InFlightTasks
from local.functions_host.app.invoker import Invoker
from local.functions_host.app.messages import TypedData
from local.functions_host.app.settings import HostOptions, resolve
from local.functions_host.app.storage import StorageClients
from local.functions_host.http.routes import Route
from local.functions_host.queues.queues import QueueListener
from local.functions_host.timers.clock import Clock
from local.functions_host.timers.leases import SingletonLease
from local.functions_host.timers.schedule import parse_schedule
from local.functions_host.timers.timer_status import TimerStatusBlob
from local.functions_host.timers.timers import TimerListener

_POISON = "-poison"


class Listener(Protocol):
    async def listen(self, stopping: asyncio.Event) -> None: ...


def routes_of(functions: Mapping[str, Function], prefix: str) -> list[Route]:
    """Returns the routes; raises ValueError or re.PatternError for a template that `start_checks` would reject."""
    http = (one for one in functions.values() if one.trigger.kind == HTTP)
    return [route_of(one, prefix) for one in http]


def route_of(function: Function, prefix: str) -> Route:
    template = str(function.trigger.options.get("route") or "")
    methods = [str(method) for method in function.trigger.options.get("methods") or ()]
    return Route.parse(function.name, f"{prefix}/{template.strip('/')}", methods)


def timer_listener(
    function: Function,
    *,
    environment: Mapping[str, str],
    invoker: Invoker,
    storage: StorageClients,
    host_id: str,
    clock: Clock,
    in_flight: InFlightTasks,
) -> TimerListener:
    hosts = storage.hosts_container()
    status_blob = hosts.get_blob_client(f"timers/{host_id}/{function.storage_name}/status")
    return TimerListener(
        function,
        parse_schedule(resolve(function.trigger.options["schedule"], environment)),
        invoker=invoker,
        clock=clock,
        lease=SingletonLease(hosts, f"locks/{host_id}/{function.storage_name}.Listener", function.name),
        status_blob=TimerStatusBlob(status_blob),
        in_flight=in_flight,
    )


def queue_listener(
    function: Function,
    name: str,
    *,
    options: HostOptions,
    invoker: Invoker,
    storage: StorageClients,
    in_flight: InFlightTasks,
) -> QueueListener:
    async def process(message: QueueMessage, text: str) -> None:
        values = {"queueTrigger": text, "id": message.id}
        await invoker.run(function, TypedData(string=text), metadata=queue_metadata(message, text), values=values)

    connection = function.trigger.connection
    return QueueListener(
        storage.queue(name, connection),
        None if name.endswith(_POISON) else storage.queue(f"{name}{_POISON}", connection),
        process,
        options=options.queues,
        in_flight=in_flight,
    )


def queue_metadata(message: QueueMessage, text: str) -> dict[str, TypedData]:
    """Returns the metadata of a message in the worker types that Azure's host uses."""
    times = {
        "InsertionTime": message.inserted_on,
        "ExpirationTime": message.expires_on,
        "NextVisibleTime": message.next_visible_on,
    }
    return {
        "QueueTrigger": TypedData(string=text),
        "Id": TypedData(string=message.id),
        "PopReceipt": TypedData(string=message.pop_receipt or ""),
        "DequeueCount": TypedData(json=str(message.dequeue_count or 0)),
        **{name: TypedData(json=json.dumps(value.isoformat())) for name, value in times.items() if value},
    }
