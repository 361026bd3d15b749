"""The measured parts of `bench delta`: the app's own parts on the emulator and Azurite, and the plain SDK."""

import asyncio
import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import inf
from typing import Any
from urllib.parse import quote, urlencode

import aiohttp
import orjson
from azure.batch.aio import BatchClient
from azure.core.credentials import AzureNamedKeyCredential
from azure.core.rest import HttpRequest

from local.batch_emulator.protocol.auth import DEVELOPMENT_KEY
from shared.domain.accounts.accounts import Account
from shared.domain.history.grains import HistoryRetention
from shared.domain.jobs.jobs import Job
from shared.domain.tasks.tasks import TaskCounts
from shared.errors import LongReadError
from shared.services.jobs.job_records import JobRecords
from shared.services.reading.long_reads import LongReads
from shared.services.reading.task_poll import TaskPoll
from shared.stores.batch.batch import BatchAccount
from shared.stores.batch.batch_rows import TASK_FIELDS
from shared.stores.jobs.jobs import generation_partition
from shared.stores.stores import Stores
from shared.stores.tables.tables import Tables, load_rows

_SETTLED = 1.1  # seconds; dates are whole seconds, so later events get a later date
_RETENTION = HistoryRetention(minutes=timedelta(days=7), quarters=timedelta(days=90))
_STORAGE_LIMIT = timedelta(minutes=10)  # Azurite stalls while it saves a million entities
_CALLS, _CALL_SECONDS = 1000, 60.0
_PARTS = 10  # of a minute


@dataclass(slots=True)
class Stack:
    """Addresses as the benchmark passes them, and one job of `count` tasks with ids of a `kind`."""

    emulator: str
    controls: str
    storage: str
    kind: str
    count: int
    job: str = field(default_factory=lambda: f"bench-{secrets.token_hex(4)}")

    async def fill(self) -> None:
        """Resets the emulator and creates the job."""
        await post(f"{self.emulator}/_emulator/reset", {})
        await self.add()
        await asyncio.sleep(_SETTLED)

    async def add(self) -> None:
        await self.make_job()
        await post(f"{self.controls}/fill", {"job": self.job, "ids": self.kind, "count": self.count})

    async def make_job(self) -> None:
        url = f"{self.emulator}/jobs?api-version=2025-06-01"
        client = BatchClient(self.emulator, AzureNamedKeyCredential("demo", DEVELOPMENT_KEY))
        async with client:
            body = {"id": self.job, "poolInfo": {"poolId": "none"}}
            headers = {"Content-Type": "application/json; odata=minimalmetadata"}
            await client.send_request(HttpRequest("POST", url, headers=headers, content=orjson.dumps(body)))

    async def change(self, count: int, *, start: int | None = None) -> None:
        await asyncio.sleep(_SETTLED)
        await post(f"{self.controls}/change", {"job": self.job, "count": count, "start": start})
        await asyncio.sleep(_SETTLED)

    async def change_over_a_minute(self, count: int, *, start: int | None = None) -> None:
        """Advances the emulator's stepped clock by a minute, with a tenth of the changes every six seconds."""
        part = count // _PARTS
        for number in range(_PARTS):
            change = {"job": self.job, "count": part, "start": None if start is None else start + number * part}
            await post(f"{self.controls}/change", change)
            await post(f"{self.emulator}/_emulator/clock", {"advanceSeconds": 60 / _PARTS})

    async def truth(self) -> dict[str, int]:
        """Returns the emulator's counts of the job's tasks."""
        found: dict[str, int] = (await self.all_truth())["demo"]["jobs"][self.job]
        return found

    async def all_truth(self) -> dict[str, Any]:
        """Returns the emulator's truth of each account."""
        async with aiohttp.ClientSession() as session, session.get(f"{self.emulator}/_emulator/truth") as answer:
            found: dict[str, Any] = orjson.loads(await answer.read())["accounts"]
            return found

    async def turn(self, **knobs: object) -> None:
        await post(f"{self.emulator}/_emulator/settings", knobs)


class App:
    """The app's own parts, composed as in shared/composition/; without overlap, deltas are exact."""

    def __init__(self, stack: Stack, overlap: timedelta) -> None:
        self.overlap = overlap
        self.account = Account("demo", "demo", "demo", None, stack.emulator)
        self.source = BatchAccount.connect(
            self.account, key=DEVELOPMENT_KEY, credential=None, calls_per_minute=1_000_000_000
        )
        self.tables = Tables.connect(
            connection_string=stack.storage, endpoint=None, credential=None, prefix="bench", limit=_STORAGE_LIMIT
        )
        stores = Stores(self.tables)
        records = JobRecords(stores.jobs, stores.rounds, stores.history, _RETENTION)
        self.task_poll = TaskPoll(self.source, stores, records, overlap=overlap, full_read_age=timedelta(days=1))
        self.jobs = stores.jobs
        self.long_reads = LongReads(self.source, stores, records, self.task_poll)
        self.job: Job | None = None

    async def first_read(self) -> None:
        """Polls until the job has a snapshot, in as many calls as necessary."""
        page = await self.source.fetch_jobs()
        self.job = Job(page.jobs[0])
        try:
            self.job = (await self.task_poll.poll(self.job, page.date)).job
        except LongReadError:
            await self.jobs.save(self.account.key, self.job)
            self.job = await self._long_read(self.job.facts.id, page.date)

    async def _long_read(self, job_id: str, t0: datetime | None) -> Job:
        """Continues the read as the queue's function does, call after call."""
        for _ in range(_CALLS):
            deadline = asyncio.get_running_loop().time() + _CALL_SECONDS
            if await self.long_reads.carry_on(job_id, t0, deadline=deadline):
                job = await self.jobs.load(self.account.key, job_id)
                if job:
                    return job
        raise RuntimeError("the first read doesn't end")

    async def cycle(self) -> None:
        """Does a round's work for one job: the list of jobs gives T0, then the job's tasks are polled."""
        page = await self.source.fetch_jobs()
        if self.job is None:
            raise RuntimeError("there is no first read")
        self.job = (await self.task_poll.poll(self.job, page.date)).job

    @property
    def counts(self) -> TaskCounts:
        return self.job.snapshot.counts if self.job and self.job.snapshot else TaskCounts()

    @property
    def watermark(self) -> datetime | None:
        """The date from which the next cycle requests changes."""
        return self.job.snapshot.watermark(self.overlap) if self.job and self.job.snapshot else None

    async def cache_bytes(self) -> int:
        """Returns the packed bytes of all leaves."""
        if self.job is None or self.job.snapshot is None:
            return 0
        partition = generation_partition(self.account.key, self.job.key, self.job.snapshot.generation)
        rows = await load_rows(self.tables["tasks"], partition)
        return sum(len(value) for row in rows for value in row.values() if isinstance(value, bytes))

    async def close(self) -> None:
        await self.source.close()
        await self.tables.close()


class Reader:
    """The reference: the SDK's own client with orjson, and the SDK's models."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self.client = BatchClient(stack.emulator, AzureNamedKeyCredential("demo", DEVELOPMENT_KEY))
        self.bytes_read = 0
        self.rows_read = 0

    async def pages(self, since: datetime | None = None, *, most: float = inf) -> None:
        """Receives and parses every page up to `most` tasks, and keeps nothing."""
        self.bytes_read = self.rows_read = 0
        query = {"api-version": "2025-06-01", "$select": ",".join(TASK_FIELDS), "maxresults": "1000"}
        if since:
            stamp = since.isoformat(timespec="milliseconds").replace("+00:00", "Z")
            query["$filter"] = f"stateTransitionTime ge DateTime'{stamp}'"
        url: str | None = f"/jobs/{self._stack.job}/tasks?{urlencode(query, quote_via=quote)}"
        while url and self.rows_read < most:
            request = HttpRequest("GET", url, headers={"Accept": "application/json"})
            response = await self.client.send_request(request, stream=True)
            body = await response.read()
            page = orjson.loads(body)
            self.bytes_read += int(response.headers["Content-Length"])
            self.rows_read += len(page["value"])
            url = page.get("odata.nextLink")

    async def models(self, most: int) -> None:
        """Reads `list_tasks` up to `most` tasks and their usual attributes, as the SDK parses on attribute access."""
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


async def post(url: str, body: object) -> None:
    timeout = aiohttp.ClientTimeout(total=600)
    async with (
        aiohttp.ClientSession(timeout=timeout) as session,
        session.post(url, data=orjson.dumps(body), raise_for_status=True) as answer,
    ):
        await answer.read()
