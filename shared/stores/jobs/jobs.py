"""The table `jobs`: one row per job, partitioned by account.

A row points to the served generation and holds its snapshot, which can be rebuilt from the leaves. An unreadable row
stays until its job is listed; then the job's tasks are read in full again.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from shared.domain.core.keys import SEPARATOR, key_of, partition_of
from shared.domain.jobs.job_rules import JobRules
from shared.domain.jobs.job_samples import job_sample_of
from shared.domain.jobs.jobs import Job, JobFacts, Retired
from shared.domain.jobs.snapshots import JobSnapshot, TaskRead
from shared.domain.tasks.job_statistics import StoredJobStatistics
from shared.domain.tasks.tasks import COUNT_FIELDS, TaskCounts
from shared.errors import UnreadableError
from shared.stores.jobs.heads import ORIGIN_BYTES
from shared.stores.tables.pages import items_of
from shared.stores.tables.tables import (
    Row,
    Tables,
    delete_row,
    json_columns,
    json_of,
    load_range,
    load_row,
    load_rows,
    save_row,
    translated,
    with_etag,
    written_at,
)
from shared.stores.tables.unreadable import UndecodedRow, decoded_rows, decoding, schema_of

_FACTS = {
    "id": "id",
    "creation_time": "creationTime",
    "state": "state",
    "state_transition_time": "stateTransitionTime",
    "previous_state": "previousState",
    "start_time": "startTime",
    "end_time": "endTime",
    "pool_id": "poolId",
    "priority": "priority",
    "display_name": "displayName",
    "terminate_reason": "terminateReason",
}


def generation_partition(account_key: str, job_key: str, generation: str) -> str:
    """Returns the partition of the table `tasks` for a generation; for "" the prefix of all of a job's."""
    return partition_of(account_key, job_key, generation)


@dataclass(frozen=True, slots=True)
class KnownJobs:
    """Every known job of an account by key, also deleted ones, and the unreadable rows."""

    jobs: Mapping[str, Job]
    unreadable: Mapping[str, UndecodedRow]


class JobStore:
    def __init__(self, tables: Tables) -> None:
        self._table = tables["jobs"]

    async def load_known(self, account_key: str) -> KnownJobs:
        return KnownJobs(*decoded_rows(await load_rows(self._table, account_key), _job))

    async def load_all(self, account_key: str) -> Mapping[str, Job]:
        """Returns the jobs with readable rows."""
        return (await self.load_known(account_key)).jobs

    async def load_of_schedule(self, account_key: str, schedule_id: str) -> KnownJobs:
        """Returns the jobs of a job schedule by key, also deleted ones; their rows are neighbours."""
        first = key_of(f"{schedule_id}:")
        rows = await load_range(self._table, account_key, first, first + SEPARATOR)
        return KnownJobs(*decoded_rows(rows.values(), _job))

    async def load_more_urgent(self, account_key: str, priority: int) -> list[Job]:
        """Returns the readable active jobs of a higher priority."""
        asked = "PartitionKey eq @account and state eq 'active' and priority gt @priority"
        with translated(f"read {self._table.table_name}"):
            found = self._table.query_entities(asked, parameters={"account": account_key, "priority": priority})
            rows = [with_etag(entity) async for entity in items_of(found)]
        return list(decoded_rows(rows, _job)[0].values())

    async def load(self, account_key: str, job_id: str) -> Job | None:
        """Returns a job, or None; `job_id` may be any client string. Raises UnreadableError."""
        row = await load_row(self._table, account_key, key_of(job_id))
        return _job(row) if row else None

    async def is_stored(self, account_key: str, job: Job) -> bool:
        """Returns whether a job's row is unchanged since it was loaded. Raises StorageError."""
        row = await load_row(self._table, account_key, job.key)
        return row is not None and row["etag"] == job.etag

    async def delete(self, account_key: str, job: Job) -> None:
        """Deletes a job's row if it is unchanged since it was loaded. Raises CacheConflictError."""
        await delete_row(self._table, account_key, job.key, job.etag or "")

    async def written_at(self, account_key: str, row: UndecodedRow) -> datetime | None:
        """Returns when an unreadable row was written; None if it has changed since it was loaded."""
        return await written_at(self._table, account_key, row.row["RowKey"], row.etag)

    async def delete_unreadable(self, account_key: str, row: UndecodedRow) -> None:
        """Deletes an unreadable row if it is unchanged since it was loaded. Raises CacheConflictError."""
        await delete_row(self._table, account_key, row.row["RowKey"], row.etag)

    async def save(self, account_key: str, job: Job) -> str:
        """Writes a job under its ETag, or as new if that is None; returns the new ETag. Raises CacheConflictError."""
        return await save_row(self._table, _row(account_key, job), job.etag)


def _row(account_key: str, job: Job) -> Row:
    row: Row = {
        "PartitionKey": account_key,
        "RowKey": job.key,
        **schema_of("job"),
        **{name: getattr(job.facts, field) for field, name in _FACTS.items()},
        **(_rules_row(job.facts.rules) if job.facts.rules else {}),
        "building": job.building,
        "buildingSince": job.building_since,
        **json_columns("retired", [[old.generation, old.since.timestamp()] for old in job.retired]),
        "sealed": job.finalized,
        "dirty": job.dirty or None,
        "deletedAt": job.deleted_at,
        "ended": "\n".join(sample.text() for sample in job.ended) or None,
    }
    if job.snapshot:
        row |= _snapshot_row(job.snapshot)
    return {name: value for name, value in row.items() if value is not None}


def _rules_row(rules: JobRules) -> Row:
    limit = rules.max_wall_clock_time
    return {
        "maxParallelTasks": rules.max_parallel_tasks,
        "maxWallClockSeconds": limit.total_seconds() if limit is not None else None,
        "usesTaskDependencies": rules.uses_task_dependencies,
    }


def _snapshot_row(snapshot: JobSnapshot) -> Row:
    agreement = snapshot.agreement
    return {
        "generation": snapshot.generation,
        "asOf": snapshot.as_of,
        "source": snapshot.source,
        "fullReadAt": snapshot.full_read_at,
        "movedAt": snapshot.moved_at,
        "liveReadAt": snapshot.live_read_at,
        "agreedAt": agreement.at,
        "agreedAsOf": agreement.as_of,
        "disagreements": agreement.disagreements,
        "insight": snapshot.statistics.origin + snapshot.statistics.packed if snapshot.statistics else None,
        **(_read_row(snapshot.read) if snapshot.read else {}),
        **_counts_row(snapshot.counts, ""),
        **(_counts_row(agreement.service_counts, "service_") if agreement.service_counts else {}),
    }


def _read_row(read: TaskRead) -> Row:
    return {"readSeconds": read.seconds, "readRequests": read.requests, "readPages": read.pages}


def anew(row: UndecodedRow, facts: JobFacts, at: datetime) -> Job:
    """Returns a listed job with an unreadable row: unread, and to be written over that row under its ETag.

    A damaged row would otherwise stay for ever. Batch has all its other data, except for the last sample of the
    history, which shows as a gap. Generations named in the row retire; others are deleted with the job.
    """
    names = (row.row.get(name) for name in ("generation", "building"))
    retired = [Retired(name, at) for name in names if isinstance(name, str)]
    with suppress(UnreadableError), decoding(row.row, "job", kind="job"):
        retired += msgspec.convert(_retired(row.row), list[Retired])
    return Job(facts, retired=tuple(retired), etag=row.etag)


def _job(row: Row) -> Job:
    """Raises UnreadableError."""
    with decoding(row, "job", kind="job"):
        return msgspec.convert(_plain(row), Job)


def _plain(row: Row) -> dict[str, Any]:
    """Returns a job as dicts; converting these checks every type."""
    return {
        "facts": {field: row.get(name) for field, name in _FACTS.items()} | {"rules": _rules(row)},
        "snapshot": _snapshot(row) if row.get("generation") else None,
        "building": row.get("building"),
        "building_since": row.get("buildingSince"),
        "retired": _retired(row),
        "finalized": row.get("sealed", False),
        "dirty": row.get("dirty", False),
        "deleted_at": row.get("deletedAt"),
        "ended": tuple(map(job_sample_of, row.get("ended", "").splitlines())),
        "etag": row["etag"],
    }


def _retired(row: Row) -> list[dict[str, Any]]:
    stored = json_of(row, "retired") or ()
    return [{"generation": name, "since": datetime.fromtimestamp(since, UTC)} for name, since in stored]


def _rules(row: Row) -> dict[str, Any] | None:
    """Returns None for rows of older versions."""
    if "usesTaskDependencies" not in row:
        return None
    seconds = row.get("maxWallClockSeconds")
    return {
        "max_parallel_tasks": row.get("maxParallelTasks"),
        "max_wall_clock_time": None if seconds is None else timedelta(seconds=seconds),
        "uses_task_dependencies": row["usesTaskDependencies"],
    }


def _snapshot(row: Row) -> dict[str, Any]:
    return {
        "generation": row["generation"],
        "as_of": row["asOf"],
        "source": row["source"],
        "counts": _counts(row, ""),
        "full_read_at": row["fullReadAt"],
        "moved_at": row["movedAt"],
        "live_read_at": row["liveReadAt"],
        "agreement": {
            "at": row.get("agreedAt"),
            "as_of": row.get("agreedAsOf"),
            "disagreements": row["disagreements"],
            "service_counts": _counts(row, "service_") if "service_active" in row else None,
        },
        "statistics": _job_statistics(row.get("insight")),
        "read": _task_read(row),
    }


def _task_read(row: Row) -> dict[str, Any] | None:
    """Returns None for rows of older versions."""
    if "readSeconds" not in row:
        return None
    return {"seconds": row["readSeconds"], "requests": row["readRequests"], "pages": row["readPages"]}


def _job_statistics(stored: bytes | None) -> StoredJobStatistics | None:
    """Returns statistics, stored behind the digest of its leaves; None for rows of older versions."""
    return StoredJobStatistics(stored[:ORIGIN_BYTES], stored[ORIGIN_BYTES:]) if stored else None


def _counts_row(counts: TaskCounts, prefix: str) -> Row:
    return {prefix + field: getattr(counts, field) for field in COUNT_FIELDS}


def _counts(row: Row, prefix: str) -> dict[str, Any]:
    return {field: row[prefix + field] for field in COUNT_FIELDS}
