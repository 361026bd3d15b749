"""The row `monitoring` of each account in the table `accounts`: whether it is watched, and how often."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import msgspec

from shared.domain.accounts.monitoring import Monitoring
from shared.domain.polling.rounds import Round
from shared.errors import UnreadableError
from shared.log import logger
from shared.stores.accounts.rounds import ROUND_ROW, round_of
from shared.stores.tables.rows import Row, columns_of, fields_of, row_of
from shared.stores.tables.tables import Tables, load_row, load_rows, save_row
from shared.stores.tables.unreadable import decoding, schema_of

_LOG = logger(__name__)
_ROW = "monitoring"
_COLUMNS = {"poll_seconds": "pollSeconds", "changed_at": "changedAt", "switched_at": "switchedAt"}


@dataclass(frozen=True, slots=True)
class AccountRows:
    """An account's settings and last round, and all rows of its partition by name, as one query returned them."""

    monitoring: Monitoring
    last: Round | None
    rows: Mapping[str, Row]


class MonitoringStore:
    def __init__(self, tables: Tables) -> None:
        self._table = tables["accounts"]

    async def load(self, account_key: str) -> Monitoring:
        row = await load_row(self._table, account_key, _ROW)
        return _monitoring(row) if row else Monitoring()

    async def load_with_round(self, account_key: str) -> tuple[Monitoring, Round | None]:
        """Returns the settings with the account's last round, by one query."""
        found = await self.load_account(account_key)
        return found.monitoring, found.last

    async def load_account(self, account_key: str) -> AccountRows:
        """Returns all that every tick needs of an account's rows, by one query."""
        rows = {row["RowKey"]: row for row in await load_rows(self._table, account_key)}
        monitoring, last = rows.get(_ROW), rows.get(ROUND_ROW)
        return AccountRows(
            _monitoring(monitoring) if monitoring else Monitoring(), round_of(last) if last else None, rows
        )

    async def save(self, account_key: str, monitoring: Monitoring) -> Monitoring:
        """Writes settings under their ETag, or new ones. Raises CacheConflictError if another change was first."""
        etag = await save_row(self._table, _row(account_key, monitoring), monitoring.etag)
        return replace(monitoring, etag=etag)


def _row(account_key: str, monitoring: Monitoring) -> Row:
    columns = {**schema_of("monitoring"), "enabled": monitoring.enabled, **columns_of(monitoring, _COLUMNS)}
    return row_of(account_key, _ROW, columns)


def _monitoring(row: Row) -> Monitoring:
    """Returns the settings in a row; an unreadable row states only whether the account is on, until the next change.

    The account is off unless `enabled` is true: polls mustn't use a quota that an operator wants to save.
    """
    try:
        with decoding(row, f"row of {row['PartitionKey']},", kind="monitoring"):
            fields = {"enabled": row["enabled"], **fields_of(row, _COLUMNS), "etag": row["etag"]}
            return msgspec.convert(fields, Monitoring)
    except UnreadableError as error:
        enabled = row.get("enabled") is True
        _LOG.warning("The account is %s: %s", "polled at the usual rate" if enabled else "not polled", error)
        return Monitoring(enabled=enabled, etag=row["etag"], readable=False)
