"""Shared access signatures of Azurite's account, as a pool gets them: read, add, create, write."""

from datetime import UTC, datetime, timedelta

from azure.storage.blob import ContainerSasPermissions, generate_container_sas

from local.azurite import ACCOUNT, KEY

_PERMISSIONS = ContainerSasPermissions(read=True, add=True, create=True, write=True)


def signed(container: str, seconds: float) -> str:
    """Returns the query that admits to a container for some seconds."""
    expiry = datetime.now(UTC) + timedelta(seconds=seconds)
    return generate_container_sas(ACCOUNT, container, account_key=KEY, permission=_PERMISSIONS, expiry=expiry)
