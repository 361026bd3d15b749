"""The table `operations`: polls on demand and their results."""

from dataclasses import replace
from datetime import datetime

from shared.domain.accounts.operations import PollOperation, Reason
from shared.domain.core.keys import key_of
from shared.stores.tables.rows import Row, columns_of, fields_of, json_columns, json_of, row_of
from shared.stores.tables.tables import Tables, delete_row, load_row, load_rows, save_row

_COLUMNS = {
    "status": "status",
    "created_at": "createdAt",
    "finished_at": "finishedAt",
    "succeeded": "succeeded",
    "failed": "failed",
}


class OperationStore:
    def __init__(self, tables: Tables) -> None:
        self._table = tables["operations"]

    async def load(self, account_key: str, operation_id: str) -> PollOperation | None:
        """Returns an operation, or None; `operation_id` may be any string from a client."""
        row = await load_row(self._table, account_key, key_of(operation_id))
        return _operation(row) if row else None

    async def delete_before(self, account_key: str, moment: datetime) -> int:
        """Deletes operations requested before `moment`; returns their number."""
        rows = [row for row in await load_rows(self._table, account_key) if row["createdAt"] < moment]
        for row in rows:
            await delete_row(self._table, account_key, row["RowKey"], row["etag"])
        return len(rows)

    async def save(self, account_key: str, operation: PollOperation) -> PollOperation:
        """Writes an operation under its ETag, or a new one. Raises CacheConflictError."""
        etag = await save_row(self._table, _row(account_key, operation), operation.etag)
        return replace(operation, etag=etag)


def _row(account_key: str, operation: PollOperation) -> Row:
    columns = columns_of(operation, _COLUMNS) | json_columns("jobs", operation.jobs)
    columns |= json_columns("reasons", [[reason.job, reason.message] for reason in operation.reasons])
    return row_of(account_key, operation.id, columns)


def _operation(row: Row) -> PollOperation:
    jobs = json_of(row, "jobs")
    return PollOperation(
        **fields_of(row, _COLUMNS),
        id=row["RowKey"],
        jobs=None if jobs is None else tuple(jobs),
        reasons=tuple(Reason(job, message) for job, message in json_of(row, "reasons") or ()),
        etag=row["etag"],
    )
