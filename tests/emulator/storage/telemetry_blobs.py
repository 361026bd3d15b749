"""Telemetry blobs that the emulator's nodes wrote, read by a decompressor alone."""

import json
from typing import Any

import zstandard
from azure.storage.blob import ContainerClient

ONCE = "vm_monitor_collection"
type Record = dict[str, Any]


def frames(stored: bytes) -> list[bytes]:
    """Returns the texts of a blob's frames, which must be whole."""
    texts = []
    while stored:
        opened = zstandard.ZstdDecompressor().decompressobj()
        texts.append(opened.decompress(stored))
        assert opened.eof
        stored = opened.unused_data
    return texts


def blobs(container: ContainerClient) -> dict[str, bytes]:
    return {name: container.download_blob(name).readall() for name in sorted(container.list_blob_names())}


def batches(stored: bytes) -> list[list[Record]]:
    """Returns the records of each frame."""
    return [json.loads(text)["metrics"] for text in frames(stored)]


def samples(stored: bytes, name: str, field: str, **tags: str) -> list[tuple[int, float]]:
    """Returns a field's values with their milliseconds, from records with these tags except startup records."""
    records = [record for batch in batches(stored) for record in batch]
    return [
        (record["timestamp"], record["fields"][field])
        for record in records
        if record["name"] == name and ONCE not in record["tags"] and tags.items() <= record["tags"].items()
    ]
