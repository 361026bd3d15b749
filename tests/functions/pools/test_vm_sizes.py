"""Cores of pools with several VM sizes and with set vCPUs, in every answer, against the emulator's own truth."""

import asyncio
import json
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import pytest_asyncio
from aiohttp import ClientSession

from local.azurite import StorageAddresses
from local.batch_emulator.core.stamps import stamp
from local.batch_emulator.emulator import Emulator
from local.batch_emulator.http.server import Server
from local.batch_emulator.protocol.auth import DEVELOPMENT_KEY
from tests.emulator.support.driver import Driver
from tests.functions.support.separate_app import Ask, SeparateApp, copy_app

pytestmark = pytest.mark.asyncio(loop_scope="module")
NEW, OLD = "2026-10-01", "2025-06-01"
A, B, C = "standard_d4s_v5", "standard_d4as_v5", "standard_e4s_v5"
_MIXED = {
    "id": "mixed",
    "vmSize": "Mix",
    "vmSkuProfile": {
        "vmSizes": [{"name": size, "rank": rank} for rank, size in enumerate((A, B, C))],
        "allocationStrategy": "prioritized",
    },
    "taskSlotsPerNode": 3,
    "targetDedicatedNodes": 3,
    "targetLowPriorityNodes": 3,
}
_MACHINE = {"imageReference": {"publisher": "p", "offer": "o", "sku": "s"}, "nodeAgentSKUId": "a"}
_SET = {
    "id": "set",
    "vmSize": "standard_d8s_v5",
    "virtualMachineConfiguration": {
        **_MACHINE,
        "hardwareProfile": {"vmSizeProperties": {"vCPUsAvailable": 6, "vCPUsPerCore": 1}},
    },
    "taskSlotsPerNode": 4,
    "targetDedicatedNodes": 1,
    "targetLowPriorityNodes": 3,
}
_PLAIN = {"id": "plain", "vmSize": "standard_d2s_v5", "targetDedicatedNodes": 2}


@dataclass(frozen=True, slots=True)
class Watched:
    """An emulated account with time that stands still, and the app that watches it."""

    app: SeparateApp
    driver: Driver

    async def get(self, path: str) -> Any:
        ask = Ask("GET", f"http://localhost/api/{path}", {})
        (said,) = await asyncio.to_thread(self.app.ask, [ask])
        assert said.status == 200, said.text
        return json.loads(said.text) if said.headers["content-type"].startswith("application/json") else said.text

    async def tick(self) -> None:
        await asyncio.to_thread(self.app.fire, "tick")

    async def post(self, path: str, body: Any) -> None:
        answer = await self.driver.follow("POST", f"{self.driver.url}{path}?api-version={NEW}", body)
        assert answer.status in (201, 202), answer.body

    def truth(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.driver.emulator.truth()["accounts"]["demo"]["pools"]
        return found


type Watching = Callable[[str | None], Awaitable[Watched]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def watching(azurite: StorageAddresses, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Watching]:
    """Yields what returns an empty account, watched by an app with a version of Batch's API; one app a version."""
    worlds: dict[str | None, Watched] = {}
    async with AsyncExitStack() as stack:

        async def empty(version: str | None) -> Watched:
            if version not in worlds:
                folder = tmp_path_factory.mktemp("watched")
                worlds[version] = await stack.enter_async_context(_watched(azurite, folder, version))
            world = worlds[version]
            world.driver.emulator.reset()
            await world.driver.advance(3630 - world.driver.emulator.clock.now / 10_000_000 % 60)  # into a minute
            return world

        yield empty


@asynccontextmanager
async def _watched(azurite: StorageAddresses, folder: Path, version: str | None) -> AsyncIterator[Watched]:
    emulator = Emulator({"demo": DEVELOPMENT_KEY}, token="t", seed=3, speed=1.0, stepped=True)
    server = Server(emulator)
    url = f"http://127.0.0.1:{await server.start('127.0.0.1', 0)}"
    settings = {
        "AzureWebJobsStorage": azurite.connection_string,
        "BATCH_ACCOUNTS": f"demo={url}",
        "BATCH_ACCOUNT_KEYS": f"demo={DEVELOPMENT_KEY}",
        "CLOCK_URL": f"{url}/_emulator/clock",
        "AZURE_FUNCTIONS_ENVIRONMENT": "Development",
        "TABLE_PREFIX": f"s{secrets.token_hex(6)}",
        "POLL_SECONDS": "1",
        **({"BATCH_POOL_API_VERSION": version} if version else {}),
    }
    app = SeparateApp(copy_app(folder), settings)
    await asyncio.to_thread(app.__enter__)
    try:
        async with ClientSession() as session:
            yield Watched(app, Driver(url, session, emulator))
    finally:
        await asyncio.to_thread(app.__exit__)
        await server.stop()


@pytest.mark.parametrize(("version", "added"), [(NEW, [_MIXED, _SET, _PLAIN]), (None, [_MIXED, _PLAIN])])
async def test_cores_are_the_emulators_through_resizes_and_preemptions(
    watching: Watching, version: str | None, added: list[dict[str, Any]]
) -> None:
    world = await watching(version)
    emulator = world.driver.emulator
    emulator.settings.preemptionSeconds, emulator.settings.vmSizeCapacity = 150.0, f"{A}=2 {B}=1"
    for spec in added:
        await world.post("/pools", spec)
        await world.driver.add_job(f"job-{spec['id']}", spec["id"])
    resizes = {4: (5, 1), 8: (0, 4), 12: (2, 5), 16: (1, 1)}
    true: dict[str, dict[str, Any]] = {}
    first = stamp(emulator.clock.now)
    for minute in range(20):
        for spec in added:
            await _add_tasks(world, spec["id"], minute)
            if minute in resizes:
                dedicated, spot = resizes[minute]
                body = {"targetDedicatedNodes": dedicated, "targetLowPriorityNodes": spot}
                await world.post(f"/pools/{spec['id']}/resize", body)
        if minute == 10:
            emulator.settings.vmSizeCapacity = f"{A}=1 {C}=6"
        await world.driver.advance(60 - emulator.clock.now / 10_000_000 % 60)
        await world.tick()
        await _assert_true(world)
        true[stamp(emulator.clock.now)[:16]] = dict(world.truth())
    _assert_varied(true, [spec["id"] for spec in added])
    await _assert_history(world, first, true, [spec["id"] for spec in added])


async def _add_tasks(world: Watched, pool: str, minute: int) -> None:
    tasks = [{"id": f"m{minute}-{n}", "commandLine": f"sleep {20 + 30 * n}"} for n in range(4)]
    await world.driver.call("POST", f"/jobs/job-{pool}/addtaskcollection", {"value": tasks})


async def _assert_true(world: Watched) -> None:
    """Compares pools, nodes, the account and Prometheus series with the truth of the same moment."""
    truth = world.truth()
    pools = {pool["id"]: pool for pool in (await world.get("accounts/demo/pools"))["value"]}
    series = _series(await world.get("metrics"))
    assert pools.keys() == truth.keys()
    for name, true in truth.items():
        cores = {"total": true["cores"], "busy": round(true["busyCores"], 3)}
        assert (pools[name]["cores"], pools[name]["unknownCores"]) == (cores, 0), name
        assert pools[name]["vmSizes"] == true["vmSizes"]
        assert (series["azbatch_pool_cores", name], series["azbatch_pool_busy_cores", name]) == tuple(cores.values())
        nodes = (await world.get(f"accounts/demo/pools/{name}/nodes?maxpagesize=1000"))["value"]
        assert Counter(node["vmSize"] for node in nodes) == true["vmSizes"]
        machines = [node for node in nodes if node["state"] not in {"preempted", "deallocated"}]
        assert sum(node["cores"] for node in machines) == true["cores"]
    account = await world.get("accounts/demo")
    assert account["unknownCores"] == 0
    assert account["cores"]["total"] == sum(true["cores"] for true in truth.values())
    assert account["cores"]["busy"] == pytest.approx(sum(true["busyCores"] for true in truth.values()), abs=0.002)


def _series(text: str) -> dict[tuple[str, str], float]:
    found = {}
    for line in text.splitlines():
        name, _, rest = line.partition("{")
        if name in {"azbatch_pool_cores", "azbatch_pool_busy_cores"}:
            found[name, rest.split('pool="')[1].split('"')[0]] = float(rest.rsplit(" ", 1)[1])
    return found


def _assert_varied(true: Mapping[str, Mapping[str, Any]], names: list[str]) -> None:
    """Makes sure that sizes, cores and busy cores changed, or the comparisons would show little."""
    for name in names:
        assert len({pools[name]["busyCores"] for pools in true.values()}) > 2
    assert len({str(sorted(pools["mixed"]["vmSizes"].items())) for pools in true.values()}) > 3
    assert set().union(*(pools["mixed"]["vmSizes"] for pools in true.values())) == {A, B, C}
    spot = [pools["mixed"]["nodes"].get("preempted", 0) for pools in true.values()]
    assert max(spot) > 0


async def _assert_history(world: Watched, first: str, true: Mapping[str, Mapping[str, Any]], names: list[str]) -> None:
    query = f"from={quote(first)}&to={quote(stamp(world.driver.emulator.clock.now))}&step=PT1M"
    for name in names:
        points = (await world.get(f"accounts/demo/pools/{name}/history?{query}"))["value"]
        found = {point["time"][:16]: point["cores"] for point in points}
        assert found == {
            at: {"total": pools[name]["cores"], "busy": round(pools[name]["busyCores"], 3)}
            for at, pools in true.items()
        }


async def test_a_pool_names_the_sizes_that_had_no_capacity_and_those_it_may_have(watching: Watching) -> None:
    world = await watching(NEW)
    world.driver.emulator.settings.vmSizeCapacity = f"{A}=1 {B}=0 {C}=1"
    await world.post("/pools", {**_MIXED, "targetLowPriorityNodes": 0})
    await world.driver.advance(120)
    await world.tick()
    pool = await world.get("accounts/demo/pools/mixed")
    assert (pool["vmSize"], pool["vmSizes"]) == ("Mix", {A: 1, C: 1})
    (error,) = pool["resizeErrors"]
    assert (error["code"], error["vmSizes"], error["current"]) == ("AllocationFailed", sorted((A, B, C)), True)
    profile = pool["settings"]["vmSkuProfile"]
    assert [size["name"] for size in profile["vmSizes"]] == [A, B, C]
    await world.driver.control("POST", "settings", {"dedicatedNodeQuota": 1, "vmSizeCapacity": ""})
    await world.post("/pools/mixed/resize", {"targetDedicatedNodes": 5})
    await world.driver.advance(120)
    await world.tick()
    first = (await world.get("accounts/demo/pools/mixed"))["resizeErrors"][0]
    assert (first["code"], first["vmSizes"]) == ("AccountCoreQuotaReached", [])


async def test_one_node_of_an_unknown_size_makes_a_pools_cores_unknown_and_an_account_counts_it_apart(
    watching: Watching,
) -> None:
    world = await watching(None)
    first = stamp(world.driver.emulator.clock.now)
    for spec in (_PLAIN, {**_MIXED, "targetLowPriorityNodes": 0}):
        await world.post("/pools", spec)
    await world.driver.advance(120)
    odd, nameless, known = world.driver.emulator.simulations["demo"].account.pools["mixed"].nodes.values()
    odd.vm_size, nameless.vm_size = "standard_unheard", ""
    await world.tick()
    pool = await world.get("accounts/demo/pools/mixed")
    assert (pool["cores"], pool["unknownCores"]) == (None, 2)
    assert pool["vmSizes"] == {"standard_unheard": 1, known.vm_size: 1}
    nodes = {node["id"]: node for node in (await world.get("accounts/demo/pools/mixed/nodes"))["value"]}
    assert [nodes[node.id]["cores"] for node in (odd, nameless, known)] == [None, None, 4]
    account = await world.get("accounts/demo")
    assert (account["cores"]["total"], account["unknownCores"]) == (4 + 2 * 2, 2)
    assert {pool for _, pool in _series(await world.get("metrics"))} == {"plain"}
    await world.driver.advance(60)
    await world.tick()
    points = (await world.get(f"accounts/demo/pools/mixed/history?from={quote(first)}&step=PT1M"))["value"]
    assert [point["cores"] for point in points if point["nodeCounts"]] == [None]


@pytest.mark.parametrize("version", [NEW, None])
async def test_placement_in_zones_is_shown_as_far_as_the_api_version_has_it(
    watching: Watching, version: str | None
) -> None:
    zonal = {"nodePlacementConfiguration": {"policy": "zonal"}}
    share = {"maxInstancePercentPerZonePolicy": {"enabled": True, "value": 60}, "maxZoneCount": 2}
    auto = {
        "placement": {"zonePlacementPolicy": "Auto"},
        "resiliencyPolicy": {"zoneAllocationPolicy": share},
    }
    world = await watching(version)
    for name, policies in (("zonal", zonal), ("auto", auto)):
        machine = {"virtualMachineConfiguration": {**_MACHINE, **policies}}
        await world.post("/pools", {"id": name, "vmSize": A, **machine})
    await world.driver.advance(60)
    await world.tick()
    shown = {name: (await world.get(f"accounts/demo/pools/{name}"))["settings"] for name in ("zonal", "auto")}
    assert shown["zonal"]["virtualMachineConfiguration"] == {**_MACHINE, **zonal}
    assert shown["auto"]["virtualMachineConfiguration"] == {**_MACHINE, **(auto if version else {})}


async def test_the_default_version_sees_no_set_vcpus(watching: Watching) -> None:
    """docs/limits.md says so: nothing in that version tells them."""
    world = await watching(None)
    await world.post("/pools", {**_SET, "targetLowPriorityNodes": 0})
    await world.driver.advance(120)
    await world.tick()
    pool = await world.get("accounts/demo/pools/set")
    assert (pool["cores"]["total"], world.truth()["set"]["cores"]) == (8, 6)
