"""Backups and restores on real storage that are killed at any moment and started again."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, override

import pytest

from local.backup import backup as backups
from local.backup import packing
from local.backup.manifest import ManifestBlob
from local.backup.restore import check
from local.backup.storage import CountingTransport, StorageAccount
from local.backup.writing import MARK
from local.dev.system.console import Failure
from tests.backup.conftest import FEW, Bench
from tests.backup.filled_tables import filled


class Killed(BaseException):
    """Simulates a kill, which no error handler catches."""


class Killer(CountingTransport):
    """Ends the process at a request, before it is sent or right after its answer."""

    def __init__(self, at: int, *, after: bool) -> None:
        super().__init__()
        self._at, self._after = at, after

    @override
    async def send(self, request: Any, **options: Any) -> Any:
        if self.requests == self._at and not self._after:
            raise Killed
        answer = await super().send(request, **options)
        if self.requests == self._at:
            raise Killed
        return answer


def killers(every: int) -> Iterator[Killer]:
    """Yields killers each some requests later than the one before, alternately before and after the request."""
    at, after = 1, False
    while True:
        yield Killer(at, after=after)
        at, after = at + every, not after


async def ended(run: Any) -> bool:
    """Returns whether the run finished."""
    try:
        await run
    except (Killed, BaseExceptionGroup):
        return False
    return True


@pytest.mark.parametrize("save_seconds", [0.0, backups.SAVE_SECONDS])
async def test_a_backup_that_is_killed_again_and_again_comes_to_its_end(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, save_seconds: float
) -> None:
    monkeypatch.setattr(packing, "SEGMENT_BYTES", 1500)
    monkeypatch.setattr(backups, "SAVE_SECONDS", save_seconds)
    store, target = await bench.store(), bench.target()
    await filled(store)
    kills = 0
    for killer in killers(every=3):
        backup = bench.backup(store)
        blobs = StorageAccount(bench.connection_string, killer)
        bench.accounts.append(blobs)
        backup.container = blobs.blobs().get_container_client(bench.container)
        if await ended(backup.run()):
            break
        kills += 1
    assert kills > 5
    await bench.restore(target).run()
    rows = await store.all_rows()
    assert await target.all_rows() == rows
    manifest = await check(bench.restore(target).container, "b")
    assert {name: copy.rows for name, copy in manifest.tables.items()} == {
        name: len(some) for name, some in rows.items()
    }


async def test_a_restore_that_is_killed_again_and_again_comes_to_its_end(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "SEGMENT_BYTES", 3000)
    store, target = await bench.store(), bench.target()
    await filled(store)
    await bench.backup(store).run()
    kills = 0
    for killer in killers(every=5):
        restore = bench.restore(target)
        account = StorageAccount(bench.connection_string, killer)
        bench.accounts.append(account)
        restore.target = account.tables()
        if await ended(restore.run()):
            break
        kills += 1
    assert kills > 5
    assert await target.all_rows() == await store.all_rows()


@pytest.mark.parametrize("before_the_end", [1, 2, len(FEW)])
async def test_a_restore_that_is_killed_while_it_compares_goes_on(bench: Bench, before_the_end: int) -> None:
    store, first, second = await bench.store(), bench.target(), bench.target()
    await filled(store)
    await bench.backup(store).run()
    first.account.transport.requests = 0
    await bench.restore(first).run()
    account = StorageAccount(
        bench.connection_string, Killer(first.account.transport.requests - before_the_end, after=True)
    )
    bench.accounts.append(account)
    restore = bench.restore(second)
    restore.target = account.tables()
    assert not await ended(restore.run())
    await bench.restore(second).run()
    assert await second.all_rows() == await store.all_rows()


async def test_the_note_of_a_restore_that_never_ended_is_not_backed_up(bench: Bench) -> None:
    store, target = await bench.store(), bench.target()
    await filled(store)
    app_rows = await store.all_rows()
    await store.put("operations", [{"PartitionKey": MARK, "RowKey": MARK, "backup": "before", "done": 4}])
    await bench.backup(store).run()
    await bench.restore(target).run()
    assert await target.all_rows() == app_rows


async def test_a_resume_leaves_finished_tables_alone(bench: Bench) -> None:
    store = await bench.store()
    await filled(store)
    before = await bench.backup(store).run()
    blob = ManifestBlob(bench.backup(store).container, "b")
    await blob.load()
    await blob.save(replace(before.without("rejects"), finished=None))
    await store.put("accounts", [{"PartitionKey": "p", "RowKey": "later"}])
    after = await bench.backup(store).run()
    assert after.tables["accounts"] == before.tables["accounts"]
    (again,), (first,) = after.tables["rejects"].segments, before.tables["rejects"].segments
    assert replace(again, blob=first.blob) == first


async def test_a_backup_of_another_storage_account_is_not_resumed(bench: Bench) -> None:
    store = await bench.store()
    manifest = await bench.backup(store).run()
    assert manifest.source == "devstoreaccount1"
    blob = ManifestBlob(bench.backup(store).container, "b")
    await blob.load()
    await blob.save(replace(manifest, finished=None, source="elsewhere"))
    with pytest.raises(Failure, match="'b' is of the storage account 'elsewhere', not of 'devstoreaccount1'"):
        await bench.backup(store).run()


async def test_a_backup_that_names_no_source_is_resumed_and_restored(bench: Bench) -> None:
    store, target = await bench.store(), bench.target()
    await filled(store)
    manifest = await bench.backup(store).run()
    blob = ManifestBlob(bench.backup(store).container, "b")
    await blob.load()
    await blob.save(replace(manifest.without("rejects"), finished=None, source=""))
    await bench.backup(store).run()
    await bench.restore(target).run()
    assert await target.all_rows() == await store.all_rows()
