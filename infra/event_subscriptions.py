"""Deploys events.bicep for the blob-triggered functions of a deployed app, and for those only.

Which functions there are is asked of the app itself, so this needs no change when the code gets another. An app
without blob triggers needs no event subscription, and has no webhook key to subscribe with: then nothing is deployed.
An app without any function is one whose new code hasn't been taken up yet: that is waited for, and an error in the end.
Event Grid can't reach an app that answers private endpoints only: nothing is subscribed then, and ticks look for blobs.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from infra.azure_cli import SUBSCRIPTION, Az, CommandError, az, flat, in_subscription

_TRIES = 10
_PAUSE_SECONDS = 30.0
TEMPLATE = Path(__file__).resolve().parent / "events.bicep"


def triggers(functions: Iterable[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Name and container of every function with a blob trigger. Raises CommandError for what no event can reach."""
    return [
        {"functionName": name, "containerName": _container(name, binding)}
        for function in functions
        for name in [str(function["name"]).rpartition("/")[2]]
        for binding in (flat(function).get("config") or {}).get("bindings", [])
        if binding.get("type") == "blobTrigger"
    ]


def _container(name: str, binding: Mapping[str, Any]) -> str:
    container = str(binding.get("path", "")).partition("/")[0]
    if not container or "%" in container or "{" in container:
        raise CommandError(f"{name} doesn't name its container in plain letters, but '{container}'.")
    if str(binding.get("source", "")).lower() != "eventgrid":
        raise CommandError(f"{name} scans for blobs; Flex Consumption knows the source EventGrid only.")
    return container


def existing_topic(topics: Iterable[Mapping[str, Any]], storage_id: str) -> str:
    """Name of the system topic that the storage account has already, or an empty text; it can have only one."""
    names = [str(topic["name"]) for topic in topics if str(flat(topic)["source"]).lower() == storage_id.lower()]
    return names[0] if names else ""


def functions_of(group: str, app: str, call: Az, *, pause_seconds: float) -> list[dict[str, Any]]:
    """The app's functions; the list is empty for a while after a remote build. Raises CommandError if it stays so."""
    for attempt in range(_TRIES):
        time.sleep(pause_seconds if attempt else 0)
        found: list[dict[str, Any]] = (
            call("functionapp", "function", "list", "--resource-group", group, "--name", app) or []
        )
        if found:
            return found
    raise CommandError(f"{app} has no functions: its code isn't deployed, or doesn't load. Look at its log.")


def is_private(group: str, app: str, call: Az) -> bool:
    """Whether an app answers private endpoints only."""
    shown = flat(call("functionapp", "show", "--resource-group", group, "--name", app))
    return str(shown.get("publicNetworkAccess")).lower() == "disabled"


def subscribe(
    group: str, app: str, storage: str, call: Az, *, pause_seconds: float = _PAUSE_SECONDS
) -> list[dict[str, str]]:
    """What was subscribed. Raises CommandError."""
    wanted = triggers(functions_of(group, app, call, pause_seconds=pause_seconds))
    if not wanted:
        return []
    storage_id = call("storage", "account", "show", "--resource-group", group, "--name", storage)["id"]
    topic = existing_topic(call("eventgrid", "system-topic", "list", "--resource-group", group) or [], storage_id)
    call(
        *("deployment", "group", "create", "--resource-group", group, "--name", "events"),
        *("--template-file", str(TEMPLATE), "--parameters", f"appName={app}", f"storageAccountName={storage}"),
        *(f"existingTopicName={topic}", f"triggers={json.dumps(wanted)}"),
    )
    return wanted


def main(arguments: Sequence[str], call: Az = az, *, pause_seconds: float = _PAUSE_SECONDS) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--resource-group", required=True, help="the output AZURE_RESOURCE_GROUP")
    parser.add_argument("--app", required=True, help="the output AZURE_FUNCTION_APP_NAME")
    parser.add_argument("--storage", required=True, help="the output BATCHSCOPE_TELEMETRY_STORAGE")
    options = parser.parse_args(arguments)
    call = in_subscription(call, os.environ.get(SUBSCRIPTION))
    try:
        if is_private(options.resource_group, options.app, call):
            print(
                "The app answers private endpoints only, which Event Grid can't reach: each tick looks for new blobs."
            )
            return 0
        subscribed = subscribe(options.resource_group, options.app, options.storage, call, pause_seconds=pause_seconds)
    except CommandError as error:
        print(error, file=sys.stderr)
        return 1
    for trigger in subscribed:
        print(f"{trigger['functionName']} is told of new blobs in {trigger['containerName']}.")
    if not subscribed:
        print("No function of the app is triggered by blobs, so there is nothing to subscribe.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
