"""Writes the bodies of transactions and reads their answers; the SDK makes MIME messages in ten times the time.

The SDK still makes the operations, signs and sends the request, and retries it.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, override
from uuid import uuid4

import orjson
from azure.core.exceptions import HttpResponseError, ServiceResponseError
from azure.core.rest import HttpRequest
from azure.data.tables.aio import TableClient

_ACCEPTED, _OK = 202, 200
_MULTIPLE = 300
_BOUNDARY = re.compile(rb'boundary="?([^"\r\n;]+)')
_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3}) ?([^\r\n]*)")
_ETAG = re.compile(rb"\r?\netag: *([^\r\n]*)", re.IGNORECASE)
_END = re.compile(rb"\r?\n\r?\n")


class TransactionClient(TableClient):
    """A table whose transactions are written and read here."""

    @override
    async def _batch_send(self, table_name: str, *reqs: HttpRequest, **kwargs: Any) -> list[Mapping[str, Any]]:
        """Sends operations in one transaction; returns the new `etag` of each row, and nothing of deleted ones.

        Raises HttpResponseError with the first error, and ServiceResponseError where the outcome is unknown.
        """
        boundary = f"batch_{uuid4()}"
        request = HttpRequest(
            "POST",
            f"{self.scheme}://{self._primary_hostname}/$batch",
            headers={
                "x-ms-version": self.api_version,
                "DataServiceVersion": "3.0",
                "MaxDataServiceVersion": "3.0;NetFx",
                "Content-Type": f"multipart/mixed; boundary={boundary}",
                "Accept": "application/json",
            },
            content=_body(boundary, reqs),
        )
        response = await self._client.send_request(request, stream=True, **kwargs)
        body = await response.read()
        if response.status_code != _ACCEPTED:
            raise _failure(response.status_code, response.reason, body)
        answers: list[Mapping[str, Any]] = [_answer(part) for part in _parts(body)]
        if len(answers) != len(reqs):
            raise _unknown(f"it has {len(answers)} parts for {len(reqs)} operations")
        return answers


def _body(boundary: str, operations: tuple[HttpRequest, ...]) -> bytes:
    inner = f"changeset_{uuid4()}"
    begin = f"--{boundary}\r\nContent-Type: multipart/mixed; boundary={inner}\r\n\r\n".encode()
    parts = b"".join(_part(inner, number, one) for number, one in enumerate(operations))
    return begin + parts + f"--{inner}--\r\n\r\n--{boundary}--\r\n".encode()


def _part(boundary: str, number: int, operation: HttpRequest) -> bytes:
    headers = "".join(f"{name}: {value}\r\n" for name, value in operation.headers.items())
    content: Any = operation.content or b""
    head = (
        f"--{boundary}\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n"
        f"Content-ID: {number}\r\n\r\n{operation.method} {operation.url} HTTP/1.1\r\n{headers}\r\n"
    )
    return head.encode() + (content.encode() if isinstance(content, str) else content) + b"\r\n"


def _parts(body: bytes) -> Iterator[bytes]:
    """Yields the answers to operations, each an HTTP response. Raises ServiceResponseError."""
    inner = _BOUNDARY.search(body)
    if inner is None:
        raise _unknown("it has no parts")
    _, *parts = body.split(b"--" + inner[1])
    if not parts or not parts[-1].startswith(b"--"):
        raise _unknown("it has no end")
    for part in parts[:-1]:
        head = _END.search(part)
        if head is None:
            raise _unknown("a part has no end of its headers")
        yield part[head.end() :]


def _answer(part: bytes) -> dict[str, str]:
    status, end = _STATUS.match(part), _END.search(part)
    if status is None:
        raise _unknown("a part has no status")
    code, head = int(status[1]), part[: end.start()] if end else part
    if not _OK <= code < _MULTIPLE:
        raise _failure(code, status[2].decode(errors="replace"), part[end.end() :] if end else b"")
    etag = _ETAG.search(head)
    return {"etag": etag[1].decode()} if etag else {}


def _unknown(reason: str) -> ServiceResponseError:
    return ServiceResponseError(f"the answer to a transaction can't be read: {reason}")


def _failure(status: int, reason: str | None, body: bytes) -> HttpResponseError:
    """Returns an error with the service's code and message, if the body has them."""
    try:
        found = orjson.loads(body)["odata.error"]
        code, message = str(found["code"]), str(found["message"]["value"])
    except (ValueError, TypeError, LookupError):
        code, message = "", reason or f"status {status}"
    error = HttpResponseError(f"{message}\nErrorCode:{code}" if code else message)
    error.status_code, error.reason = status, reason
    return error
