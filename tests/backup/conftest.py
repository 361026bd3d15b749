"""Tables and a container for a single test, and backups between them."""

import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from azure.data.tables import UpdateMode
from azure.data.tables.aio import TableClient

from local.azurite import StorageAddresses
from local.backup import backup as backups
from local.backup import restore as restores
from local.backup.backup import Backup
from local.backup.manifest import Manifest
from local.backup.plan import PLANS, TablePlan
from local.backup.restore import Restore
from local.backup.storage import StorageAccount

type Rows = dict[str, list[dict[str, Any]]]

FEW = tuple(
    plan
    for plan in PLANS
    if plan.name in {"accounts", "jobs", "tasks", "operations", "telemetry", "events", "nodeindex", "rejects"}
)
"""Tables of each way and each change, those that they refer to, and that of a restore's progress."""


@dataclass(slots=True)
class Store:
    """The tables of a made-up deployment."""

    account: StorageAccount
    prefix: str
    plans: Sequence[TablePlan] = FEW

    async def create(self) -> None:
        for plan in self.plans:
            await self.account.tables().create_table_if_not_exists(self.prefix + plan.name)

    def table(self, name: str) -> TableClient:
        return self.account.tables().get_table_client(self.prefix + name)

    async def put(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Writes rows of one partition."""
        operations = [("upsert", dict(row), {"mode": UpdateMode.REPLACE}) for row in rows]
        for begin in range(0, len(operations), 100):
            await self.table(name).submit_transaction(operations[begin : begin + 100])

    async def rows(self, name: str) -> list[dict[str, Any]]:
        """Returns rows as sent over the wire, without storage's own annotations."""
        found: list[dict[str, Any]] = []

        def keep(response: Any) -> None:
            found.extend(response.http_response.json()["value"])

        async for _ in self.table(name).list_entities(raw_response_hook=keep):
            pass
        return [
            {key: value for key, value in row.items() if not key.startswith(("odata.", "Timestamp"))} for row in found
        ]

    async def all_rows(self) -> Rows:
        return {plan.name: await self.rows(plan.name) for plan in self.plans}


@dataclass(slots=True)
class Bench:
    """Stores with some tables, and one container for backups, on real Azurite."""

    connection_string: str
    plans: Sequence[TablePlan] = FEW
    accounts: list[StorageAccount] = field(default_factory=list)
    container: str = field(default_factory=lambda: f"backups-{secrets.token_hex(6)}")

    def account(self) -> StorageAccount:
        self.accounts.append(StorageAccount(self.connection_string))
        return self.accounts[-1]

    async def store(self) -> Store:
        store = self.target()
        await store.create()
        return store

    def target(self) -> Store:
        return Store(self.account(), f"t{secrets.token_hex(6)}", self.plans)

    def backup(self, store: Store, name: str = "b", *, resume: bool = False) -> Backup:
        container = self.account().blobs().get_container_client(self.container)
        return Backup(store.account.tables(), container, name, store.prefix, "0", resume)

    def restore(self, store: Store, name: str = "b", *, replace: bool = False) -> Restore:
        container = self.account().blobs().get_container_client(self.container)
        return Restore(container, name, store.account.tables(), store.prefix, replace)

    async def copied(self, store: Store, name: str = "b") -> tuple[Manifest, Store]:
        """Backs up a store; returns the manifest and a new store restored from the backup."""
        return await self.backup(store, name).run(), await self.restored(name)

    async def restored(self, name: str = "b") -> Store:
        """Returns a new store restored from a backup."""
        target = self.target()
        await self.restore(target, name).run()
        return target


@pytest.fixture
def few_tables(monkeypatch: pytest.MonkeyPatch) -> Sequence[TablePlan]:
    """Limits backups and restores to a few tables, as each table costs many requests; returns their plans."""
    for module in (backups, restores):
        monkeypatch.setattr(module, "PLANS", FEW)
    return FEW


@pytest.fixture
async def bench(azurite: StorageAddresses, few_tables: Sequence[TablePlan]) -> AsyncIterator[Bench]:
    async with _opened(azurite, few_tables) as opened:
        yield opened


@pytest.fixture
async def bench_of_all_tables(azurite: StorageAddresses) -> AsyncIterator[Bench]:
    async with _opened(azurite, PLANS) as opened:
        yield opened


@asynccontextmanager
async def _opened(azurite: StorageAddresses, plans: Sequence[TablePlan]) -> AsyncIterator[Bench]:
    opened = Bench(azurite.connection_string, plans)
    yield opened
    for account in opened.accounts:
        await account.__aexit__(None, None, None)
