"""Pools and nodes as the API shows them, compared with the emulator's own lists."""

from datetime import datetime
from typing import Any

from local.batch_emulator.core.stamps import stamp
from local.batch_emulator.entities import Node
from tests.functions.conftest import World


async def pools(world: World) -> dict[str, Any]:
    found = await world.get("accounts/demo/pools?maxpagesize=1000")
    assert found.status == 200, found.body
    return {pool["id"]: pool for pool in found.body["value"]}


async def nodes(world: World, pool: str = "pool") -> dict[str, Any]:
    found = await world.get(f"accounts/demo/pools/{pool}/nodes?maxpagesize=1000")
    assert found.status == 200, found.body
    return {node["id"]: node for node in found.body["value"]}


async def differences(world: World) -> list[str]:
    """Returns differences between the shown pools, nodes and times in state and the emulator's own lists."""
    shown, truth = await pools(world), world.emulator.truth()["accounts"]["demo"]["pools"]
    found = [f"{pool} is shown or exists alone" for pool in truth.keys() ^ shown.keys()]
    for name in truth.keys() & shown.keys():
        pool, true = shown[name], truth[name]
        fields = {
            "nodes": (pool["nodeCounts"], true["nodes"]),
            "dedicated": (pool["dedicated"]["current"], true["dedicated"]),
            "spot": (pool["spot"]["current"], true["spot"]),
            "slotsUsed": (pool["slots"]["used"], true["slotsUsed"]),
            "slotsTotal": (pool["slots"]["total"], true["slotsTotal"]),
            "cores": (pool["cores"]["total"], true["cores"]),
            "busy": (pool["cores"]["busy"], true["busyCores"]),
            "sizes": (pool["vmSizes"], true["vmSizes"]),
        }
        found += [f"{name}.{field}: {ours} for {theirs}" for field, (ours, theirs) in fields.items() if ours != theirs]
        found += await _node_differences(world, name)
    return found


async def _node_differences(world: World, pool: str) -> list[str]:
    shown, true = await nodes(world, pool), true_nodes(world, pool)
    found = [f"{pool}: {node} is shown or exists alone" for node in true.keys() ^ shown.keys()]
    for name in true.keys() & shown.keys():
        node, theirs = shown[name], true[name]
        since = datetime.fromisoformat(stamp(theirs.changed))
        seconds = max((datetime.fromisoformat(stamp(world.emulator.clock.now)) - since).total_seconds(), 0)
        if node["state"] != theirs.state or node["runningTasks"] != len(theirs.running):
            found.append(f"{name}: {node['state']} for {theirs.state}, {node['runningTasks']} tasks")
        if abs(node["secondsInState"] - seconds) > 0.002:
            found.append(f"{name}: {node['secondsInState']} s in {theirs.state} for {seconds}")
    return found


def true_nodes(world: World, pool: str = "pool") -> dict[str, Node]:
    return dict(world.emulator.simulations["demo"].account.pools[pool].nodes)


async def polled(world: World) -> None:
    await world.app.fire("tick")
    last = (await world.get("accounts/demo")).body["lastRound"]
    assert (last["outcome"], last["startedAt"][:19]) == ("succeeded", stamp(world.emulator.clock.now)[:19])
