"""Blob triggers with the source EventGrid: what Event Grid would tell, and nothing else, runs the function."""

import json

import pytest
from azure.storage.blob import ContainerClient

from tests.functions_host.running_host import StartHost, until

HOOK = "/runtime/webhooks/blobs?functionName=Host.Functions.seen"


@pytest.fixture
def container(environment: dict[str, str]) -> ContainerClient:
    found = ContainerClient.from_connection_string(environment["AzureWebJobsStorage"], environment["SAMPLE_BLOBS"])
    found.create_container()
    return found


def told(kind: str, **data: str) -> bytes:
    return json.dumps([{"eventType": f"Microsoft.{kind}", "data": data}]).encode()


def test_blobs_are_announced_when_they_are_made_and_at_the_webhook(
    start_host: StartHost, container: ContainerClient
) -> None:
    container.upload_blob("old/blob", b"of before")
    host = start_host()
    until(lambda: "seen: blobTrigger" in host.output)
    url = container.get_blob_client("old/blob").url
    elsewhere = url.replace(container.container_name, "elsewhere")
    assert host.call("POST", HOOK, body=told("Storage.BlobCreated", url=elsewhere)).status == 202
    assert host.call("POST", HOOK, body=told("Storage.BlobDeleted", url=url)).status == 202
    assert host.call("POST", HOOK, body=told("Storage.BlobCreated", url=url)).status == 202
    until(lambda: host.of("seen"))
    assert [(one["name"], one["text"]) for one in host.of("seen")] == [
        (f"{container.container_name}/old/blob", "of before")
    ]
    handshake = host.call("POST", HOOK, body=told("EventGrid.SubscriptionValidationEvent", validationCode="7"))
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
