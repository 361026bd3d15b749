"""The stage of `bench api`: the app on the local functions host, with a large job read from a filled emulator.

While the account is switched on, the app polls at the product's own rate, a round a minute.
"""

import asyncio
import json
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import cycle
from pathlib import Path
from typing import Any

import aiohttp

from bench.emulated.services import running_emulator, start_storage
from bench.parts.delta_parts import Stack, post
from local.batch_emulator.protocol.auth import DEVELOPMENT_KEY
from local.dev.running.stack import EmulatedAccount, Options, app_settings, host_program
from local.dev.system.checkout import HERE
from local.dev.system.children import Children
from shared.domain.core.keys import partition_of
from shared.domain.history.grains import HistoryRetention
from shared.domain.history.samples import rows_of
from shared.domain.jobs.job_samples import JobSample
from shared.domain.tasks.tasks import TaskCounts
from shared.stores.history import JOB_HISTORY, HistoryStore
from shared.stores.tables.tables import Tables

LARGE, SMALL = "million", "render-007"
_READ_SECONDS = 600
ROUND_SECONDS = 60.0
_CHANGE_SECONDS, _CHANGED, _CHANGED_JOBS = 5, 100, 10
_MINUTE, _DAY = 60_000, 86_400_000  # milliseconds
_HOURS = 24
_BARE = Path(__file__).parents[1] / "bare_app"


@dataclass(frozen=True, slots=True)
class ApiStage:
    """The API's, the bare functions' and the controls' addresses, process ids, and the storage."""

    api: str
    bare: str
    controls: str
    api_pid: int
    bare_pid: int
    storage: str

    @asynccontextmanager
    async def polled(self) -> AsyncIterator[None]:
        """Polls the account inside the block, while tasks of the large job and of some small ones keep changing."""
        await _switch(self.api, enabled=True)
        changes = asyncio.create_task(_go_on_changing(self.controls))
        try:
            yield
        finally:
            changes.cancel()
            with suppress(asyncio.CancelledError):
                await changes
            await _switch(self.api, enabled=False)

    async def next_round(self) -> None:
        """Waits until a round has ended. Raises RuntimeError after two rounds."""
        before = await self.as_of()
        for _ in range(int(2 * ROUND_SECONDS)):
            if await self.as_of() != before:
                return
            await asyncio.sleep(1)
        raise RuntimeError(f"no round ended within {2 * ROUND_SECONDS:g} s")

    async def as_of(self) -> str:
        """Returns the as-of of the large job's counts."""
        url = f"{self.api}/accounts/demo/jobs/{LARGE}"
        async with aiohttp.ClientSession() as session, session.get(url, raise_for_status=True) as answer:
            return str(json.loads(await answer.read())["verdict"]["asOf"])


@asynccontextmanager
async def api_stage(tasks: int, jobs: int) -> AsyncIterator[ApiStage]:
    """Yields a stage with a job LARGE of `tasks` and `jobs` jobs of a hundred, all read; polls are then off."""
    with tempfile.TemporaryDirectory() as folder, Children() as children:
        logs = Path(folder)
        storage = start_storage(children, logs)
        with running_emulator() as (url, controls):
            await _fill(url, controls, storage, tasks, jobs)
            settings = _polled_as_by_default(
                app_settings(Options(port=0), storage, EmulatedAccount(key=DEVELOPMENT_KEY), url)
            )
            host = replace(host_program(HERE, Options(port=0), settings), log=logs / "host.log")
            bare = replace(host, name="bare host", log=logs / "bare.log")
            bare = replace(bare, command=tuple(_bare(part) for part in bare.command))
            api = children.start(host)["address"].rstrip("/") + "/api"
            address = children.start(bare)["address"].rstrip("/")
            await _read(api, jobs + 1)
            pids = children.pids
            yield ApiStage(api, address, controls, pids["host"], pids["bare host"], storage)


def _polled_as_by_default(settings: dict[str, str]) -> dict[str, str]:
    own = ("TICK_SCHEDULE", "HOUSEKEEPING_SCHEDULE", "POLL_SECONDS", "POLL_OVERLAP_SECONDS")
    return {name: value for name, value in settings.items() if name not in own}


def _bare(part: str) -> str:
    return str(_BARE) if part == str(HERE.root) else part


async def _fill(url: str, controls: str, storage: str, tasks: int, jobs: int) -> None:
    await Stack(url, controls, storage, "task", tasks, job=LARGE).fill()
    for number in range(jobs):
        await Stack(url, controls, storage, "task", 100, job=f"render-{number:03}").add()


async def _read(api: str, jobs: int) -> None:
    """Waits until every job has counts, then switches the account off, so that only answers are measured."""
    async with aiohttp.ClientSession() as session:
        for _ in range(_READ_SECONDS):
            counted = await _counted(session, api)
            if counted == jobs:
                break
            await asyncio.sleep(1)
        else:
            raise RuntimeError(f"after {_READ_SECONDS} s only {counted} of {jobs} jobs have counts")
    await _switch(api, enabled=False)


async def _switch(api: str, *, enabled: bool) -> None:
    """Switches the account on or off; after switching off, waits for a running round."""
    async with (
        aiohttp.ClientSession() as session,
        session.put(f"{api}/accounts/demo/monitoring", json={"enabled": enabled}, raise_for_status=True),
    ):
        await asyncio.sleep(0 if enabled else 5)


async def _go_on_changing(controls: str) -> None:
    for job in cycle(range(_CHANGED_JOBS)):
        await post(f"{controls}/change", {"job": LARGE, "count": _CHANGED})
        await post(f"{controls}/change", {"job": f"render-{job:03}", "count": 10})
        await asyncio.sleep(_CHANGE_SECONDS)


async def _counted(session: aiohttp.ClientSession, api: str) -> int:
    async with session.get(f"{api}/accounts/demo/jobs?maxpagesize=1000") as answer:
        found: dict[str, Any] = json.loads(await answer.read())
        return sum(1 for job in found.get("value", ()) if job["taskCounts"])


class HistoryRows:
    """Ninety days of a job's history, a sample every few minutes, as polls would have written it."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._store = HistoryStore(tables, JOB_HISTORY)

    async def seed(self) -> None:
        """Writes samples: one per minute for the last day, one per ten minutes before that."""
        now = int(time.time()) * 1000
        begun, samples = now - 90 * _DAY, list[JobSample]()
        while begun < now - 5 * _MINUTE:
            length = (1 if begun > now - _DAY else 10) * _MINUTE
            done = len(samples) % 90
            counts = TaskCounts(90 - done, 1, 9, done, done, 0)
            samples.append(JobSample(begun, begun + length - _MINUTE // 2, begun, counts))
            begun += length
        rows = rows_of(tuple(samples), None, HistoryRetention(timedelta(days=7), timedelta(days=90)))
        await self._store.save("demo", {SMALL: rows})

    async def read_day(self) -> None:
        """Reads the rows that a history of 24 hours needs, with the official client."""
        hour = int(time.time()) // 3600
        rows = self._tables["jobhistory"].query_entities(
            "PartitionKey eq @partition and RowKey ge @first and RowKey le @last",
            parameters={
                "partition": partition_of("demo", SMALL),
                "first": f"h{hour - _HOURS:07}",
                "last": f"h{hour:07}",
            },
        )
        if len([row async for row in rows]) < _HOURS:
            raise RuntimeError(f"the history of a day has fewer than {_HOURS} rows")
