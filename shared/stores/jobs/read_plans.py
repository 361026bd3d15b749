"""Plans of long reads: the row `reading` beside the leaves of the generation that is being read."""

from dataclasses import astuple, replace

from shared.domain.reads.id_ranges import IdRange
from shared.domain.reads.read_plans import ReadPlan
from shared.errors import UnreadableError
from shared.log import logger
from shared.stores.tables.rows import Row, columns_of, fields_of, json_columns, json_of, row_of
from shared.stores.tables.tables import Tables, delete_row, load_row, save_row
from shared.stores.tables.unreadable import decoding, schema_of

_LOG = logger(__name__)
PLAN_ROW = "reading"
_COLUMNS = {
    "generation": "generation",
    "begun_at": "begunAt",
    "as_of": "asOf",
    "since": "since",
    "tasks": "tasks",
    "expected": "expected",
    "newest": "newest",
}


class ReadPlanStore:
    def __init__(self, tables: Tables) -> None:
        self._table = tables["tasks"]

    async def load(self, partition: str) -> ReadPlan | None:
        """Returns a plan, or None. Raises UnreadableError, StorageError."""
        row = await load_row(self._table, partition, PLAN_ROW)
        return _plan(partition, row) if row else None

    async def load_or_drop(self, partition: str) -> ReadPlan | None:
        """Returns a plan, or None after deleting an unreadable one. Raises CacheConflictError, StorageError."""
        row = await load_row(self._table, partition, PLAN_ROW)
        if row is None:
            return None
        try:
            return _plan(partition, row)
        except UnreadableError as error:
            _LOG.warning("A read plan is deleted, and what it listed is listed anew: %s", error)
            await delete_row(self._table, partition, PLAN_ROW, row["etag"])
            return None

    async def save(self, partition: str, plan: ReadPlan) -> ReadPlan:
        """Writes a plan under its ETag, or a new one. Raises CacheConflictError if another process continues it."""
        return replace(plan, etag=await save_row(self._table, _row(partition, plan), plan.etag))

    async def delete(self, partition: str, plan: ReadPlan) -> None:
        """Deletes a completed plan. Raises CacheConflictError."""
        if plan.etag:
            await delete_row(self._table, partition, PLAN_ROW, plan.etag)


def _row(partition: str, plan: ReadPlan) -> Row:
    ranges = json_columns("ranges", [astuple(each) for each in plan.ranges])
    return row_of(partition, PLAN_ROW, schema_of("read plan") | columns_of(plan, _COLUMNS) | ranges)


def _plan(partition: str, row: Row) -> ReadPlan:
    """Raises UnreadableError."""
    with decoding(row, f"plan in {partition}, row", kind="read plan"):
        ranges = tuple(IdRange(*values) for values in json_of(row, "ranges"))
        return ReadPlan(**fields_of(row, _COLUMNS, ("tasks", "expected")), ranges=ranges, etag=row["etag"])
