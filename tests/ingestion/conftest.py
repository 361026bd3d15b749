"""Real blobs and tables, and hosts that read the one into the other."""

import secrets
from collections.abc import AsyncIterator

import pytest

from local.azurite import StorageAddresses
from tests.ingestion.rig import Rig


@pytest.fixture
async def rig(azurite: StorageAddresses) -> AsyncIterator[Rig]:
    """A container and tables of a test's own."""
    async with Rig(azurite.connection_string, f"t{secrets.token_hex(6)}") as opened:
        yield opened
