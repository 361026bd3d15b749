"""This machine as a node of the demo: the real agent measures real processes, and the app shows them."""

import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest
from azure.batch import models

from local.azurite import StorageAddresses
from local.dev.running.stack import Options, machine_program
from local.dev.system.checkout import HERE
from local.dev.system.children import Children
from local.prove.stack.api import Stack
from local.workload.target import open_client
from tests.e2e.live.stack import RunningStack

_POOL = "this-machine"
_ACCOUNT = "/accounts/demo"
_MEASURED = {"system.cpu.utilization", "system.memory.usage", "batchscope.task.memory.usage"}
_PATIENCE = 60.0
_UNTIL_ONE_ENDS = 120.0
_FLUSHES = 20.0
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the node agent runs on Linux")


def test_the_agent_measures_this_machine_and_a_process_a_task(
    stack: RunningStack, azurite: StorageAddresses, tmp_path: Path
) -> None:
    demo = Stack(stack.api, stack.emulator, stack.account.name)
    with played_node(stack, azurite, tmp_path) as children:
        await_true(children, lambda: _names_of(demo) >= _MEASURED, "not everything was measured")
        await_true(children, lambda: bool(_ended_attempts(demo)), "no ended task showed its use", _UNTIL_ONE_ENDS)
        ended = _ended_attempts(demo)
    for attempt in ended:
        assert 0 < attempt["cpuSeconds"] <= attempt["duration"] * 1.1
        assert attempt["cpuMissed"] >= 0
        assert attempt["cpuSource"] in {"exit_accounting", "samples"}
        assert attempt["memoryPeak"] > 4 << 20
        assert attempt["startTime"] < attempt["endTime"]


def test_a_spot_notice_to_this_machine_is_in_the_feed_once(
    stack: RunningStack, azurite: StorageAddresses, tmp_path: Path
) -> None:
    demo = Stack(stack.api, stack.emulator, stack.account.name)
    with spot_node(demo, stack), played_node(stack, azurite, tmp_path) as children:
        await_true(children, lambda: bool(_names_of(demo)), "nothing was measured")
        demo.control("POST", "scheduledEvents", {"type": "Preempt", "seconds": 600})
        await_true(children, lambda: bool(_notices(demo)), "no notice is in the feed")
        demo.pause(paused=True)  # the agent, which goes on, doesn't depend on the rest of the demo
        try:
            time.sleep(_FLUSHES)  # in which the agent asks, writes and is read again
        finally:
            demo.pause(paused=False)
        (notice,), nodes = _notices(demo), demo.nodes(_POOL)
    assert (notice["poolId"], notice["nodeId"] in nodes) == (_POOL, True)
    assert notice["summary"].startswith("Azure takes this Spot node back, not before ")
    assert notice["properties"]["event_type"] == "Preempt"


@contextmanager
def played_node(stack: RunningStack, azurite: StorageAddresses, folder: Path) -> Iterator[Children]:
    """Plays a node with this machine, whose agent measures and writes often."""
    program = machine_program(HERE, Options(kept_in=folder), stack.account, stack.emulator, azurite.connection_string)
    often = ("--interval", "1", "--flush", "5")
    with Children() as children:
        children.start(replace(program, log=folder / "machine.log", command=(*program.command, *often)))
        yield children


@contextmanager
def spot_node(demo: Stack, stack: RunningStack) -> Iterator[None]:
    """Replaces the pool's node by a spot node that isn't preempted: only spot nodes ask for Scheduled Events."""
    before = demo.control("GET", "settings")["preemptionSeconds"]
    demo.control("POST", "settings", {"preemptionSeconds": 1e9})
    _resize(stack, dedicated=0, spot=1)
    try:
        yield
    finally:
        _resize(stack, dedicated=1, spot=0)
        demo.control("POST", "settings", {"preemptionSeconds": before})


def await_true(children: Children, is_true: Callable[[], bool], otherwise: str, patience: float = _PATIENCE) -> None:
    deadline = time.monotonic() + patience
    while not is_true():
        assert time.monotonic() < deadline, f"{otherwise} within {patience:g} s"
        children.check()
        time.sleep(1)


def _resize(stack: RunningStack, *, dedicated: int, spot: int) -> None:
    """Resizes the pool and waits until it has no other node; in a thread, as a browser's loop may run in this one."""

    async def resize() -> None:
        target = models.BatchPoolResizeOptions(
            target_dedicated_nodes=dedicated, target_low_priority_nodes=spot, node_deallocation_option="terminate"
        )
        async with open_client(stack.emulator, stack.account.name, stack.account.key) as client:
            await (await client.begin_resize_pool(_POOL, target)).result()
            nodes = [node async for node in client.list_nodes(_POOL)]
            assert [node.is_dedicated for node in nodes] == [True] * dedicated + [False] * spot

    with ThreadPoolExecutor(1) as threads:
        threads.submit(asyncio.run, resize()).result()


def _notices(demo: Stack) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = demo.get(f"{_ACCOUNT}/events?kind=node.spot_preemption")["value"]
    return found


def _names_of(demo: Stack) -> set[str]:
    """Returns the names of all series of the pool's nodes."""
    nodes = demo.nodes(_POOL) if _POOL in demo.pools() else ()
    found = [demo.get(f"{_ACCOUNT}/pools/{_POOL}/nodes/{node}/telemetry") for node in nodes]
    return {series["name"] for telemetry in found for series in telemetry["value"]}


def _ended_attempts(demo: Stack) -> list[dict[str, Any]]:
    """Returns what ended tasks of the pool's jobs used, where the agent recorded it; the demo also deletes jobs."""
    jobs = [one for one, job in demo.jobs().items() if job["poolId"] == _POOL]
    found = []
    for path in (f"{_ACCOUNT}/jobs/{job}/tasks" for job in jobs):
        with _unless_deleted():
            for task in demo.get(f"{path}?state=completed&orderby=startTime%20desc&maxpagesize=5")["value"]:
                found += demo.get(f"{path}/{task['id']}/telemetry")["endedAttempts"]
    return found


@contextmanager
def _unless_deleted() -> Iterator[None]:
    try:
        yield
    except HTTPError as error:
        if error.code != HTTPStatus.NOT_FOUND:
            raise
