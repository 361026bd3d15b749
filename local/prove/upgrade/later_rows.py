"""What rows hold that 0.1.0 doesn't write: settings of pools, their changes, agents, counters, causes, retirements.

Each turn tags the pools, which is a change of their settings. This version must show it, and the rows that 0.1.0 leaves
alone must be there again after the rollback; the others begin anew.
"""

import asyncio
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import quote

from azure.batch.aio import BatchClient
from azure.core.exceptions import ResourceExistsError, ResourceNotFoundError
from azure.core.rest import HttpRequest

from local.prove.stack.api import Stack
from local.prove.upgrade.answers import STARTUP, Answers
from local.workload.target import open_client

TAG = "turn"
"""The name of the metadata that each turn sets."""
_KIND, _PAGE = "application/json; odata=minimalmetadata", 200
_VERSION = "api-version=2025-06-01"
RETIREMENTS = "/retirements"
_POOL = re.compile(r"/accounts/[^/]+/pools/[^/?]+")
type Credentials = tuple[str, str, str]
"""The emulator's address, and an account's name and key."""


def changes_path(account: str) -> str:
    """Returns the path of the events of changed settings."""
    return f"/accounts/{quote(account)}/events?kind=pool.settings_change&maxpagesize={_PAGE}"


def tag_pools(credentials: Credentials, turn: str) -> None:
    """Gives every pool a metadata item with the name of the turn. The emulator must not be paused."""
    asyncio.run(_tag_all(credentials, turn))


def tagged_pools(credentials: Credentials, turn: str) -> set[str]:
    """Returns the ids of pools that have the tag, without those that were created since."""
    return asyncio.run(_tagged(credentials, turn))


async def _tag_all(credentials: Credentials, turn: str) -> None:
    async with open_client(*credentials) as client:
        for pool in await _pools(client):
            others = [one for one in _metadata(pool) if one["name"] != TAG]
            body = {"metadata": [*others, {"name": TAG, "value": turn}]}
            url, headers = f"/pools/{pool['id']}?{_VERSION}", {"Content-Type": _KIND}
            with suppress(ResourceExistsError, ResourceNotFoundError):  # it is being deleted
                await client.send_request(HttpRequest("PATCH", url, headers=headers, json=body))


async def _tagged(credentials: Credentials, turn: str) -> set[str]:
    async with open_client(*credentials) as client:
        return {pool["id"] for pool in await _pools(client) if {"name": TAG, "value": turn} in _metadata(pool)}


async def _pools(client: BatchClient) -> list[dict[str, Any]]:
    answer = await client.send_request(HttpRequest("GET", f"/pools?{_VERSION}&$select=id,metadata"))
    answer.raise_for_status()
    found: list[dict[str, Any]] = answer.json()["value"]
    return found


def _metadata(pool: Mapping[str, Any]) -> list[dict[str, Any]]:
    return pool.get("metadata") or []


def later_problems(stack: Stack, turn: str, tagged: set[str], before: Answers) -> list[str]:
    """Returns how this version's answers differ from the truth, while the emulator is paused and after a poll.

    `before` are its answers before its first poll in this turn.
    """
    pools, truth = stack.pools(), stack.true_pools()
    events = str(stack.get(changes_path(stack.account)))
    account = f"/accounts/{quote(stack.account)}"
    return [
        *(problem for name in sorted(pools.keys() & truth.keys()) for problem in _of_pool(pools[name], truth[name])),
        *(problem for name in sorted(tagged & pools.keys()) for problem in _of_change(pools[name], turn, events)),
        *_fallen("", before[account], stack.get(account)),
        *(problem for name in sorted(pools) for problem in _fallen_of_pool(stack, pools[name], before)),
        *([] if stack.get(RETIREMENTS)["value"] else ["no retirements"]),
    ]


def _of_pool(shown: Mapping[str, Any], truth: Mapping[str, Any]) -> Iterator[str]:
    if shown["settings"] is None or shown["settingsLeftOut"]:
        yield f"pool {shown['id']}: settings weren't read, or not whole: {shown['settingsLeftOut']}"
    for name in ("vmSizes", "nodeAgentVersions"):
        if shown[name] != truth[name]:
            yield f"pool {shown['id']}: {name} is {shown[name]}, in truth {truth[name]}"


def _of_change(shown: Mapping[str, Any], turn: str, events: str) -> Iterator[str]:
    changes = [change for change in shown["settingChanges"] if turn in str(change["after"])]
    if not changes:
        yield f"pool {shown['id']}: the tag {turn} is no change of its settings"
    elif changes[0]["time"] not in events:
        yield f"pool {shown['id']}: the tag {turn} is no event"


def _fallen_of_pool(stack: Stack, shown: Mapping[str, Any], before: Answers) -> Iterator[str]:
    """Yields which counters and start-ups of a pool fell, unless it was created anew."""
    path = f"/accounts/{quote(stack.account)}/pools/{quote(shown['id'])}"
    if path in before and before[path].get("creationTime") == shown["creationTime"]:
        yield from _fallen(f"pool {shown['id']}: ", before[path], shown)
    first = before.get(path + STARTUP, {}).get("nodes", 0)
    if first and (now := stack.get(path + STARTUP)["nodes"]) < first:
        yield f"pool {shown['id']}: start-ups fell from {first} to {now}"


def _fallen(what: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    for kind in ("taskCounters", "waitedSeconds"):
        fallen = {name: value for name, value in before[kind].items() if after[kind].get(name, 0) < value}
        if fallen:
            yield f"{what}{kind} fell from {fallen} to {after[kind]}"


def lost_in_rollback(before: Answers, after: Answers, account: str) -> list[str]:
    """Returns what 0.1.0 had to leave alone and didn't: events of settings, retirements, start-ups, time waited."""
    path = changes_path(account)
    seen = {(event["time"], event["summary"]) for event in after[path]["value"]}
    lost = [event for event in before[path]["value"] if (event["time"], event["summary"]) not in seen]
    names = {one["id"] for one in before[RETIREMENTS]["value"]} - {one["id"] for one in after[RETIREMENTS]["value"]}
    return [
        *(f"the event of {event['time']} is gone: {event['summary']}" for event in lost),
        *(f"the retirement {name} is gone" for name in sorted(names)),
        *(problem for path in sorted(before.keys() & after.keys()) for problem in _changed(path, before, after)),
    ]


def _changed(path: str, before: Answers, after: Answers) -> Iterator[str]:
    """Yields which start-ups and time waited of a pool, by the path of its answer, aren't as they were."""
    names = ("nodes", "phases") if path.endswith(STARTUP) else ("waitedSeconds",) if _POOL.fullmatch(path) else ()
    for name in names:
        old, new = before[path].get(name), after[path].get(name)
        if old != new:
            yield f"{path}: {name} was {old}, is {new}"
