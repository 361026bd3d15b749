"""Measures the memory of the process that runs the app as in Azure: the functions host with Microsoft's worker.

The host reads a job completely and follows its changes; its API shows the progress.
"""

import asyncio
import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp

from bench.parts.delta_parts import Stack
from bench.parts.load import peak_of
from local.batch_emulator.protocol.auth import DEVELOPMENT_KEY
from local.dev.running.stack import EmulatedAccount, Options, app_settings, host_program
from local.dev.system.checkout import HERE
from local.dev.system.children import Children

_PATIENCE = 900  # seconds
_COUNTS = ("active", "running", "completed", "failed", "total")


async def host_peak(stack: Stack, *, unordered: bool = False) -> float:
    """Returns the host's peak memory in MB while it reads all tasks and two deltas of one task in a hundred.

    Raises TimeoutError if its counts don't become true.
    """
    await stack.fill()
    if unordered:
        await stack.turn(unorderedLists=True)
    settings = app_settings(Options(port=0), stack.storage, EmulatedAccount(key=DEVELOPMENT_KEY), stack.emulator)
    with tempfile.TemporaryDirectory() as logs, Children() as children:
        program = replace(host_program(HERE, Options(port=0), settings), log=Path(logs) / "host.log")
        api = (await asyncio.to_thread(children.start, program))["address"].rstrip("/") + "/api"
        changed = max(1, stack.count // 100)
        await _counted(api, stack)
        for start in (stack.count // 3, None):
            await stack.change(changed, start=start)
            await _counted(api, stack)
        return peak_of(children.pids["host"])


async def _counted(api: str, stack: Stack) -> None:
    """Waits until the API shows the job's true counts."""
    truth = await stack.truth()
    async with aiohttp.ClientSession() as session, asyncio.timeout(_PATIENCE):
        while True:
            async with session.get(f"{api}/accounts/demo/jobs/{stack.job}") as answer:
                job: dict[str, Any] = json.loads(await answer.read())
            counts = job.get("taskCounts") or {}
            if all(counts.get(name) == truth[name] for name in _COUNTS):
                return
            await asyncio.sleep(1)
