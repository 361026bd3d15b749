"""Messages of failed backups: the cause, and the remedy."""

import asyncio
import secrets
import time
from datetime import UTC, datetime, timedelta
from typing import Any, override

import pytest
from azure.core.exceptions import (
    AzureError,
    ClientAuthenticationError,
    HttpResponseError,
    ServiceRequestError,
)
from azure.storage.blob import AccountSasPermissions, ResourceTypes, generate_account_sas

from local.azurite import StorageAddresses
from local.backup import __main__ as command
from local.backup.__main__ import main, reason_of
from local.backup.manifest import FORMAT, Manifest, ManifestBlob
from local.backup.storage import CountingTransport, StorageAccount
from local.dev.system.console import Failure
from tests.backup.conftest import Bench
from tests.backup.test_backup_commands import prepared


def answered(kind: type[HttpResponseError], status: int) -> HttpResponseError:
    error: Any = kind("This request is not authorized.\nRequestId:1")
    error.status_code = status
    return error  # type: ignore[no-any-return]  # the SDK's constructor takes a response only


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ClientAuthenticationError("Many\nlines"), "run `az login`"),
        (answered(HttpResponseError, 403), "Storage refused: This request is not authorized. The roles"),
        (answered(ClientAuthenticationError, 401), "Storage refused: This request is not authorized. The roles"),
        (answered(HttpResponseError, 500), "Storage didn't do what was asked: This request is not authorized."),
        (AzureError(""), "Storage didn't do what was asked: AzureError"),
        (ServiceRequestError("Cannot connect to host x"), "Cannot connect to host x: is the name right"),
    ],
)
def test_a_failure_names_cause_and_remedy(error: AzureError, said: str) -> None:
    assert said in reason_of(error)
    assert "\n" not in reason_of(error)


class WrongKey(CountingTransport):
    """Signs transactions with another key, as after a key or a role was removed."""

    @override
    async def send(self, request: Any, **options: Any) -> Any:
        if request.url.endswith("/$batch"):
            request.headers["Authorization"] = "SharedKey devstoreaccount1:AAAA"
        return await super().send(request, **options)


class OldPrecondition(CountingTransport):
    """Overwrites only missing blobs: storage answers 409, as it does if a policy forbids overwriting."""

    @override
    async def send(self, request: Any, **options: Any) -> Any:
        if request.headers.pop("If-Match", None):
            request.headers["If-None-Match"] = "*"
        return await super().send(request, **options)


@pytest.mark.usefixtures("few_tables")
def test_a_refused_write_is_one_sentence_that_says_how_to_resume(
    azurite: StorageAddresses, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    places = ["--storage", azurite.connection_string, "--backups", azurite.connection_string]
    common = [*places, "--container", f"backups-{secrets.token_hex(6)}", "--name", "weekly"]
    store = asyncio.run(prepared(azurite.connection_string))
    assert main(["backup", *common, "--prefix", store]) == 0
    restore = ["restore", *common, "--prefix", f"{store}2"]
    with monkeypatch.context() as patched:
        patched.setattr(command, "StorageAccount", lambda place: StorageAccount(place, WrongKey()))
        assert main(restore) == 1
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith("Storage refused: ")
    assert said.endswith("The same command with --name weekly goes on where this one ended.")
    assert main(restore) == 0


async def test_a_policy_that_forbids_to_overwrite_is_not_taken_for_another_process(bench: Bench) -> None:
    async with StorageAccount(signed_by_url(bench.connection_string), OldPrecondition()) as account:
        container = account.blobs().get_container_client(bench.container)
        await container.create_container()
        blob, manifest = ManifestBlob(container, "b"), Manifest(FORMAT, "0", "", datetime.now(UTC))
        await blob.save(manifest)
        with pytest.raises(Failure, match=r"The blob b/manifest.json can't be overwritten: a policy"):
            await blob.save(manifest)


def signed_by_url(connection_string: str) -> str:
    """Returns a connection string with unsigned request headers, so that a test may change these."""
    parts = dict(part.split("=", 1) for part in connection_string.strip(";").split(";"))
    signature = generate_account_sas(
        parts["AccountName"],
        parts["AccountKey"],
        ResourceTypes(container=True, object=True),
        AccountSasPermissions(read=True, write=True, create=True),
        datetime.now(UTC) + timedelta(hours=1),
    )
    return f"BlobEndpoint={parts['BlobEndpoint']};SharedAccessSignature={signature}"


def test_storage_that_is_not_there_is_named_within_half_a_minute(capsys: pytest.CaptureFixture[str]) -> None:
    nowhere = (
        "DefaultEndpointsProtocol=http;AccountName=nowhere;AccountKey=AAAA;BlobEndpoint=http://127.0.0.1:1/nowhere"
    )
    begun = time.monotonic()
    assert main(["restore", "--check", "--name", "weekly", "--backups", nowhere]) == 1
    assert time.monotonic() - begun < 30
    printed = capsys.readouterr()
    assert printed.out.startswith("Reading all of the backup 'weekly' in the storage account 'nowhere'.")
    (said,) = printed.err.splitlines()
    assert "127.0.0.1:1" in said
    assert said.endswith("is the name right, and with private networking is this machine in its network?")
