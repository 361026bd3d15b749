"""Tables and a container for a single test, and backups between them."""

import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from azure.data.tables import UpdateMode
from azure.data.tables.aio import TableClient

from local.azurite import StorageAddresses
from local.backup.backup import Backup
from local.backup.manifest import Manifest
from local.backup.plan import PLANS
from local.backup.restore import Restore
from local.backup.storage import StorageAccount

type Rows = dict[str, list[dict[str, Any]]]


@dataclass(slots=True)
class Store:
    """The tables of a made-up deployment."""

    account: StorageAccount
    prefix: str

    async def create(self) -> None:
        for plan in PLANS:
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
        return {plan.name: await self.rows(plan.name) for plan in PLANS}


@dataclass(slots=True)
class Bench:
    """Stores and one container for backups, on real Azurite."""

    connection_string: str
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
        return Store(self.account(), f"t{secrets.token_hex(6)}")

    def backup(self, store: Store, name: str = "b", *, resume: bool = False) -> Backup:
        container = self.account().blobs().get_container_client(self.container)
        return Backup(store.account.tables(), container, name, store.prefix, "0", resume)

    def restore(self, store: Store, name: str = "b", *, replace: bool = False) -> Restore:
        container = self.account().blobs().get_container_client(self.container)
        return Restore(container, name, store.account.tables(), store.prefix, replace)

    async def copied(self, store: Store, name: str = "b") -> tuple[Manifest, Store]:
        """Backs up a store; returns the manifest and a new store restored from the backup."""
        manifest, target = await self.backup(store, name).run(), self.target()
        await self.restore(target, name).run()
        return manifest, target


@pytest.fixture
async def bench(azurite: StorageAddresses) -> AsyncIterator[Bench]:
    opened = Bench(azurite.connection_string)
    yield opened
    for account in opened.accounts:
        await account.__aexit__(None, None, None)
