"""The real stack, which ends with this folder: its demo never rests, and would slow down all later tests."""

from collections.abc import Iterator

import pytest

from local.azurite import StorageAddresses
from tests.e2e.live.stack import RunningStack, running_stack


@pytest.fixture(scope="package")
def stack(azurite: StorageAddresses, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStack]:
    """Yields the real stack with its demo running fast; the tests of this folder share it."""
    with running_stack(
        azurite, tmp_path_factory.mktemp("logs"), scenario="demo", speed=20, with_telemetry=True
    ) as running:
        yield running
