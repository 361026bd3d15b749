"""A container for the telemetry of one test, and hosts that ingest it."""

import secrets
from collections.abc import AsyncIterator

import pytest

from local.azurite import StorageAddresses
from tests.ingestion.telemetry.telemetry_rig import TelemetryRig


@pytest.fixture
async def rig(azurite: StorageAddresses) -> AsyncIterator[TelemetryRig]:
    """Yields a container and tables for a single test."""
    async with TelemetryRig(azurite.connection_string, f"t{secrets.token_hex(6)}") as opened:
        yield opened
