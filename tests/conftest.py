"""What tests of every layer share: a real Azurite in memory, once a session, on free ports."""

import os
from collections.abc import Iterator

import pytest

from local.azurite import StorageAddresses, azurite_program
from local.dev.checkout import HERE
from local.dev.children import Children


@pytest.fixture(scope="session")
def azurite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StorageAddresses]:
    """Real storage. All tests of a session share it, so each uses table and queue names of its own."""
    log = tmp_path_factory.mktemp("azurite") / "azurite.log"
    with Children() as children:
        yield StorageAddresses.announced(children.start(azurite_program(HERE, log=log, environment=os.environ)))
