"""The table `jobs`: a row a job, partitioned by account.

A row points to the generation that is served and holds its picture, a projection that can be rebuilt from the leaves.
"""

from datetime import UTC, datetime
from typing import Any, get_args

from shared.domain.insight import StoredInsight
from shared.domain.jobs import Agreement, Job, JobFacts, Picture, Retired, Source
from shared.domain.keys import key_of, partition_of
from shared.domain.samples import sample_of
from shared.domain.tasks import COUNT_FIELDS, TaskCounts
from shared.stores.heads import ORIGIN_BYTES
from shared.stores.tables import Row, Tables, delete_row, json_columns, json_of, load_row, load_rows, save_row

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
_SOURCES = get_args(Source.__value__)


def generation_partition(account_key: str, job_key: str, generation: str) -> str:
    """The partition of the table `tasks` that holds a generation; that of "" is what all of a job's begin with."""
    return partition_of(account_key, job_key, generation)


class JobStore:
    def __init__(self, tables: Tables) -> None:
        self._table = tables["jobs"]

    async def load_all(self, account_key: str) -> dict[str, Job]:
        """Every job known of an account by its key, deleted ones too."""
        rows = await load_rows(self._table, account_key)
        return {row["RowKey"]: _job(row) for row in rows}

    async def load(self, account_key: str, job_id: str) -> Job | None:
        """A job, or None; `job_id` may be anything that a client sent."""
        row = await load_row(self._table, account_key, key_of(job_id))
        return _job(row) if row else None

    async def delete(self, account_key: str, job: Job) -> None:
        """Forgets a job, if its row still is as it was loaded. Raises CacheConflictError."""
        await delete_row(self._table, account_key, job.key, job.etag or "")

    async def save(self, account_key: str, job: Job) -> str:
        """Writes a job as it was loaded, or new where its ETag is None; gives the ETag. Raises CacheConflictError."""
        return await save_row(self._table, _row(account_key, job), job.etag)


def _row(account_key: str, job: Job) -> Row:
    row: Row = {
        "PartitionKey": account_key,
        "RowKey": job.key,
        **{name: getattr(job.facts, field) for field, name in _FACTS.items()},
        "building": job.building,
        "buildingSince": job.building_since,
        **json_columns("retired", [[old.generation, old.since.timestamp()] for old in job.retired]),
        "sealed": job.sealed,
        "deletedAt": job.deleted_at,
        "ended": "\n".join(sample.text() for sample in job.ended) or None,
    }
    if job.picture:
        row |= _picture_row(job.picture)
    return {name: value for name, value in row.items() if value is not None}


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
        **_counts_row(picture.counts, ""),
        **(_counts_row(agreement.service_counts, "service_") if agreement.service_counts else {}),
    }


def _job(row: Row) -> Job:
    facts: dict[str, Any] = {field: row.get(name) for field, name in _FACTS.items()}
    return Job(
        facts=JobFacts(**facts),
        picture=_picture(row) if row.get("generation") else None,
        building=row.get("building"),
        building_since=row.get("buildingSince"),
        retired=tuple(
            Retired(generation, datetime.fromtimestamp(since, UTC))
            for generation, since in json_of(row, "retired") or ()
        ),
        sealed=row.get("sealed", False),
        deleted_at=row.get("deletedAt"),
        ended=tuple(map(sample_of, row.get("ended", "").splitlines())),
        etag=row["etag"],
    )


def _picture(row: Row) -> Picture:
    return Picture(
        generation=row["generation"],
        as_of=row["asOf"],
        source=next(source for source in _SOURCES if source == row["source"]),
        counts=_counts(row, ""),
        full_read_at=row["fullReadAt"],
        moved_at=row["movedAt"],
        live_read_at=row["liveReadAt"],
        agreement=Agreement(
            at=row.get("agreedAt"),
            as_of=row.get("agreedAsOf"),
            disagreements=row["disagreements"],
            service_counts=_counts(row, "service_") if "service_active" in row else None,
        ),
        insight=_insight(row.get("insight")),
    )


def _insight(stored: bytes | None) -> StoredInsight | None:
    """Behind the digest of what it is the sum of; rows of versions before this have none."""
    return StoredInsight(stored[:ORIGIN_BYTES], stored[ORIGIN_BYTES:]) if stored else None


def _counts_row(counts: TaskCounts, prefix: str) -> Row:
    return {prefix + field: getattr(counts, field) for field in COUNT_FIELDS}


def _counts(row: Row, prefix: str) -> TaskCounts:
    return TaskCounts(*(row[prefix + field] for field in COUNT_FIELDS))
