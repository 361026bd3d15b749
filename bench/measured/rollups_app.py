"""The app's side of `bench pools` in a separate process: a roll-up of a day's usage, beside reading what it reads.

`python -m bench.measured.rollups_app JSON` prints its figures as a line of JSON. CPU is this process's own, over all
threads; Azurite runs elsewhere.
"""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from azure.core.pipeline.transport import AioHttpTransport

from bench.parts.task_runs import ACCOUNT, NOW, RUN, TaskRuns
from shared.clock import SharedClock
from shared.domain.accounts.accounts import Account
from shared.domain.core.stamps import to_milliseconds
from shared.domain.cost.usage_days import DAY
from shared.domain.prices.price_settings import PriceSettings
from shared.garbage import collect_rarely
from shared.services.accounts.registry import Registry
from shared.services.cost.task_usage import LOOK_BACK
from shared.services.cost.usage_rollups import UsageRollups
from shared.services.queries.queries import Queries
from shared.services.tasks.leaf_reader import LeafReader
from shared.stores.stores import Stores
from shared.stores.tables.tables import Tables
from shared.stores.usage_days import Part

_ACCOUNT = Account(ACCOUNT, ACCOUNT, ACCOUNT, None, "http://127.0.0.1")
_JOB_ROWS: tuple[Part, ...] = ("jobs",)
_MINUTE = 60_000  # milliseconds
_LAPS = 3
_PAUSE = 0.001  # seconds


class App:
    """The roll-up composed as in shared/composition/, over tables with one day of tasks."""

    def __init__(self, storage: str, runs: TaskRuns) -> None:
        self.runs, self.requests = runs, 0
        prefix = f"n{runs.jobs}x{runs.tasks}"
        self.tables = Tables.connect(connection_string=storage, endpoint=None, credential=None, prefix=prefix)
        self.stores = Stores(self.tables)
        registry = Registry({ACCOUNT: _ACCOUNT}, self.stores.monitoring, SharedClock(), timedelta(minutes=1))
        self.leaves = LeafReader(Queries(registry, self.stores), self.stores.cache)
        prices = PriceSettings("retail", "USD", "", {ACCOUNT: "westeurope"}, ())
        self.rollups = UsageRollups(self.stores, self.leaves, prices, self.stores.events)

    async def roll_up(self) -> None:
        await self.rollups.refresh(_ACCOUNT, NOW)

    async def forget(self) -> None:
        """Deletes the day that the last roll-up made: a later one would leave its settled hours as they are."""
        await self.stores.usage_days.delete_before(ACCOUNT, to_milliseconds(NOW) // DAY + 1)

    async def reading(self) -> None:
        """Reads the same events, jobs and leaves, and keeps nothing."""
        now = to_milliseconds(NOW)
        first = now // DAY * DAY - LOOK_BACK
        async for _ in self.stores.events.minutes(ACCOUNT, first // _MINUTE, now // _MINUTE + 1):
            pass
        for job in (await self.stores.jobs.load_all(ACCOUNT)).values():
            async for _ in self.leaves.slices(ACCOUNT, job.facts.id):
                pass

    async def compare(self) -> None:
        """Raises RuntimeError for wrong sums, which would make the benchmark worthless."""
        day = to_milliseconds(NOW) // DAY
        found = (await self.stores.usage_days.load(ACCOUNT, range(day, day + 1), _JOB_ROWS))[day]
        held = sum(
            number for job in found.jobs.values() for key, number in job.units.items() if key.outcome == "succeeded"
        )
        if held != self.runs.jobs * self.runs.tasks * RUN:
            raise RuntimeError(f"tasks held slots for {held} ms")

    def watch(self) -> None:
        """Counts the requests to tables from now on."""
        send = AioHttpTransport.send

        async def counted(transport: AioHttpTransport, *request: object, **options: object) -> object:
            self.requests += 1
            return await send(transport, *request, **options)

        AioHttpTransport.send = counted


async def _measured(app: App) -> dict[str, Any]:
    """Returns the least CPU of some laps, and what another one requests and for how long it keeps others waiting."""
    await app.tables.create()
    await app.runs.seed(app.tables)
    rolled, read = list[float](), list[float]()
    for _ in range(_LAPS):
        rolled.append(await _cpu(app.roll_up))
        await app.compare()
        await app.forget()
        read.append(await _cpu(app.reading))
    app.watch()
    longest = await _longest(app.roll_up)
    return {"rollUp": min(rolled), "reading": min(read), "longest": longest, "requests": app.requests}


async def _cpu(act: Callable[[], Awaitable[None]]) -> float:
    began = time.process_time()
    await act()
    return time.process_time() - began


async def _longest(act: Callable[[], Awaitable[None]]) -> float:
    """Returns the longest CPU time, in seconds, for which others on the event loop wait."""
    longest, began = 0.0, time.thread_time()

    async def others() -> None:
        nonlocal longest, began
        while True:
            await asyncio.sleep(0)
            now = time.thread_time()
            longest, began = max(longest, now - began), now

    waiting = asyncio.create_task(others())
    await asyncio.sleep(_PAUSE)
    longest = 0.0
    try:
        await act()
        await asyncio.sleep(_PAUSE)
    finally:
        waiting.cancel()
    return longest


async def _run(storage: str, runs: TaskRuns) -> dict[str, Any]:
    app = App(storage, runs)
    try:
        return await _measured(app)
    finally:
        await app.tables.close()


def main() -> None:
    asked = json.loads(sys.argv[1])
    collect_rarely()
    print(json.dumps(asyncio.run(_run(asked["storage"], TaskRuns(asked["jobs"], asked["tasks"])))))


if __name__ == "__main__":
    main()
