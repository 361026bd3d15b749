"""The row `waiting` of each account in the table `accounts`, in the partition of its counters: why its jobs wait."""

from dataclasses import replace

from shared.domain.core.keys import partition_of
from shared.domain.jobs.waiting_causes import WaitingCauses
from shared.errors import UnreadableError
from shared.log import logger
from shared.stores.tables.rows import json_columns, json_of, row_of
from shared.stores.tables.tables import Tables, load_row, save_row
from shared.stores.tables.unreadable import decoding, schema_of

_LOG = logger(__name__)
_ROW, _KIND = "waiting", "waiting"


class WaitingCauseStore:
    def __init__(self, tables: Tables) -> None:
        self._table = tables["accounts"]

    async def load(self, account_key: str) -> WaitingCauses:
        """Returns the causes; unreadable ones begin anew. Raises StorageError."""
        row = await load_row(self._table, _partition(account_key), _ROW)
        if row is None:
            return WaitingCauses()
        try:
            with decoding(row, "row of", kind=_KIND):
                return replace(WaitingCauses.of_plain(json_of(row, "causes"), json_of(row, "steps")), etag=row["etag"])
        except UnreadableError as error:
            _LOG.warning("The causes for which jobs of %s wait begin anew: %s", account_key, error)
            return WaitingCauses(etag=row["etag"])

    async def save(self, account_key: str, causes: WaitingCauses) -> None:
        """Writes the causes under their ETag. Raises CacheConflictError, StorageError."""
        stored = json_columns("causes", causes.plain()) | json_columns("steps", causes.plain_steps())
        columns = {**schema_of(_KIND), **stored}
        await save_row(self._table, row_of(_partition(account_key), _ROW, columns), causes.etag)


def _partition(account_key: str) -> str:
    return partition_of(account_key, "counters")
