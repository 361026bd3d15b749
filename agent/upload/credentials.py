"""Credentials of storage: a shared access signature, or the token of a managed identity."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Protocol
from urllib.parse import urlencode

from agent.machine.clock import Clock
from agent.upload.backoff import asked_wait
from agent.upload.http_client import HttpClient, NoAnswerError, Response

_RESOURCE = "https://storage.azure.com/"
_VERSION = "2018-02-01"
_MARGIN = 300.0  # seconds before its end from which a token isn't used any more
_MIN_KEPT = 60.0  # seconds for which a token is used in any case
_TRANSIENT = (404, 408, 410, 429)
_UPDATE = 70.0  # seconds in which the service is back after an update, which 410 announces
_SECONDS = 1e9


class CredentialError(Exception):
    """There is no token; `asked` are seconds that the service wants to be left alone for, None for no wish."""

    def __init__(self, sentence: str, asked: float | None = None) -> None:
        super().__init__(sentence)
        self.asked = asked


class Credential(Protocol):
    """Admits requests by a query or by headers."""

    query: str

    def headers(self) -> Mapping[str, str]:
        """Returns headers. Raises CredentialError."""
        ...

    def renew(self) -> None:
        """Forgets credentials that storage no longer accepts."""
        ...


class SasCredential:
    """A shared access signature: the query of a container's address."""

    def __init__(self, query: str) -> None:
        self.query = query.lstrip("?")

    def headers(self) -> Mapping[str, str]:
        return {}

    def renew(self) -> None:
        """Does nothing: there is only one signature."""


class ManagedIdentity:
    """A node's identity: its only one, or that of a client id or resource id.

    `imds` is the address of the instance metadata service, which is never asked through a proxy.
    """

    query = ""

    def __init__(self, imds: str, identity: str, clock: Clock, *, timeout: float = 10.0) -> None:
        self._url = f"{imds}/metadata/identity/oauth2/token?{urlencode(_question(identity))}"
        self._http = HttpClient({}, timeout=timeout)
        self._clock = clock
        self._token = ""
        self._until = 0.0

    def headers(self) -> Mapping[str, str]:
        """Returns the header with a token, which is kept until five minutes before its end. Raises CredentialError."""
        if not self._token or self._clock.monotonic() >= self._until:
            self._token, seconds = self._fetched()
            self._until = self._clock.monotonic() + max(seconds - _MARGIN, _MIN_KEPT)
        return {"Authorization": f"Bearer {self._token}"}

    def renew(self) -> None:
        self._token = ""

    def _fetched(self) -> tuple[str, float]:
        try:
            answer = self._http.request("GET", self._url, {"Metadata": "true"})
        except NoAnswerError as error:
            raise CredentialError(f"The instance metadata service gives no token: {error}") from None
        if answer.status != 200:  # noqa: PLR2004 - HTTP's
            raise CredentialError(_sentence(answer), self._wait(answer))
        return _token_of(answer.body)

    def _wait(self, answer: Response) -> float | None:
        """Returns seconds to wait beyond the usual: as the service asks, or while it is updated."""
        asked = asked_wait(answer.headers, self._clock.now() / _SECONDS)
        return _UPDATE if asked is None and answer.status == 410 else asked  # noqa: PLR2004 - HTTP's


def _question(identity: str) -> Mapping[str, str]:
    base = {"api-version": _VERSION, "resource": _RESOURCE}
    if not identity:
        return base
    return {**base, "msi_res_id" if identity.startswith("/") else "client_id": identity}


def _sentence(answer: Response) -> str:
    if answer.status in _TRANSIENT or answer.status >= 500:  # noqa: PLR2004 - HTTP's
        return f"The instance metadata service gives no token now (HTTP {answer.status}); the agent asks again."
    return (
        f"The instance metadata service gives no token (HTTP {answer.status}): the pool has no such managed identity, "
        "or several, so that one must be named with --identity."
    )


def _token_of(body: bytes) -> tuple[str, float]:
    """Returns a token and the seconds that it is valid for; by seconds, as the node's clock may be wrong."""
    try:
        answer = json.loads(body)
        token, seconds = answer["access_token"], float(answer["expires_in"])
    except (ValueError, KeyError, TypeError):
        token, seconds = "", 0.0
    if not isinstance(token, str) or not token.isascii() or not token.isprintable() or not token:
        raise CredentialError("The instance metadata service answered without a token that makes sense.")
    return token, seconds
