"""Blob triggers that scan: once for each content of each matching blob, despite restarts."""

import base64
import contextlib
import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from azure.core.exceptions import ResourceExistsError, ResourceNotFoundError
from azure.storage.blob import ContainerClient, StandardBlobTier
from azure.storage.queue import QueueClient

from local.functions_host.blobs.blob_paths import BlobPath
from tests.functions_host.running_host import RunningHost, until

APP = Path(__file__).parent / "scanning_app"


@dataclass(frozen=True)
class Scanning:
    """A host of the scanning app, with its own names in storage, and the container that it scans."""

    folder: Path
    environment: dict[str, str]
    container: ContainerClient
    started: list[RunningHost] = field(default_factory=list)

    def start(self) -> RunningHost:
        """Starts the next host, with its own record file."""
        folder = self.folder / f"host{len(self.started)}"
        environment = {**self.environment, "SAMPLE_RECORD": str(folder / "records")}
        self.started.append(RunningHost.start(folder, APP, environment, "--port", "0"))
        return self.started[-1].wait_ready()

    @property
    def host(self) -> RunningHost:
        return self.started[-1] if self.started else self.start()

    def path(self, name: str) -> str:
        return f"{self.container.container_name}/{name}"

    def texts(self, host: RunningHost, folder: str) -> list[tuple[str, str]]:
        """Returns names and contents, from one folder, with which the function for texts was called."""
        prefix = self.path(f"in/{folder}/")
        found = [(one["name"].removeprefix(prefix), one["text"]) for one in host.of("text")]
        return sorted((name, text) for name, text in found if not name.startswith(self.container.container_name))


@pytest.fixture(scope="module")
def scanning(azurite: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scanning]:
    name = f"scan-{uuid.uuid4().hex[:12]}"
    environment = {
        "AzureWebJobsStorage": azurite.connection_string,
        "AzureFunctionsWebHost__hostid": name,
        "SAMPLE_QUEUE": name,
        "SAMPLE_BLOBS": f"{name}-blobs",
    }
    container = ContainerClient.from_connection_string(azurite.connection_string, environment["SAMPLE_BLOBS"])
    container.create_container()
    found = Scanning(tmp_path_factory.mktemp("scanning"), environment, container)
    yield found
    for host in found.started:
        if host.child.poll() is None:
            host.child.kill()
            host.child.wait()


def hosts_container(scanning: Scanning) -> ContainerClient:
    return ContainerClient.from_connection_string(scanning.environment["AzureWebJobsStorage"], "azure-webjobs-hosts")


def receipts(scanning: Scanning) -> dict[str, Any]:
    """Returns the metadata of all receipts of the host, by their names."""
    prefix = f"blobreceipts/{scanning.environment['AzureFunctionsWebHost__hostid']}/"
    found = hosts_container(scanning).list_blobs(prefix, include=["metadata"])
    try:
        return {blob.name.removeprefix(prefix): blob.metadata for blob in found}
    except ResourceNotFoundError:  # no host has created the container so far
        return {}


def poison(scanning: Scanning) -> list[dict[str, Any]]:
    """Returns poison messages about blobs of the container."""
    storage = scanning.environment["AzureWebJobsStorage"]
    queue = QueueClient.from_connection_string(storage, "webjobs-blobtrigger-poison")
    try:
        found = [json.loads(base64.b64decode(message.content)) for message in queue.peek_messages(32)]
    except ResourceNotFoundError:
        return []
    return [message for message in found if message["ContainerName"] == scanning.container.container_name]


def test_an_unfinished_receipt_of_a_dead_host_does_not_block_the_function(
    scanning: Scanning,
) -> None:
    blob = scanning.container.upload_blob("in/died/a.txt", b"x")
    host_id, etag = scanning.environment["AzureFunctionsWebHost__hostid"], blob.get_blob_properties().etag
    with contextlib.suppress(ResourceExistsError):
        hosts_container(scanning).create_container()
    name = f"blobreceipts/{host_id}/Host.Functions.text/{etag}/{scanning.path('in/died/a.txt')}"
    hosts_container(scanning).upload_blob(name, b"", metadata={"Incomplete": "Incomplete"})
    host = scanning.host
    until(lambda: scanning.texts(host, "died") == [("a.txt", "x")])


def test_a_blob_that_fails_again_and_again_becomes_a_message_of_poison(scanning: Scanning) -> None:
    blob, host = scanning.container.upload_blob("bad/one", b"x"), scanning.host
    until(lambda: poison(scanning))
    scanning.container.upload_blob("in/later/b.txt", b"y")
    until(lambda: scanning.texts(host, "later"))
    assert [one["name"] for one in host.of("bad")] == 3 * [scanning.path("bad/one")]
    assert poison(scanning) == [
        {
            "Type": "BlobTrigger",
            "FunctionId": "Host.Functions.bad",
            "BlobType": "BlockBlob",
            "ContainerName": scanning.container.container_name,
            "BlobName": "bad/one",
            "ETag": blob.get_blob_properties().etag,
        }
    ]


def test_a_blob_that_storage_does_not_hand_over_becomes_poison(scanning: Scanning) -> None:
    scanning.container.upload_blob("in/cold/a.txt", b"x", standard_blob_tier=StandardBlobTier.ARCHIVE)
    host = scanning.host
    until(lambda: "in/cold/a.txt" in [one["BlobName"] for one in poison(scanning)])
    assert host.log.count(f"doesn't hand over the blob {scanning.path('in/cold/a.txt')}") == 3


def test_as_many_blobs_are_worked_on_at_once_as_the_app_allows(scanning: Scanning) -> None:
    def are_sent(blobs: int) -> bool:
        return sum("/slow/" in name and not metadata for name, metadata in receipts(scanning).items()) == blobs

    for number in range(6):
        scanning.container.upload_blob(f"slow/{number}", b"x")
    host = scanning.host
    until(lambda: are_sent(6) and len(host.of("slow begins")) > 1)
    scanning.container.upload_blob("slow/last", b"x")
    until(lambda: are_sent(7))  # a scan later, all permitted messages are sent
    assert (len(host.of("slow begins")), len(host.of("slow ends"))) == (2, 0)
    (host.folder / "records.go").touch()
    until(lambda: len(host.of("slow ends")) == 7)


def test_a_blob_can_be_announced_again_on_demand(scanning: Scanning) -> None:
    scanning.container.upload_blob("in/demand/a.txt", b"x")
    host = scanning.host
    until(lambda: scanning.texts(host, "demand"))
    body = json.dumps({"input": scanning.path("in/demand/a.txt")}).encode()
    assert host.call("POST", "/admin/functions/text", body=body).status == 202
    until(lambda: scanning.texts(host, "demand") == 2 * [("a.txt", "x")])


def test_outputs_can_use_the_placeholders_of_a_path(scanning: Scanning) -> None:
    scanning.container.upload_blob("named/one.txt", b"x")
    host, storage = scanning.host, scanning.environment["AzureWebJobsStorage"]
    until(lambda: "named succeeded" in host.log)
    queue = QueueClient.from_connection_string(storage, f"{scanning.environment['SAMPLE_QUEUE']}-one")
    assert [base64.b64decode(one.content).decode() for one in queue.peek_messages(2)] == [
        scanning.path("named/one.txt")
    ]


def test_a_message_of_another_content_or_of_no_function_is_dropped(scanning: Scanning) -> None:
    scanning.container.upload_blob("in/stale/a.txt", b"x")
    host = scanning.host
    until(lambda: scanning.texts(host, "stale"))
    name = f"azure-webjobs-blobtrigger-{scanning.environment['AzureFunctionsWebHost__hostid']}"
    queue = QueueClient.from_connection_string(scanning.environment["AzureWebJobsStorage"], name)
    fields = {"ContainerName": scanning.container.container_name, "BlobName": "in/stale/a.txt", "ETag": '"old"'}
    for function in ("text", "gone"):
        message = {"Type": "BlobTrigger", "FunctionId": f"Host.Functions.{function}", "BlobType": "BlockBlob", **fields}
        queue.send_message(base64.b64encode(json.dumps(message).encode()).decode())
    until(lambda: "the app has no such function" in host.log)
    until(lambda: not queue.get_queue_properties().approximate_message_count)
    assert scanning.texts(host, "stale") == [("a.txt", "x")]


def test_a_message_may_have_its_etag_without_quotes(scanning: Scanning) -> None:
    blob, host = scanning.container.upload_blob("in/bare/a.txt", b"x"), scanning.host
    until(lambda: scanning.texts(host, "bare"))
    name = f"azure-webjobs-blobtrigger-{scanning.environment['AzureFunctionsWebHost__hostid']}"
    queue = QueueClient.from_connection_string(scanning.environment["AzureWebJobsStorage"], name)
    message = {
        "Type": "BlobTrigger",
        "FunctionId": "Host.Functions.text",
        "BlobType": "BlockBlob",
        "ContainerName": scanning.container.container_name,
        "BlobName": "in/bare/a.txt",
        "ETag": blob.get_blob_properties().etag.strip('"'),
    }
    queue.send_message(base64.b64encode(json.dumps(message).encode()).decode())
    until(lambda: scanning.texts(host, "bare") == 2 * [("a.txt", "x")])


def test_each_blob_version_is_announced_once_across_restarts(scanning: Scanning) -> None:
    for name in ("in/once/a.txt", "in/once/deep/b.txt", "in/once/c.csv", "elsewhere/once/d.txt"):
        scanning.container.upload_blob(name, b"old")
    host = scanning.host
    until(lambda: len(scanning.texts(host, "once")) > 1)
    changed = scanning.container.upload_blob("in/once/a.txt", b"new", overwrite=True)
    until(lambda: len(scanning.texts(host, "once")) > 2)
    assert scanning.texts(host, "once") == [("a.txt", "new"), ("a.txt", "old"), ("deep/b.txt", "old")]
    etag = changed.get_blob_properties().etag
    assert etag.startswith('"')
    name = f"Host.Functions.text/{etag}/{scanning.path('in/once/a.txt')}"
    until(lambda: name in receipts(scanning) and not receipts(scanning)[name])
    assert sum("/in/once/" in receipt for receipt in receipts(scanning)) == 3
    assert host.stop()[0] == 0
    scanning.container.upload_blob("in/once/e.txt", b"of the night")
    again = scanning.start()
    until(lambda: scanning.texts(again, "once"), 25)  # a host that ends slowly leaves its lease for 15 seconds
    scanning.container.upload_blob("in/once/f.txt", b"last")
    until(lambda: len(scanning.texts(again, "once")) > 1)
    assert [one["name"] for one in again.records] == [scanning.path(f"in/once/{name}.txt") for name in "ef"]


@pytest.mark.parametrize(
    ("path", "name", "values"),
    [
        ("files/{name}", "a/b.txt", {"name": "a/b.txt"}),
        ("files/{name}.{kind}", "a.b.txt", {"name": "a.b", "kind": "txt"}),
        ("files/{{{day}}}/{name}", "{1}/x", {"day": "1", "name": "x"}),
        ("files/in/{name}", "out/x", None),
        ("files/exact.txt", "exact.txt", {}),
        ("files/exact.txt", "exactxtxt", None),
        ("files", "any/thing", {}),
    ],
)
def test_a_path_is_matched_as_azure_does(path: str, name: str, values: dict[str, str] | None) -> None:
    assert BlobPath.parse(path).values(name) == values


@pytest.mark.parametrize(
    "path", ["", "AB/{name}", "ab/{name}", "files/{name", "files/}", "files/{a-b}", "files/{a}{a}"]
)
def test_an_invalid_path_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match=r"container's name|bracket"):
        BlobPath.parse(path)
