"""The row `counters` of each account in the table `accounts`, in a partition of its own: counters of deleted jobs.

It isn't beside the account's round, which each tick reads whole.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from shared.domain.core.keys import partition_of
from shared.domain.jobs.deleted_job_counters import DeletedJobCounters
from shared.errors import CacheConflictError, UnreadableError
from shared.log import logger
from shared.stores.tables.rows import Row, json_columns, json_of, row_of
from shared.stores.tables.tables import Tables, load_row, save_row
from shared.stores.tables.unreadable import decoding, schema_of

_LOG = logger(__name__)
_ROW = "counters"
_KIND = "counters"
_TRIES = 10


class DeletedJobCounterStore:
    def __init__(self, tables: Tables) -> None:
        self._table = tables["accounts"]

    async def load(self, account_key: str) -> DeletedJobCounters:
        """Returns the counters; unreadable ones begin anew. Raises StorageError."""
        row = await load_row(self._table, _partition(account_key), _ROW)
        if row is None:
            return DeletedJobCounters()
        try:
            with decoding(row, "row of", kind=_KIND):
                counters = DeletedJobCounters.of_plain(json_of(row, "counters"), json_of(row, "gone"))
                return replace(counters, etag=row["etag"])
        except UnreadableError as error:
            _LOG.warning("Counters of deleted jobs of %s begin anew: %s", account_key, error)
            return DeletedJobCounters(etag=row["etag"])

    async def change(self, account_key: str, change: Callable[[DeletedJobCounters], DeletedJobCounters]) -> None:
        """Changes the row despite concurrent writers. Raises StorageError, CacheConflictError."""
        for _ in range(_TRIES):
            stored = await self.load(account_key)
            changed = change(stored)
            if changed == stored:
                return
            with suppress(CacheConflictError):
                await save_row(self._table, _row(account_key, changed), stored.etag)
                return
        raise CacheConflictError("Too many processes write the counters of deleted jobs at once.")


def _partition(account_key: str) -> str:
    return partition_of(account_key, _ROW)


def _row(account_key: str, counters: DeletedJobCounters) -> Row:
    stored = json_columns("counters", counters.plain()) | json_columns("gone", counters.plain_gone())
    return row_of(_partition(account_key), _ROW, {**schema_of(_KIND), **stored})
