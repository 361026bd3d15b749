"""Copies a backup into the tables of a deployment whose app is stopped; a killed copy can be resumed."""

import time
from dataclasses import dataclass
from typing import Any

from azure.core.exceptions import ResourceNotFoundError
from azure.data.tables import UpdateMode
from azure.data.tables.aio import TableClient, TableServiceClient
from azure.storage.blob.aio import ContainerClient

from local.backup.manifest import Manifest, ManifestBlob, TableCopy
from local.backup.packing import load_lines, table_hash
from local.backup.plan import PLANS
from local.backup.storage import name_of
from local.backup.writing import MARK, clear, counted, is_empty, write_lines
from local.dev.system.console import Failure, say

_CLEARING = -1


async def loaded(container: ContainerClient, name: str) -> Manifest:
    """Returns the manifest of a complete backup. Raises Failure."""
    manifest = await ManifestBlob(container, name).load()
    if manifest is None:
        raise Failure(f"There is no backup '{name}' in the container '{container.container_name}'.")
    if manifest.finished is None:
        raise Failure(f"The backup '{name}' isn't complete; finish it with `dev.py backup --name {name}`.")
    unknown = sorted(manifest.tables.keys() - {plan.name for plan in PLANS})
    if unknown:
        raise Failure(f"The backup '{name}' holds tables that this version doesn't know: {', '.join(unknown)}.")
    return manifest


async def check(container: ContainerClient, name: str) -> Manifest:
    """Reads all blobs of a backup and compares them with its manifest. Raises Failure."""
    say(f"Reading all of the backup '{name}' in the storage account '{name_of(container)}'.")
    manifest = await loaded(container, name)
    origin = f"the storage account '{manifest.source}'" if manifest.source else "an account that it doesn't name"
    say(f"It is of {origin}, begun at {manifest.begun:%Y-%m-%d %H:%M:%S} UTC; checking its hashes.")
    for copy in manifest.tables.values():
        for segment in copy.segments:
            await load_lines(container, name, segment)
    return manifest


@dataclass(slots=True)
class Restore:
    """A restore of a backup into the tables with a prefix."""

    container: ContainerClient
    name: str
    target: TableServiceClient
    prefix: str
    replace: bool

    async def run(self) -> Manifest:
        """Runs or resumes the restore.

        Raises Failure if the target isn't empty or a blob is damaged, and SDK errors.
        """
        say(f"Restoring '{self.name}' to the storage account '{name_of(self.target)}', prefix '{self.prefix}'.")
        manifest = await check(self.container, self.name)
        for plan in PLANS:
            await self.target.create_table_if_not_exists(self.prefix + plan.name)
        await self._written(manifest, await self._begun(manifest))
        try:
            await self._verified(manifest)
        except Failure:  # a resume can't succeed; after a kill or a network error it can
            await self._operations.delete_entity(MARK, MARK)
            raise
        await self._operations.delete_entity(MARK, MARK)
        return manifest

    @property
    def _operations(self) -> TableClient:
        return self._table("operations")

    def _table(self, name: str) -> TableClient:
        return self.target.get_table_client(self.prefix + name)

    async def _begun(self, manifest: Manifest) -> int:
        """Returns the number of blobs already written. Raises Failure if the target holds other rows."""
        note = await self._note()
        identity = f"{self.name} {manifest.begun.isoformat()}"
        if note and note["backup"] == identity and note["done"] != _CLEARING:
            say("Going on with the restore that was begun before.")
            return int(note["done"])
        others = [plan.name for plan in PLANS if not await is_empty(self._table(plan.name))]
        if others and not self.replace:
            raise Failure(
                f"The target isn't empty: there are rows in {', '.join(others)}."
                " Stop its app and use --replace with the name of the storage account, which deletes all of them first."
            )
        await self._note_down(identity, _CLEARING)
        for name in others:
            say(f"  {name}: {await clear(self._table(name)):,} rows deleted")
        await self._note_down(identity, 0)
        return 0

    async def _written(self, manifest: Manifest, done: int) -> None:
        """Writes the blobs after the first `done`, in table order, and records each."""
        number = 0
        for plan in PLANS:
            copy = manifest.tables.get(plan.name, TableCopy(plan.name, manifest.begun))
            begun = time.monotonic()
            for segment in copy.segments:
                number += 1
                if number > done:
                    await write_lines(self._table(plan.name), await load_lines(self.container, self.name, segment))
                    await self._note_down(f"{self.name} {manifest.begun.isoformat()}", number)
            say(f"  {plan.name}: {copy.rows:,} rows, {time.monotonic() - begun:.1f} s")

    async def _verified(self, manifest: Manifest) -> None:
        """Raises Failure if a table's content differs from the backup."""
        for plan in PLANS:
            copy = manifest.tables.get(plan.name)
            wanted = (copy.rows, table_hash(iter(copy.segments))) if copy else (0, table_hash(iter(())))
            found = await counted(self._table(plan.name), plan)
            if found != wanted:
                raise Failure(
                    f"The table '{plan.name}' holds {found[0]:,} rows that aren't the {wanted[0]:,} of the backup:"
                    " something else wrote to it; stop the app and restore again with --replace."
                )
        say("  Counts and hashes of all tables equal those of the backup.")

    async def _note(self) -> dict[str, Any] | None:
        try:
            return dict(await self._operations.get_entity(MARK, MARK))
        except ResourceNotFoundError:
            return None

    async def _note_down(self, identity: str, done: int) -> None:
        row = {"PartitionKey": MARK, "RowKey": MARK, "backup": identity, "done": done}
        await self._operations.upsert_entity(row, mode=UpdateMode.REPLACE)
