"""https with a self-signed certificate: clients that trust it connect, others don't."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

import pytest
from aiohttp import ClientConnectorCertificateError, ClientSession
from azure.batch.aio import BatchClient
from azure.core.credentials import AccessToken

from local.batch_emulator.emulator import Emulator
from local.batch_emulator.http.certificate import CERTIFICATE, tls_context
from local.batch_emulator.http.server import Server
from local.batch_emulator.protocol.auth import DEVELOPMENT_KEY, DEVELOPMENT_TOKEN
from tests.emulator.support.staging import add_job, add_tasks


class _Token:
    """A credential with the development token, which it needn't fetch."""

    async def get_token(self, *_: str, **__: Any) -> AccessToken:
        return AccessToken(DEVELOPMENT_TOKEN, int((datetime.now(UTC) + timedelta(hours=1)).timestamp()))

    async def close(self) -> None:
        pass

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass


async def test_the_official_client_connects_with_a_token_and_pages(tmp_path: Path) -> None:
    server = Server(Emulator({"demo": DEVELOPMENT_KEY}, stepped=True))
    url = f"https://127.0.0.1:{await server.start(tls=tls_context(tmp_path))}"
    trusted = str(tmp_path / CERTIFICATE)
    async with BatchClient(url, _Token(), connection_verify=trusted) as batch:
        await add_job(batch)
        await add_tasks(batch, 25)
        assert len([task.id async for task in batch.list_tasks("job", max_results=10)]) == 25
        assert (await batch.get_job("job")).url == f"{url}/jobs/job"
    await server.stop()


async def test_a_client_that_does_not_trust_the_certificate_refuses(tmp_path: Path) -> None:
    server = Server(Emulator({"demo": DEVELOPMENT_KEY}, stepped=True))
    url = f"https://127.0.0.1:{await server.start(tls=tls_context(tmp_path))}"
    async with ClientSession() as session:
        with pytest.raises(ClientConnectorCertificateError):
            await session.get(f"{url}/jobs")
        trusting = ssl.create_default_context(cafile=str(tmp_path / CERTIFICATE))
        async with session.get(f"{url}/jobs", ssl=trusting) as answer:
            assert answer.status == 401
            assert "max-age" in answer.headers["Strict-Transport-Security"]
    await server.stop()


def test_a_certificate_is_made_once_and_its_key_is_private(tmp_path: Path) -> None:
    tls_context(tmp_path)
    first = (tmp_path / CERTIFICATE).read_bytes()
    tls_context(tmp_path)
    assert (tmp_path / CERTIFICATE).read_bytes() == first
    assert (tmp_path / "key.pem").stat().st_mode & 0o077 == 0
