"""Rows of JSON in one SQLite file of a directory: one emulator at a time, each batch completely or not at all.

With a write-ahead log a killed process loses no committed data, and checksums detect and drop a torn end of that log; a
power cut may lose the last batches. A batch takes a handful of statements regardless of its size, since each row passed
by Python would wait for its turn among requests.
"""

import sqlite3
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from local.batch_emulator.persistence.rows import FORMAT, RowChanges

_FILE = "emulator.sqlite3"
_APPLICATION_ID = 0x42617463
_MAX_SWEPT = 50_000
_TABLE = (
    "CREATE TABLE rows (owner INTEGER, number INTEGER, kind TEXT, row TEXT, PRIMARY KEY (owner, number)) WITHOUT ROWID"
)
_PUT = """INSERT OR REPLACE INTO rows
SELECT value->>0, value->>1, value->>2, value->3 FROM json_each(?)"""
_REMOVE = """DELETE FROM rows WHERE (owner, number) IN
(SELECT CAST(value->>0 AS INTEGER), CAST(value->>1 AS INTEGER) FROM json_each(?))"""
_SWEEP = "DELETE FROM rows WHERE owner = ? AND number IN (SELECT number FROM rows WHERE owner = ? LIMIT ?)"
_ORPHANS = """SELECT DISTINCT owner FROM rows WHERE owner != 0
AND owner NOT IN (SELECT number FROM rows WHERE kind IN ('account', 'job', 'pool'))"""


class StoreError(Exception):
    """The reason, in one sentence, why nothing can be stored in a directory."""


class Store:
    """The store; rows are found by owner and number. All methods raise StoreError."""

    def __init__(self, directory: Path) -> None:
        """Opens or creates the file; raises StoreError for a directory in use, foreign or unwritable."""
        self._directory = directory
        self._deleted_owners: deque[int] = deque()
        with self._raising_store_errors():
            directory.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(
                directory / _FILE, isolation_level=None, check_same_thread=False, timeout=0
            )
            try:
                self._open()
            except BaseException:
                self._database.close()
                raise

    def rows(self, owner: int) -> Iterator[tuple[int, str, str]]:
        """Yields number, kind and JSON of an owner's rows, by number."""
        with self._raising_store_errors():
            yield from self._database.execute(
                "SELECT number, kind, row FROM rows WHERE owner = ? ORDER BY number", (owner,)
            )

    def write(self, changes: RowChanges) -> None:
        """Stores a batch. Rows of deleted owners are removed over several writes."""
        with self._raising_store_errors(), self._transaction():
            if changes.cleared:
                self._database.execute("DROP TABLE rows")
                self._database.execute(_TABLE)
                self._deleted_owners.clear()
            self._database.execute(_REMOVE, (changes.deleted.decode(),))
            self._database.execute(_PUT, (changes.rows.decode(),))
            self._deleted_owners.extend(changes.deleted_owners)
            if self._deleted_owners:
                owner = self._deleted_owners[0]
                if self._database.execute(_SWEEP, (owner, owner, _MAX_SWEPT)).rowcount < _MAX_SWEPT:
                    self._deleted_owners.popleft()

    @property
    def is_swept(self) -> bool:
        """Whether all rows of deleted owners are removed."""
        return not self._deleted_owners

    def close(self) -> None:
        with self._raising_store_errors():
            self._database.close()

    def _open(self) -> None:
        run = self._database.execute
        run("PRAGMA page_size = 8192")
        run("PRAGMA locking_mode = EXCLUSIVE")
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = NORMAL")
        run("PRAGMA cache_size = -32768")
        with self._transaction():
            tables = run("SELECT count(*) FROM sqlite_master").fetchone()[0]
            application_id, found = run("PRAGMA application_id").fetchone()[0], run("PRAGMA user_version").fetchone()[0]
            if not tables:
                run(_TABLE)
                run(f"PRAGMA application_id = {_APPLICATION_ID}")
                run(f"PRAGMA user_version = {FORMAT}")
            elif application_id != _APPLICATION_ID:
                raise StoreError(f"{self._directory / _FILE} is not an emulator's; choose another directory.")
            elif found != FORMAT:
                raise StoreError(
                    f"What is kept in {self._directory} has format {found}, and this emulator reads format {FORMAT}; "
                    "choose another directory, or delete this one to begin anew."
                )
        self._deleted_owners.extend(owner for (owner,) in run(_ORPHANS))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Runs a transaction inside the block."""
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")

    @contextmanager
    def _raising_store_errors(self) -> Iterator[None]:
        """Converts errors to StoreError with a sentence."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise StoreError(f"Another emulator keeps its accounts in {self._directory}; stop it first.") from error
            raise StoreError(f"Accounts can't be kept in {self._directory}: {error}.") from error
        except sqlite3.DatabaseError as error:
            raise StoreError(f"What is kept in {self._directory} can't be read: {error}.") from error
        except OSError as error:
            raise StoreError(f"Accounts can't be kept in {self._directory}: {error.strerror or error}.") from error
