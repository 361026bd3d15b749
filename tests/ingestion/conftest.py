"""Real blobs and tables, and hosts that ingest the blobs into the tables."""

import secrets
from collections.abc import AsyncIterator

import pytest

from local.azurite import StorageAddresses
from tests.ingestion.rig import Rig


@pytest.fixture
async def rig(azurite: StorageAddresses) -> AsyncIterator[Rig]:
    """Yields a container and tables for a single test."""
    async with Rig(azurite.connection_string, f"t{secrets.token_hex(6)}") as opened:
        yield opened
