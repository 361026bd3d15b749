"""A container for the telemetry of one test, and hosts that ingest it."""

import secrets
from collections.abc import AsyncIterator

import pytest

from local.azurite import StorageAddresses
from shared.services.telemetry.telemetry_intake import TelemetryIntake
from tests.ingestion.telemetry.telemetry_rig import TelemetryRig


@pytest.fixture
async def rig(azurite: StorageAddresses) -> AsyncIterator[TelemetryRig]:
    """Yields a container and tables for a single test."""
    async with TelemetryRig(azurite.connection_string, f"t{secrets.token_hex(6)}") as opened:
        yield opened


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives each incarnation a partition of its own, as version 0.1.0 did, and as names without a node have."""

    async def none(*_: object) -> str:
        return ""

    monkeypatch.setattr(TelemetryIntake, "group_of", none)


@pytest.fixture(params=["apart", "together"])
def both(request: pytest.FixtureRequest) -> None:
    """Runs a test with partitions of incarnations, and with those that the blobs of a node share."""
    if request.param == "apart":
        request.getfixturevalue("apart")
