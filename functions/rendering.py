"""Answers as bytes and as responses: JSON or text, the ETag of what a GET gave, and 304 where the client has that.

It knows no route and no handler: what they say of an answer is given.
"""

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from http import HTTPStatus
from typing import Any

import azure.functions as func
import msgspec

from functions.answers import security_headers

_CHARSET = "; charset=utf-8"  # which the library adds to texts by itself


@dataclass(frozen=True, slots=True)
class Rendered:
    """An answer as bytes; `headers` are its own, the ETag among them."""

    body: bytes
    status: int
    headers: dict[str, str]
    media: str


def rendered(method: str, value: Any, *, status: int, headers: Mapping[str, str], media: str) -> Rendered:
    """A value that a request by that method is answered with: text as it is, anything else as JSON."""
    body = value.encode() if isinstance(value, str) else msgspec.json.encode(value)
    own = {"Cache-Control": "no-cache", **headers}
    if method == "GET" and status == HTTPStatus.OK:
        own["ETag"] = f'"{blake2b(body, digest_size=12).hexdigest()}"'
    return Rendered(body, status, own, media.removesuffix(_CHARSET))


def response_of(request: func.HttpRequest, answer: Rendered) -> func.HttpResponse:
    """The response to a request, without a body where the client says that it has this very answer."""
    headers = {**security_headers(request), "x-ms-request-id": str(uuid.uuid4()), **answer.headers}
    if etag := answer.headers.get("ETag"):
        known = {tag.removeprefix("W/") for tag in re.split(r",\s*", request.headers.get("if-none-match", ""))}
        if etag in known or "*" in known:
            return func.HttpResponse(status_code=304, headers=headers)
    return func.HttpResponse(answer.body, status_code=answer.status, headers=headers, mimetype=answer.media)
