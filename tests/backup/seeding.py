"""Writes rows directly into tables, in the app's own form: months of history and very many events."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from itertools import batched

from shared.domain.blobs.blobs import Checkpoint
from shared.domain.blobs.sweeps import Totals
from shared.domain.core.keys import key_of
from shared.domain.core.stamps import to_milliseconds
from shared.domain.events.batch_events import BatchEvent
from shared.domain.history.grains import MINUTES, QUARTERS, Grain
from shared.domain.history.samples import Columns
from shared.domain.jobs.job_samples import JobSample
from shared.domain.tasks.tasks import TaskCounts
from shared.stores.blobs.checkpoints import CheckpointStore
from shared.stores.events import EventStore, checkpoint_key, chunk_rows, head_row
from shared.stores.history import JOB_HISTORY, HistoryStore
from shared.stores.tables.tables import Tables

_A_MINUTE = 20  # events
_MINUTES_A_STEP = 80
_WEEK = timedelta(days=7)


async def seed(
    connection_string: str, account: str, jobs: Sequence[str], *, days: int, events: int, now: datetime
) -> None:
    """Writes `days` days of history, each quarter-hour and in the last week each minute, and `events` events."""
    tables = Tables.connect(connection_string=connection_string, endpoint=None, credential=None, prefix="")
    try:
        await tables.create()
        for job in jobs:
            history = _history(now - timedelta(days=days), now, QUARTERS) | _history(now - _WEEK, now, MINUTES)
            await HistoryStore(tables, JOB_HISTORY).save(account, {key_of(job): history})
        await _seed_events(tables, account, jobs, span=timedelta(days=days), number=events, now=now)
    finally:
        await tables.close()


def _history(begin: datetime, end: datetime, grain: Grain) -> dict[str, Columns]:
    rows: dict[str, Columns] = {}
    first, last = (grain.slot(to_milliseconds(moment)) for moment in (begin, end))
    for slot in range(first, last):
        at = slot * grain.length + 1
        done = slot - first
        counts = TaskCounts(active=last - slot, completed=done, succeeded=done)
        rows.setdefault(grain.row(slot), {})[grain.column(slot)] = JobSample(
            at, at + 30_000, at + 30_000, counts
        ).text()
    return rows


async def _seed_events(
    tables: Tables, account: str, jobs: Sequence[str], *, span: timedelta, number: int, now: datetime
) -> None:
    """Writes bursts of twenty events a minute over the whole span, like ingestion steps of one blob."""
    store, places = EventStore(tables), CheckpointStore(tables)
    key, offset = checkpoint_key(account, "seed-1"), 0
    minutes = -(-number // _A_MINUTE)
    for step in batched(range(minutes), _MINUTES_A_STEP, strict=False):
        begins = [now - span * (1 - minute / minutes) for minute in step]
        events = [_event(jobs[number % len(jobs)], number, begin) for begin in begins for number in range(_A_MINUTE)]
        head, place = await store.load_head(account), await places.load(key)
        sums = Totals(head.totals.units + len(events), head.totals.stored + len(events), latest=max(begins))
        rows = chunk_rows(account, f"seed-1~{offset:013x}", events)
        offset += len(events) * 500
        await places.advance(key, place, Checkpoint(offset=offset), [head_row(account, head, sums), *rows])


def _event(job: str, number: int, begin: datetime) -> BatchEvent:
    at = begin.astimezone(UTC) + timedelta(milliseconds=number * 100)
    identity = blake2b(f"{job}{at}".encode(), digest_size=12).digest()
    properties = {"jobId": job, "id": f"t{number}", "taskInfo": {"retryCount": 0}}
    return BatchEvent(at, "TaskStartEvent", job, f"t{number}", "pool", None, properties, identity)
