"""Azurite as agents see it, with two features of the service: sealing by a signature, and a limit of blocks.

Azurite ends a seal by a signature with an error of its own, so that it is done by the account's key here. A blob of
50,000 blocks would take days: half of the nodes are shown counts that begin near the limit, and the blobs of the others
are full after a few blocks.
"""

import http.client
import re
import secrets
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import parse_qs, urlsplit

from azure.core.exceptions import HttpResponseError
from azure.storage.blob import BlobServiceClient

BLOCKS_PER_BLOB = 6
_MAX_BLOCKS = 50_000
_COUNT = "x-ms-blob-committed-block-count"
_NODE = re.compile(r"/nodes/[^/]*?(\d+)/")
_KEPT_BY_CONNECTION = ("connection", "keep-alive", "transfer-encoding", "content-length")
_TIMEOUT = 20.0


@dataclass(frozen=True, slots=True)
class StorageRequest:
    """A request; names of headers are in lower case. `target` is its path with the query."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def action(self) -> str:
        return parse_qs(urlsplit(self.target).query).get("comp", [""])[0]


@dataclass(frozen=True, slots=True)
class StorageAnswer:
    """An answer; `length` is that of its body, or of the blob at a HEAD."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    length: str


def refusal(status: int, code: str = "", **headers: str) -> StorageAnswer:
    """Returns an answer as storage gives it; `_` in names of headers stands for `-`."""
    shown = {name.replace("_", "-"): value for name, value in headers.items()}
    known = {"x-ms-request-id": secrets.token_hex(8), **({"x-ms-error-code": code} if code else {}), **shown}
    return StorageAnswer(status, known, b"", "0")


class Storage:
    """Answers requests by asking Azurite at `address`, one at a time for each container.

    `appended` counts the blocks that were stored, `refused` Azurite's own refusals by their codes, `sealed` has the
    paths of the blobs that were sealed.
    """

    def __init__(self, address: str, service: BlobServiceClient) -> None:
        self.appended = 0
        self.refused: Counter[str] = Counter()
        self.full = 0
        self.sealed: set[str] = set()
        self._host = urlsplit(address).netloc
        self._service = service
        self._blocks: dict[str, int] = {}
        self._locks: dict[str, threading.Lock] = {}

    def lock(self, container: str) -> threading.Lock:
        """Returns the lock that requests to a container hold."""
        return self._locks.setdefault(container, threading.Lock())

    def perform(self, request: StorageRequest) -> StorageAnswer:
        """Executes a request. Raises OSError and HTTPException."""
        with self.lock(container_of(request.path)):
            if request.action == "seal":
                return self._sealed(request.path)
            blocks = self._blocks.get(request.path, 0)
            if request.action == "appendblock" and not _is_shown_more(request.path) and blocks >= BLOCKS_PER_BLOB:
                self.full += 1
                return refusal(409, "BlockCountExceedsLimit")
            answer = self._forwarded(request)
            self._note(request, answer)
        return _with_shown_count(request.path, answer)

    def _forwarded(self, request: StorageRequest) -> StorageAnswer:
        connection = http.client.HTTPConnection(self._host, timeout=_TIMEOUT)
        try:
            headers = {name: value for name, value in request.headers.items() if name not in ("host", "connection")}
            connection.request(request.method, request.target, body=request.body or None, headers=headers)
            answer = connection.getresponse()
            body = answer.read()
            found = {name.lower(): value for name, value in answer.getheaders()}
        finally:
            connection.close()
        length = found.get("content-length", "0") if request.method == "HEAD" else str(len(body))
        kept = {name: value for name, value in found.items() if name not in _KEPT_BY_CONNECTION}
        return StorageAnswer(answer.status, kept, body, length)

    def _note(self, request: StorageRequest, answer: StorageAnswer) -> None:
        if answer.status >= http.HTTPStatus.BAD_REQUEST:
            self.refused[f"{answer.status} {answer.headers.get('x-ms-error-code', '')}".strip()] += 1
        elif request.action == "appendblock":
            self.appended += 1
            self._blocks[request.path] = int(answer.headers[_COUNT])
        elif request.method == "PUT":
            self._blocks[request.path] = 0

    def _sealed(self, path: str) -> StorageAnswer:
        container, name = container_of(path), path.split("/", 3)[3]
        try:
            self._service.get_blob_client(container, name).seal_append_blob()
        except HttpResponseError as error:
            return refusal(error.status_code or 500, str(error.error_code or ""))  # type: ignore[attr-defined]
        self.sealed.add(path)
        return refusal(200, x_ms_blob_sealed="true")


def container_of(path: str) -> str:
    return path.split("/")[2]


def _is_shown_more(path: str) -> bool:
    """Returns whether a node is shown counts of blocks that begin near the limit."""
    found = _NODE.search(path)
    return found is not None and int(found[1]) % 2 == 0


def _with_shown_count(path: str, answer: StorageAnswer) -> StorageAnswer:
    if _COUNT not in answer.headers or not _is_shown_more(path):
        return answer
    shown = int(answer.headers[_COUNT]) + _MAX_BLOCKS - BLOCKS_PER_BLOB
    return replace(answer, headers={**answer.headers, _COUNT: str(shown)})
