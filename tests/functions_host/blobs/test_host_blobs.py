"""Blob triggers with the source EventGrid: only the events that Event Grid would send run the function."""

import base64
import json
from typing import Any

import pytest
from azure.core.exceptions import ResourceNotFoundError
from azure.storage.blob import ContainerClient, StandardBlobTier
from azure.storage.queue import QueueClient

from tests.functions_host.running_host import StartHost, until

HOOK = "/runtime/webhooks/blobs?code=sk&functionName=Host.Functions.seen"


@pytest.fixture
def container(environment: dict[str, str]) -> ContainerClient:
    found = ContainerClient.from_connection_string(environment["AzureWebJobsStorage"], environment["SAMPLE_BLOBS"])
    found.create_container()
    return found


def blob_event(kind: str, **data: str) -> bytes:
    return json.dumps([{"eventType": f"Microsoft.{kind}", "data": data}]).encode()


def test_blobs_are_announced_when_they_are_made_and_at_the_webhook(
    start_host: StartHost, container: ContainerClient
) -> None:
    container.upload_blob("old/blob", b"of before")
    host = start_host(LOCAL_SYSTEM_KEY="sk")
    until(lambda: "seen: blobTrigger" in host.output)
    url = container.get_blob_client("old/blob").url
    elsewhere = url.replace(container.container_name, "elsewhere")
    assert host.call("POST", HOOK, body=blob_event("Storage.BlobCreated", url=elsewhere)).status == 202
    assert host.call("POST", HOOK, body=blob_event("Storage.BlobDeleted", url=url)).status == 202
    assert host.call("POST", HOOK, body=blob_event("Storage.BlobCreated", url=url)).status == 202
    until(lambda: host.of("seen"))
    assert [(one["name"], one["text"]) for one in host.of("seen")] == [
        (f"{container.container_name}/old/blob", "of before")
    ]
    handshake = host.call("POST", HOOK, body=blob_event("EventGrid.SubscriptionValidationEvent", validationCode="7"))
    assert (handshake.status, handshake.json()) == (200, {"validationResponse": "7"})
    assert host.call("POST", HOOK.replace("seen", "work"), body=b"[]").status == 404
    assert host.call("GET", HOOK).status == 404
    for wrong in (b"", b"{", b"7", b"[7]", b'[{"eventType": 1}]'):
        assert host.call("POST", HOOK, body=wrong).status == 400, wrong
    blob = container.get_blob_client("new")
    blob.create_append_blob()
    until(lambda: len(host.of("seen")) > 1)
    blob.append_block(b"more")
    assert host.of("seen")[1]["name"].endswith("/new")


def poison(container: ContainerClient, environment: dict[str, str]) -> list[dict[str, Any]]:
    """Returns poison messages about blobs of the container."""
    queue = QueueClient.from_connection_string(environment["AzureWebJobsStorage"], "webjobs-blobtrigger-poison")
    try:
        found = [json.loads(base64.b64decode(message.content)) for message in queue.peek_messages(32)]
    except ResourceNotFoundError:
        return []
    return [message for message in found if message["ContainerName"] == container.container_name]


def test_an_announced_blob_that_fails_repeatedly_becomes_poison_like_a_scanned_one(
    start_host: StartHost, container: ContainerClient, environment: dict[str, str]
) -> None:
    blob = container.upload_blob("bad/one", b"unreadable")
    host = start_host(LOCAL_SYSTEM_KEY="sk")
    until(lambda: "seen: blobTrigger" in host.output)
    assert host.call("POST", HOOK, body=blob_event("Storage.BlobCreated", url=blob.url)).status == 202
    gone = container.get_blob_client("gone").url
    assert host.call("POST", HOOK, body=blob_event("Storage.BlobCreated", url=gone)).status == 202
    assert until(lambda: poison(container, environment)) == [
        {
            "Type": "BlobTrigger",
            "FunctionId": "Host.Functions.seen",
            "BlobType": "BlockBlob",
            "ContainerName": container.container_name,
            "BlobName": "bad/one",
            "ETag": blob.get_blob_properties().etag,
        }
    ]
    assert [one["name"] for one in host.of("seen")] == 5 * [f"{container.container_name}/bad/one"]


def test_a_blob_that_storage_does_not_hand_over_becomes_poison_and_holds_up_no_other(
    start_host: StartHost, container: ContainerClient, environment: dict[str, str]
) -> None:
    kept = container.upload_blob("kept", b"x", standard_blob_tier=StandardBlobTier.ARCHIVE)
    host = start_host(LOCAL_SYSTEM_KEY="sk")
    until(lambda: "seen: blobTrigger" in host.output)
    assert host.call("POST", HOOK, body=blob_event("Storage.BlobCreated", url=kept.url)).status == 202
    container.upload_blob("other", b"y")
    until(lambda: [one["name"] for one in host.of("seen")] == [f"{container.container_name}/other"])
    assert [one["BlobName"] for one in until(lambda: poison(container, environment))] == ["kept"]
    assert host.log.count("storage doesn't hand over the blob") == 5
    assert "Traceback" not in host.log
