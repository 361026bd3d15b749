import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.stores.tables.stub import Stub


@pytest.fixture
async def stub() -> AsyncIterator[Stub]:
    """Yields storage that gives one answer to every request."""
    answer = Stub()
    async with await asyncio.start_server(answer.serve, "127.0.0.1", 0) as server:
        answer.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/account"
        yield answer
