"""The container `agent` of the telemetry account: the node agent's file, which nodes fetch when they start.

It is the app's only container that it writes to; its copy of the file describes itself by metadata.
"""

from collections.abc import Mapping
from pathlib import Path

from azure.core.credentials_async import AsyncTokenCredential
from azure.core.exceptions import ResourceNotFoundError
from azure.storage.blob import ContentSettings
from azure.storage.blob.aio import BlobServiceClient

from shared.domain.agent.agent_file import NAME, AgentFile
from shared.stores.blobs.blobs import connect_service, translated

CONTAINER = "agent"
PACKAGED = Path(__file__).resolve().parents[3] / "dist" / NAME
"""Where the app's package has the file, and a checkout after `dev.py build`."""
_VERSION, _SHA256 = "version", "sha256"


class AgentContainer:
    """The container of a storage account; `telemetry` is the name of the one that nodes write to."""

    def __init__(self, service: BlobServiceClient, telemetry: str) -> None:
        self._client = service.get_container_client(CONTAINER)
        self._blob = self._client.get_blob_client(NAME)
        self.file_address = _without_query(self._blob.url)
        self.telemetry_address = _without_query(service.get_container_client(telemetry).url)

    @classmethod
    def connect(
        cls,
        telemetry: str,
        *,
        connection_string: str | None,
        endpoint: str | None,
        credential: AsyncTokenCredential | None,
    ) -> "AgentContainer":
        service = connect_service(connection_string=connection_string, endpoint=endpoint, credential=credential)
        return cls(service, telemetry)

    async def uploaded(self) -> AgentFile | None:
        """Returns the file in storage, or None. Raises BlobError."""
        with translated(f"look at {NAME}"):
            try:
                found = await self._blob.get_blob_properties()
            except ResourceNotFoundError:
                return None
        metadata: Mapping[str, str] = found.metadata
        return AgentFile(metadata.get(_VERSION, ""), metadata.get(_SHA256, ""), found.size)

    async def upload(self, file: AgentFile, content: bytes) -> None:
        """Writes the file in one request, over an earlier one, and creates the container first. Raises BlobError."""
        with translated(f"take {NAME}"):
            if not await self._client.exists():
                await self._client.create_container()
            await self._blob.upload_blob(
                content,
                overwrite=True,
                metadata={_VERSION: file.version, _SHA256: file.sha256},
                content_settings=ContentSettings(content_type="application/zip"),
            )


def _without_query(address: str) -> str:
    """Returns an address without a signature, which a connection string may have."""
    return address.partition("?")[0]
