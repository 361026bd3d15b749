"""Backups on real storage: exact to the bit, killed at any moment, damaged, and into non-empty targets."""

import math
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from azure.data.tables import EdmType, EntityProperty

from local.backup import packing
from local.backup.manifest import ManifestBlob
from local.backup.plan import PLANS
from local.dev.system.console import Failure
from shared.stores.tables.tables import NAMES
from tests.backup.conftest import FEW, Bench
from tests.backup.filled_tables import filled

ODD: dict[str, Any] = {
    "empty": "",
    "text": 'ä"\\\n\u2028😀',
    "yes": True,
    "no": False,
    "small": -(1 << 31),
    "one64": EntityProperty(1, EdmType.INT64),
    "big64": EntityProperty(-(1 << 63), EdmType.INT64),
    "half": 0.5,
    "whole": 3.0,
    "minus": -0.0,
    "tiny": 5e-324,
    "nan": math.nan,
    "inf": -math.inf,
    "bytes": bytes(range(256)),
    "nothing": b"",
    "guid": UUID("c9da6455-213d-42c9-9a79-3e9149a57833"),
    "digits": EntityProperty("2026-11-24T09:02:04.1234567Z", EdmType.DATETIME),
    "ancient": datetime(1601, 1, 1, tzinfo=UTC),
}


def test_all_tables_of_the_app_are_copied() -> None:
    assert sorted(plan.name for plan in PLANS) == sorted(NAMES)


async def test_rows_come_back_to_the_bit(bench: Bench) -> None:
    store = await bench.store()
    await store.put("accounts", [{"PartitionKey": "it's", "RowKey": "ä b", **ODD}])
    _, target = await bench.copied(store)
    before, after = await store.rows("accounts"), await target.rows("accounts")
    assert before == after
    assert before[0]["digits"] == "2026-11-24T09:02:04.1234567Z"
    assert {name for name in before[0] if name.endswith("@odata.type")} >= {"one64@odata.type", "guid@odata.type"}


async def test_all_tables_come_back(bench_of_all_tables: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "SEGMENT_BYTES", 20000)
    store = await bench_of_all_tables.store()
    await filled(store, rows=3, many=("tasks", "events", "rejects"))
    manifest, target = await bench_of_all_tables.copied(store)
    assert manifest.tables.keys() == {plan.name for plan in PLANS}
    assert await target.all_rows() == await store.all_rows()
    assert len(manifest.tables["rejects"].segments) > 2


async def test_empty_tables_make_a_backup_too(bench: Bench) -> None:
    store = await bench.store()
    manifest, target = await bench.copied(store)
    assert all(copy.rows == 0 for copy in manifest.tables.values())
    assert not any((await target.all_rows()).values())


async def test_a_backup_of_many_blobs_writes_its_manifest_once_a_table(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "SEGMENT_BYTES", 1500)
    store = await bench.store()
    await filled(store)
    backup, account = bench.backup(store), bench.account()
    backup.container = account.blobs().get_container_client(bench.container)
    manifest = await backup.run()
    blobs = sum(len(copy.segments) for copy in manifest.tables.values())
    assert blobs > 2 * len(FEW)
    assert account.transport.requests == blobs + len(FEW) + 4  # container, a check, the first and the last manifest


async def test_a_backup_overwrites_no_blob_that_a_manifest_names(bench: Bench) -> None:
    store, target = await bench.store(), bench.target()
    await filled(store)
    before = await bench.backup(store).run()
    blob = ManifestBlob(bench.backup(store).container, "b")
    await blob.load()
    await blob.save(replace(before.without("accounts"), finished=None))
    after = await bench.backup(store).run()
    (old,), (new,) = before.tables["accounts"].segments, after.tables["accounts"].segments
    assert old.blob != new.blob
    assert old.sha256 == new.sha256
    await blob.load()
    await blob.save(before)
    await bench.restore(target).run()


@pytest.mark.parametrize("damage", ["changed", "missing", "cut"])
async def test_a_damaged_backup_is_found_before_anything_is_written(bench: Bench, damage: str) -> None:
    store, target = await bench.store(), await bench.store()
    await filled(store)
    await filled(target, rows=3)
    manifest = await bench.backup(store).run()
    before = await target.all_rows()
    container = bench.backup(store).container
    blob = f"b/{manifest.tables['rejects'].segments[0].blob}"
    body = bytearray(await (await container.download_blob(blob)).readall())
    if damage == "missing":
        await container.delete_blob(blob)
    else:
        body[len(body) // 2] ^= 1
        await container.upload_blob(blob, bytes(body if damage == "changed" else body[:-9]), overwrite=True)
    with pytest.raises(Failure, match=f"The blob {blob} is"):
        await bench.restore(target, replace=True).run()
    assert await target.all_rows() == before


async def test_a_restore_into_a_filled_target_requires_replace(bench: Bench) -> None:
    store, target = await bench.store(), await bench.store()
    await filled(store)
    await target.put("events", [{"PartitionKey": "p", "RowKey": f"r{number}"} for number in range(130)])
    await bench.backup(store).run()
    with pytest.raises(Failure, match="The target isn't empty: there are rows in events"):
        await bench.restore(target).run()
    assert len(await target.rows("events")) == 130
    await bench.restore(target, replace=True).run()
    assert await target.all_rows() == await store.all_rows()


async def test_rows_that_others_write_during_a_restore_fail_it(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    store, target = await bench.store(), bench.target()
    await filled(store)
    await bench.backup(store).run()
    restore = bench.restore(target)

    async def interfere(manifest: Any, done: int) -> None:
        await written(manifest, done)
        await target.put("jobs", [{"PartitionKey": "p", "RowKey": "stranger"}])

    written = restore._written
    monkeypatch.setattr(type(restore), "_written", staticmethod(interfere))
    with pytest.raises(Failure, match="The table 'jobs' holds 15 rows that aren't the 14 of the backup"):
        await restore.run()


async def test_a_backup_that_is_not_complete_is_not_restored(bench: Bench) -> None:
    store, target = await bench.store(), bench.target()
    backup = bench.backup(store)
    await backup.container.create_container()
    await backup._begun(ManifestBlob(backup.container, "b"))
    with pytest.raises(Failure, match="isn't complete"):
        await bench.restore(target).run()
    with pytest.raises(Failure, match="There is no backup 'c'"):
        await bench.restore(target, "c").run()


async def test_the_second_of_two_writers_of_one_backup_fails(bench: Bench) -> None:
    store = await bench.store()
    backup = bench.backup(store)
    await backup.container.create_container()
    first, second = ManifestBlob(backup.container, "b"), ManifestBlob(backup.container, "b")
    manifest = await backup._begun(first)
    await second.load()
    await first.save(manifest)
    with pytest.raises(Failure, match="Another process writes the backup 'b'"):
        await second.save(manifest)


async def test_a_complete_backup_is_never_written_over(bench: Bench) -> None:
    store = await bench.store()
    await bench.backup(store).run()
    with pytest.raises(Failure, match="is there already and complete"):
        await bench.backup(store).run()


async def test_a_complete_backup_is_done_for_a_run_that_is_started_again(bench: Bench) -> None:
    store = await bench.store()
    manifest = await bench.backup(store).run()
    await filled(store)
    assert await bench.backup(store, resume=True).run() == manifest
