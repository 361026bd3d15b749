"""This machine as a node of the demo: the real agent measures real processes, and the app shows them."""

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from local.azurite import StorageAddresses
from local.dev.running.stack import Options, machine_program
from local.dev.system.checkout import HERE
from local.dev.system.children import Children
from local.prove.stack.api import Stack
from tests.e2e.live.stack import RunningStack

_POOL = "this-machine"
_ACCOUNT = "/accounts/demo"
_MEASURED = {"system.cpu.utilization", "system.memory.usage", "batchscope.task.memory.usage"}
_PATIENCE = 60.0
_UNTIL_ONE_ENDS = 120.0
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the node agent runs on Linux")


def test_the_agent_measures_this_machine_and_a_process_a_task(
    stack: RunningStack, azurite: StorageAddresses, tmp_path: Path
) -> None:
    options = Options(kept_in=tmp_path)
    program = machine_program(HERE, options, stack.account, stack.emulator, azurite.connection_string)
    often = ("--interval", "1", "--flush", "5")
    program = replace(program, log=tmp_path / "machine.log", command=(*program.command, *often))
    demo, names, deadline = (
        Stack(stack.api, stack.emulator, stack.account.name),
        set[str](),
        time.monotonic() + _PATIENCE,
    )
    with Children() as children:
        children.start(program)
        while not names >= _MEASURED:
            assert time.monotonic() < deadline, f"only {sorted(names)} were measured within a minute"
            children.check()
            time.sleep(1)
            names = _names_of(demo)
        deadline = time.monotonic() + _UNTIL_ONE_ENDS
        while not (ended := _ended_attempts(demo)):
            assert time.monotonic() < deadline, "no ended task showed what it used"
            children.check()
            time.sleep(2)
    for attempt in ended:
        assert 0 < attempt["cpuSeconds"] <= attempt["duration"] * 1.1
        assert attempt["cpuMissed"] >= 0
        assert attempt["cpuSource"] in {"exit_accounting", "samples"}
        assert attempt["memoryPeak"] > 4 << 20
        assert attempt["startTime"] < attempt["endTime"]


def _names_of(demo: Stack) -> set[str]:
    """Returns the names of all series of the pool's nodes."""
    nodes = demo.nodes(_POOL) if _POOL in demo.pools() else ()
    found = [demo.get(f"{_ACCOUNT}/pools/{_POOL}/nodes/{node}/telemetry") for node in nodes]
    return {series["name"] for telemetry in found for series in telemetry["value"]}


def _ended_attempts(demo: Stack) -> list[dict[str, Any]]:
    """Returns what ended tasks of the pool's jobs used, where the agent recorded it."""
    jobs = [one for one, job in demo.jobs().items() if job["poolId"] == _POOL]
    found = []
    for job in jobs:
        for task in demo.get(f"{_ACCOUNT}/jobs/{job}/tasks?state=completed&orderby=startTime%20desc&maxpagesize=5")[
            "value"
        ]:
            found += demo.get(f"{_ACCOUNT}/jobs/{job}/tasks/{task['id']}/telemetry")["endedAttempts"]
    return found
