"""The rows of an account's budgets in the table `accounts`, in a partition of their own, which no tick reads."""

import msgspec
from azure.data.tables import UpdateMode

from shared.domain.core.keys import key_of, partition_of
from shared.domain.cost.budgets import Budget
from shared.stores.tables.rows import Row, row_of, translated
from shared.stores.tables.tables import Tables, load_row, load_rows
from shared.stores.tables.unreadable import UndecodedRow, decoded_rows, decoding, schema_of

_KIND = "budget"
_PARTITION = "budgets"


class BudgetStore:
    def __init__(self, tables: Tables) -> None:
        self._table = tables["accounts"]

    async def load_all(self, account_key: str) -> tuple[dict[str, Budget], dict[str, UndecodedRow]]:
        """Returns an account's budgets by key, and rows that can't be read. Raises StorageError."""
        return decoded_rows(await load_rows(self._table, _partition(account_key)), _budget)

    async def load(self, account_key: str, name: str) -> Budget | None:
        """Returns a budget, or None; the name is matched without case. Raises UnreadableError, StorageError."""
        row = await load_row(self._table, _partition(account_key), key_of(name))
        return _budget(row) if row else None

    async def save(self, account_key: str, budget: Budget) -> None:
        """Writes a budget over the one of that name, readable or not. Raises StorageError."""
        columns = {
            **schema_of(_KIND),
            "id": budget.name,
            "scope": budget.scope,
            "target": budget.target,
            "amount": str(budget.amount),
            "currency": budget.currency,
            "changedAt": budget.changed_at,
        }
        row = row_of(_partition(account_key), key_of(budget.name), columns)
        with translated("write a budget"):
            await self._table.upsert_entity(row, mode=UpdateMode.REPLACE)

    async def delete(self, account_key: str, name: str) -> None:
        """Deletes a budget; a missing one is no error. Raises StorageError."""
        with translated("delete a budget"):
            await self._table.delete_entity(_partition(account_key), key_of(name))


def _partition(account_key: str) -> str:
    return partition_of(account_key, _PARTITION)


def _budget(row: Row) -> Budget:
    """Returns the budget in a row. Raises UnreadableError."""
    with decoding(row, "budget", kind=_KIND):
        fields = {"name": row["id"], "changed_at": row["changedAt"]}
        fields |= {name: row[name] for name in ("scope", "target", "amount", "currency")}
        return msgspec.convert(fields, Budget)
