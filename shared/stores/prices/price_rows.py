"""The table `prices`: the retail prices of VM sizes over time, a partition for each currency, and how reading went.

Prices of another currency are other rows, so that amounts of two are never in one history.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec

from shared.domain.core.keys import key_of, partition_of
from shared.domain.prices.price_history import PriceHistory, PriceInterval
from shared.domain.prices.price_keys import NO_PRICE, MeterKey
from shared.domain.prices.price_status import PriceSourceStatus
from shared.errors import UnreadableError
from shared.log import logger
from shared.stores.tables.rows import Row, json_columns, json_of, row_of
from shared.stores.tables.tables import Tables, delete_row, load_row, load_rows, rows_where, save_row
from shared.stores.tables.unreadable import decoding, schema_of

_LOG = logger(__name__)
_HISTORY, _SOURCE, _STATUS = "price history", "price source", "!"
type _Intervals = list[tuple[MeterKey, list[tuple[Decimal, datetime, datetime | None, str]]]]


@dataclass(frozen=True, slots=True)
class StoredPrices:
    """The retail prices of a currency by region and VM size, and how the last reading went."""

    histories: Mapping[tuple[str, str], PriceHistory] = field(default_factory=dict)
    status: PriceSourceStatus = field(default_factory=PriceSourceStatus)


class PriceStore:
    def __init__(self, tables: Tables) -> None:
        self._table = tables["prices"]

    async def load(self, currency: str) -> StoredPrices:
        """Returns all prices of a currency; unreadable rows begin anew, and are logged. Raises StorageError."""
        rows = await load_rows(self._table, key_of(currency))
        histories = [_history_of(row) for row in rows if row["RowKey"] != _STATUS]
        status = next((_status_of(row) for row in rows if row["RowKey"] == _STATUS), PriceSourceStatus())
        return StoredPrices({one.place: one for one in histories}, status)

    async def load_status(self, currency: str) -> PriceSourceStatus:
        """Returns how the last reading went. Raises StorageError."""
        row = await load_row(self._table, key_of(currency), _STATUS)
        return _status_of(row) if row else PriceSourceStatus()

    async def save(self, currency: str, history: PriceHistory) -> None:
        """Writes the prices of a size under their ETag. Raises CacheConflictError if another host did, StorageError."""
        key = partition_of(key_of(history.region), key_of(history.vm_size))
        columns = {
            **schema_of(_HISTORY),
            "region": history.region,
            "vmSize": history.vm_size,
            "asOf": history.as_of,
            **json_columns("intervals", msgspec.to_builtins(_plain(history))),
            **json_columns("missing", [[*meter, reason] for meter, reason in history.missing.items()]),
        }
        await save_row(self._table, row_of(key_of(currency), key, columns), history.etag)

    async def save_status(self, currency: str, status: PriceSourceStatus) -> None:
        """Writes how reading went under its ETag. Raises CacheConflictError, StorageError."""
        columns = {
            **schema_of(_SOURCE),
            "asOf": status.as_of,
            "failedSince": status.failed_since,
            "problem": status.reason or None,
        }
        await save_row(self._table, row_of(key_of(currency), _STATUS, columns), status.etag)

    async def delete_before(self, moment: datetime) -> int:
        """Deletes the prices of sizes that were read last before then, of any currency; returns their number.

        Raises StorageError, CacheConflictError if another host reads one of them now.
        """
        select = ["PartitionKey", "RowKey"]
        found: Sequence[Row] = [
            row async for row in rows_where(self._table, "asOf lt @before", {"before": moment}, select)
        ]
        for row in found:
            await delete_row(self._table, row["PartitionKey"], row["RowKey"], row["etag"])
        return len(found)


def _plain(history: PriceHistory) -> _Intervals:
    return [
        (meter, [(one.hourly, one.valid_from, one.valid_to, one.meter_id) for one in some])
        for meter, some in history.intervals.items()
    ]


def _history_of(row: Row) -> PriceHistory:
    """Returns the prices of a row; of an unreadable one only the place, so that the next reading replaces it."""
    region, vm_size = str(row.get("region", "")), str(row.get("vmSize", ""))
    try:
        with decoding(row, f"prices {row['RowKey']} in", kind=_HISTORY):
            stored = msgspec.convert(json_of(row, "intervals"), _Intervals.__value__, strict=False)
            intervals = {meter: tuple(PriceInterval(*one) for one in some) for meter, some in stored}
            missing: Any = {MeterKey(*place): why for *place, why in json_of(row, "missing") if why in NO_PRICE}
            return PriceHistory(region, vm_size, intervals, missing, row["asOf"], row["etag"])
    except UnreadableError as error:
        _LOG.warning("Prices of a size begin anew: %s", error)
        return PriceHistory(region, vm_size, etag=row["etag"])


def _status_of(row: Row) -> PriceSourceStatus:
    try:
        with decoding(row, "status of prices in", kind=_SOURCE):
            return PriceSourceStatus(row.get("asOf"), row.get("failedSince"), row.get("problem") or "", row["etag"])
    except UnreadableError as error:
        _LOG.warning("The status of retail prices begins anew: %s", error)
        return PriceSourceStatus(etag=row["etag"])
