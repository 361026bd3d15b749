"""Appends against a real storage emulator."""

import secrets
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from azure.storage.blob import ContainerClient, ContainerSasPermissions, generate_container_sas

from agent.machine.clock import Clock
from agent.upload.append_blob import AppendBlobs, BlobProperties, StorageError
from agent.upload.credentials import SasCredential
from agent.upload.http_client import HttpClient
from local.azurite import ACCOUNT, KEY, StorageAddresses
from tests.agent.upload.rig import OPENING, Agent, texts


@pytest.fixture
def container(azurite: StorageAddresses) -> Iterator[ContainerClient]:
    """Yields a container for a single test."""
    with ContainerClient.from_connection_string(azurite.connection_string, f"agent-{secrets.token_hex(6)}") as found:
        found.create_container()
        yield found


def signature(name: str) -> SasCredential:
    """Returns a SAS that may read, add, create and write, and not list."""
    permissions = ContainerSasPermissions(read=True, add=True, create=True, write=True)
    expiry = datetime.now(UTC) + timedelta(hours=1)
    return SasCredential(generate_container_sas(ACCOUNT, name, account_key=KEY, permission=permissions, expiry=expiry))


@pytest.fixture
def blobs(azurite: StorageAddresses, container: ContainerClient) -> AppendBlobs:
    name = container.container_name
    return AppendBlobs(f"{azurite.blob}/{name}", signature(name), HttpClient({}), Clock())


def test_a_blob_is_created_once_appended_to_at_its_end_and_read(blobs: AppendBlobs, container: ContainerClient) -> None:
    assert blobs.properties("a b/c.0.gz") is None
    blobs.create("a b/c.0.gz")
    with pytest.raises(StorageError) as exists:
        blobs.create("a b/c.0.gz")
    assert blobs.append("a b/c.0.gz", 0, b"first") == 1
    with pytest.raises(StorageError) as moved:
        blobs.append("a b/c.0.gz", 0, b"second")
    assert blobs.append("a b/c.0.gz", 5, b"second") == 2
    assert blobs.read("a b/c.0.gz", 5, 11) == b"second"
    container.get_blob_client("a b/c.0.gz").seal_append_blob()  # by the key: the emulator fails for a SAS
    with pytest.raises(StorageError) as sealed:
        blobs.append("a b/c.0.gz", 11, b"third")
    assert (exists.value.status, moved.value.status, sealed.value.code) == (409, 412, "BlobIsSealed")
    assert blobs.properties("a b/c.0.gz") == BlobProperties(11, 2, sealed=True)


def test_a_missing_container_is_a_sentence(azurite: StorageAddresses) -> None:
    blobs = AppendBlobs(f"{azurite.blob}/nowhere", signature("nowhere"), HttpClient({}), Clock())
    with pytest.raises(StorageError, match="the container or blob doesn't exist"):
        blobs.create("a")


def agent(folder: Path, azurite: StorageAddresses, container: ContainerClient) -> Agent:
    """Returns an agent whose container is called `telemetry` in its addresses' paths."""
    made = Agent(folder, f"{azurite.blob}/{container.container_name}", max_blocks=3)
    name = container.container_name
    made.blobs._container, made.blobs._credential = f"{azurite.blob}/{name}", signature(name)
    return made


def stored(container: ContainerClient) -> dict[str, list[str]]:
    found = {name: container.download_blob(name).readall() for name in sorted(container.list_blob_names())}
    return {name.rsplit(".", 2)[1]: texts(content) for name, content in found.items()}


def test_an_agent_fills_blobs_one_after_another(
    tmp_path: Path, azurite: StorageAddresses, container: ContainerClient
) -> None:
    one = agent(tmp_path, azurite, container)
    for number in range(3):
        one.spool.put(b"m v=%di 1\n" % number)
    one.send_all()
    one.sender.finish()
    assert stored(container) == {"0": [OPENING, "m v=0i 1\n", "m v=1i 1\n"], "1": [OPENING, "m v=2i 1\n"]}
    assert [blob.size > 0 for blob in container.list_blobs()] == [True, True]


def test_an_append_whose_answer_was_lost_is_not_repeated(
    tmp_path: Path, azurite: StorageAddresses, container: ContainerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = agent(tmp_path, azurite, container)
    append, lost = one.blobs.append, ["first", "second"]

    def deaf(name: str, position: int, content: bytes) -> int:
        blocks = append(name, position, content)
        if lost:
            raise StorageError(f"{lost.pop()} answer lost")
        return blocks

    monkeypatch.setattr(one.blobs, "append", deaf)
    one.spool.put(b"m v=0i 1\n")
    one.spool.put(b"m v=1i 1\n")
    one.send_all()
    assert stored(container) == {"0": [OPENING, "m v=0i 1\n", "m v=1i 1\n"]}
    assert one.sender.fields()["send_failures"] == 2
