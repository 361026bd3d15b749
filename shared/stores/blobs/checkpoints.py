"""Checkpoints of each incarnation of a blob: a row in the partition of the rows that the blob contributed.

One transaction advances the checkpoint and writes the rows of the bytes before it. So each byte counts once, despite
crashes and concurrent readers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from shared.domain.blobs.blobs import Checkpoint, PrefixChecksum
from shared.stores.tables.rows import (
    MAX_OPERATIONS,
    Etags,
    Operation,
    Row,
    fields_of,
    known_columns_of,
    write_at_once,
    written,
)
from shared.stores.tables.tables import Tables, load_row

MAX_BESIDE = MAX_OPERATIONS - 1  # operations in the transaction that advances a checkpoint
_COLUMNS = {
    "offset": "offset", "anchor": "anchor", "blocks": "blocks", "skipping": "skipping", "units": "units",
    "refused": "refused", "etag": "readAs",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class CheckpointKey:
    """Table, partition and row of a checkpoint."""

    table: str
    partition: str
    row: str


class CheckpointStore:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def load(self, key: CheckpointKey) -> Checkpoint:
        row = await load_row(self._tables[key.table], key.partition, key.row)
        return _checkpoint(row) if row else Checkpoint()

    async def advance(
        self, key: CheckpointKey, before: Checkpoint, after: Checkpoint, beside: Sequence[Operation]
    ) -> tuple[Checkpoint, Etags]:
        """Advances a checkpoint and writes the operations beside it in one transaction.

        Raises CacheConflictError, StorageError.
        """
        move = written(_row(key, after), before.row_etag)
        etags = await write_at_once(self._tables[key.table], [move, *beside])
        return replace(after, row_etag=etags[key.row]), etags


def _row(key: CheckpointKey, checkpoint: Checkpoint) -> Row:
    beginning = {"beginning": checkpoint.beginning.pack()} if checkpoint.beginning else {}
    return {"PartitionKey": key.partition, "RowKey": key.row, **known_columns_of(checkpoint, _COLUMNS), **beginning}


def _checkpoint(row: Row) -> Checkpoint:
    """Returns the checkpoint in a row; those of version 0.1.0 have neither `readAs` nor a beginning."""
    beginning = PrefixChecksum.unpack(row["offset"], row["beginning"]) if row.get("beginning") else None
    return Checkpoint(**fields_of(row, _COLUMNS), beginning=beginning, row_etag=row["etag"])
