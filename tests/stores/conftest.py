import secrets
from collections.abc import AsyncIterator
from typing import Any

import pytest

from shared.stores.tables.tables import Tables


@pytest.fixture(scope="module")
def prefix() -> str:
    """Returns a name prefix for a module in the shared storage."""
    return f"t{secrets.token_hex(6)}"


@pytest.fixture(scope="module")
def created() -> list[str]:
    """Returns the prefixes whose tables exist."""
    return []


@pytest.fixture
async def tables(azurite: Any, prefix: str, created: list[str]) -> AsyncIterator[Tables]:
    opened = Tables.connect(connection_string=azurite.connection_string, endpoint=None, credential=None, prefix=prefix)
    if prefix not in created:
        await opened.create()
        created.append(prefix)
    yield opened
    await opened.close()


@pytest.fixture
def partition() -> str:
    """Returns a partition for a single test."""
    return f"demo~{secrets.token_hex(6)}"
