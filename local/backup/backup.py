"""Copies the tables of a deployment to blobs while the app runs; a killed copy can be resumed."""

import secrets
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from azure.core.exceptions import ResourceExistsError
from azure.data.tables.aio import TableServiceClient
from azure.storage.blob.aio import ContainerClient

from local.backup.manifest import FORMAT, Manifest, ManifestBlob, TableCopy
from local.backup.packing import Packer
from local.backup.plan import FRESH, PLANS, TablePlan
from local.backup.reading import TableReader
from local.backup.rows import Row
from local.backup.storage import name_of
from local.backup.writing import MARK
from local.dev.system.console import Failure, say

_SAID_EVERY = 10.0  # seconds
SAVE_SECONDS = 30.0
"""Seconds between writes of the manifest. It lists all blobs, so a write per blob would soon outweigh the blobs."""


@dataclass(slots=True)
class Backup:
    """One backup of the tables with a prefix, into the folder `name` of a container.

    With `resume` a complete backup is left unchanged and counts as success.
    """

    source: TableServiceClient
    container: ContainerClient
    name: str
    prefix: str
    version: str
    resume: bool = False

    async def run(self) -> Manifest:
        """Runs or resumes the backup.

        Raises Failure if it is complete, of another account, or written by another process.

        Also raises errors of the SDKs.
        """
        missing = await self._missing_tables()
        with suppress(ResourceExistsError):
            await self.container.create_container()
        blob = ManifestBlob(self.container, self.name)
        manifest = await self._begun(blob)
        if manifest.finished:
            return manifest
        for plan in PLANS:
            copy = manifest.tables.get(plan.name)
            if plan.name in missing:
                manifest = manifest.with_table(TableCopy(plan.name, _now(), _now()))
            elif copy is None or copy.finished is None:
                manifest = await self._copied(blob, manifest, plan)
        manifest = replace(manifest, finished=_now())
        await blob.save(manifest)
        return manifest

    async def _missing_tables(self) -> set[str]:
        """Returns the tables that the app's version lacks. Raises Failure if the app has no tables at all."""
        found = {table.name async for table in self.source.list_tables()}
        first = self.prefix + PLANS[0].name
        if first not in found:
            raise Failure(f"There is no table '{first}' in the storage account; is --prefix right?")
        return {plan.name for plan in PLANS if self.prefix + plan.name not in found}

    async def _begun(self, blob: ManifestBlob) -> Manifest:
        manifest, source = await blob.load(), name_of(self.source)
        if manifest is None:
            manifest = Manifest(FORMAT, self.version, self.prefix, _now(), source=source)
            await blob.save(manifest)
            return manifest
        if manifest.source not in {"", source}:
            raise Failure(f"The backup '{self.name}' is of the storage account '{manifest.source}', not of '{source}'.")
        if manifest.prefix != self.prefix:
            raise Failure(f"The backup '{self.name}' is one of the tables with the prefix '{manifest.prefix}'.")
        if manifest.finished and self.resume:
            say(f"The backup '{self.name}' is complete already.")
            return manifest
        if manifest.finished:
            raise Failure(f"The backup '{self.name}' is there already and complete; choose another --name.")
        say(f"Going on with the backup '{self.name}', begun at {manifest.begun:%Y-%m-%d %H:%M:%S} UTC.")
        return _without_stale(manifest, _now())

    async def _copied(self, blob: ManifestBlob, manifest: Manifest, plan: TablePlan) -> Manifest:
        """Copies the rest of a table. The manifest lists blobs only after they were written."""
        copy = manifest.tables.get(plan.name, TableCopy(plan.name, _now())).whole
        table = self.source.get_table_client(self.prefix + plan.name)
        reader = TableReader(table, plan, partial(_changed, plan, manifest))
        progress, packer, unsettled = _Progress(plan.name, copy.rows), Packer(), copy.unsettled
        after, saved = copy.segments[-1].through if copy.segments else None, time.monotonic()
        async for item in reader.items(after):
            if item.key[0] == MARK:  # progress of a restore that never ended: no row of the app
                continue
            packer.add(item)
            progress.count()
            if packer.is_full:
                copy = replace(await self._stored(copy, packer), unsettled=unsettled + reader.unsettled)
                manifest, packer = manifest.with_table(copy), Packer()
                if time.monotonic() - saved >= SAVE_SECONDS:
                    await blob.save(manifest)
                    saved = time.monotonic()
        if not packer.is_empty:
            copy = await self._stored(copy, packer)
        copy = replace(copy, finished=_now(), unsettled=unsettled + reader.unsettled)
        manifest = manifest.with_table(copy)
        await blob.save(manifest)
        progress.end(copy)
        return manifest

    async def _stored(self, copy: TableCopy, packer: Packer) -> TableCopy:
        """Stores a blob under a unique name, so that no process overwrites a blob in another process's manifest."""
        blob = f"{copy.name}/{len(copy.segments):06}-{secrets.token_hex(4)}.jsonl.gz"
        body, segment = packer.packed(blob)
        await self.container.upload_blob(f"{self.name}/{segment.blob}", body, overwrite=True, validate_content=True)
        return replace(copy, segments=(*copy.segments, segment))


class _Progress:
    def __init__(self, name: str, rows: int) -> None:
        self._name, self._rows, self._before = name, rows, rows
        self._begun = self._said = time.monotonic()

    def count(self) -> None:
        self._rows += 1
        if time.monotonic() - self._said >= _SAID_EVERY:
            self._said = time.monotonic()
            say(f"  {self._name}: {self._rows:,} rows so far")

    def end(self, copy: TableCopy) -> None:
        resumed = f", {self._before:,} of them before" if self._before else ""
        size = sum(segment.bytes for segment in copy.segments) / 1e6
        say(f"  {self._name}: {copy.rows:,} rows{resumed}, {size:.1f} MB, {time.monotonic() - self._begun:.1f} s")
        if copy.unsettled:
            say(f"  {self._name}: {copy.unsettled} partitions changed too often; the app's next polls repair them")


def _without_stale(manifest: Manifest, now: datetime) -> Manifest:
    """Returns the manifest without tables that would be too old for the remaining ones."""
    for plan in PLANS:
        before, copy = manifest.tables.get(plan.fresh), manifest.tables.get(plan.name)
        if before and not (copy and copy.finished) and now - before.begun > FRESH:
            manifest = manifest.without(plan.fresh, plan.name)
    return manifest


def _changed(plan: TablePlan, manifest: Manifest, row: Row, written: datetime) -> Row:
    if plan.change is None:
        return row
    begun = manifest.tables[plan.since].begun if plan.since else written
    return plan.change(row, written, begun)


def _now() -> datetime:
    return datetime.now(UTC)


def total(manifest: Manifest) -> dict[str, Any]:
    """Returns the rows, bytes and blobs of a backup."""
    segments = [segment for copy in manifest.tables.values() for segment in copy.segments]
    return {
        "rows": sum(segment.rows for segment in segments),
        "bytes": sum(segment.bytes for segment in segments),
        "blobs": len(segments),
    }
