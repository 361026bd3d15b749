"""The row `quotas` of an account in the table `accounts`: its limits as read last, and the largest use by day.

It is in a partition of its own, so that ticks, which read an account's other rows, don't read it.
"""

import msgspec

from shared.domain.core.keys import partition_of
from shared.domain.quotas.account_quotas import StoredQuotas
from shared.domain.quotas.quota_limits import QuotaLimits
from shared.domain.quotas.quota_use import QuotaKey, QuotaName
from shared.errors import UnreadableError
from shared.log import logger
from shared.stores.tables.rows import Row, json_columns, json_of, row_of
from shared.stores.tables.tables import Tables, load_row, save_row
from shared.stores.tables.unreadable import decoding, schema_of

_LOG = logger(__name__)
_KIND, _PARTITION, _ROW = "quotas", "quotas", "quotas"
type _Days = list[tuple[int, list[tuple[QuotaName, str, int]]]]


class QuotaStore:
    def __init__(self, tables: Tables) -> None:
        self._table = tables["accounts"]

    async def load(self, account_key: str) -> StoredQuotas:
        """Returns an account's quotas; an unreadable row begins anew, and is logged. Raises StorageError."""
        row = await load_row(self._table, _partition(account_key), _ROW)
        return _quotas_of(row) if row else StoredQuotas()

    async def save(self, account_key: str, quotas: StoredQuotas) -> None:
        """Writes an account's quotas under their ETag. Raises CacheConflictError if another host did, StorageError."""
        limits = quotas.limits
        days = [[day, [[*key, number] for key, number in numbers.items()]] for day, numbers in quotas.days.items()]
        columns = {
            **schema_of(_KIND),
            "failedSince": quotas.failed_since,
            "problem": quotas.reason or None,
            **json_columns("limits", msgspec.to_builtins(limits) if limits else None),
            **json_columns("days", days),
        }
        await save_row(self._table, row_of(_partition(account_key), _ROW, columns), quotas.etag)


def _partition(account_key: str) -> str:
    return partition_of(account_key, _PARTITION)


def _quotas_of(row: Row) -> StoredQuotas:
    try:
        with decoding(row, f"quotas of {row['PartitionKey']},", kind=_KIND):
            stored = msgspec.convert(json_of(row, "days"), _Days.__value__)
            days = {day: {QuotaKey(name, family): use for name, family, use in some} for day, some in stored}
            limits = msgspec.convert(json_of(row, "limits"), QuotaLimits | None)
            return StoredQuotas(limits, row.get("failedSince"), row.get("problem") or "", days, row["etag"])
    except UnreadableError as error:
        _LOG.warning("Quotas begin anew: %s", error)
        return StoredQuotas(etag=row["etag"])
