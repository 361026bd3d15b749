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
import orjson

from shared.domain.core.keys import SEPARATOR, key_of, partition_of
from shared.domain.jobs.job_counters import JobCounters
from shared.domain.jobs.job_rules import JobRules
from shared.domain.jobs.job_samples import job_sample_of
from shared.domain.jobs.jobs import COMPLETED, Job, JobFacts, Retired
from shared.domain.jobs.snapshots import JobSnapshot
from shared.domain.tasks.job_statistics import StoredJobStatistics
from shared.domain.tasks.tasks import COUNT_FIELDS
from shared.errors import UnreadableError
from shared.stores.jobs.heads import ORIGIN_BYTES
from shared.stores.tables.rows import Row, columns_of, fields_of, json_columns, json_of, row_of
from shared.stores.tables.tables import (
    Tables,
    delete_row,
    load_range,
    load_row,
    load_rows,
    rows_where,
    save_row,
    written_at,
)
from shared.stores.tables.unreadable import NONSENSE, UndecodedRow, decoded_rows, decoding, schema_of

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
_READ = {"seconds": "readSeconds", "requests": "readRequests", "pages": "readPages"}
_COUNTS = {field: field for field in COUNT_FIELDS}
_SERVICE_COUNTS = {field: f"service_{field}" for field in COUNT_FIELDS}


def generation_partition(account_key: str, job_key: str, generation: str) -> str:
    """Returns the partition of the table `tasks` for a generation; for "" the prefix of all of a job's."""
    return partition_of(account_key, job_key, generation)


@dataclass(frozen=True, slots=True)
class KnownJobs:
    """Every known job of an account by key, also deleted ones, and the unreadable rows."""

    jobs: Mapping[str, Job]
    unreadable: Mapping[str, UndecodedRow]

    @property
    def counters(self) -> Mapping[str, JobCounters]:
        """The counters of all jobs by key, also those in unreadable rows that can be decoded."""
        undecoded = {key: counters_of(row) for key, row in self.unreadable.items()}
        many = {key: job.counters for key, job in self.jobs.items()} | undecoded
        return {key: counters for key, counters in many.items() if counters}


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

    async def load_since(self, account_key: str, since: datetime) -> KnownJobs:
        """Returns the jobs by key that hadn't completed before `since`, also deleted ones."""
        asked = "PartitionKey eq @account and ( state ne @completed or stateTransitionTime ge @since )"
        parameters = {"account": account_key, "completed": COMPLETED, "since": since}
        return KnownJobs(*decoded_rows([row async for row in rows_where(self._table, asked, parameters)], _job))

    async def load_urgent(self, account_key: str, priority: int) -> list[Job]:
        """Returns the readable active jobs of a priority and of higher ones."""
        asked = "PartitionKey eq @account and state eq 'active' and priority ge @priority"
        rows = rows_where(self._table, asked, {"account": account_key, "priority": priority})
        return list(decoded_rows([row async for row in rows], _job)[0].values())

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
    columns: Row = {
        **schema_of("job"),
        **columns_of(job.facts, _FACTS),
        **_rules_columns(job.facts.rules),
        "metadata": orjson.dumps(job.facts.metadata).decode() if job.facts.metadata else None,
        "building": job.building,
        "buildingSince": job.building_since,
        **json_columns("retired", [[old.generation, old.since.timestamp()] for old in job.retired]),
        "sealed": job.finalized,
        "dirty": job.dirty or None,
        "deletedAt": job.deleted_at,
        "ended": "\n".join(sample.text() for sample in job.ended) or None,
        "counters": orjson.dumps(job.counters.plain()).decode() if job.counters else None,
        "efficiency": orjson.dumps(job.efficiency.plain()).decode() if job.efficiency else None,
        "failingNodes": orjson.dumps(job.failing_nodes.plain()).decode() if job.failing_nodes else None,
        "counted": job.counted,
        **(_snapshot_columns(job.snapshot) if job.snapshot else {}),
    }
    return row_of(account_key, job.key, columns)


def _rules_columns(rules: JobRules) -> Row:
    limit = rules.max_wall_clock_time
    return {
        "maxParallelTasks": rules.max_parallel_tasks,
        "maxWallClockSeconds": limit.total_seconds() if limit is not None else None,
        "usesTaskDependencies": rules.uses_task_dependencies,
        "allowTaskPreemption": rules.allows_preemption or None,
    }


def _snapshot_columns(snapshot: JobSnapshot) -> Row:
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
        "failedTasks": None if snapshot.failed_tasks is None else orjson.dumps(snapshot.failed_tasks).decode(),
        **(columns_of(snapshot.read, _READ) if snapshot.read else {}),
        **columns_of(snapshot.counts, _COUNTS),
        **(columns_of(agreement.service_counts, _SERVICE_COUNTS) if agreement.service_counts else {}),
    }


def anew(row: UndecodedRow, facts: JobFacts, at: datetime) -> Job:
    """Returns a listed job with an unreadable row: unread, and to be written over that row under its ETag.

    A damaged row would otherwise stay for ever. Batch has all its other data, except for the last sample of the
    history, which shows as a gap. Counters go on from the generation that the row names, unless it is of another job.
    Other generations named in the row retire; further ones are deleted with the job.
    """
    created = row.row.get("creationTime")
    is_another = isinstance(created, datetime) and created != facts.creation_time
    counted = row.row.get("generation") or row.row.get("counted")
    names = (row.row.get("building"), counted if is_another else None)
    retired = [Retired(name, at) for name in names if isinstance(name, str)]
    with suppress(UnreadableError), decoding(row.row, "job", kind="job"):
        retired += msgspec.convert(_retired(row.row), list[Retired])
    counters = counters_of(row)
    if is_another:
        counters = counters.begun_anew() if counters else None
    counted = counted if isinstance(counted, str) and not is_another else None
    return Job(facts, retired=tuple(retired), counters=counters, counted=counted, etag=row.etag)


def counters_of(row: UndecodedRow) -> JobCounters | None:
    """Returns the counters in a job's unreadable row, None if they can't be read either.

    Their column keeps its meaning in newer schema versions, so that totals don't fall beside a newer host.
    """
    with suppress(*NONSENSE):
        return _counters(row.row)
    return None


def _job(row: Row) -> Job:
    """Raises UnreadableError."""
    with decoding(row, "job", kind="job"):
        return msgspec.convert(_plain(row), Job)


def _plain(row: Row) -> dict[str, Any]:
    """Returns a job as dicts; converting these checks every type.

    They name columns one by one, which is fast: an account has thousands of jobs.
    """
    return {
        "facts": {field: row.get(name) for field, name in _FACTS.items()}
        | {"rules": _rules(row), "metadata": orjson.loads(row.get("metadata") or "[]")},
        "snapshot": _snapshot(row) if row.get("generation") else None,
        "building": row.get("building"),
        "building_since": row.get("buildingSince"),
        "retired": _retired(row),
        "finalized": row.get("sealed", False),
        "dirty": row.get("dirty", False),
        "deleted_at": row.get("deletedAt"),
        "ended": tuple(map(job_sample_of, row.get("ended", "").splitlines())),
        "counters": _counters(row),
        "efficiency": orjson.loads(row["efficiency"]) if "efficiency" in row else None,
        "failing_nodes": orjson.loads(row["failingNodes"]) if "failingNodes" in row else None,
        "counted": row.get("counted"),
        "etag": row["etag"],
    }


def _counters(row: Row) -> JobCounters | None:
    stored = row.get("counters")  # 0.1.0 stored none
    return JobCounters.of_plain(orjson.loads(stored)) if stored else None


def _retired(row: Row) -> list[dict[str, Any]]:
    stored = json_of(row, "retired") or ()
    return [{"generation": name, "since": datetime.fromtimestamp(since, UTC)} for name, since in stored]


def _rules(row: Row) -> dict[str, Any]:
    seconds = row.get("maxWallClockSeconds")
    return {
        "max_parallel_tasks": row.get("maxParallelTasks"),
        "max_wall_clock_time": None if seconds is None else timedelta(seconds=seconds),
        "uses_task_dependencies": row.get("usesTaskDependencies", False),
        "allows_preemption": row.get("allowTaskPreemption", False),
    }


def _snapshot(row: Row) -> dict[str, Any]:
    statistics = row.get("insight")  # behind the digest of its leaves
    return {
        "generation": row["generation"],
        "as_of": row["asOf"],
        "source": row["source"],
        "counts": {field: row[field] for field in COUNT_FIELDS},
        "full_read_at": row["fullReadAt"],
        "moved_at": row["movedAt"],
        "live_read_at": row["liveReadAt"],
        "agreement": {
            "at": row.get("agreedAt"),
            "as_of": row.get("agreedAsOf"),
            "disagreements": row["disagreements"],
            "service_counts": fields_of(row, _SERVICE_COUNTS, _SERVICE_COUNTS) if "service_active" in row else None,
        },
        "statistics": StoredJobStatistics(statistics[:ORIGIN_BYTES], statistics[ORIGIN_BYTES:]) if statistics else None,
        "read": fields_of(row, _READ) if "readSeconds" in row else None,  # 0.1.0 stored none
        "failed_tasks": orjson.loads(row["failedTasks"]) if "failedTasks" in row else None,
    }
