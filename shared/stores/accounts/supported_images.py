"""The rows `images` in the table `accounts`, one for each account: the images that Batch supports there.

Each is in a partition of its own, so that ticks, which read an account's other rows, don't read it.
"""

import dataclasses
from datetime import date

import msgspec

from shared.domain.retirements.supported_images import SupportedImage, SupportedImages
from shared.errors import UnreadableError
from shared.log import logger
from shared.stores.tables.rows import Row, json_columns, json_of, row_of
from shared.stores.tables.tables import Tables, load_row, save_row
from shared.stores.tables.unreadable import decoding, schema_of

_LOG = logger(__name__)
_KIND, _ROW = "supported images", "images"
_UNREADABLE = "The stored list of the images that Batch supports can't be read; it is requested again."


class SupportedImageStore:
    def __init__(self, tables: Tables) -> None:
        self._table = tables["accounts"]

    async def load(self, account_key: str) -> SupportedImages | None:
        """Returns the images as listed last; None before the first list. An unreadable row has none, and a problem."""
        row = await load_row(self._table, _partition(account_key), _ROW)
        return _images_of(row) if row else None

    async def save(self, account_key: str, images: SupportedImages) -> None:
        """Replaces the images under their ETag. Raises CacheConflictError if another host did, StorageError."""
        listed = [(image.name, image.node_agent_sku, image.ends) for image in images.images if not image.last_listed]
        unlisted = [dataclasses.astuple(image) for image in images.images if image.last_listed]
        columns = {
            **schema_of(_KIND),
            "asOf": images.as_of,
            "problem": images.problem or None,
            **json_columns("images", msgspec.to_builtins(listed)),
            **json_columns("unlisted", msgspec.to_builtins(unlisted)),
        }
        await save_row(self._table, row_of(_partition(account_key), _ROW, columns), images.etag)


def _partition(account_key: str) -> str:
    return f"{account_key}~images"


def _images_of(row: Row) -> SupportedImages:
    try:
        with decoding(row, f"row of {row['PartitionKey']},", kind=_KIND):
            listed = msgspec.convert(json_of(row, "images"), list[tuple[str, str, date | None]])
            unlisted = msgspec.convert(json_of(row, "unlisted") or [], list[tuple[str, str, date | None, date]])
            images = (
                *(SupportedImage(*image) for image in listed),
                *(SupportedImage(*image) for image in unlisted),
            )
            return SupportedImages(row.get("asOf"), images, row["etag"], row.get("problem") or "")
    except UnreadableError as error:
        _LOG.warning("The images that Batch supports are listed again: %s", error)
        return SupportedImages(None, etag=row["etag"], problem=_UNREADABLE)
