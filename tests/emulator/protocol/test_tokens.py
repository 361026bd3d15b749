"""JWTs, verified with the key given to the emulator at its start."""

import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import jwt
import pytest
from aiohttp import ClientSession
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from local.batch_emulator.emulator import Emulator
from local.batch_emulator.http.server import Server
from local.batch_emulator.protocol.auth import DEVELOPMENT_KEY, DEVELOPMENT_TOKEN
from local.batch_emulator.protocol.tokens import AUDIENCE, ISSUER, read_token_key
from tests.emulator.support.driver import Answer, Driver

_PRIVATE = rsa.generate_private_key(65537, 2048)
_OTHER = rsa.generate_private_key(65537, 2048)
_SECRET = "a secret of at least thirty-two bytes"


def _pem(key: Any) -> bytes:
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    found: bytes = key.public_key().public_bytes(serialization.Encoding.PEM, form)
    return found


def _claims(**other: Any) -> dict[str, Any]:
    now = int(time.time())
    found = {"aud": AUDIENCE, "iss": ISSUER, "nbf": now - 60, "exp": now + 3600, **other}
    return {name: value for name, value in found.items() if value is not None}


@pytest.fixture
async def guarded(tmp_path: Path) -> AsyncIterator[Driver]:
    """Yields an emulator that accepts tokens signed with _PRIVATE."""
    path = tmp_path / "key.pem"
    path.write_bytes(_pem(_PRIVATE))
    emulator = Emulator(
        {"demo": DEVELOPMENT_KEY, "other": DEVELOPMENT_KEY}, stepped=True, token_key=read_token_key(path)
    )
    server = Server(emulator)
    port = await server.start()
    async with ClientSession() as session:
        yield Driver(f"http://127.0.0.1:{port}", session, emulator)
    await server.stop()


async def _asked(driver: Driver, token: str) -> Answer:
    return await driver.call("GET", "/jobs", headers={"authorization": f"Bearer {token}"})


async def test_a_token_signed_by_the_key_opens_the_account_of_the_host(guarded: Driver) -> None:
    token = jwt.encode(_claims(), _PRIVATE, "RS256")
    assert (await _asked(guarded, token)).status == 200
    guarded.account = "other"
    await guarded.add_job("of-other")
    sent = {"authorization": f"Bearer {token}", "host": "other.west.batch.test"}
    assert [job["id"] for job in (await guarded.call("GET", "/jobs", headers=sent)).body["value"]] == ["of-other"]


async def test_the_development_token_and_shared_keys_stay_good(guarded: Driver) -> None:
    assert (await _asked(guarded, DEVELOPMENT_TOKEN)).status == 200
    assert (await guarded.call("GET", "/jobs")).status == 200


@pytest.mark.parametrize(
    ("claims", "detail"),
    [
        ({"aud": "https://batch.core.windows.net"}, "(including forward slash)"),
        ({"aud": "https://management.azure.com/"}, "wrong audience"),
        ({"iss": "https://sts.windows.net/another/"}, "wrong issuer"),
        ({"exp": int(time.time()) - 86_400}, "expired"),
        ({"nbf": int(time.time()) + 86_400}, "not yet valid"),
        ({"aud": None}, "aud"),
        ({"iss": None}, "iss"),
        ({"exp": None}, "exp"),
        ({"nbf": None}, "nbf"),
    ],
)
async def test_a_claim_that_does_not_hold_is_401_and_says_which(
    guarded: Driver, claims: dict[str, Any], detail: str
) -> None:
    answer = await _asked(guarded, jwt.encode(_claims(**claims), _PRIVATE, "RS256"))
    assert (answer.status, answer.code) == (401, "AuthenticationFailed")
    assert detail in answer.values["AuthenticationErrorDetail"]
    assert answer.headers["WWW-Authenticate"].startswith("Bearer ")


async def test_a_clock_may_be_a_little_off(guarded: Driver) -> None:
    now = int(time.time())
    for claims in ({"exp": now - 120}, {"nbf": now + 120}):
        assert (await _asked(guarded, jwt.encode(_claims(**claims), _PRIVATE, "RS256"))).status == 200


async def test_no_other_signature_is_accepted(guarded: Driver) -> None:
    good = jwt.encode(_claims(), _PRIVATE, "RS256")
    head, body, signature = good.split(".")
    forged = (
        jwt.encode(_claims(), _OTHER, "RS256"),
        jwt.encode(_claims(), "", "none"),
        jwt.encode(_claims(), "x" * 64, "HS256"),
        f"{head}.{body}.",
        f"{head}.{body[:-2]}AA.{signature}",
        "a.b.c",
        "",
    )
    for token in forged:
        answer = await _asked(guarded, token)
        assert (answer.status, answer.code) == (401, "AuthenticationFailed"), token


def test_keys_are_read_by_their_kind(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text(_SECRET)
    read_token_key(path).check(jwt.encode(_claims(), _SECRET, "HS256"))
    curve = ec.generate_private_key(ec.SECP256R1())
    path.write_bytes(_pem(curve))
    read_token_key(path).check(jwt.encode(_claims(), curve, "ES256"))


@pytest.mark.parametrize("text", ["short", "-----BEGIN PUBLIC KEY-----\nnothing\n-----END PUBLIC KEY-----"])
def test_invalid_keys_are_refused_in_words(tmp_path: Path, text: str) -> None:
    path = tmp_path / "key"
    path.write_text(text)
    with pytest.raises(ValueError, match="key"):
        read_token_key(path)
