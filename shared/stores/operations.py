"""The table `operations`: polls on demand and how they ended."""

from dataclasses import replace

import orjson

from shared.domain.operations import PollOperation, Reason
from shared.stores.tables import Row, Tables, load_row, save_row


class OperationStore:
    def __init__(self, tables: Tables) -> None:
        self._table = tables["operations"]

    async def load(self, account_key: str, operation_id: str) -> PollOperation | None:
        row = await load_row(self._table, account_key, operation_id)
        return _operation(row) if row else None

    async def save(self, account_key: str, operation: PollOperation) -> PollOperation:
        """Writes an operation as it was loaded, or new. Raises CacheConflictError."""
        etag = await save_row(self._table, _row(account_key, operation), operation.etag)
        return replace(operation, etag=etag)


def _row(account_key: str, operation: PollOperation) -> Row:
    row: Row = {
        "PartitionKey": account_key,
        "RowKey": operation.id,
        "status": operation.status,
        "createdAt": operation.created_at,
        "finishedAt": operation.finished_at,
        "jobs": orjson.dumps(operation.jobs).decode() if operation.jobs is not None else None,
        "succeeded": operation.succeeded,
        "failed": operation.failed,
        "reasons": orjson.dumps([[reason.job, reason.message] for reason in operation.reasons]).decode(),
    }
    return {name: value for name, value in row.items() if value is not None}


def _operation(row: Row) -> PollOperation:
    return PollOperation(
        id=row["RowKey"],
        status=row["status"],
        created_at=row["createdAt"],
        finished_at=row.get("finishedAt"),
        jobs=tuple(orjson.loads(row["jobs"])) if "jobs" in row else None,
        succeeded=row["succeeded"],
        failed=row["failed"],
        reasons=tuple(Reason(job, message) for job, message in orjson.loads(row["reasons"])),
        etag=row["etag"],
    )
