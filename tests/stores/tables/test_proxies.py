"""Clients of storage follow proxies that the environment names, and look for none without."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from shared.errors import StorageError
from shared.stores.proxies import has_proxies
from shared.stores.tables.tables import Tables, load_row

_NAMES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
_STORAGE = (
    "DefaultEndpointsProtocol=http;AccountName=somewhere;AccountKey=a2V5;"
    "TableEndpoint=http://storage.invalid/somewhere;"
)


@pytest.fixture
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in _NAMES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
async def proxy() -> AsyncIterator[tuple[str, list[str]]]:
    """Yields a proxy that forwards nothing: its address, and the first lines of the requests that it got."""
    asked = list[str]()

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n")).decode().strip())
        writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked


@pytest.mark.usefixtures("no_proxies")
async def test_storage_is_asked_through_a_proxy_that_the_environment_names(
    proxy: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, asked = proxy
    monkeypatch.setenv("http_proxy", address)
    tables = Tables.connect(connection_string=_STORAGE, endpoint=None, credential=None, prefix="")
    try:
        with pytest.raises(StorageError):
            await load_row(tables["jobs"], "demo", "job")
    finally:
        await tables.close()
    assert asked
    assert all("http://storage.invalid/somewhere/" in line for line in asked)


@pytest.mark.usefixtures("no_proxies")
def test_there_are_proxies_only_where_the_environment_names_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not has_proxies()
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:3128")
    assert has_proxies()
