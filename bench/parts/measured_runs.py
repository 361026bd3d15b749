"""A measured run of each task of the large job for `bench api`, as ingestion of the agent's records stores it."""

import asyncio
import time
from datetime import UTC, datetime
from statistics import median

from bench.parts.load import cpu_of, load
from shared.domain.telemetry.sessions.attempt_records import MeasuredAttempt
from shared.stores.tables.tables import Tables
from shared.stores.telemetry.measured_attempts import MeasuredAttemptStore

_ACCOUNT, _SIZE = "demo", "standard_d4s_v5"
_RUNS_OF_BLOB = 600  # after which the agent begins another blob
_AT_ONCE, _REQUESTS = 8, 5
_REUSED_SECONDS = 1.1  # longer than answers are reused


async def seed_runs(tables: Tables, job: str, tasks: int) -> None:
    """Stores a run for each task of a job, 600 a blob, all of today."""
    store, now, turns = MeasuredAttemptStore(tables), datetime.now(UTC), asyncio.Semaphore(_AT_ONCE)
    began = int(time.time())

    async def add(blob: int) -> None:
        some = [_run(job, at, began) for at in range(blob * _RUNS_OF_BLOB, min((blob + 1) * _RUNS_OF_BLOB, tasks))]
        async with turns:
            await store.add(_ACCOUNT, f"{blob:032x}-0-0", some, now)

    await asyncio.gather(*map(add, range(-(-tasks // _RUNS_OF_BLOB))))


async def cpu_anew(url: str, pid: int) -> float:
    """Returns the CPU seconds of a host for an answer that it doesn't reuse."""
    found = list[float]()
    for _ in range(_REQUESTS):
        await asyncio.sleep(_REUSED_SECONDS)
        before = cpu_of(pid)
        await load(url, clients=1, seconds=_REUSED_SECONDS, most=1, pid=pid)
        found.append(cpu_of(pid) - before)
    return median(found)


def _run(job: str, number: int, began: int) -> MeasuredAttempt:
    duration = 60_000 + number % 7919 * 10
    return MeasuredAttempt(
        job=job,
        task=f"task-{number:07}",
        start=began,
        vm_size=_SIZE,
        duration=duration,
        cpu_time=duration * (50 + number % 97) // 100,
        memory_peak=(1 << 30) + number % 6007 * 100_000,
        disk_bytes=number % 101 << 20,
        threads=1 + number % 8,
    )
