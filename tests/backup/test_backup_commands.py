"""The commands backup and restore: their options, and the storage accounts that they reach."""

import asyncio
import secrets

import pytest

from local.azurite import StorageAddresses
from local.backup.__main__ import main
from local.backup.storage import StorageAccount, name_of
from local.dev.system.console import Failure
from tests.backup.conftest import Store
from tests.backup.filled_tables import filled


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


@pytest.mark.usefixtures("few_tables")
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
    assert "'weekly': 100 rows in 7 blobs" in printed.out
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
