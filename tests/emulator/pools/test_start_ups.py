"""The emulator's own moments of nodes' first starts agree with what its lists show."""

from datetime import datetime, timedelta
from typing import Any

from tests.emulator.support.driver import Driver

_START = {"commandLine": "/bin/sh -c 'sleep 40'", "waitForSuccess": True}
_ORDER = ("wished", "allocated", "booted", "startTaskStarted", "startTaskEnded", "ready", "preparing", "firstTask")


def _moments(node: dict[str, str]) -> list[datetime]:
    return [datetime.fromisoformat(node[name]) for name in _ORDER]


async def _start_ups(driver: Driver) -> dict[str, Any]:
    found: dict[str, Any] = (await driver.control("GET", "startups"))["demo"]["pool"]
    return found


async def test_moments_of_a_start_up_are_in_order_and_those_of_the_lists(stepped: Driver) -> None:
    await stepped.add_pool(nodes=3, startTask=_START)
    wished = (await stepped.call("GET", "/pools/pool")).body["allocationStateTransitionTime"]
    await stepped.advance(200)
    await stepped.add_job(jobPreparationTask={"commandLine": "/bin/sh -c 'sleep 20'"})
    await stepped.add_tasks("job", *["sleep 500"] * 3)
    await stepped.advance(60)
    rows, found = await stepped.rows("/pools/pool/nodes"), await _start_ups(stepped)
    tasks = {row["nodeInfo"]["nodeId"]: row["executionInfo"] for row in await stepped.rows("/jobs/job/tasks")}
    assert found.keys() == {row["id"] for row in rows} == tasks.keys()
    for row in rows:
        node = found[row["id"]]
        assert (node["wished"], node["allocated"]) == (wished, row["allocationTime"])
        assert _moments(node) == sorted(_moments(node))
        shown = (row["lastBootTime"], row["startTaskInfo"]["startTime"], row["startTaskInfo"]["endTime"])
        pairs = zip(shown, (node["booted"], node["startTaskStarted"], node["startTaskEnded"]), strict=True)
        for shown, true in (*pairs, (tasks[row["id"]]["startTime"], node["firstTask"])):
            assert abs(datetime.fromisoformat(shown) - datetime.fromisoformat(true)) <= timedelta(seconds=1)


async def test_a_restart_doesnt_change_the_moments_of_the_first_start(stepped: Driver) -> None:
    await stepped.add_pool(nodes=1)
    await stepped.advance(120)
    before = await _start_ups(stepped)
    (name,) = before
    await stepped.call("POST", f"/pools/pool/nodes/{name}/reboot", {})
    await stepped.advance(120)
    assert await _start_ups(stepped) == before
    await stepped.add_job()
    await stepped.add_tasks("job", "sleep 1")
    await stepped.advance(30)
    assert await _start_ups(stepped) == before
