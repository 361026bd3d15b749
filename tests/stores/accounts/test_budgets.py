"""Budgets in storage: exact amounts, names without case, and rows of other versions that don't affect the rest."""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from azure.data.tables import UpdateMode

from shared.domain.cost.budgets import Budget
from shared.errors import UnreadableError
from shared.stores.accounts.budgets import BudgetStore
from shared.stores.tables.tables import Tables
from shared.stores.tables.unreadable import SCHEMAS

_SET = datetime(2026, 11, 21, 7, 0, 0, 123_000, tzinfo=UTC)
_BUDGET = Budget("Render", "pool", "Pool-1", Decimal("123456789012.000001"), "EUR", _SET)


async def test_budgets_are_read_as_they_were_written_and_names_have_no_case(tables: Tables, partition: str) -> None:
    store = BudgetStore(tables)
    whole = Budget("whole", "account", "", Decimal(7), "USD", _SET)
    await store.save(partition, _BUDGET)
    await store.save(partition, whole)
    assert await store.load_all(partition) == ({"render": _BUDGET, "whole": whole}, {})
    again = replace(_BUDGET, name="RENDER", amount=Decimal("0.5"))
    await store.save(partition, again)
    assert await store.load(partition, "render") == again
    await store.delete(partition, "rEnder")
    await store.delete(partition, "render")
    assert await store.load(partition, "Render") is None


async def test_a_budget_of_a_newer_version_is_unreadable_until_it_is_set_anew(tables: Tables, partition: str) -> None:
    store = BudgetStore(tables)
    await store.save(partition, _BUDGET)
    await store.save(partition, replace(_BUDGET, name="other"))
    newer = {"PartitionKey": f"{partition}~budgets", "RowKey": "render", "schema": SCHEMAS["budget"] + 1}
    await tables["accounts"].upsert_entity(newer, mode=UpdateMode.MERGE)
    found, unreadable = await store.load_all(partition)
    assert (set(found), set(unreadable)) == ({"other"}, {"render"})
    with pytest.raises(UnreadableError, match="The budget 'Render' can't be read"):
        await store.load(partition, "render")
    await store.save(partition, _BUDGET)
    assert await store.load(partition, "render") == _BUDGET
