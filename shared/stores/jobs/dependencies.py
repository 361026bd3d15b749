"""Dependencies of waiting tasks: the row `dependencies` beside the leaves of the generation that is served."""

import msgspec

from shared.domain.dependencies.dependencies import Dependencies
from shared.domain.dependencies.stored_dependencies import StoredDependencies
from shared.stores.tables.rows import Row, json_columns, json_of, row_of
from shared.stores.tables.tables import Tables, load_row, save_row
from shared.stores.tables.unreadable import decoding, schema_of

DEPENDENCIES_ROW = "dependencies"


class DependencyStore:
    def __init__(self, tables: Tables) -> None:
        self._table = tables["tasks"]

    async def load(self, partition: str) -> StoredDependencies | None:
        """Returns the dependencies read last, or None. Raises UnreadableError, StorageError."""
        row = await load_row(self._table, partition, DEPENDENCIES_ROW)
        return _stored(partition, row) if row else None

    async def save(self, partition: str, found: StoredDependencies) -> None:
        """Writes dependencies in place of earlier ones. Raises CacheConflictError if another process does, too."""
        row = await load_row(self._table, partition, DEPENDENCIES_ROW)
        columns = {
            **schema_of("dependencies"),
            "asOf": found.as_of,
            **json_columns("found", msgspec.to_builtins(found.dependencies)),
        }
        await save_row(self._table, row_of(partition, DEPENDENCIES_ROW, columns), row["etag"] if row else None)


def _stored(partition: str, row: Row) -> StoredDependencies:
    """Raises UnreadableError."""
    with decoding(row, f"dependencies in {partition}, row", kind="dependencies"):
        return StoredDependencies(row["asOf"], msgspec.convert(json_of(row, "found"), Dependencies))
