"""Backups on real storage: exact to the bit, killed at any moment, damaged, and into non-empty targets."""

import asyncio
import math
import secrets
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, override
from uuid import UUID

import pytest
from azure.data.tables import EdmType, EntityProperty

from local.azurite import StorageAddresses
from local.backup import backup as backups
from local.backup import packing
from local.backup.__main__ import main
from local.backup.manifest import ManifestBlob
from local.backup.plan import PLANS
from local.backup.restore import check
from local.backup.storage import CountingTransport, StorageAccount, name_of
from local.backup.writing import MARK
from local.dev.system.console import Failure
from shared.stores.tables.tables import NAMES
from tests.backup.conftest import Bench, Store

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


async def filled(store: Store, *, rows: int = 7) -> None:
    """Writes some rows of each table, in two partitions, with each table's kinds of keys."""
    for plan in PLANS:
        for partition in ("demo.europe", "demo.europe~x"):
            made: list[dict[str, Any]] = [
                {
                    "PartitionKey": partition,
                    "RowKey": f"r{number:03}",
                    "n": number,
                    "body": bytes([number]) * 300,
                    "blob": "x",
                }
                for number in range(rows)
            ]
            if plan.name == "events":
                made = [{**row, "RowKey": f"c00000000~a-1~{row['n']:013x}~0"} for row in made] + [
                    {"PartitionKey": partition, "RowKey": "oa-1", "offset": rows}
                ]
            await store.put(plan.name, made)


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


async def test_all_tables_come_back(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "SEGMENT_BYTES", 20000)
    store = await bench.store()
    await filled(store, rows=105)
    manifest, target = await bench.copied(store)
    assert await target.all_rows() == await store.all_rows()
    assert len(manifest.tables["rejects"].segments) > 2


async def test_empty_tables_make_a_backup_too(bench: Bench) -> None:
    store = await bench.store()
    manifest, target = await bench.copied(store)
    assert all(copy.rows == 0 for copy in manifest.tables.values())
    assert not any((await target.all_rows()).values())


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


def killers() -> Iterator[Killer]:
    """Yields killers at later and later requests, alternately before and after the request."""
    at, after = 1, False
    while True:
        yield Killer(at, after=after)
        at, after = at + 5, not after


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
    for killer in killers():
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
    monkeypatch.setattr(packing, "SEGMENT_BYTES", 1500)
    store, target = await bench.store(), bench.target()
    await filled(store)
    await bench.backup(store).run()
    kills = 0
    for killer in killers():
        restore = bench.restore(target)
        account = StorageAccount(bench.connection_string, killer)
        bench.accounts.append(account)
        restore.target = account.tables()
        if await ended(restore.run()):
            break
        kills += 1
    assert kills > 5
    assert await target.all_rows() == await store.all_rows()


@pytest.mark.parametrize("before_the_end", [1, 2, len(PLANS)])
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
    assert blobs > 2 * len(PLANS)
    assert account.transport.requests == blobs + len(PLANS) + 4  # container, a check, the first and the last manifest


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
    await target.put("events", [{"PartitionKey": "p", "RowKey": f"r{number}"} for number in range(250)])
    await bench.backup(store).run()
    with pytest.raises(Failure, match="The target isn't empty: there are rows in events"):
        await bench.restore(target).run()
    assert len(await target.rows("events")) == 250
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


def test_bad_options_are_reported_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("BATCHSCOPE_STORAGE", raising=False)
    monkeypatch.delenv("BATCHSCOPE_BACKUPS", raising=False)
    assert main(["backup"]) == 1
    assert main(["backup", "--storage", "ftp://x", "--backups", "AccountName=x"]) == 1
    assert main(["backup", "--storage", "AccountName=x"]) == 1
    assert main(["backup", "--storage", "AccountName=x", "--backups", "AccountName=x"]) == 1
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "Which storage account? Give --storage, or set BATCHSCOPE_STORAGE in the environment."
    assert said[1].startswith("A storage account is named by its connection string or by its URL")
    assert said[2] == "Which storage account? Give --backups, or set BATCHSCOPE_BACKUPS in the environment."
    assert said[3] == "The connection string lacks an account key or an endpoint."


@pytest.mark.parametrize("host", ["core.windows.net.example.org", "core.windowsnet", "example.org", "localhost"])
def test_a_token_is_sent_to_hosts_of_azure_only(host: str) -> None:
    with pytest.raises(Failure, match="this is neither"):
        StorageAccount(f"https://name.table.{host}")


@pytest.mark.parametrize("suffix", ["core.windows.net", "core.usgovcloudapi.net", "core.chinacloudapi.cn"])
async def test_storage_of_all_clouds_is_reached_by_url(suffix: str) -> None:
    async with StorageAccount(f"https://name.table.{suffix}/") as account:
        assert account.blobs().url == f"https://name.blob.{suffix}/"
        assert account.tables().account_name == "name"


async def test_storage_with_a_dns_zone_has_a_name() -> None:
    hosts = (
        "TableEndpoint=https://name.z01.table.storage.azure.net;BlobEndpoint=https://name.z01.blob.storage.azure.net"
    )
    async with StorageAccount(f"{hosts};SharedAccessSignature=sig=x") as account:
        assert name_of(account.tables()) == "name"
        assert name_of(account.blobs().get_container_client("backups")) == "name"


def test_the_commands_copy_a_deployment(
    azurite: StorageAddresses, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BATCHSCOPE_STORAGE", azurite.connection_string)
    monkeypatch.setenv("BATCHSCOPE_BACKUPS", azurite.connection_string)
    common = ["--container", f"backups-{secrets.token_hex(6)}", "--name", "weekly"]
    assert main(["backup", *common, "--prefix", "nothinghere"]) == 1
    assert "There is no table 'nothinghereaccounts' in the storage account" in capsys.readouterr().err
    store = asyncio.run(prepared(azurite.connection_string))
    assert main(["backup", *common, "--prefix", store]) == 0
    assert main(["restore", *common, "--check"]) == 0
    assert main(["restore", *common, "--prefix", f"{store}2"]) == 0
    assert main(["restore", *common, "--prefix", f"{store}2"]) == 1
    assert main(["restore", *common, "--prefix", f"{store}2", "--replace", "another"]) == 1
    assert main(["restore", *common, "--prefix", f"{store}2", "--replace", "devstoreaccount1"]) == 0
    printed = capsys.readouterr()
    assert "'weekly': 184 rows in 13 blobs" in printed.out
    assert f"Restoring 'weekly' to the storage account 'devstoreaccount1', prefix '{store}2'" in printed.out
    assert "It is of the storage account 'devstoreaccount1'" in printed.out
    refused, wrong = printed.err.splitlines()
    assert "The target isn't empty" in refused
    assert wrong == "--replace names 'another', but the target is 'devstoreaccount1'."


async def prepared(connection_string: str) -> str:
    """Fills a store in its own loop; returns its prefix."""
    async with StorageAccount(connection_string) as account:
        store = Store(account, f"t{secrets.token_hex(6)}")
        await store.create()
        await filled(store)
        await store.table("rejects").delete_table()  # like a version before this table existed
        return store.prefix
