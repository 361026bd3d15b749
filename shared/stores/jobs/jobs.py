"""The table `jobs`: a row a job, partitioned by account.

A row points to the generation that is served and holds its picture, a projection that can be rebuilt from the leaves.
One that this version can't read is left as it is until its job is listed, whose tasks are then read anew.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from shared.domain.core.keys import SEPARATOR, key_of, partition_of
from shared.domain.history.samples import sample_of
from shared.domain.jobs.job_rules import JobRules
from shared.domain.jobs.jobs import Job, JobFacts, Retired
from shared.domain.jobs.pictures import Picture, TaskRead
from shared.domain.tasks.insight import StoredInsight
from shared.domain.tasks.tasks import COUNT_FIELDS, TaskCounts
from shared.errors import UnreadableError
from shared.stores.jobs.heads import ORIGIN_BYTES
from shared.stores.tables.pages import items_of
from shared.stores.tables.schemas import schema_of
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
from shared.stores.tables.unreadable import Unreadable, read, told_apart

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
    """The partition of the table `tasks` that holds a generation; that of "" is what all of a job's begin with."""
    return partition_of(account_key, job_key, generation)


@dataclass(frozen=True, slots=True)
class KnownJobs:
    """Every job known of an account by its key, deleted ones too, and the rows that can't be read."""

    jobs: Mapping[str, Job]
    unreadable: Mapping[str, Unreadable]


class JobStore:
    def __init__(self, tables: Tables) -> None:
        self._table = tables["jobs"]

    async def load_known(self, account_key: str) -> KnownJobs:
        return KnownJobs(*told_apart(await load_rows(self._table, account_key), _job))

    async def load_all(self, account_key: str) -> Mapping[str, Job]:
        """The jobs that can be read."""
        return (await self.load_known(account_key)).jobs

    async def load_of_schedule(self, account_key: str, schedule_id: str) -> KnownJobs:
        """The jobs under a job schedule's id by key, which stand side by side; deleted ones too."""
        first = key_of(f"{schedule_id}:")
        rows = await load_range(self._table, account_key, first, first + SEPARATOR)
        return KnownJobs(*told_apart(rows.values(), _job))

    async def load_more_urgent(self, account_key: str, priority: int) -> list[Job]:
        """The active jobs of a higher priority that can be read."""
        asked = "PartitionKey eq @account and state eq 'active' and priority gt @priority"
        with translated(f"read {self._table.table_name}"):
            found = self._table.query_entities(asked, parameters={"account": account_key, "priority": priority})
            rows = [with_etag(entity) async for entity in items_of(found)]
        return list(told_apart(rows, _job)[0].values())

    async def load(self, account_key: str, job_id: str) -> Job | None:
        """A job, or None; `job_id` may be anything that a client sent. Raises UnreadableError."""
        row = await load_row(self._table, account_key, key_of(job_id))
        return _job(row) if row else None

    async def is_stored(self, account_key: str, job: Job) -> bool:
        """Whether a job's row still is as it was loaded. Raises StorageError."""
        row = await load_row(self._table, account_key, job.key)
        return row is not None and row["etag"] == job.etag

    async def delete(self, account_key: str, job: Job) -> None:
        """Forgets a job, if its row still is as it was loaded. Raises CacheConflictError."""
        await delete_row(self._table, account_key, job.key, job.etag or "")

    async def written_at(self, account_key: str, row: Unreadable) -> datetime | None:
        """When a row that can't be read was written; None where it isn't as it was loaded any more."""
        return await written_at(self._table, account_key, row.row["RowKey"], row.etag)

    async def delete_unreadable(self, account_key: str, row: Unreadable) -> None:
        """Deletes such a row, if it still is as it was loaded. Raises CacheConflictError."""
        await delete_row(self._table, account_key, row.row["RowKey"], row.etag)

    async def save(self, account_key: str, job: Job) -> str:
        """Writes a job as it was loaded, or new where its ETag is None; gives the ETag. Raises CacheConflictError."""
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
        "sealed": job.sealed,
        "dirty": job.dirty or None,
        "deletedAt": job.deleted_at,
        "ended": "\n".join(sample.text() for sample in job.ended) or None,
    }
    if job.picture:
        row |= _picture_row(job.picture)
    return {name: value for name, value in row.items() if value is not None}


def _rules_row(rules: JobRules) -> Row:
    limit = rules.max_wall_clock_time
    return {
        "maxParallelTasks": rules.max_parallel_tasks,
        "maxWallClockSeconds": limit.total_seconds() if limit is not None else None,
        "usesTaskDependencies": rules.uses_task_dependencies,
    }


def _picture_row(picture: Picture) -> Row:
    agreement = picture.agreement
    return {
        "generation": picture.generation,
        "asOf": picture.as_of,
        "source": picture.source,
        "fullReadAt": picture.full_read_at,
        "movedAt": picture.moved_at,
        "liveReadAt": picture.live_read_at,
        "agreedAt": agreement.at,
        "agreedAsOf": agreement.as_of,
        "disagreements": agreement.disagreements,
        "insight": picture.insight.origin + picture.insight.packed if picture.insight else None,
        **(_read_row(picture.read) if picture.read else {}),
        **_counts_row(picture.counts, ""),
        **(_counts_row(agreement.service_counts, "service_") if agreement.service_counts else {}),
    }


def _read_row(read: TaskRead) -> Row:
    return {"readSeconds": read.seconds, "readRequests": read.requests, "readPages": read.pages}


def anew(row: Unreadable, facts: JobFacts, at: datetime) -> Job:
    """A job whose row can't be read, as it was listed `at` then: never read, and over that very row.

    Leaving it would be for good where the row is damaged. Whatever else it held, Batch tells again, but for the last
    sample of the job's history, which shows as a gap. Its generations retire, as far as the row says which they are;
    others go with the job.
    """
    names = (row.row.get(name) for name in ("generation", "building"))
    retired = [Retired(name, at) for name in names if isinstance(name, str)]
    with suppress(UnreadableError):
        retired += read(row.row, "job", lambda stored: msgspec.convert(_retired(stored), list[Retired]), kind="job")
    return Job(facts, retired=tuple(retired), etag=row.etag)


def _job(row: Row) -> Job:
    """Raises UnreadableError."""
    return read(row, "job", lambda row: msgspec.convert(_plain(row), Job), kind="job")


def _plain(row: Row) -> dict[str, Any]:
    """A job as dicts: converting these looks at every type."""
    return {
        "facts": {field: row.get(name) for field, name in _FACTS.items()} | {"rules": _rules(row)},
        "picture": _picture(row) if row.get("generation") else None,
        "building": row.get("building"),
        "building_since": row.get("buildingSince"),
        "retired": _retired(row),
        "sealed": row.get("sealed", False),
        "dirty": row.get("dirty", False),
        "deleted_at": row.get("deletedAt"),
        "ended": tuple(map(sample_of, row.get("ended", "").splitlines())),
        "etag": row["etag"],
    }


def _retired(row: Row) -> list[dict[str, Any]]:
    stored = json_of(row, "retired") or ()
    return [{"generation": name, "since": datetime.fromtimestamp(since, UTC)} for name, since in stored]


def _rules(row: Row) -> dict[str, Any] | None:
    """None in rows of versions before these were stored."""
    if "usesTaskDependencies" not in row:
        return None
    seconds = row.get("maxWallClockSeconds")
    return {
        "max_parallel_tasks": row.get("maxParallelTasks"),
        "max_wall_clock_time": None if seconds is None else timedelta(seconds=seconds),
        "uses_task_dependencies": row["usesTaskDependencies"],
    }


def _picture(row: Row) -> dict[str, Any]:
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
        "insight": _insight(row.get("insight")),
        "read": _task_read(row),
    }


def _task_read(row: Row) -> dict[str, Any] | None:
    """None in rows of versions before reads were measured."""
    if "readSeconds" not in row:
        return None
    return {"seconds": row["readSeconds"], "requests": row["readRequests"], "pages": row["readPages"]}


def _insight(stored: bytes | None) -> StoredInsight | None:
    """Behind the digest of what it is the sum of; rows of versions before this have none."""
    return StoredInsight(stored[:ORIGIN_BYTES], stored[ORIGIN_BYTES:]) if stored else None


def _counts_row(counts: TaskCounts, prefix: str) -> Row:
    return {prefix + field: getattr(counts, field) for field in COUNT_FIELDS}


def _counts(row: Row, prefix: str) -> dict[str, Any]:
    return {field: row[prefix + field] for field in COUNT_FIELDS}
