"""One side of `bench delta` in a separate process: scenarios of the app's services and of their alternatives.

`python -m bench.measured.delta_app SCENARIO JSON` runs one scenario and prints its figures as a line of JSON; progress
goes to stderr. CPU is this process's own, over all threads; the emulator and Azurite run elsewhere.
"""

import asyncio
import json
import os
import random
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from itertools import batched
from statistics import median
from typing import Any

from azure.core.exceptions import ServiceRequestError, ServiceResponseError
from azure.data.tables.aio import TableClient

from bench.parts.delta_parts import App, Reader, Stack
from bench.parts.load import peak_of
from shared.garbage import collect_rarely
from shared.settings import read_settings

_REPEATS = 3
_MAX_MODELS = 100_000
_AT_ONCE = 8
_PATIENCE = 120  # seconds
_TRIES = 5
_MINUTE = timedelta(minutes=1)
_SEEN_TWICE = 1.4  # factor of rows read, at least, with the default overlap
_CUT_OFF = (ServiceRequestError, ServiceResponseError)
_ENTITY = {
    "id": "task-000000", "state": 3, "result": 1, "stateTransitionTime": "2026-11-21T07:00:00.123456Z",
    "creationTime": "2026-11-21T06:00:00.123456Z", "startTime": "2026-11-21T06:59:00.123456Z",
    "endTime": "2026-11-21T07:00:00.123456Z", "exitCode": 0, "retryCount": 0, "requeueCount": 0, "requiredSlots": 1,
    "poolId": "render-pool", "nodeId": f"tvmps_{7:064x}_d",
}  # fmt: skip


@dataclass(slots=True)
class CpuTimes:
    """Seconds of CPU and of wall time."""

    cpu: float
    wall: float


class Scenarios:
    """The scenarios; each returns figures by name."""

    def __init__(self, stack: Stack, overlap: timedelta = timedelta()) -> None:
        self.stack = stack
        self.app = App(stack, overlap)
        self.reader = Reader(stack)
        self.cut_off = 0  # writes, by storage

    async def main(self, *, models: bool = True) -> dict[str, Any]:
        """Measures a first read in id order, deltas, memory, and then the alternatives."""
        count, found = self.stack.count, dict[str, Any]()
        first = await _spent(self.app.first_read)
        found |= {"first": first.cpu, "memoryFirst": peak_of(os.getpid())}
        found["cacheBytes"] = await self.app.cache_bytes()
        _report(f"first read: {first.cpu:.2f} s CPU, {first.wall:.1f} s, {peak_of(os.getpid()):.0f} MB")
        changed = max(1, count // 100)
        for name, start in (("contiguous", count // 3), ("random", None)):
            found[name] = await self._delta(changed, start=start)
            _report(f"delta, {name}: {found[name]}")
        found["memory"] = peak_of(os.getpid())
        found["growth"] = await self._fixed() if models else None
        found["all"] = (await _spent(self.reader.pages)).cpu
        self._check(self.reader.rows_read, count)
        _report(f"reading all pages: {found['all']:.2f} s CPU")
        if models:
            found["models"], found["modelsBytes"] = await self._models()
            _report(f"list_tasks: {found['models']:.1f} s CPU")
        return found

    async def guids(self) -> dict[str, Any]:
        return await self.main(models=False)

    async def overlapping(self) -> dict[str, Any]:
        """Measures deltas with the app's default overlap, polled each minute, over which changes are spread."""
        count = self.stack.count
        await self.app.first_read()
        found = dict[str, Any]()
        for name, start in (("contiguous", count // 3), ("random", None)):
            found[name] = await self._delta(max(1, count // 100), start=start)
            _report(f"delta with overlap, {name}: {found[name]}")
        return found

    async def unordered(self) -> dict[str, Any]:
        """Measures a first read in any id order."""
        await self.stack.turn(unorderedLists=True)
        first = await _spent(self.app.first_read)
        found: dict[str, Any] = {"first": first.cpu, "memoryFirst": peak_of(os.getpid())}
        _report(f"first read in any order: {first.cpu:.2f} s CPU, {first.wall:.1f} s, {peak_of(os.getpid()):.0f} MB")
        found["cacheBytes"] = await self.app.cache_bytes()
        found["all"] = (await _spent(self.reader.pages)).cpu
        return found

    async def latency(self) -> dict[str, Any]:
        """Measures a first read at 100 ms a page against one serial listing."""
        await self.reader.pages(most=1)  # the emulator sorts a job's tasks when they are first listed
        await self.stack.turn(latencySeconds=0.1)
        first = await _spent(self.app.first_read)
        _report(f"first read at 100 ms a page: {first.wall:.1f} s")
        serial = await _spent(self.reader.pages)
        self._check(self.reader.rows_read, self.stack.count)
        return {"first": first.wall, "serial": serial.wall}

    async def growth(self) -> dict[str, Any]:
        await self.app.first_read()
        return await self._fixed()

    async def _models(self) -> tuple[float, float]:
        """Returns CPU and bytes of `list_tasks`, scaled up from the first hundred pages, as a million take minutes."""
        most = min(self.stack.count, _MAX_MODELS)
        spent = await _spent(lambda: self.reader.models(most))
        self._check(self.reader.rows_read, most)
        scale = self.stack.count / most
        return spent.cpu * scale, self.reader.bytes_read * scale

    async def entities(self) -> dict[str, Any]:
        """Measures storage with one entity per task, for a delta that must read old states to update counts."""
        count, table = self.stack.count, self.app.tables["tasks"]
        changed = max(1, count // 100)
        for some in batched(range(count), 100_000, strict=False):
            await self._write_entities(some)
            _report(f"one entity per task: {some[-1] + 1:,} entities written")
        await self._rested(table)
        start = count // 3
        near, far = range(start, start + changed), random.Random(7).sample(range(count), changed)  # noqa: S311 - the same each time

        async def rewrite_neighbours() -> None:
            query = "PartitionKey eq @p and RowKey ge @low and RowKey le @high"
            bounds = {"p": self.stack.job, "low": _name(near[0]), "high": _name(near[-1])}
            found = table.query_entities(query, parameters=bounds)
            self._check(len([row async for row in found]), changed)
            await self._write_entities(near)

        async def rewrite_any() -> None:
            gate = asyncio.Semaphore(_AT_ONCE)

            async def read(number: int) -> None:
                async with gate:
                    await table.get_entity(self.stack.job, _name(number))

            await asyncio.gather(*map(read, far))
            await self._write_entities(far)

        found = {
            "contiguous": (await self._unbroken(rewrite_neighbours)).wall,
            "random": (await self._unbroken(rewrite_any)).wall,
        }
        _report(f"one entity per task, {changed:,} changed: {found}")
        return found

    async def _unbroken(self, rewrite: Callable[[], Awaitable[object]]) -> CpuTimes:
        """Measures a rewrite in which storage cuts off no write: such waits aren't the compared store's cost."""
        for _ in range(_TRIES):
            before = self.cut_off
            spent = await _spent(rewrite)
            if self.cut_off == before:
                return spent
            _report(f"one entity per task: storage cut off {self.cut_off - before} writes; measured again")
            await self._rested(self.app.tables["tasks"])
        raise TimeoutError(f"storage cut off writes in each of {_TRIES} measured rewrites")

    async def _rested(self, table: TableClient) -> None:
        """Waits until storage answers: it may stall for longer than connections live, to save that much."""
        try:
            async with asyncio.timeout(_PATIENCE):
                while True:
                    with suppress(*_CUT_OFF):
                        await table.get_entity(self.stack.job, _name(0))
                        return
        except TimeoutError as error:
            raise TimeoutError(f"storage doesn't answer {_PATIENCE} s after all was written") from error

    async def _write_entities(self, numbers: Sequence[int]) -> None:
        """Writes a hundred entities per transaction, some transactions in parallel, in one partition.

        A transaction that storage cuts off is retried, which is safe here; the SDK doesn't repeat a POST.
        """
        table, gate = self.app.tables["tasks"], asyncio.Semaphore(_AT_ONCE)

        async def write(some: Sequence[int]) -> None:
            rows = [{"PartitionKey": self.stack.job, "RowKey": _name(number), **_ENTITY} for number in some]
            async with gate:
                for _ in range(_TRIES - 1):
                    try:
                        await table.submit_transaction([("upsert", row) for row in rows])
                    except _CUT_OFF:
                        self.cut_off += 1
                    else:
                        return
                await table.submit_transaction([("upsert", row) for row in rows])

        await asyncio.gather(*(write(some) for some in batched(numbers, 100, strict=False)))

    async def _fixed(self) -> dict[str, Any]:
        """Measures cycles with a thousand changes, for any job size."""
        near = await self._delta(1000, start=self.stack.count // 3)
        return {"contiguous": near, "random": await self._delta(1000)}

    async def _delta(self, changed: int, *, start: int | None = None) -> dict[str, float]:
        """Returns medians of a few cycles, each compared with a preceding read of the same pages.

        `cpu` and `pages` are the CPU of both; `beside` is the cycle's time without that of reading; `bytes` are those
        of the pages. With an overlap one cycle precedes them, whose changes the first cycle reads again.
        """
        ours, pages = list[CpuTimes](), list[CpuTimes]()
        read = 0
        change = self.stack.change_over_a_minute if self.app.overlap else self.stack.change
        for number in range(-1 if self.app.overlap else 0, _REPEATS):
            await change(changed, start=None if start is None else start + number * changed)
            reading = await _spent(lambda: self.reader.pages(self.app.watermark))
            cycle = await _spent(self.app.cycle)
            if number >= 0:
                self._check_changed(self.reader.rows_read, changed)
                read = self.reader.bytes_read
                pages.append(reading)
                ours.append(cycle)
        await self._compare()
        return {
            "cpu": median(each.cpu for each in ours),
            "pages": median(each.cpu for each in pages),
            "beside": median(mine.wall - theirs.wall for mine, theirs in zip(ours, pages, strict=True)),
            "bytes": read,
        }

    async def _compare(self) -> None:
        """Raises RuntimeError for wrong counts, which would make the benchmark worthless."""
        truth = await self.stack.truth()
        counts = self.app.counts
        if any(getattr(counts, name) != truth[name] for name in ("active", "running", "completed", "failed", "total")):
            raise RuntimeError(f"the app counts {counts}, the truth is {truth}")

    def _check_changed(self, found: int, changed: int) -> None:
        """Raises RuntimeError for an unexpected number of rows.

        With a half-minute overlap, rows include changes of the half minute before; few of those changed again.
        """
        if not self.app.overlap:
            self._check(found, changed)
        elif not _SEEN_TWICE * changed < found <= (1 + self.app.overlap / _MINUTE) * changed:
            raise RuntimeError(f"{found} tasks were read where {changed} had changed in a minute")

    def _check(self, found: int, wanted: int) -> None:
        if found != wanted:
            raise RuntimeError(f"{found} tasks were read instead of {wanted}")


async def _spent(act: Callable[[], Awaitable[object]]) -> CpuTimes:
    cpu, wall = time.process_time(), time.perf_counter()
    await act()
    return CpuTimes(time.process_time() - cpu, time.perf_counter() - wall)


def _name(number: int) -> str:
    return f"task-{number:06}"


def _report(text: str) -> None:
    print(f"  {text}", file=sys.stderr, flush=True)


async def _run(scenario: str, stack: Stack) -> dict[str, Any]:
    collect_rarely()  # as shared/runtime.py does
    overlap = read_settings({}).overlap if scenario == "overlapping" else timedelta()
    scenarios = Scenarios(stack, overlap)
    await scenarios.app.tables.create()
    try:
        if scenario != "entities":
            await stack.fill()
        found: dict[str, Any] = await getattr(scenarios, scenario)()
    finally:
        await scenarios.app.close()
        await scenarios.reader.client.close()
    return found


def main() -> None:
    print(json.dumps(asyncio.run(_run(sys.argv[1], Stack(**json.loads(sys.argv[2]))))))


if __name__ == "__main__":
    main()
