"""Writes through the official client without its models, which take longer than the emulator."""

from typing import Any

from azure.batch.aio import BatchClient
from azure.core.rest import HttpRequest

_KIND = "application/json; odata=minimalmetadata"


async def post(client: BatchClient, path: str, body: Any) -> None:
    """Posts JSON. Raises HttpResponseError."""
    url = f"{path}?api-version=2025-06-01"
    answer = await client.send_request(HttpRequest("POST", url, headers={"Content-Type": _KIND}, json=body))
    answer.raise_for_status()
