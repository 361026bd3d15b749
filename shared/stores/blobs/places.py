"""Checkpoints of each incarnation of a blob: a row in the partition of the rows that the blob contributed.

One transaction advances the checkpoint and writes the rows of the bytes before it. So each byte counts once, despite
crashes and concurrent readers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from shared.domain.blobs.beginnings import Beginning
from shared.domain.blobs.blobs import Place
from shared.stores.tables.tables import Row, Tables, load_row, whole
from shared.stores.tables.unit_writes import MOST_OPERATIONS, Etags, Operation, write_at_once, written

MOST_BESIDE = MOST_OPERATIONS - 1  # operations in the transaction that advances a checkpoint


@dataclass(frozen=True, slots=True)
class PlaceKey:
    """Table, partition and row of a checkpoint."""

    table: str
    partition: str
    row: str


@dataclass(frozen=True, slots=True)
class StoredPlace:
    """A checkpoint as loaded; `etag` is None if none is stored."""

    place: Place
    etag: str | None


class PlaceStore:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def load(self, key: PlaceKey) -> StoredPlace:
        row = await load_row(self._tables[key.table], key.partition, key.row)
        return StoredPlace(_place(row), row["etag"]) if row else StoredPlace(Place(), None)

    async def advance(
        self, key: PlaceKey, before: StoredPlace, after: Place, beside: Sequence[Operation]
    ) -> tuple[StoredPlace, Etags]:
        """Advances a checkpoint and writes the operations beside it in one transaction.

        Raises CacheConflictError, StorageError.
        """
        move = written(_row(key, after), before.etag)
        etags = await write_at_once(self._tables[key.table], [move, *beside])
        return StoredPlace(after, etags[key.row]), etags


def _row(key: PlaceKey, place: Place) -> Row:
    row: Row = {
        "PartitionKey": key.partition,
        "RowKey": key.row,
        "offset": whole(place.offset),
        "anchor": place.anchor,
        "blocks": place.blocks,
        "skipping": place.skipping,
        "units": whole(place.units),
        "refused": whole(place.refused),
        "readAs": place.etag,
        "beginning": place.beginning.pack() if place.beginning else None,
    }
    return {name: value for name, value in row.items() if value is not None}


def _place(row: Row) -> Place:
    return Place(
        offset=row["offset"],
        anchor=row["anchor"],
        blocks=row.get("blocks"),
        skipping=row["skipping"],
        units=row["units"],
        refused=row["refused"],
        etag=row.get("readAs", ""),  # older rows have none
        beginning=Beginning.unpack(row["offset"], row["beginning"]) if row.get("beginning") else None,
    )
