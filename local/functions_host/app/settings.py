"""App settings and host.json, parsed at start into typed values; errors name malformed values."""

import json
import os
import re
import uuid
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from local.functions_host.app.errors import ConfigurationError

_OVERRIDE = "AzureFunctionsJobHost__"
_TIME_SPAN = re.compile(r"(?:(\d+)\.)?(\d{1,2}):(\d{1,2})(?::(\d{1,2}(?:\.\d{1,7})?))?", re.ASCII)
_MAX_BATCH_SIZE = 32


@dataclass(frozen=True, slots=True)
class QueueOptions:
    """host.json `extensions.queues`, with Azure's defaults."""

    batch_size: int = 16
    new_batch_threshold: int = 8
    max_dequeue_count: int = 5
    visibility_timeout: timedelta = timedelta()
    max_polling_interval: timedelta = timedelta(minutes=1)
    base64: bool = True


@dataclass(frozen=True, slots=True)
class HostOptions:
    """The part of host.json that this host honours. `function_timeout` None means unbounded.

    `blobs` configures the queues that hold messages of blob triggers.
    """

    route_prefix: str = "api"
    function_timeout: timedelta | None = timedelta(minutes=30)
    queues: QueueOptions = field(default_factory=QueueOptions)
    blobs: QueueOptions = field(default_factory=lambda: _blob_options({}, base64=True))


def is_loopback(address: str) -> bool:
    """Returns whether only this machine can reach the address."""
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def load_local_settings(app_dir: Path, environment: MutableMapping[str, str]) -> None:
    """Fills the environment from `Values` of local.settings.json, as `func start` does; existing variables win."""
    path = app_dir / "local.settings.json"
    if not path.exists():
        return
    content = _read_object(path)
    if content.get("IsEncrypted"):
        raise ConfigurationError("local.settings.json is encrypted; this host only reads plain values.")
    for name, value in (content.get("Values") or {}).items():
        environment.setdefault(name, str(value))


def load_host_json(app_dir: Path, environment: Mapping[str, str]) -> HostOptions:
    """Reads host.json, overridden by `AzureFunctionsJobHost__a__b` settings."""
    path = app_dir / "host.json"
    if not path.exists():
        raise ConfigurationError(f"There is no host.json in {app_dir}.")
    return parse_host_json(_read_object(path), environment)


def parse_host_json(content: Mapping[str, Any], environment: Mapping[str, str]) -> HostOptions:
    flat = _flatten(content)
    for name, value in environment.items():
        if name.startswith(_OVERRIDE):
            flat[name.removeprefix(_OVERRIDE).replace("__", ".").lower()] = value
    unbounded = str(flat.get("functiontimeout")) == "-1"
    return HostOptions(
        route_prefix=str(flat.get("extensions.http.routeprefix", "api")).strip("/"),
        function_timeout=None if unbounded else _time_span(flat, "functionTimeout", timedelta(minutes=30)),
        queues=(queues := _queue_options(flat)),
        blobs=_blob_options(flat, base64=queues.base64),
    )


def time_span(text: str) -> timedelta:
    """Returns a .NET TimeSpan, `[d.]hh:mm[:ss[.fffffff]]`; raises ValueError for anything else."""
    found = _TIME_SPAN.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"'{text}' isn't a time span such as 00:05:00")
    days, hours, minutes, seconds = found.groups(default="0")
    return timedelta(days=int(days), hours=int(hours), minutes=int(minutes), seconds=float(seconds))


def resolve(text: str, environment: Mapping[str, str]) -> str:
    """Replaces %NAME% by the app setting NAME; raises LookupError, as in Azure, if it is missing."""

    def look_up(found: re.Match[str]) -> str:
        if found[1] not in environment:
            raise LookupError(f"the setting %{found[1]}% doesn't exist")
        return environment[found[1]]

    return re.sub(r"%([^%]+)%", look_up, text)


def fill(text: str, values: Mapping[str, str]) -> str:
    """Replaces {name} in an output's path by a value of the trigger, {rand-guid} or {DateTime}."""
    known = {"rand-guid": str(uuid.uuid4()), "DateTime": datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%SZ"), **values}

    def look_up(found: re.Match[str]) -> str:
        if found[1] not in known:
            raise LookupError(f"{{{found[1]}}} isn't known to this trigger")
        return known[found[1]]

    return re.sub(r"{([^}]+)}", look_up, text)


def _read_object(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except ValueError as error:
        raise ConfigurationError(f"{path.name} isn't valid JSON: {error}.") from None
    if not isinstance(content, dict):
        raise ConfigurationError(f"{path.name} must hold a JSON object.")
    return content


def _flatten(node: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Returns dotted lower-case names, as host.json and its overrides are case-insensitive."""
    flat: dict[str, Any] = {}
    for name, value in node.items():
        key = f"{prefix}{name}".lower()
        if isinstance(value, Mapping):
            flat |= _flatten(value, f"{key}.")
        else:
            flat[key] = value
    return flat


def _queue_options(flat: Mapping[str, Any]) -> QueueOptions:
    def name(option: str) -> str:
        return f"extensions.queues.{option}"

    batch_size = _integer(flat, name("batchSize"), 16, low=1, high=_MAX_BATCH_SIZE)
    encoding = str(flat.get(name("messageencoding"), "base64")).lower()
    if encoding not in ("base64", "none"):
        raise ConfigurationError(f"host.json: {name('messageEncoding')} must be base64 or none, not '{encoding}'.")
    return QueueOptions(
        batch_size=batch_size,
        new_batch_threshold=_integer(flat, name("newBatchThreshold"), batch_size // 2, low=0),
        max_dequeue_count=_integer(flat, name("maxDequeueCount"), 5, low=1),
        visibility_timeout=_time_span(flat, name("visibilityTimeout"), timedelta()),
        max_polling_interval=_time_span(flat, name("maxPollingInterval"), timedelta(minutes=1)),
        base64=encoding == "base64",
    )


def _blob_options(flat: Mapping[str, Any], *, base64: bool) -> QueueOptions:
    """Limits concurrency over all functions with blob triggers; the next batch is received once it fits."""
    max_parallel = _integer(flat, "extensions.blobs.maxDegreeOfParallelism", 8 * (os.cpu_count() or 1), low=1)
    batch_size = min(_MAX_BATCH_SIZE, -(-max_parallel // 2))
    return QueueOptions(
        batch_size=batch_size,
        new_batch_threshold=max_parallel - batch_size,
        max_dequeue_count=_integer(flat, "extensions.blobs.poisonBlobThreshold", 5, low=1),
        base64=base64,
    )


def _integer(flat: Mapping[str, Any], name: str, default: int, *, low: int, high: int = 1_000_000) -> int:
    value = str(flat.get(name.lower(), default))
    if not (value.isascii() and value.isdecimal() and low <= int(value) <= high):
        raise ConfigurationError(f"host.json: {name} must be a whole number from {low} to {high}, not '{value}'.")
    return int(value)


def _time_span(flat: Mapping[str, Any], name: str, default: timedelta) -> timedelta:
    value = flat.get(name.lower())
    try:
        return default if value is None else time_span(str(value))
    except ValueError as error:
        raise ConfigurationError(f"host.json: {name}: {error}.") from None
