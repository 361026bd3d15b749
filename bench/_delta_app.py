"""One side of `bench delta` in a process of its own: the app's services against the emulator and Azurite.

`python -m bench._delta_app SCENARIO JSON` runs one scenario and prints its figures as a line of JSON; progress goes to
stderr. CPU is this process's own, all threads; the emulator and Azurite run elsewhere.
"""

import asyncio
import json
import resource
import secrets
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import batched
from statistics import median
from typing import Any
from urllib.parse import quote, urlencode

import aiohttp
import orjson
from azure.batch.aio import BatchClient
from azure.core.credentials import AzureNamedKeyCredential
from azure.core.rest import HttpRequest

from local.batch_emulator.auth import DEVELOPMENT_KEY
from shared.domain.accounts import Account
from shared.domain.jobs import Job
from shared.domain.tasks import TaskCounts
from shared.services.task_poll import TaskPoll
from shared.stores.batch import BatchAccount
from shared.stores.batch_rows import TASK_FIELDS
from shared.stores.jobs import JobStore, generation_partition
from shared.stores.tables import Tables, load_rows
from shared.stores.task_cache import TaskCache

_SETTLED = 1.1  # dates are whole seconds: what happens after this is later than any date given before
_FIRST_READ_STEPS = 10_000
_MEGABYTE = 1e6
_REPEATS = 3
_MOST_MODELS = 100_000
_ENTITY = {
    "id": "task-000000", "state": 3, "result": 1, "stateTransitionTime": "2026-11-21T07:00:00.123456Z",
    "creationTime": "2026-11-21T06:00:00.123456Z", "startTime": "2026-11-21T06:59:00.123456Z",
    "endTime": "2026-11-21T07:00:00.123456Z", "exitCode": 0, "retryCount": 0, "requeueCount": 0, "requiredSlots": 1,
    "poolId": "render-pool", "nodeId": f"tvmps_{7:064x}_d",
}  # fmt: skip


@dataclass(slots=True)
class Spent:
    """Seconds of CPU and of time."""

    cpu: float
    wall: float


@dataclass(slots=True)
class Stack:
    """Addresses as the bench passes them, and one job of `count` tasks with ids of a `kind`."""

    emulator: str
    controls: str
    storage: str
    kind: str
    count: int
    job: str = field(default_factory=lambda: f"bench-{secrets.token_hex(4)}")

    async def fill(self) -> None:
        await _post(f"{self.emulator}/_emulator/reset", {})
        url = f"{self.emulator}/jobs?api-version=2025-06-01"
        client = BatchClient(self.emulator, AzureNamedKeyCredential("demo", DEVELOPMENT_KEY))
        async with client:
            body = {"id": self.job, "poolInfo": {"poolId": "none"}}
            headers = {"Content-Type": "application/json; odata=minimalmetadata"}
            await client.send_request(HttpRequest("POST", url, headers=headers, content=orjson.dumps(body)))
        await _post(f"{self.controls}/fill", {"job": self.job, "ids": self.kind, "count": self.count})
        await asyncio.sleep(_SETTLED)

    async def change(self, count: int, *, start: int | None = None) -> None:
        await asyncio.sleep(_SETTLED)
        await _post(f"{self.controls}/change", {"job": self.job, "count": count, "start": start})
        await asyncio.sleep(_SETTLED)

    async def turn(self, **knobs: object) -> None:
        await _post(f"{self.emulator}/_emulator/settings", knobs)


class App:
    """The app's own parts, put together as shared/runtime.py does; no overlap, so that a delta is what changed."""

    def __init__(self, stack: Stack) -> None:
        self.account = Account("demo", "demo", "demo", None, stack.emulator)
        self.source = BatchAccount.connect(
            self.account, key=DEVELOPMENT_KEY, credential=None, calls_per_minute=1_000_000_000
        )
        self.tables = Tables.connect(connection_string=stack.storage, endpoint=None, credential=None, prefix="bench")
        cache, jobs = TaskCache(self.tables), JobStore(self.tables)
        self.task_poll = TaskPoll(cache, jobs, overlap=timedelta(), full_read_age=timedelta(days=1))
        self.job: Job | None = None

    async def first_read(self) -> None:
        """Until the job has a picture, however many calls that takes."""
        page = await self.source.fetch_jobs()
        self.job = Job(page.jobs[0])
        for _ in range(_FIRST_READ_STEPS):
            self.job = (await self.task_poll.poll(self.source, self.job, page.date)).job
            if self.job.picture:
                return
        raise RuntimeError("the first read doesn't end")

    async def cycle(self) -> None:
        """What a round does for one job: the list of jobs gives T0, then the job's tasks are polled."""
        page = await self.source.fetch_jobs()
        if self.job is None:
            raise RuntimeError("there is no first read")
        self.job = (await self.task_poll.poll(self.source, self.job, page.date)).job

    @property
    def counts(self) -> TaskCounts:
        return self.job.picture.counts if self.job and self.job.picture else TaskCounts()

    @property
    def as_of(self) -> datetime | None:
        return self.job.picture.as_of if self.job and self.job.picture else None

    async def cache_bytes(self) -> int:
        """Packed bytes of all leaves."""
        if self.job is None or self.job.picture is None:
            return 0
        partition = generation_partition(self.account.key, self.job.key, self.job.picture.generation)
        rows = await load_rows(self.tables["tasks"], partition)
        return sum(len(value) for row in rows for value in row.values() if isinstance(value, bytes))

    async def close(self) -> None:
        await self.source.close()
        await self.tables.close()


class Reader:
    """What is held against the app: the SDK's own client and orjson, and the SDK's models."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self.client = BatchClient(stack.emulator, AzureNamedKeyCredential("demo", DEVELOPMENT_KEY))
        self.bytes_read = 0
        self.rows_read = 0

    async def pages(self, since: datetime | None = None) -> None:
        """Every page received and parsed, nothing kept."""
        self.bytes_read = self.rows_read = 0
        query = {"api-version": "2025-06-01", "$select": ",".join(TASK_FIELDS), "maxresults": "1000"}
        if since:
            stamp = since.isoformat(timespec="milliseconds").replace("+00:00", "Z")
            query["$filter"] = f"stateTransitionTime ge DateTime'{stamp}'"
        url: str | None = f"/jobs/{self._stack.job}/tasks?{urlencode(query, quote_via=quote)}"
        while url:
            request = HttpRequest("GET", url, headers={"Accept": "application/json"})
            response = await self.client.send_request(request, stream=True)
            body = await response.read()
            page = orjson.loads(body)
            self.bytes_read += len(body)
            self.rows_read += len(page["value"])
            url = page.get("odata.nextLink")

    async def models(self, most: int) -> None:
        """`list_tasks` up to so many tasks, touching what a user would show: the SDK parses on attribute access."""
        self.bytes_read = self.rows_read = 0
        async for task in self.client.list_tasks(self._stack.job, max_results=1000, raw_response_hook=self._count):
            if self.rows_read == most:
                return
            run, node = task.execution_info, task.node_info
            _ = (task.id, task.state, task.state_transition_time, task.creation_time, task.required_slots)
            _ = run and (run.start_time, run.end_time, run.exit_code, run.result, run.retry_count)
            _ = node and (node.pool_id, node.node_id)
            self.rows_read += 1

    def _count(self, answer: Any) -> None:
        self.bytes_read += int(answer.http_response.headers["Content-Length"])


class Scenarios:
    """Each gives figures by name."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.app = App(stack)
        self.reader = Reader(stack)

    async def main(self, *, models: bool = True) -> dict[str, Any]:
        """First read in the order of ids, deltas, memory, and then what others take for the same."""
        count, found = self.stack.count, dict[str, Any]()
        first = await _spent(self.app.first_read)
        found |= {"first": first.cpu, "memoryFirst": _peak()}
        found["cacheBytes"] = await self.app.cache_bytes()
        _tell(f"first read: {first.cpu:.2f} s CPU, {first.wall:.1f} s, {_peak():.0f} MB")
        changed = max(1, count // 100)
        for name, start in (("contiguous", count // 3), ("random", None)):
            found[name] = await self._delta(changed, start=start)
            _tell(f"delta, {name}: {found[name]}")
        found["memory"] = _peak()
        found["growth"] = await self._fixed() if models else None
        found["all"] = (await _spent(self.reader.pages)).cpu
        self._check(self.reader.rows_read, count)
        _tell(f"reading all pages: {found['all']:.2f} s CPU")
        if models:
            found["models"], found["modelsBytes"] = await self._models()
            _tell(f"list_tasks: {found['models']:.1f} s CPU")
        return found

    async def guids(self) -> dict[str, Any]:
        return await self.main(models=False)

    async def unordered(self) -> dict[str, Any]:
        """First read in any order of ids."""
        await self.stack.turn(unorderedLists=True)
        first = await _spent(self.app.first_read)
        found: dict[str, Any] = {"first": first.cpu, "memoryFirst": _peak()}
        _tell(f"first read in any order: {first.cpu:.2f} s CPU, {first.wall:.1f} s, {_peak():.0f} MB")
        found["cacheBytes"] = await self.app.cache_bytes()
        found["all"] = (await _spent(self.reader.pages)).cpu
        return found

    async def latency(self) -> dict[str, Any]:
        """First read at 100 ms a page against one serial listing."""
        await self.stack.turn(latencySeconds=0.1)
        first = await _spent(self.app.first_read)
        _tell(f"first read at 100 ms a page: {first.wall:.1f} s")
        serial = await _spent(self.reader.pages)
        self._check(self.reader.rows_read, self.stack.count)
        return {"first": first.wall, "serial": serial.wall}

    async def growth(self) -> dict[str, Any]:
        await self.app.first_read()
        return await self._fixed()

    async def _models(self) -> tuple[float, float]:
        """CPU and bytes of `list_tasks` over all tasks, scaled from the first hundred pages: a million take minutes."""
        most = min(self.stack.count, _MOST_MODELS)
        spent = await _spent(lambda: self.reader.models(most))
        self._check(self.reader.rows_read, most)
        scale = self.stack.count / most
        return spent.cpu * scale, self.reader.bytes_read * scale

    async def entities(self) -> dict[str, Any]:
        """One entity per task: what storage takes for a delta whose old states must be read to keep counts."""
        changed, table = max(1, self.stack.count // 100), self.app.tables["tasks"]
        names = [f"task-{number:06}" for number in range(changed)]
        rows = [{"PartitionKey": self.stack.job, "RowKey": name, **_ENTITY} for name in names]

        async def write() -> None:
            for some in batched(rows, 100, strict=False):
                await table.submit_transaction([("upsert", row) for row in some])

        async def near() -> None:
            query = "PartitionKey eq @p and RowKey ge @low and RowKey le @high"
            found = table.query_entities(query, parameters={"p": self.stack.job, "low": names[0], "high": names[-1]})
            self._check(len([row async for row in found]), changed)
            await write()

        async def far() -> None:
            gate = asyncio.Semaphore(8)

            async def read(name: str) -> None:
                async with gate:
                    await table.get_entity(self.stack.job, name)

            await asyncio.gather(*map(read, names))
            await write()

        await write()
        found = {"contiguous": (await _spent(near)).wall, "random": (await _spent(far)).wall}
        _tell(f"one entity per task, {changed:,} changed: {found}")
        return found

    async def _fixed(self) -> dict[str, Any]:
        """Cycles with a thousand changes, whatever the job's size."""
        near = await self._delta(1000, start=self.stack.count // 3)
        return {"contiguous": near, "random": await self._delta(1000)}

    async def _delta(self, changed: int, *, start: int | None = None) -> dict[str, float]:
        """Medians of a few cycles, each held against reading the same pages before it.

        `cpu` and `pages` are CPU of both; `beside` is the cycle's time without that of reading; `bytes` are those
        of the pages.
        """
        ours, pages = list[Spent](), list[Spent]()
        read = 0
        for number in range(_REPEATS):
            await self.stack.change(changed, start=None if start is None else start + number * changed)
            pages.append(await _spent(lambda: self.reader.pages(self.app.as_of)))
            self._check(self.reader.rows_read, changed)
            read = self.reader.bytes_read
            ours.append(await _spent(self.app.cycle))
        await self._compare()
        return {
            "cpu": median(each.cpu for each in ours),
            "pages": median(each.cpu for each in pages),
            "beside": median(mine.wall - theirs.wall for mine, theirs in zip(ours, pages, strict=True)),
            "bytes": read,
        }

    async def _compare(self) -> None:
        """Benchmarks of wrong counts would be worth nothing."""
        async with aiohttp.ClientSession() as session, session.get(f"{self.stack.emulator}/_emulator/truth") as answer:
            truth = orjson.loads(await answer.read())["accounts"]["demo"]["jobs"][self.stack.job]
        counts = self.app.counts
        if any(getattr(counts, name) != truth[name] for name in ("active", "running", "completed", "failed", "total")):
            raise RuntimeError(f"the app counts {counts}, the truth is {truth}")

    def _check(self, found: int, wanted: int) -> None:
        if found != wanted:
            raise RuntimeError(f"{found} tasks were read instead of {wanted}")


async def _post(url: str, body: object) -> None:
    timeout = aiohttp.ClientTimeout(total=600)
    async with (
        aiohttp.ClientSession(timeout=timeout) as session,
        session.post(url, data=orjson.dumps(body), raise_for_status=True) as answer,
    ):
        await answer.read()


async def _spent(act: Callable[[], Awaitable[object]]) -> Spent:
    cpu, wall = time.process_time(), time.perf_counter()
    await act()
    return Spent(time.process_time() - cpu, time.perf_counter() - wall)


def _peak() -> float:
    """The most megabytes this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / _MEGABYTE


def _tell(text: str) -> None:
    print(f"  {text}", file=sys.stderr, flush=True)


async def _run(scenario: str, stack: Stack) -> dict[str, Any]:
    scenarios = Scenarios(stack)
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
