"""Append blobs of one container by storage's REST interface.

Each append names the position at which the blob must end, so that a request that arrives twice or late has no effect.
"""

from __future__ import annotations

import base64
import email.utils
import hashlib
import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from agent.machine.clock import Clock
from agent.upload.backoff import asked_wait
from agent.upload.credentials import Credential
from agent.upload.http_client import MAX_BODY, HttpClient, NoAnswerError, Response

VERSION = "2021-12-02"
NO_ANSWER = 0
_NOT_FOUND, _UNAUTHORIZED = 404, 401
_CODE = re.compile(r"[A-Za-z]{1,80}")
_CODE_IN_BODY = re.compile(rb"<Code>([A-Za-z]{1,80})</Code>")
_SECONDS = 1e9
_ADVICE = {
    401: "the signature or token isn't accepted",
    403: "the container's firewall, the identity's role (Storage Blob Data Contributor) or the signature's permissions "
    "(read, add, create, write) don't allow it",
    404: "the container or blob doesn't exist",
    413: "the unit is too large",
}


class StorageError(Exception):
    """A request failed; the message is a sentence without secrets.

    `status` is HTTP's, 0 where there was no answer; `code` is storage's. `asked` are seconds that the service wants to
    be left alone for, None for no wish.
    """

    def __init__(self, sentence: str, status: int = NO_ANSWER, code: str = "", asked: float | None = None) -> None:
        super().__init__(sentence)
        self.status, self.code, self.asked = status, code, asked


class BlobProperties(NamedTuple):
    """A blob's length in bytes, its committed blocks, and whether it is sealed."""

    length: int
    blocks: int
    sealed: bool


class AppendBlobs:
    """The append blobs of a container, by their names. All methods raise StorageError and CredentialError.

    `clock_offset` is how many seconds the service's clock is ahead of the node's.
    """

    def __init__(self, container: str, credential: Credential, http: HttpClient, clock: Clock) -> None:
        self.clock_offset = 0.0
        self._container = container.rstrip("/")
        self._credential = credential
        self._http = http
        self._clock = clock

    def create(self, name: str) -> None:
        """Creates a blob; fails with status 409 where it exists."""
        headers = {"x-ms-blob-type": "AppendBlob", "If-None-Match": "*", "Content-Type": "application/gzip"}
        self._call("create a blob", "PUT", name, headers=headers)

    def append(self, name: str, position: int, content: bytes) -> int:
        """Appends a block at a position and returns the blob's number of blocks; fails with 412 at another position."""
        headers = {"x-ms-blob-condition-appendpos": str(position), **_digest(content)}
        answer = self._call("append to a blob", "PUT", name, query="comp=appendblock", headers=headers, body=content)
        return _whole(answer.headers, "x-ms-blob-committed-block-count")

    def properties(self, name: str) -> BlobProperties | None:
        """Returns a blob's properties, None where it doesn't exist."""
        try:
            answer = self._call("look at a blob", "HEAD", name)
        except StorageError as error:
            if error.status == _NOT_FOUND and error.code != "ContainerNotFound":
                return None
            raise
        if "content-length" not in answer.headers:
            raise StorageError(f"Storage at {self._host} doesn't say how long a blob is.")
        return BlobProperties(
            _whole(answer.headers, "content-length"),
            _whole(answer.headers, "x-ms-blob-committed-block-count"),
            answer.headers.get("x-ms-blob-sealed", "").lower() == "true",
        )

    def read(self, name: str, begin: int, end: int) -> bytes:
        """Returns the bytes from `begin` to before `end`, all of which the blob must have."""
        headers = {"x-ms-range": f"bytes={begin}-{end - 1}"}
        answer = self._call("read a blob", "GET", name, headers=headers, limit=end - begin)
        if len(answer.body) != end - begin:
            raise StorageError(f"Storage at {self._host} sent other bytes of a blob than those asked for.")
        return answer.body

    def seal(self, name: str) -> None:
        """Makes a blob refuse further blocks."""
        self._call("seal a blob", "PUT", name, query="comp=seal")

    @property
    def _host(self) -> str:
        return urlsplit(self._container).hostname or ""

    def _call(
        self,
        action: str,
        method: str,
        name: str,
        *,
        query: str = "",
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        limit: int = MAX_BODY,
    ) -> Response:
        queries = "&".join(filter(None, (query, self._credential.query)))
        url = f"{self._container}/{quote(name)}" + (f"?{queries}" if queries else "")
        shown = {**self._common(), **self._credential.headers(), **(headers or {})}
        try:
            answer = self._http.request(method, url, shown, body, limit=limit)
        except NoAnswerError as error:
            raise StorageError(str(error)) from None
        return self._judged(action, answer)

    def _judged(self, action: str, answer: Response) -> Response:
        """Returns an answer of success. Raises StorageError for any other, and for one that isn't storage's."""
        if "x-ms-request-id" not in answer.headers:
            raise StorageError(
                f"{self._host} answered as no storage does (HTTP {answer.status}): a proxy may stand before it.",
                asked=asked_wait(answer.headers, self._now()),
            )
        self._set_offset(answer.headers)
        if 200 <= answer.status < 300:  # noqa: PLR2004 - HTTP's
            return answer
        if answer.status == _UNAUTHORIZED:
            self._credential.renew()
        code = _code_of(answer)
        advice = f": {_ADVICE[answer.status]}" if answer.status in _ADVICE else ""
        sentence = (
            f"Storage at {self._host} refused to {action} (HTTP {answer.status} {code or 'without a code'}){advice}."
        )
        raise StorageError(sentence, answer.status, code, asked_wait(answer.headers, self._now()))

    def _common(self) -> Mapping[str, str]:
        return {"x-ms-version": VERSION, "x-ms-date": email.utils.formatdate(self._now(), usegmt=True)}

    def _now(self) -> float:
        """Returns the service's time in seconds since 1970, as far as its answers showed it."""
        return self._clock.now() / _SECONDS + self.clock_offset

    def _set_offset(self, headers: Mapping[str, str]) -> None:
        try:
            shown = email.utils.parsedate_to_datetime(headers.get("date", "")).timestamp()
        except (TypeError, ValueError, OverflowError):
            return
        self.clock_offset = shown - self._clock.now() / _SECONDS


def _digest(content: bytes) -> Mapping[str, str]:
    """Returns the header by which storage checks a block; none on systems that forbid MD5."""
    try:
        digest = hashlib.md5(content).digest()  # noqa: S324 - against damage on the way, as storage defines it
    except ValueError:
        return {}
    return {"Content-MD5": base64.b64encode(digest).decode()}


def _code_of(answer: Response) -> str:
    """Returns storage's error code, empty where there is none."""
    code = answer.headers.get("x-ms-error-code", "")
    found = _CODE_IN_BODY.search(answer.body)
    return code if _CODE.fullmatch(code) else found[1].decode() if found else ""


def _whole(headers: Mapping[str, str], name: str) -> int:
    """Returns the number in a header, 0 where there is none."""
    written = headers.get(name, "")
    return int(written) if written.isdecimal() else 0
